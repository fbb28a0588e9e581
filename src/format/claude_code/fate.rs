//! What becomes of the lines of a session when its view is another than it was.

use super::log::Log;
use super::made::New;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};

/// What becomes of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It stays as it is.
    #[default]
    Stays,
    /// It is another one.
    Becomes(Vec<u8>),
    /// It goes.
    Goes,
}

/// What becomes of a log.
#[derive(Default)]
pub struct Fates {
    /// By line.
    pub lines: Vec<Fate>,
    /// New lines ahead of a line; at the end, where that is the number of lines.
    pub new: HashMap<usize, Vec<New>>,
    /// The new lines that old ones hang on now.
    pub hangs: HashMap<usize, Vec<u8>>,
}

/// A session and its lines.
pub struct Held<'s> {
    /// Their log.
    pub log: &'s Log,
    /// The session as it is now.
    pub session: &'s Session,
    /// The lines that each of its records was made of; those behind are new.
    pub sources: &'s [Vec<usize>],
    /// Its lines, in the order of the file.
    pub lines: &'s [usize],
    /// Whether what comes behind all of them comes behind the whole log.
    pub last: bool,
    /// What was in view.
    pub before: &'s View,
    /// What is in view.
    pub now: &'s View,
}

impl Held<'_> {
    /// The lines that a record was made of.
    pub fn sources(&self, record: usize) -> &[usize] {
        self.sources.get(record).map_or(&[], Vec::as_slice)
    }

    /// The record of the log that an item is; none of what is new.
    pub fn record(&self, item: &Item) -> Option<usize> {
        let (Item::Line(record) | Item::Edited(record, _) | Item::Summary(record)) = item else {
            return None;
        };
        (!self.sources(*record).is_empty()).then_some(*record)
    }

    /// The records of the log that a view shows.
    pub fn records(&self, view: &View) -> HashSet<usize> {
        view.items.iter().filter_map(|item| self.record(item)).collect()
    }
}

impl Fates {
    /// For a log of so many lines.
    pub fn new(lines: usize) -> Fates {
        Fates {
            lines: vec![Fate::Stays; lines],
            ..Fates::default()
        }
    }

    /// The nearest line that stays, from this one upwards.
    pub fn staying(&self, log: &Log, mut line: usize) -> Option<usize> {
        // Lines may hang on themselves.
        for _ in 0..=log.lines.len() {
            if self.lines[line] != Fate::Goes {
                return Some(line);
            }
            line = log.lines[line].above?;
        }
        None
    }
}
