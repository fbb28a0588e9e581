//! Joins messages of the same role into turns, for APIs that require alternating roles.

use super::RequestElement;
use super::request_part::{AnnotatedMessage, WriteSettings};
use crate::format::Purpose;

/// A turn under construction.
#[derive(Debug, Default)]
pub struct RequestTurn {
    /// The role in the API.
    pub role: &'static str,
    /// Tool results, which precede all other parts.
    pub results: Vec<Vec<u8>>,
    /// The other parts, encoded for the API.
    pub parts: Vec<Vec<u8>>,
    /// The content as a JSON string, as long as there is only one text.
    pub text: Option<Vec<u8>>,
    /// Members other than role and content of the source element.
    pub members: Option<Vec<u8>>,
    /// Indexes of the view items.
    pub items: Vec<usize>,
}

impl RequestTurn {
    /// Restores members of a message's source element other than role and content; not for a provider, which rejects
    /// them.
    pub fn keep_members(&mut self, annotated: &AnnotatedMessage<'_>, writing: &WriteSettings<'_>) {
        if writing.purpose != Purpose::Context && self.members.is_none() {
            self.members = annotated.noted("members").map(<[u8]>::to_vec);
        }
    }
}

/// A list of turns, the last of which is open.
#[derive(Debug)]
pub struct RequestTurns {
    done: Vec<RequestElement>,
    open: Option<RequestTurn>,
    close: fn(&RequestTurn) -> Option<Vec<u8>>,
}

impl RequestTurns {
    /// An empty list; `close` encodes a turn, or returns `None` if it has no content.
    pub fn new(close: fn(&RequestTurn) -> Option<Vec<u8>>) -> RequestTurns {
        RequestTurns {
            done: Vec::new(),
            open: None,
            close,
        }
    }

    /// The turn for an item: the open one if it has this role and `separate` is not set.
    pub fn turn(&mut self, role: &'static str, item: usize, separate: bool) -> &mut RequestTurn {
        if separate || self.open.as_ref().is_some_and(|open| open.role != role) {
            self.end();
        }
        let turn = self.open.get_or_insert_with(|| RequestTurn {
            role,
            ..RequestTurn::default()
        });
        turn.items.push(item);
        turn
    }

    /// Appends preserved elements, to which nothing is joined.
    pub fn keep(&mut self, items: &[usize], elements: &[&[u8]]) {
        self.end();
        self.done.extend(elements.iter().map(|element| RequestElement {
            raw: element.to_vec(),
            items: items.to_vec(),
        }));
    }

    fn end(&mut self) {
        if let Some(turn) = self.open.take()
            && let Some(raw) = (self.close)(&turn)
        {
            self.done.push(RequestElement {
                raw,
                items: turn.items,
            });
        }
    }

    /// The encoded elements.
    pub fn finish(mut self) -> Vec<RequestElement> {
        self.end();
        self.done
    }
}
