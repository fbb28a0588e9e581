//! What is chosen from: messages, sentences of long ones, and the entries of an earlier summary.

use super::Source;
use super::dates::{self, Dates};
use super::entry::{Count, Entry, Part};
use super::frame::speaker;
use super::handoff::GAP;
use super::sentences::ranges;
use crate::model::message::Role;
use crate::model::threads::{by_pieces, gathered};
use jiff::civil::Date;
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

/// The things to keep or leave out, oldest first: those of an earlier summary, then those of messages.
pub(super) struct Units<'a> {
    sources: &'a [Source<'a>],
    earlier: Vec<Entry<'static>>,
    all: Vec<Unit>,
}

/// A text that is kept or left out as a whole, word for word. There are many of them.
#[derive(Clone, Copy)]
struct Unit {
    /// What it is of: an entry of the earlier summary, or behind these a message.
    of: u32,
    /// Where it lies in the text of that.
    start: u32,
    end: u32,
    /// Which of its sentences it is.
    nth: u32,
    /// Whether a line of it begins there.
    begins_line: bool,
    /// Its cost.
    tokens: u32,
}

/// Tokens of a unit beyond those of its line, as of a message beyond those of its text.
pub(super) const OVERHEAD: u64 = 4;

/// Tokens of who speaks, at the beginning of a line.
const SPEAKER: u64 = 2;

impl<'a> Units<'a> {
    pub fn of(
        sources: &'a [Source<'a>],
        mut earlier: Vec<Entry<'static>>,
        longest: u64,
        count: Count<'_>,
    ) -> Units<'a> {
        for entry in &mut earlier {
            if let Some(day) = entry.day {
                entry.text = Cow::Owned(dates::unmark(&entry.text, day));
            }
        }
        let known = earlier.len();
        let mut units = Units {
            sources,
            earlier,
            all: Vec::new(),
        };
        let bytes = sources.iter().map(|source| source.text.len()).sum();
        units.all = gathered(by_pieces(known + sources.len(), bytes, |range| {
            let mut found = Vec::with_capacity(range.len());
            range.for_each(|of| units.of_one(of, longest, count, &mut found));
            found
        }));
        units
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The text that a unit is of.
    fn whole(&self, of: usize) -> &str {
        match self.earlier.get(of) {
            Some(entry) => &entry.text,
            None => &self.sources[of - self.earlier.len()].text,
        }
    }

    /// What is said, without who says it.
    pub fn text(&self, unit: usize) -> &str {
        let unit = &self.all[unit];
        &self.whole(unit.of as usize)[unit.start as usize..unit.end as usize]
    }

    /// Its cost.
    pub fn tokens(&self, unit: usize) -> u64 {
        self.all[unit].tokens.into()
    }

    /// What it is of: units with the same are of one message, or one entry of the earlier summary.
    pub fn part_of(&self, unit: usize) -> usize {
        self.all[unit].of as usize
    }

    /// Who says it, where that is known.
    pub fn role(&self, unit: usize) -> Option<Role> {
        let of = self.part_of(unit);
        match self.earlier.get(of) {
            Some(entry) => entry.role,
            None => Some(self.sources[of - self.earlier.len()].role),
        }
    }

    /// Index of the source; none of an earlier summary.
    pub fn source(&self, unit: usize) -> Option<usize> {
        self.part_of(unit).checked_sub(self.earlier.len())
    }

    /// A unit as a line.
    pub fn entry(&self, unit: usize) -> Entry<'_> {
        self.entry_of(&self.all[unit])
    }

    fn entry_of(&self, unit: &Unit) -> Entry<'_> {
        let of = unit.of as usize;
        let (role, speaker) = match self.earlier.get(of) {
            Some(entry) => (entry.role, Cow::Borrowed(&*entry.speaker)),
            None => {
                let source = &self.sources[of - self.earlier.len()];
                (Some(source.role), speaker(source.role, source.tool.as_deref()))
            }
        };
        Entry {
            role,
            speaker,
            text: Cow::Borrowed(&self.whole(of)[unit.start as usize..unit.end as usize]),
            day: self.day(of),
            part: Some(Part {
                of: unit.of,
                nth: unit.nth,
                begins_line: unit.begins_line,
            }),
        }
    }

    /// What is said, its relative dates marked.
    pub fn marked(&self, unit: usize, shape: Dates) -> Cow<'_, str> {
        let text = self.text(unit);
        match self.day(self.part_of(unit)).filter(|_| shape != Dates::Off) {
            Some(day) => dates::mark(text, day, shape),
            None => Cow::Borrowed(text),
        }
    }

    fn day(&self, of: usize) -> Option<Date> {
        match self.earlier.get(of) {
            Some(entry) => entry.day,
            None => self.sources[of - self.earlier.len()]
                .timestamp
                .and_then(dates::day),
        }
    }

    /// Leaves out the units with other texts.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let mut kept: Vec<bool> = (0..self.len()).map(|unit| keep(self.text(unit))).collect();
        let mut kept = kept.drain(..);
        self.all.retain(|_| kept.next().unwrap_or(true));
    }

    /// The units of a message, or of an entry.
    fn of_one(&self, of: usize, longest: u64, count: Count<'_>, found: &mut Vec<Unit>) {
        let whole = self.whole(of);
        let source = of.checked_sub(self.earlier.len()).map(|of| &self.sources[of]);
        let text = source.map_or(whole, |_| whole.trim());
        let known = source.and_then(|source| source.tokens).map(u64::from);
        let place = |part: &str| part.as_ptr() as usize - whole.as_ptr() as usize;
        for (nth, (range, begins_line)) in pieces(text, known, longest, count).into_iter().enumerate() {
            let mut part = &text[range];
            if source.is_none() {
                part = part.trim_start_matches(GAP.trim()).trim();
            }
            if part.is_empty() {
                continue;
            }
            let mut unit = Unit {
                of: of as u32,
                start: place(part) as u32,
                end: (place(part) + part.len()) as u32,
                nth: nth as u32,
                begins_line,
                tokens: 0,
            };
            // Of a part of a text whose tokens are known they are not counted again.
            let share = |tokens: u64| {
                let share = u128::from(tokens) * part.len() as u128;
                u64::try_from(share.div_ceil(text.len() as u128)).unwrap_or(tokens)
            };
            // A further sentence needs no line of its own.
            let tokens = match (nth > 0, known.map(share)) {
                (true, tokens) => tokens.unwrap_or_else(|| count(part)) + OVERHEAD - 1,
                (false, Some(tokens)) => tokens + SPEAKER + OVERHEAD,
                (false, None) => count(&self.entry_of(&unit).line()) + OVERHEAD,
            };
            unit.tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
            found.push(unit);
        }
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
