//! The units of a summary: messages, sentences of long messages, and entries of an earlier summary.

use super::dates::{self, Dates};
use super::entry::{CountFn, QuotedText, SentencePosition};
use super::frame::speaker;
use super::handoff::GAP;
use super::registered::RegisteredSentences;
use super::sentences::ranges;
use crate::model::json::{self, EscapedOffsets};
use crate::model::message::Role;
use crate::model::threads::{gathered, over_cores};
use jiff::civil::Date;
use std::borrow::Cow;
use std::ops::Range;

/// A message to summarize.
#[derive(Clone, Debug)]
pub struct SummarySource<'a> {
    /// Who speaks.
    pub role: Role,
    /// The tool of a tool result.
    pub tool: Option<Box<str>>,
    /// The day of its timestamp.
    pub day: Option<Date>,
    /// The text: without reasoning, media as placeholders, tool results with their middle elided.
    pub text: Cow<'a, str>,
    /// Whether `text` has the escapes of a JSON string, because many decoded texts take much memory.
    pub is_escaped: bool,
    /// Its tokens, if known.
    pub tokens: Option<u32>,
}

impl SummarySource<'_> {
    /// The decoded text.
    pub(crate) fn decoded(&self) -> Cow<'_, str> {
        match self.is_escaped {
            true => json::unescape(self.text.as_bytes()),
            false => Cow::Borrowed(&self.text),
        }
    }
}

/// Maximum tokens of a text that is one unit, with much room and with little.
const LONGEST: (u64, u64) = (160, 48);

/// Maximum bytes of a tool result in one line, which is not split.
const LINE: usize = 480;

/// Minimum words of a sentence that is its own unit.
const WORDS: usize = 5;

/// Maximum tokens of a text that is one unit, given the budget and the covered tokens. With little room, sentences
/// are selected, because only few whole messages would fit.
pub(super) fn longest(budget: u64, covered: u64) -> u64 {
    match budget.saturating_mul(3) < covered {
        true => LONGEST.1,
        false => LONGEST.0.min((budget / 10).max(LONGEST.1)),
    }
}

/// The units, oldest first: those of an earlier summary, then those of messages.
pub(super) struct Units<'a> {
    sources: &'a [SummarySource<'a>],
    earlier: Vec<QuotedText<'static>>,
    all: Vec<TextUnit>,
}

/// A text that is kept or omitted as a whole, verbatim. Kept small because there are many.
#[derive(Clone, Copy)]
struct TextUnit {
    /// Its source: an entry of the earlier summary or, with higher numbers, a message.
    of: u32,
    /// Its position in the text of the source, before escapes are decoded.
    start: u32,
    end: u32,
    /// Twice the number of the sentence, plus one if it begins a line.
    sentence: u32,
    /// Its cost in tokens.
    tokens: u32,
}

const _: () = assert!(size_of::<TextUnit>() <= 20, "there are many");

/// Overhead of a unit in tokens, as for a message.
pub(super) const OVERHEAD: u64 = 4;

/// Tokens of the speaker at the beginning of a line.
const SPEAKER: u64 = 2;

