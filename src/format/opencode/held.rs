//! A document that a session was read from: its elements, and which lines they are.

use super::NAME;
use super::element::Element;
use super::make::Making;
use crate::format::fate::Elements;
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::Item;

/// The elements of a document, and the lines of its session that they are.
#[derive(Default)]
pub struct Held {
    /// The elements, each on one line.
    pub raws: Vec<Vec<u8>>,
    /// The lines of those that are messages.
    pub elements: Elements,
    /// The compactions that count, in their order.
    pub compactions: Vec<Compaction>,
}

/// A compaction that counts.
pub struct Compaction {
    /// The element that is the answer.
    pub answer: usize,
    /// The line of its event.
    pub line: usize,
}

impl Held {
    /// An element that is a message.
    pub fn element(&self, nth: usize) -> Option<Element<'_>> {
        Element::of(&self.raws[nth])
    }

    /// The id of an element.
    pub fn id(&self, nth: usize) -> Option<String> {
        self.element(nth)?.text("id").map(|id| id.into_owned())
    }

    /// What new messages are made with, behind those that are there.
    pub fn making(&self, session: &str, directory: &str) -> Making {
        let mut making = Making::new(session, directory);
        for raw in &self.raws {
            Element::of(raw).inspect(|element| making.pass(element));
        }
        making
    }

    /// Whether an item is the text of one of its own compactions.
    pub fn is_summary(&self, item: &Item) -> bool {
        matches!(item, Item::Summary(line) if self.compactions.binary_search_by_key(line, |own| own.line).is_ok())
    }
}

/// Whether an event is what a document says itself.
pub fn is_own(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    let own = |event: &[u8], name| {
        json::member(json::member(event, name)?, NAME)
            .is_some()
            .then_some(())
    };
    record.event().is_some_and(|event| match event.name().as_ref() {
        "summary" => own(event.raw, "metadata").is_some(),
        "compact" => {
            json::member(event.raw, "strategy")
                .and_then(json::text)
                .as_deref()
                == Some(NAME)
        }
        _ => false,
    })
}
