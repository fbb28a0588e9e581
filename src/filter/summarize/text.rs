//! The summary as text, written and read back.
//!
//! ```text
//! [summary of 42 messages, 2026-03-02..2026-04-18]
//! standing instructions:
//! - Please never call me, only write.
//! 2026-03-02:
//! user: The first line of a message,
//!   and the second.
//! ```
//!
//! Further lines of a text are indented by two spaces: nothing that somebody said can pass for a date, an
//! instruction or another speaker when the next summary is made from this one.

use super::{Dates, dates};
use crate::model::message::Role;
use jiff::civil::Date;

const INSTRUCTIONS: &str = "standing instructions:";

/// Stands where the day of what follows is not known, behind what has one.
const UNDATED: &str = "date unknown:";

/// What the first line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Messages that are summed up.
    pub messages: u64,
    /// Days of the oldest and the newest.
    pub days: Option<(Date, Date)>,
}

impl Head {
    /// The head of both, one after the other.
    pub fn and(self, later: Head) -> Head {
        Head {
            messages: self.messages.saturating_add(later.messages),
            days: match (self.days, later.days) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (one, other) => one.or(other),
            },
        }
    }

    fn write(&self) -> String {
        let messages = match self.messages {
            1 => "1 message".to_string(),
            several => format!("{several} messages"),
        };
        match self.days {
            Some((first, last)) if first == last => format!("[summary of {messages}, {first}]\n"),
            Some((first, last)) => format!("[summary of {messages}, {first}..{last}]\n"),
            None => format!("[summary of {messages}]\n"),
        }
    }

    fn read(line: &str) -> Option<Head> {
        let inside = line.strip_prefix("[summary of ")?.strip_suffix(']')?;
        let (messages, days) = inside
            .split_once(", ")
            .map_or((inside, None), |(m, d)| (m, Some(d)));
        let (number, word) = messages.split_once(' ')?;
        let days = match days {
            Some(days) => {
                let (first, last) = days.split_once("..").unwrap_or((days, days));
                Some((dates::day(first)?, dates::day(last)?))
            }
            None => None,
        };
        Some(Head {
            messages: number.parse().ok().filter(|_| word.starts_with("message"))?,
            days,
        })
    }
}

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
    pub instructions: Vec<String>,
    pub entries: Vec<Entry>,
}

/// The beginning: what is summed up, and the standing instructions.
pub(super) fn beginning(head: &Head, instructions: &[String]) -> String {
    let mut out = head.write();
    if !instructions.is_empty() {
        out.push_str(&instruction_block(instructions));
    }
    out
}

/// The block of standing instructions.
pub(in crate::filter) fn instruction_block(instructions: &[String]) -> String {
    let lines = instructions
        .iter()
        .map(|instruction| instruction_line(instruction));
    [format!("{INSTRUCTIONS}\n")].into_iter().chain(lines).collect()
}

/// A summary without its block of standing instructions.
pub(in crate::filter) fn without_instructions(summary: &str) -> String {
    let mut rest = summary;
    let mut out = String::with_capacity(summary.len());
    if summary
        .lines()
        .next()
        .is_some_and(|line| Head::read(line).is_some())
    {
        let end = summary.find('\n').map_or(summary.len(), |at| at + 1);
        out.push_str(&summary[..end]);
        rest = &summary[end..];
    }
    let Some(block) = rest
        .strip_prefix(INSTRUCTIONS)
        .and_then(|rest| rest.strip_prefix('\n'))
    else {
        return summary.to_string();
    };
    let inside = |line: &&str| line.starts_with("- ") || line.starts_with("  ");
    let length: usize = block.split_inclusive('\n').take_while(inside).map(str::len).sum();
    out.push_str(block[length..].trim_start_matches('\n'));
    out
}

/// A standing instruction in its block.
pub(super) fn instruction_line(instruction: &str) -> String {
    let mut line = String::new();
    write_lines(&mut line, "- ", instruction);
    line
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

/// Takes an earlier summary apart, ours or another's: in one that is not ours every line is an entry.
pub(super) fn read(summary: &str) -> Earlier {
    let mut earlier = Earlier::default();
    let mut lines = summary.trim_matches('\n').split('\n').peekable();
    let ours = lines.peek().and_then(|line| Head::read(line));
    if let Some(head) = ours {
        earlier.head = head;
        lines.next();
    }
    let (mut day, mut in_block) = (None, false);
    for (gap, line) in joined(lines, ours.is_some()) {
        in_block &= !gap;
        if line == INSTRUCTIONS && earlier.instructions.is_empty() && earlier.entries.is_empty() {
            in_block = true;
        } else if let Some(rest) = line.strip_prefix("- ").filter(|_| in_block) {
            earlier.instructions.push(rest.to_string());
        } else if let Some(new) = day_line(&line) {
            (day, in_block) = (new, false);
        } else if !line.trim().is_empty() {
            in_block = false;
            // Trimmed, since an indented line would be taken for a further one next time.
            earlier.entries.push(entry(line.trim_start(), day));
        }
    }
    earlier
}

/// The lines with their further lines, and whether an empty one stands before.
fn joined<'l>(lines: impl Iterator<Item = &'l str>, indented: bool) -> Vec<(bool, String)> {
    let mut found: Vec<(bool, String)> = Vec::new();
    // Empty lines belong to a text when an indented one follows.
    let mut empty = 0;
    for line in lines {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        let gap = std::mem::take(&mut empty);
        match (line.strip_prefix("  ").filter(|_| indented), found.last_mut()) {
            (Some(rest), Some((_, text))) => {
                text.push_str(&"\n".repeat(gap + 1));
                text.push_str(rest);
            }
            _ => found.push((gap > 0, line.to_string())),
        }
    }
    found
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

/// What stands before what this role says, and whose result a tool's is.
pub(super) fn speaker(role: Role, tool: Option<&str>) -> String {
    let name = match role {
        Role::Other => "other",
        known => known.name(),
    };
    match tool.filter(|tool| role == Role::Tool && is_plain(tool)) {
        Some(tool) => format!("{name} {tool}: "),
        None => format!("{name}: "),
    }
}

/// Whether a tool's name can stand in a line without being taken for something else.
fn is_plain(name: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    (1..=64).contains(&name.len()) && name.bytes().all(known)
}

fn role_of(speaker: &str) -> Option<Role> {
    match speaker {
        "other" => Some(Role::Other),
        name => match name.strip_prefix("tool ") {
            Some(tool) => is_plain(tool).then_some(Role::Tool),
            None => Some(Role::from_name(name)).filter(|role| *role != Role::Other),
        },
    }
}
