//! Selects and formats the lines of blocks: quoted, as many as fit, and the number omitted.

pub use super::super::entry::CountFn;
use super::super::entry::push_quoted;

/// Token overhead of an item: its line prefix and line end.
pub const AROUND: u64 = 3;

/// Tokens of the line with the number of omitted items and their name.
pub const MORE: u64 = 8;

/// Tokens of this line without a name.
pub const MORE_UNNAMED: u64 = 5;

/// Formats a text with the prefix of its block; further lines are indented.
pub fn quoted(before: &str, text: &str) -> String {
    let mut out = String::new();
    push_quoted(&mut out, before, text);
    out
}

/// Selects lines by priority within `room`; returns them in their own order, and the number omitted.
pub fn fitting(
    lines: &[String],
    costs: &[u64],
    order: impl Iterator<Item = usize>,
    room: u64,
) -> (Vec<String>, u64) {
    let mut left = room;
    let mut kept = vec![false; lines.len()];
    for nth in order.filter(|nth| *nth < lines.len()) {
        if costs[nth] <= left {
            left -= costs[nth];
            kept[nth] = true;
        }
    }
    let taken: Vec<String> = lines
        .iter()
        .zip(&kept)
        .filter(|(_, kept)| **kept)
        .map(|(line, _)| line.clone())
        .collect();
    let missing = (lines.len() - taken.len()) as u64;
    (taken, missing)
}

/// The line with the number of omitted items, if any.
pub fn unseen(more: u64, what: &str) -> Option<String> {
    let what = if more == 1 {
        what.trim_end_matches('s')
    } else {
        what
    };
    (more > 0).then(|| format!("[{more} more{what}]\n"))
}
