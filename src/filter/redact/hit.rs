//! The position of a secret in a text.

use super::kind::{Certainty, SecretKind};
use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its byte range in the text.
    pub range: Range<usize>,
    pub kind: SecretKind,
    pub level: Certainty,
}

impl Hit {
    /// Creates a hit.
    pub fn new(range: Range<usize>, kind: SecretKind, level: Certainty) -> Hit {
        Hit { range, kind, level }
    }
}

/// Sorts the hits and removes those that overlap one found earlier.
pub fn remove_overlaps(found: Vec<Hit>) -> Vec<Hit> {
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
