//! What is chosen from: messages, sentences of long ones, and the entries of an earlier summary.

use super::Source;
use super::dates;
use super::entry::{Count, Entry, Part};
use super::frame::speaker;
use super::handoff::GAP;
use super::sentences::ranges;
use crate::model::threads::{by_pieces, gathered};
use std::borrow::Cow;
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
pub(super) struct Unit<'a> {
    /// What is said, word for word.
    pub entry: Entry<'a>,
    /// Its cost.
    pub tokens: u64,
}

/// Tokens of a unit beyond those of its line, as of a message beyond those of its text.
pub(super) const OVERHEAD: u64 = 4;

impl Unit<'_> {
    /// What is said, without who says it.
    pub fn text(&self) -> &str {
        &self.entry.text
    }

    /// Index of the source behind so many lines of an earlier summary; none for one of these.
    pub fn source(&self, known: usize) -> Option<usize> {
        (self.entry.part?.of as usize).checked_sub(known)
    }
}

/// The units, oldest first: the earlier summary's, then the messages'.
pub(super) fn units<'a>(
    sources: &'a [Source<'_>],
    earlier: Vec<Entry<'static>>,
    longest: u64,
    count: Count<'_>,
) -> Vec<Unit<'a>> {
    let known = earlier.len();
    let mut units: Vec<Unit<'a>> = Vec::new();
    for (number, mut entry) in earlier.into_iter().enumerate() {
        if let Some(day) = entry.day {
            entry.text = Cow::Owned(dates::unmark(&entry.text, day));
        }
        for (nth, (range, begins_line)) in pieces(&entry.text, None, longest, count).into_iter().enumerate() {
            let text = entry.text[range].trim_start_matches(GAP.trim()).trim();
            if text.is_empty() {
                continue;
            }
            let entry = Entry {
                text: Cow::Owned(text.to_string()),
                part: Some(Part {
                    of: number as u32,
                    nth: nth as u32,
                    begins_line,
                }),
                ..entry.clone()
            };
            units.push(Unit::new(entry, None, count));
        }
    }
    let bytes = sources.iter().map(|source| source.text.len()).sum();
    let of_sources = by_pieces(sources.len(), bytes, |range| {
        let mut units = Vec::with_capacity(range.len());
        for index in range {
            of_source((index, &sources[index]), known, longest, count, &mut units);
        }
        units
    });
    let of_sources = gathered(of_sources);
    if units.is_empty() {
        return of_sources;
    }
    units.extend(of_sources);
    units
}

/// The units of a message.
fn of_source<'a>(
    (index, source): (usize, &'a Source<'_>),
    known: usize,
    longest: u64,
    count: Count<'_>,
    units: &mut Vec<Unit<'a>>,
) {
    let text = source.text.trim();
    if text.is_empty() {
        return;
    }
    let day = source.timestamp.and_then(dates::day);
    let speaker = speaker(source.role, source.tool.as_deref());
    let pieces = pieces(text, source.tokens.map(u64::from), longest, count);
    for (nth, (range, begins_line)) in pieces.into_iter().enumerate() {
        // Of a part of a text whose tokens are known they are not counted again.
        let share = |tokens: u64| {
            let share = u128::from(tokens) * range.len() as u128;
            u64::try_from(share.div_ceil(text.len() as u128)).unwrap_or(tokens)
        };
        let tokens = source.tokens.map(|tokens| share(tokens.into()));
        let entry = Entry {
            role: Some(source.role),
            speaker: speaker.clone(),
            text: Cow::Borrowed(&text[range]),
            day,
            part: Some(Part {
                of: (known + index) as u32,
                nth: nth as u32,
                begins_line,
            }),
        };
        units.push(Unit::new(entry, tokens, count));
    }
}

/// Tokens of who speaks, at the beginning of a line.
const SPEAKER: u64 = 2;

impl<'a> Unit<'a> {
    /// One whose tokens are counted where they are not known.
    fn new(entry: Entry<'a>, tokens: Option<u64>, count: Count<'_>) -> Unit<'a> {
        // A further sentence needs no line of its own.
        let further = entry.part.is_some_and(|part| part.nth > 0);
        let tokens = match (further, tokens) {
            (true, tokens) => tokens.unwrap_or_else(|| count(&entry.text)) + OVERHEAD - 1,
            (false, Some(tokens)) => tokens + SPEAKER + OVERHEAD,
            (false, None) => count(&entry.line()) + OVERHEAD,
        };
        Unit { entry, tokens }
    }
}

/// The parts of a text that are units, and whether each begins a line. A token has a byte at least, and few have as many as eight:
/// neither what is short nor what is long is counted.
fn pieces(text: &str, tokens: Option<u64>, longest: u64, count: Count<'_>) -> Vec<(Range<usize>, bool)> {
    let bytes = text.len() as u64;
    let is_long = || tokens.unwrap_or_else(|| count(text)) > longest;
    match bytes > longest && (bytes > longest * 8 || is_long()) {
        true => sentences(text),
        false => vec![(0..text.len(), false)],
    }
}

/// The sentences of a text, and whether each begins a line. Code between fences and tables are one each, and a few words go with
/// the sentence before them.
fn sentences(text: &str) -> Vec<(Range<usize>, bool)> {
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
