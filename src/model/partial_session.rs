//! Information about the log lines that a partially loaded session omits; see `partial_lines.rs`.

use super::key::hash;

/// Metadata of a partial session, and of the log lines that it represents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialSession {
    /// Number of log lines that the partial session represents.
    pub lines: usize,
    /// Number of log bytes that the partial session represents.
    pub length: u64,
    /// For each loaded line: whether it is hidden from the view.
    pub hidden: Vec<bool>,
    /// The event of the active summary and its position, as indexes of loaded lines.
    pub active_summary: Option<(usize, SummaryPosition)>,
    /// Hashes of all ids in the log, sorted.
    pub ids: Vec<u64>,
}

impl PartialSession {
    /// Number of loaded lines that belong to the partial session; later lines were read from the log itself.
    pub fn kept(&self) -> usize {
        self.hidden.len()
    }

    /// Whether a line that the partial session represents has this id.
    pub fn has(&self, id: &str) -> bool {
        self.ids.binary_search(&hash(id).get()).is_ok()
    }
}

/// Position of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryPosition {
    /// After this line.
    After(usize),
    /// After the leading system messages.
    First,
    /// Before this line, as placed by a compaction.
    Before(usize),
}
