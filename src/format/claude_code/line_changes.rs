//! The changes to the lines of a log for a new view of its session.

use super::encode_new::NewLine;
use super::log::ClaudeLog;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LineChange {
    /// Keep the line.
    #[default]
    Keep,
    /// Replace the line.
    Replace(Vec<u8>),
    Removed,
}

/// The changes to a log.
#[derive(Default)]
pub struct LineChanges {
    /// By line index.
    pub lines: Vec<LineChange>,
    /// New lines before a line, by its index; the number of lines represents the end.
    pub new: HashMap<usize, Vec<NewLine>>,
    /// The ids of new lines that become parents of existing lines.
    pub parents: HashMap<usize, Vec<u8>>,
}

/// A session with its lines in the log.
pub struct ParsedSource<'s> {
    pub log: &'s ClaudeLog,
    /// The current session.
    pub session: &'s Session,
    /// For each record of the log, the lines that it was read from; later records are new.
    pub sources: &'s [Vec<usize>],
    /// Its lines, in file order.
    pub lines: &'s [usize],
    /// Whether lines added to its end are added to the end of the log.
    pub last: bool,
    /// The original view.
    pub before: &'s View,
    /// The current view.
    pub now: &'s View,
}

impl ParsedSource<'_> {
    /// The lines that a record was read from.
    pub fn sources(&self, record: usize) -> &[usize] {
        self.sources.get(record).map_or(&[], Vec::as_slice)
    }

    /// The record of an item; `None` if it is new.
    pub fn record(&self, item: &Item) -> Option<usize> {
        let (Item::Line(record) | Item::Edited(record, _) | Item::Summary(record)) = item else {
            return None;
        };
        (!self.sources(*record).is_empty()).then_some(*record)
    }
}

impl LineChanges {
    /// No changes, for a log with this number of lines.
    pub fn new(lines: usize) -> LineChanges {
        LineChanges {
            lines: vec![LineChange::Keep; lines],
            ..LineChanges::default()
        }
    }

    pub fn is_removed(&self, line: usize) -> bool {
        self.lines.get(line) == Some(&LineChange::Removed)
    }

    /// For each line, the nearest kept one, starting at itself and following parents.
    pub fn nearest_kept(&self, log: &ClaudeLog) -> Vec<Option<usize>> {
        log.nearest(|line| !self.is_removed(line))
    }
}
