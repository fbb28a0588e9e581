//! Writes and parses the text of a summary.
//!
//! ```text
//! [summary of 42 messages, 2026-03-02..2026-04-18]
//! standing instructions, by speaker:
//! - user: Please never call me, only write.
//! 2026-03-02:
//! user: The first line of a message,
//!   and the second.
//! ```
//!
//! Further lines of a text are indented by two spaces, so that no quoted text can be parsed as a date, an instruction
//! or another speaker when the next summary is built from this one.

use super::block::{self, Instruction};
use super::entry::{QuotedText, SentencePosition, entry, write_lines};
use super::frame::{Head, joined, records, without_tag};
use super::handoff::{self, GAP, Heading, SessionFacts};
use super::{Dates, dates};
use jiff::civil::Date;

/// Heading of entries without a known day, after entries with one.
const UNDATED: &str = "date unknown:";

/// A parsed earlier summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Earlier {
    pub head: Head,
    pub instructions: Vec<Instruction>,
    pub entries: Vec<QuotedText<'static>>,
    pub facts: SessionFacts<'static>,
}

/// The beginning: the first line and the standing instructions.
pub(super) fn beginning(head: &Head, instructions: &[Instruction]) -> String {
    let mut out = head.write();
    if !instructions.is_empty() {
        out.push_str(&block::instruction_block(instructions));
    }
    out
}

/// Writes the whole text from entries whose dates are already added.
pub(super) fn write<'e>(
    beginning: &str,
    entries: impl Iterator<Item = QuotedText<'e>>,
    dates: Dates,
) -> String {
    let mut out = beginning.to_string();
    write_onto(&mut out, entries, dates, |_| {});
    out
}

/// Like [`write()`] onto a beginning; `take_lines` gets the text before each entry, and may take lines from its start.
pub(super) fn write_onto<'e>(
    out: &mut String,
    entries: impl Iterator<Item = QuotedText<'e>>,
    dates: Dates,
    mut take_lines: impl FnMut(&mut String),
) {
    let mut shown = None;
    let mut year = None;
    let mut any = false;
    let mut last: Option<SentencePosition> = None;
    for entry in entries {
        take_lines(out);
        let day = entry.day.filter(|_| dates != Dates::Off);
        let before = std::mem::replace(&mut last, entry.part);
        if let (Some(before), Some(part)) = (before, entry.part)
            && before.of == part.of
            && any
        {
            out.truncate(out.trim_end_matches('\n').len());
            let between = match (part.begins_line, part.nth == before.nth + 1) {
                (true, true) => "\n",
                (true, false) => "\n[...] ",
                (false, true) => " ",
                (false, false) => GAP,
            };
            // A sentence on its own line is indented.
            match between.strip_prefix('\n') {
                Some(between) => {
                    out.push_str("\n  ");
                    write_lines(out, between, &entry.text);
                }
                None => write_lines(out, between, &entry.text),
            }
            continue;
        }
        if day != shown {
            match day {
                // The year is written once.
                Some(day) if dates == Dates::Short && year == Some(day.year()) => {
                    out.push_str(&format!("{:02}-{:02}:\n", day.month(), day.day()));
                }
                Some(day) => out.push_str(&format!("{day}:\n")),
                None => out.push_str(&format!("{UNDATED}\n")),
            }
            year = day.map(|day| day.year()).or(year);
            shown = day;
        } else if !any && entry.speaker.is_empty() {
            // An empty line ends the instructions, so that an entry of unknown origin cannot become one.
            out.push('\n');
        }
        any = true;
        write_lines(out, &entry.speaker, &entry.text);
    }
    out.truncate(out.trim_end_matches('\n').len());
}

/// Parses an earlier summary. If another program wrote it, every line after the block is an entry.
pub(super) fn read(summary: &str) -> Earlier {
    let summary = without_tag(summary.trim_matches('\n'));
    let records = records(&summary).into_iter().map(record);
    records.reduce(Earlier::and).unwrap_or_default()
}

impl Earlier {
    /// Combines two consecutive records.
    fn and(mut self, later: Earlier) -> Earlier {
        self.instructions.extend(later.instructions);
        self.entries.extend(later.entries);
        Earlier {
            head: self.head.and(later.head),
            facts: self.facts.and(later.facts),
            ..self
        }
    }
}

fn record(summary: &str) -> Earlier {
    let mut earlier = Earlier::default();
    let mut rest = summary.trim_matches('\n');
    let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
    let ours = Head::read(first);
    if let Some(head) = ours {
        (earlier.head, rest) = (head, after);
    }
    if let Some((instructions, after)) = block::split(rest) {
        (earlier.instructions, rest) = (instructions, after);
    }
    let mut day = None;
    let mut year = None;
    let mut block = None;
    for (_, line) in joined(rest.split('\n'), ours.is_some()) {
        if ours.is_some()
            && let Some(heading) = Heading::from_name(&line)
        {
            block = Some(heading);
        } else if let Some(heading) = block {
            handoff::item(&mut earlier.facts, heading, &line);
        } else if let Some(new) = day_line(&line, year) {
            day = new;
            year = day.map(|day: Date| day.year()).or(year);
        } else if !line.trim().is_empty()
            && !block::is_heading(&line)
            && (ours.is_some() || !is_tag(line.trim()))
        {
            // Trimmed, because the next parse would take an indented line for a continuation line.
            earlier.entries.push(entry(line.trim_start(), day));
        }
    }
    earlier
}

/// Whether a line is only a tag, as other programs put around a summary.
fn is_tag(line: &str) -> bool {
    let name = line.strip_prefix('<').and_then(|line| line.strip_suffix('>'));
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    name.is_some_and(|name| !name.is_empty() && name.chars().all(belongs))
}

/// Parses a day line; without a year, the previous line's year applies.
fn day_line(line: &str, year: Option<i16>) -> Option<Option<Date>> {
    if line == UNDATED {
        return Some(None);
    }
    let text = line.strip_suffix(':')?;
    let day = match (text.len(), year) {
        (5, Some(year)) => dates::day(&format!("{year:04}-{text}")),
        (10, _) => dates::day(text),
        _ => None,
    };
    day.map(Some)
}
