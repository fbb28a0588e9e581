//! The summary as text, written and read back.
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
//! Further lines of a text are indented by two spaces: nothing that somebody said can pass for a date, an
//! instruction or another speaker when the next summary is made from this one.

use super::block::{self, Instruction};
use super::frame::{Head, joined, role_of};
use super::{Dates, dates};
use crate::model::message::Role;
use jiff::civil::Date;

/// Stands where the day of what follows is not known, behind what has one.
const UNDATED: &str = "date unknown:";

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Who speaks; none where an earlier summary does not say.
    pub role: Option<Role>,
    /// What stands before the text: `user: `, `tool read_file: `, or nothing.
    pub speaker: String,
    pub text: String,
    pub day: Option<Date>,
}

/// An earlier summary, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Earlier {
    pub head: Head,
    pub instructions: Vec<Instruction>,
    pub entries: Vec<Entry>,
}

/// The beginning: what is summed up, and the standing instructions.
pub(super) fn beginning(head: &Head, instructions: &[Instruction]) -> String {
    let mut out = head.write();
    if !instructions.is_empty() {
        out.push_str(&block::instruction_block(instructions));
    }
    out
}

/// The whole text, of these entries.
pub(super) fn write<'e>(beginning: &str, entries: impl Iterator<Item = &'e Entry>, dates: Dates) -> String {
    let mut out = beginning.to_string();
    let mut shown = None;
    let mut any = false;
    for entry in entries {
        let day = entry.day.filter(|_| dates != Dates::Off);
        if day != shown {
            match day {
                Some(day) => out.push_str(&format!("{day}:\n")),
                None => out.push_str(&format!("{UNDATED}\n")),
            }
            shown = day;
        } else if !any && entry.speaker.is_empty() {
            // Ends the block of instructions: a line of unknown origin must not become one.
            out.push('\n');
        }
        any = true;
        match day {
            Some(day) => write_lines(&mut out, &entry.speaker, &dates::mark(&entry.text, day, dates)),
            None => write_lines(&mut out, &entry.speaker, &entry.text),
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

/// A text with what stands before it; its further lines indented, empty ones left empty.
fn write_lines(out: &mut String, before: &str, text: &str) {
    out.push_str(before);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 && !line.is_empty() {
            out.push_str("  ");
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Takes an earlier summary apart, ours or another's: in one that is not ours every line behind the block is an entry.
pub(super) fn read(summary: &str) -> Earlier {
    let mut earlier = Earlier::default();
    let mut rest = summary.trim_matches('\n');
    let (first, behind) = rest.split_once('\n').unwrap_or((rest, ""));
    let ours = Head::read(first);
    if let Some(head) = ours {
        (earlier.head, rest) = (head, behind);
    }
    if let Some((instructions, behind)) = block::split(rest) {
        (earlier.instructions, rest) = (instructions, behind);
    }
    let mut day = None;
    for (_, line) in joined(rest.split('\n'), ours.is_some()) {
        if let Some(new) = day_line(&line) {
            day = new;
        } else if !line.trim().is_empty() && !block::is_heading(&line) {
            // Trimmed, since an indented line would be taken for a further one next time.
            earlier.entries.push(entry(line.trim_start(), day));
        }
    }
    earlier
}

fn day_line(line: &str) -> Option<Option<Date>> {
    if line == UNDATED {
        return Some(None);
    }
    line.strip_suffix(':')
        .and_then(|day| dates::day(day).filter(|_| day.len() == 10))
        .map(Some)
}

fn entry(line: &str, day: Option<Date>) -> Entry {
    let (role, length) = match line.split_once(": ") {
        Some((speaker, text)) if !text.trim().is_empty() => (role_of(speaker), speaker.len() + 2),
        _ => (None, 0),
    };
    let (speaker, text) = line.split_at(if role.is_some() { length } else { 0 });
    Entry {
        role,
        speaker: speaker.to_string(),
        text: text.to_string(),
        day,
    }
}
