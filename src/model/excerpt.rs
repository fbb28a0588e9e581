//! What is known of the lines of a session that are not at hand; `outline.rs` says which those are.

use super::key::hash;

/// What an excerpt knows of the lines from which it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Lines of the log that it stands for.
    pub lines: usize,
    /// Bytes of the log that it stands for.
    pub length: u64,
    /// For each line at hand whether it has left the view.
    pub gone: Vec<bool>,
    /// The event of the summary that stands, and where: indexes of lines at hand.
    pub standing: Option<(usize, Stands)>,
    /// Hashes of all ids, in order.
    pub ids: Vec<u64>,
}

impl Excerpt {
    /// Number of lines at hand that come of it; those behind are the log's own.
    pub fn kept(&self) -> usize {
        self.gone.len()
    }

    /// Whether a line that it stands for has this id.
    pub fn has(&self, id: &str) -> bool {
        self.ids.binary_search(&hash(id).get()).is_ok()
    }
}

/// Where a summary stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Behind this line.
    Behind(usize),
    /// Behind the leading rules.
    First,
    /// Ahead of this line, as a compaction put it.
    Before(usize),
}
