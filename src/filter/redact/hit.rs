//! A place in a text that is a secret.

use super::kind::{Kind, Level};
use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// The kind.
    pub kind: Kind,
    /// How certain that is.
    pub level: Level,
}

impl Hit {
    /// A hit.
    pub fn new(range: Range<usize>, kind: Kind, level: Level) -> Hit {
        Hit { range, kind, level }
    }
}

/// The hits in their order, without those that overlap one that was found before them.
pub fn settle(found: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<Hit> = Vec::with_capacity(found.len());
    for hit in found {
        let free = |other: &Hit| other.range.end <= hit.range.start || hit.range.end <= other.range.start;
        if !hit.range.is_empty() && kept.iter().all(free) {
            kept.push(hit);
        }
    }
    kept.sort_by_key(|hit| hit.range.start);
    kept
}
