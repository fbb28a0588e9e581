//! Access to the parts of a turn under repair.

use crate::check::history::History;
use crate::check::raw::{elements, set};
use crate::model::json::{self, array};

/// The API.
pub(in crate::check) struct GeminiRules;

pub(super) type TurnHistory<'a, 'o> = History<'a, 'o, GeminiRules>;

/// The parts of a turn.
pub(super) fn parts(raw: &[u8]) -> Vec<&[u8]> {
    json::member(raw, "parts").map(elements).unwrap_or_default()
}

/// Replaces the parts of a turn; removes the turn if there are none.
pub(super) fn with_parts<T: AsRef<[u8]>>(history: &mut TurnHistory<'_, '_>, index: usize, parts: Vec<T>) {
    if parts.is_empty() {
        history.remove(index);
        return;
    }
    let raw = set(&history.pieces[index].raw, &[("parts", Some(&array(parts)))]);
    history.replace(index, raw);
}
