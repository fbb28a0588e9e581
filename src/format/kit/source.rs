//! The elements that a session was read from.

use super::changes::ElementMap;
use super::codec::lines_of;
use crate::model::view::Item;

/// The elements of a session, and the records that they became.
#[derive(Default)]
pub struct SourceElements {
    /// The elements, each on one line; for JSON Lines, all lines.
    pub raws: Vec<Vec<u8>>,
    /// The rows that contain them.
    pub rows: Vec<Vec<u8>>,
    /// Number of input elements in each.
    pub sizes: Vec<usize>,
    /// Their indexes in the input.
    pub at: Vec<usize>,
    /// Indexes of their further lines.
    pub further: Vec<Vec<usize>>,
    /// Whether it is a side session of a log.
    pub is_side_session: bool,
    /// Maps messages to elements.
    pub elements: ElementMap,
    /// Elements that are summaries, with the lines of their events.
    pub summaries: Vec<(usize, usize)>,
    /// The line of a message that is a member next to the list.
    pub instructions: Option<usize>,
}

impl SourceElements {
    /// The input indexes of an element's lines.
    pub fn places(&self, nth: usize) -> Vec<usize> {
        let further = self.further.get(nth).into_iter().flatten();
        std::iter::once(self.at[nth]).chain(further.copied()).collect()
    }

    /// All lines with their indexes in the input.
    pub fn by_line(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.raws.iter().enumerate().flat_map(|(nth, raw)| {
            let lines = match self.further[nth].is_empty() {
                true => vec![&raw[..]],
                false => lines_of(raw),
            };
            self.places(nth).into_iter().zip(lines)
        })
    }

    /// Whether an item is in the source, but not in an element with messages.
    pub fn is_outside_messages(&self, item: &Item) -> bool {
        self.is_summary(item) || self.is_instructions(item)
    }

    pub fn is_instructions(&self, item: &Item) -> bool {
        self.instructions.is_some() && self.instructions == item.line()
    }

    pub fn is_summary(&self, item: &Item) -> bool {
        matches!(item, Item::Summary(line) if self.summaries.iter().any(|(_, own)| own == line))
    }
}
