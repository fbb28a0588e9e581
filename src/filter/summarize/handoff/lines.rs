//! Lines of blocks: quoted, as many as fit, and how many do not.

pub use super::super::entry::Count;
use super::super::entry::push_quoted;

/// Tokens of an item beside its text: what begins its line, and the end of it.
pub const AROUND: u64 = 3;

/// Tokens of a line that tells how many more there are.
pub const MORE: u64 = 8;

/// A text behind what marks its block, its further lines indented.
pub fn quoted(before: &str, text: &str) -> String {
    let mut out = String::new();
    push_quoted(&mut out, before, text);
    out
}

/// The lines that fit, taken in this order and shown in their own, and how many do not.
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

/// Tells how many are not named.
pub fn unseen(more: u64, what: &str) -> Option<String> {
    let what = if more == 1 {
        what.trim_end_matches('s')
    } else {
        what
    };
    (more > 0).then(|| format!("[{more} more{what}]\n"))
}
