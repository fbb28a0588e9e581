//! The elements that a session was read from.

use super::changes::Elements;
use crate::model::view::Item;

/// The elements of a session, and the records that they became.
#[derive(Default)]
pub struct Source {
    /// The elements, each on one line; of JSON Lines all lines.
    pub raws: Vec<Vec<u8>>,
    /// The rows that they are in.
    pub rows: Vec<Vec<u8>>,
    /// How many elements of the input each is.
    pub sizes: Vec<usize>,
    /// Their indexes in the input.
    pub at: Vec<usize>,
    /// The messages of elements.
    pub elements: Elements,
    /// Elements that are summaries, and the lines of their events.
    pub summaries: Vec<(usize, usize)>,
    /// The line of the message that is a member next to the list.
    pub instructions: Option<usize>,
}

impl Source {
    /// Whether an item is in the source, and not in an element with messages.
    pub fn is_apart(&self, item: &Item) -> bool {
        self.is_summary(item) || matches!(item, Item::Line(line) if self.instructions == Some(*line))
    }

    /// Whether an item is a summary of the source.
    pub fn is_summary(&self, item: &Item) -> bool {
        matches!(item, Item::Summary(line) if self.summaries.iter().any(|(_, own)| own == line))
    }
}
