//! PenguiFlow's token estimate: a quarter of the code points of its context.

use super::policy::{Cost, ShownMemory};
use crate::filter::summarize;
use crate::model::json::quoted;

/// PenguiFlow's estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnEstimate {
    /// Whether the context never includes turns, as with the strategy `none`.
    pub shows_nothing: bool,
}

fn tokens(characters: u64) -> u64 {
    characters / 4 + 1
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Code points of a turn as sent.
pub fn turn_size(sorted: &[u8]) -> u64 {
    length(&String::from_utf8_lossy(sorted))
}

impl Cost for TurnEstimate {
    fn context(&self, shown: &ShownMemory) -> u64 {
        if self.shows_nothing {
            return 1;
        }
        let of = |turns: u64, size: u64| size + 2 * turns.saturating_sub(1);
        let mut size = length(r#"{"recent_turns": []}"#) + of(shown.recent.turns, shown.recent.size);
        if shown.pending.turns > 0 {
            size += length(r#""pending_turns": [], "#) + of(shown.pending.turns, shown.pending.size);
        }
        if shown.summary > 0 {
            size += length(r#", "summary": "#) + shown.summary;
        }
        tokens(size)
    }

    fn summary_size(&self, summary: &str) -> u64 {
        if summary.is_empty() {
            return 0;
        }
        turn_size(&quoted(summary))
    }

    fn summary(&self, text: &str) -> u64 {
        tokens(length(text))
    }

    fn shorten(&self, summary: &str, most: u64) -> Option<String> {
        shorten(summary, most, &|text| self.summary(text))
    }
}

/// Shortens a summary to whole sentences and keeps its tags; if not one sentence fits, keeps its first words, so that
/// the summary is not lost completely.
pub fn shorten(summary: &str, most: u64, count: &dyn Fn(&str) -> u64) -> Option<String> {
    if let Ok(text) = summarize::shorten(summary, most, count) {
        return Some(text);
    }
    let (open, inside, close) = split_tags(summary);
    let written = |end: usize| format!("{open}{}\u{2026}{close}", inside[..end].trim_end());
    let ends: Vec<usize> = inside.char_indices().map(|(at, _)| at).skip(1).collect();
    // The size grows with the length, so binary search finds the longest beginning that fits.
    let fitting = ends.partition_point(|end| count(&written(*end)) <= most);
    let end = *ends.get(fitting.checked_sub(1)?)?;
    let words = inside[..end]
        .rfind(char::is_whitespace)
        .filter(|at| *at * 2 > end);
    let text = written(words.unwrap_or(end));
    (count(&text) <= most).then_some(text)
}

/// Splits a text into its opening tag, content and closing tag.
fn split_tags(summary: &str) -> (&str, &str, &str) {
    let inside = summary
        .strip_prefix('<')
        .and_then(|rest| Some((rest.find('>')? + 2, rest)))
        .zip(summary.strip_suffix('>').and_then(|rest| rest.rfind("</")));
    match inside {
        Some(((open, _), close)) if open <= close => {
            (&summary[..open], summary[open..close].trim(), &summary[close..])
        }
        _ => ("", summary.trim(), ""),
    }
}