impl<'a> Units<'a> {
    pub fn of(
        sources: &'a [SummarySource<'a>],
        mut earlier: Vec<QuotedText<'static>>,
        longest: u64,
        registered: &RegisteredSentences<'_>,
        count: CountFn<'_>,
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
        units.all = gathered(known + sources.len(), bytes, |range| {
            let mut found = Vec::with_capacity(range.len());
            range.for_each(|of| units.of_one(of, longest, registered, count, &mut found));
            found
        });
        units
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The text without the speaker.
    pub fn text(&self, unit: usize) -> Cow<'_, str> {
        self.text_of(&self.all[unit])
    }

    fn text_of(&self, unit: &TextUnit) -> Cow<'_, str> {
        let of = unit.of as usize;
        let range = unit.start as usize..unit.end as usize;
        let Some(at) = of.checked_sub(self.earlier.len()) else {
            return Cow::Borrowed(&self.earlier[of].text[range]);
        };
        let source = &self.sources[at];
        let text = &source.text[range];
        match source.is_escaped && memchr::memchr(b'\\', text.as_bytes()).is_some() {
            true => json::unescape(text.as_bytes()),
            false => Cow::Borrowed(text),
        }
    }

    /// Bytes of the text before escapes are decoded.
    pub fn size(&self, unit: usize) -> usize {
        (self.all[unit].end - self.all[unit].start) as usize
    }

    /// The cost in tokens.
    pub fn tokens(&self, unit: usize) -> u64 {
        self.all[unit].tokens.into()
    }

    /// The number of the source; units of one message or entry share it.
    pub fn part_of(&self, unit: usize) -> usize {
        self.all[unit].of as usize
    }

    /// The speaker's role, if known.
    pub fn role(&self, unit: usize) -> Option<Role> {
        let of = self.part_of(unit);
        match self.earlier.get(of) {
            Some(entry) => entry.role,
            None => Some(self.sources[of - self.earlier.len()].role),
        }
    }

    /// Index of the source message; none for an earlier summary.
    pub fn source(&self, unit: usize) -> Option<usize> {
        self.part_of(unit).checked_sub(self.earlier.len())
    }

    /// Converts a unit to an entry.
    pub fn entry(&self, unit: usize) -> QuotedText<'_> {
        self.entry_with(unit, self.text(unit))
    }

    /// Converts a unit to an entry with another text.
    pub fn entry_with<'e>(&'e self, unit: usize, text: Cow<'e, str>) -> QuotedText<'e> {
        self.entry_of(&self.all[unit], text)
    }

    fn entry_of<'e>(&'e self, unit: &TextUnit, text: Cow<'e, str>) -> QuotedText<'e> {
        let of = unit.of as usize;
        let (role, speaker) = match self.earlier.get(of) {
            Some(entry) => (entry.role, Cow::Borrowed(&*entry.speaker)),
            None => {
                let source = &self.sources[of - self.earlier.len()];
                (Some(source.role), speaker(source.role, source.tool.as_deref()))
            }
        };
        QuotedText {
            role,
            speaker,
            text,
            day: self.day(of),
            part: Some(SentencePosition {
                of: unit.of,
                nth: unit.sentence >> 1,
                begins_line: unit.sentence & 1 == 1,
            }),
        }
    }

    /// The text with absolute dates.
    pub fn marked(&self, unit: usize, shape: Dates) -> Cow<'_, str> {
        let text = self.text(unit);
        match self.day(self.part_of(unit)).filter(|_| shape != Dates::Off) {
            Some(day) => match text {
                Cow::Borrowed(text) => dates::mark(text, day, shape),
                Cow::Owned(text) => Cow::Owned(dates::mark(&text, day, shape).into_owned()),
            },
            None => text,
        }
    }

    fn day(&self, of: usize) -> Option<Date> {
        match self.earlier.get(of) {
            Some(entry) => entry.day,
            None => self.sources[of - self.earlier.len()].day,
        }
    }

    /// Keeps the units whose text satisfies a condition.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool + Sync) {
        let bytes = (0..self.len()).map(|unit| self.size(unit)).sum();
        let mut kept = over_cores(self.len(), bytes, |unit| keep(&self.text(unit))).into_iter();
        self.all.retain(|_| kept.next().unwrap_or(true));
    }

    /// Splits a message or an entry into units.
    fn of_one(
        &self,
        of: usize,
        longest: u64,
        registered: &RegisteredSentences<'_>,
        count: CountFn<'_>,
        found: &mut Vec<TextUnit>,
    ) {
        let source = of.checked_sub(self.earlier.len()).map(|of| &self.sources[of]);
        let whole = match source {
            Some(source) => source.decoded(),
            None => Cow::Borrowed(&*self.earlier[of].text),
        };
        let whole = &*whole;
        let mut escapes = source
            .filter(|source| source.is_escaped)
            .map(|source| EscapedOffsets::of(source.text.as_bytes()));
        let text = source.map_or(whole, |_| whole.trim());
        let known = source.and_then(|source| source.tokens).map(u64::from);
        let is_line = |source: &SummarySource<'_>| {
            source.role == Role::Tool && text.len() <= LINE && !text.contains('\n')
        };
        let instructs = |source: &SummarySource<'_>| {
            matches!(source.role, Role::User | Role::System | Role::Developer)
                && registered.has_sentence_of(text)
        };
        let longest = match source {
            Some(source) if is_line(source) => u64::MAX,
            // The other sentences of a message with an instruction, which is quoted already.
            Some(source) if instructs(source) => 0,
            _ => longest,
        };
        let place = |part: &str| part.as_ptr() as usize - whole.as_ptr() as usize;
        let units = match longest {
            0 => units_apart(text, |sentence| registered.has(sentence)),
            _ => text_units(text, known, longest, count),
        };
        for (nth, (range, begins_line)) in units.into_iter().enumerate() {
            let mut part = &text[range];
            if source.is_none() {
                part = part.trim_start_matches(GAP.trim()).trim();
            }
            if part.is_empty() {
                continue;
            }
            let (mut start, mut end) = (place(part), place(part) + part.len());
            if let Some(escapes) = &mut escapes {
                (start, end) = (escapes.find(start), escapes.find(end));
            }
            let mut unit = TextUnit {
                of: of as u32,
                start: start as u32,
                end: end as u32,
                sentence: (nth as u32) << 1 | u32::from(begins_line),
                tokens: 0,
            };
            // Parts of a text with known tokens get a proportional share instead of a count.
            let share = |tokens: u64| {
                let share = u128::from(tokens) * part.len() as u128;
                u64::try_from(share.div_ceil(text.len() as u128)).unwrap_or(tokens)
            };
            // A further sentence of a line has no line overhead.
            let tokens = match (nth > 0, known.map(share)) {
                (true, tokens) => tokens.unwrap_or_else(|| count(part)) + OVERHEAD - 1,
                (false, Some(tokens)) => tokens + SPEAKER + OVERHEAD,
                (false, None) => count(&self.entry_of(&unit, self.text_of(&unit)).line()) + OVERHEAD,
            };
            unit.tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
            found.push(unit);
        }
    }
}

