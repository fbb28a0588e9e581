//! Turns that are put together from messages, for the interfaces that want those of one role as one.

use super::Element;

/// A turn that is being made.
#[derive(Debug, Default)]
pub struct Turn {
    /// The role as the interface spells it.
    pub role: &'static str,
    /// Results, which stand ahead of everything else.
    pub results: Vec<Vec<u8>>,
    /// The other parts, as the interface spells them.
    pub parts: Vec<Vec<u8>>,
    /// Text that is the whole of it so far: a string's JSON.
    pub text: Option<Vec<u8>>,
    /// Members beside role and content, of the element that it came in.
    pub members: Option<Vec<u8>>,
    /// The items.
    pub items: Vec<usize>,
}

/// Turns, of which the last is open.
#[derive(Debug)]
pub struct Turns {
    done: Vec<Element>,
    open: Option<Turn>,
    close: fn(&Turn) -> Option<Vec<u8>>,
}

impl Turns {
    /// No turn yet; `close` makes a turn's JSON, and none of one that says nothing.
    pub fn new(close: fn(&Turn) -> Option<Vec<u8>>) -> Turns {
        Turns {
            done: Vec::new(),
            open: None,
            close,
        }
    }

    /// The turn that an item goes to: the open one when it is of that role.
    pub fn turn(&mut self, role: &'static str, item: usize, apart: bool) -> &mut Turn {
        if apart || self.open.as_ref().is_some_and(|open| open.role != role) {
            self.end();
        }
        let turn = self.open.get_or_insert_with(|| Turn {
            role,
            ..Turn::default()
        });
        turn.items.push(item);
        turn
    }

    /// Adds elements as they are; nothing is added to them.
    pub fn keep(&mut self, items: &[usize], elements: &[&[u8]]) {
        self.end();
        self.done.extend(elements.iter().map(|element| Element {
            raw: element.to_vec(),
            items: items.to_vec(),
        }));
    }

    fn end(&mut self) {
        if let Some(turn) = self.open.take()
            && let Some(raw) = (self.close)(&turn)
        {
            self.done.push(Element {
                raw,
                items: turn.items,
            });
        }
    }

    /// The elements.
    pub fn finish(mut self) -> Vec<Element> {
        self.end();
        self.done
    }
}
