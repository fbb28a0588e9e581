//! What is chosen from: messages, sentences of long ones, and the entries of an earlier summary.

use super::Source;
use super::dates;
use super::entry::{Entry, Part};
use super::frame::speaker;
use super::handoff::GAP;
use super::sentences::ranges;
use std::ops::Range;

/// Most tokens of a text that is one unit, where there is room for much of it, and where there is not.
const LONGEST: (u64, u64) = (160, 48);

/// Fewest words of a sentence that is a unit of its own.
const WORDS: usize = 5;

/// Most tokens of a text that is one unit, where a summary of so many covers so many: where little can be kept it is sentences
/// that are chosen, for whole messages would be too few.
pub(super) fn longest(budget: u64, covered: u64) -> u64 {
    match budget.saturating_mul(3) < covered {
        true => LONGEST.1,
        false => LONGEST.0.min((budget / 10).max(LONGEST.1)),
    }
}

/// One thing to keep or leave out.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Index of the source, or none for a line of an earlier summary.
    pub source: Option<usize>,
    /// What is said, word for word.
    pub entry: Entry,
}

impl Unit {
    /// What is said, without who says it.
    pub fn text(&self) -> &str {
        &self.entry.text
    }
}

/// The units, oldest first: the earlier summary's, then the messages'.
pub(super) fn units(
    sources: &[Source<'_>],
    earlier: Vec<Entry>,
    longest: u64,
    count: &dyn Fn(&str) -> u64,
) -> Vec<Unit> {
    // A token has a byte at least: what is short is not counted.
    let pieces = |text: &str| match text.len() as u64 > longest && count(text) > longest {
        true => pieces(text),
        false => vec![(0..text.len(), false)],
    };
    let mut units: Vec<Unit> = Vec::new();
    for (number, mut entry) in earlier.into_iter().enumerate() {
        if let Some(day) = entry.day {
            entry.text = dates::unmark(&entry.text, day);
        }
        for (nth, (range, begins_line)) in pieces(&entry.text).into_iter().enumerate() {
            let text = entry.text[range].trim_start_matches(GAP.trim()).trim();
            if text.is_empty() {
                continue;
            }
            units.push(Unit {
                source: None,
                entry: Entry {
                    text: text.to_string(),
                    part: Some(Part {
                        of: number as u32,
                        nth: nth as u32,
                        begins_line,
                    }),
                    ..entry.clone()
                },
            });
        }
    }
    let known = units.len();
    for (index, source) in sources.iter().enumerate() {
        let text = source.text.trim();
        if text.is_empty() {
            continue;
        }
        let day = source.timestamp.and_then(dates::day);
        let speaker = speaker(source.role, source.tool.as_deref());
        units.extend(
            pieces(text)
                .into_iter()
                .enumerate()
                .map(|(nth, (range, begins_line))| Unit {
                    source: Some(index),
                    entry: Entry {
                        role: Some(source.role),
                        speaker: speaker.clone(),
                        text: text[range].to_string(),
                        day,
                        part: Some(Part {
                            of: (known + index) as u32,
                            nth: nth as u32,
                            begins_line,
                        }),
                    },
                }),
        );
    }
    units
}

/// The sentences of a text, and whether each begins a line. Code between fences and tables are one each, and a few words go with
/// the sentence before them.
fn pieces(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut found: Vec<(Range<usize>, bool)> = Vec::new();
    let (mut fenced, mut table) = (false, false);
    for range in ranges(text) {
        let sentence = &text[range.clone()];
        let begins_line = text[..range.start].trim_end_matches([' ', '\t']).ends_with('\n');
        let fence = sentence.starts_with("```");
        let goes_on = fenced
            || table && sentence.starts_with('|')
            || sentence.split_whitespace().nth(WORDS - 1).is_none() && !fence && !sentence.starts_with('|');
        if fence {
            fenced = !fenced;
        }
        table = begins_line && sentence.starts_with('|') || table && !begins_line;
        match found.last_mut().filter(|_| goes_on) {
            Some((before, _)) => before.end = range.end,
            None => found.push((range, begins_line)),
        }
    }
    found
}