/// Splits a text into units; the flag marks those that begin a line. A token has at least one byte and rarely eight,
/// so short and long texts need no token count.
fn text_units(
    text: &str,
    tokens: Option<u64>,
    longest: u64,
    count: CountFn<'_>,
) -> Vec<(Range<usize>, bool)> {
    let bytes = text.len() as u64;
    let is_long = || tokens.unwrap_or_else(|| count(text)) > longest;
    match bytes > longest && (bytes > longest * 8 || is_long()) {
        true => sentence_units(text),
        false => vec![(0..text.len(), false)],
    }
}

/// Splits a text into sentences; the flag marks those that begin a line. Fenced code and tables are one unit each,
/// and very short sentences join the one before.
pub(in crate::filter) fn sentence_units(text: &str) -> Vec<(Range<usize>, bool)> {
    units_apart(text, |_| false)
}

/// Like `sentence_units`; a sentence that satisfies `is_apart` joins no other one.
fn units_apart(text: &str, is_apart: impl Fn(&str) -> bool) -> Vec<(Range<usize>, bool)> {
    let mut was_apart = false;
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
        let apart = !fenced && !table && is_apart(sentence);
        let joins = goes_on && !apart && !was_apart;
        was_apart = apart;
        match found.last_mut().filter(|_| joins) {
            Some((before, _)) => before.end = range.end,
            None => found.push((range, begins_line)),
        }
    }
    found
}
