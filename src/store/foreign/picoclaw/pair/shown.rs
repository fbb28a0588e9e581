//! The view of a session, and its transfer to an empty session.

use super::Pair;
use super::compact::{interrupted, push_line};
use crate::error::Result;
use crate::format::picoclaw;
use crate::format::report::Report;
use crate::model::view::{Item, View};
use std::collections::HashSet;

/// The view of a session as log lines, and its summary, trimmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairView {
    /// Each with its newline.
    pub lines: Vec<Vec<u8>>,
    /// Empty if there is none.
    pub summary: String,
}

impl Pair {
    /// The view that PicoClaw shows.
    pub fn shown(&self, report: &mut Report) -> Result<PairView> {
        let session = self.session(report)?;
        let view = View::replay(&session);
        let places: HashSet<u64> = view
            .items
            .iter()
            .filter_map(Item::line)
            .map(|index| session.record(index).place.line)
            .collect();
        let mut lines = Vec::new();
        for raw in picoclaw::raw_lines(&self.bytes).filter(|raw| places.contains(&raw.line)) {
            let mut line = Vec::new();
            push_line(&mut line, &self.bytes[raw.start..raw.end]);
            lines.push(line);
        }
        Ok(PairView {
            lines,
            summary: self.sidecar.summary().trim().to_string(),
        })
    }

    /// Whether the session never had messages, as far as its files show.
    pub fn is_untouched(&self) -> Result<bool> {
        Ok(self.raw_lines() == 0 && !self.has_archive()?)
    }

    /// Copies another session's view into this one, which must have an empty view: removes hidden lines first, so
    /// that the lines and then the summary can each be added atomically.
    pub fn copy_view(&mut self, shown: &PairView, now: &str) -> Result<()> {
        self.compact(now, &mut |_| Ok(()))?;
        let lines: Vec<Vec<u8>> = shown
            .lines
            .iter()
            .map(|line| line.strip_suffix(b"\n").unwrap_or(line).to_vec())
            .collect();
        self.append(&lines, now).map_err(interrupted)?;
        if shown.summary.is_empty() {
            return Ok(());
        }
        self.change_summary(&shown.summary, now).map_err(interrupted)
    }
}
