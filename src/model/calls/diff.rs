//! Line diff of two texts.

use super::line::DetailLine;
use similar::{Algorithm, ChangeTag, TextDiff};
use std::time::Duration;

/// Larger texts are not compared: one is reported as removed, the other as added.
const LARGEST: (usize, usize) = (5_000, 1 << 20);

/// The differing lines with `around` unchanged lines of context, and the numbers of added and removed lines.
pub fn of(old: &str, new: &str, around: usize) -> (Vec<DetailLine>, (usize, usize)) {
    let is_large = |text: &str| text.len() > LARGEST.1 || text.lines().nth(LARGEST.0).is_some();
    let mut lines = Vec::new();
    if old.is_empty() || new.is_empty() || is_large(old) || is_large(new) {
        lines.extend(old.lines().map(|line| DetailLine::Removed(line.to_string())));
        lines.extend(new.lines().map(|line| DetailLine::Added(line.to_string())));
        return with_line_counts(lines);
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(Duration::from_secs(1))
        .diff_lines(old, new);
    for (nth, group) in diff.grouped_ops(around).iter().enumerate() {
        if nth > 0 && around > 0 {
            lines.push(DetailLine::Note("...".to_string()));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = change.value().trim_end_matches(['\n', '\r']).to_string();
            lines.push(match change.tag() {
                ChangeTag::Delete => DetailLine::Removed(text),
                ChangeTag::Insert => DetailLine::Added(text),
                ChangeTag::Equal => DetailLine::Same(text),
            });
        }
    }
    with_line_counts(lines)
}

/// The lines with the numbers of added and removed ones.
pub fn with_line_counts(lines: Vec<DetailLine>) -> (Vec<DetailLine>, (usize, usize)) {
    let added = lines.iter().filter(|line| matches!(line, DetailLine::Added(_)));
    let removed = lines.iter().filter(|line| matches!(line, DetailLine::Removed(_)));
    let counts = (added.count(), removed.count());
    (lines, counts)
}
