//! What a session was read from: its elements, and which lines they are.

use super::NAME;
use crate::format::fate::Elements;
use crate::format::grouped;
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::Item;

/// How a session stands in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One document, with the list of messages in it.
    #[default]
    Document,
    /// The list of messages alone.
    List,
    /// Lines.
    Lines,
}

impl Layout {
    /// All of them.
    pub const ALL: [Layout; 3] = [Layout::Document, Layout::List, Layout::Lines];

    /// The word in a header.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Document => "document",
            Layout::List => "list",
            Layout::Lines => "lines",
        }
    }
}

/// The elements of a session.
#[derive(Default)]
pub struct Held {
    /// Each on one line; of lines all of them, the first and damaged ones included.
    pub raws: Vec<Vec<u8>>,
    /// The lines of those that are messages.
    pub elements: Elements,
    /// The summary that is sent: its element, and the line of its event.
    pub summary: Option<(usize, usize)>,
}

impl Held {
    /// Whether an item is the summary that stands among the elements.
    pub fn is_summary(&self, item: &Item) -> bool {
        matches!((item, self.summary), (Item::Summary(line), Some((_, own))) if *line == own)
    }
}

/// Whether an event is what a session says itself.
pub fn is_own(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    record.event().is_some_and(|event| match event.name().as_ref() {
        "summary" => grouped::note(event.raw, NAME).is_some(),
        "compact" => {
            json::member(event.raw, "strategy")
                .and_then(json::text)
                .as_deref()
                == Some(NAME)
        }
        _ => false,
    })
}
