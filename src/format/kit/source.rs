//! The elements that a session was read from.

use super::changes::Elements;
use super::codec::lines_of;
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
    /// The indexes of their further lines.
    pub further: Vec<Vec<usize>>,
    /// Whether it is beside the main session of a log.
    pub is_aside: bool,
    /// The messages of elements.
    pub elements: Elements,
    /// Elements that are summaries, and the lines of their events.
    pub summaries: Vec<(usize, usize)>,
    /// The line of the message that is a member next to the list.
    pub instructions: Option<usize>,
}

impl Source {
    /// The indexes in the input of the lines of an element.
    pub fn places(&self, nth: usize) -> Vec<usize> {
        let further = self.further.get(nth).into_iter().flatten();
        std::iter::once(self.at[nth]).chain(further.copied()).collect()
    }

    /// All lines, each with its index in the input.
    pub fn by_line(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.raws.iter().enumerate().flat_map(|(nth, raw)| {
            let lines = match self.further[nth].is_empty() {
                true => vec![&raw[..]],
                false => lines_of(raw),
            };
            self.places(nth).into_iter().zip(lines)
        })
    }

    /// Whether an item is in the source, and not in an element with messages.
    pub fn is_apart(&self, item: &Item) -> bool {
        self.is_summary(item) || matches!(item, Item::Line(line) if self.instructions == Some(*line))
    }

    /// Whether an item is a summary of the source.
    pub fn is_summary(&self, item: &Item) -> bool {
        matches!(item, Item::Summary(line) if self.summaries.iter().any(|(_, own)| own == line))
    }
}
