//! The line structure of a summary: the first line, continuation lines and speakers.

use super::dates;
use crate::model::message::Role;
use jiff::civil::Date;
use std::borrow::Cow;

/// The content of the first line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Number of summarized messages.
    pub messages: u64,
    /// The days of the oldest and the newest message.
    pub days: Option<(Date, Date)>,
}

impl Head {
    /// Combines two consecutive heads.
    pub fn and(self, later: Head) -> Head {
        Head {
            messages: self.messages.saturating_add(later.messages),
            days: match (self.days, later.days) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (one, other) => one.or(other),
            },
        }
    }

    pub fn write(&self) -> String {
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

    pub fn read(line: &str) -> Option<Head> {
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

/// A summary that this program wrote, without the lines of a tag in which another program stores summaries: `<tag>` before
/// the first record, and `</tag>` after it. Other summaries are unchanged.
pub(super) fn without_tag(summary: &str) -> Cow<'_, str> {
    let tagged = || {
        let (tag, rest) = summary.split_once('\n')?;
        let name = tag.strip_prefix('<')?.strip_suffix('>')?;
        Head::read(rest.lines().next()?)?;
        let end = format!("\n</{name}>");
        let (before, after) = rest.split_once(&end)?;
        (after.is_empty() || after.starts_with('\n')).then(|| format!("{before}{after}"))
    };
    tagged().map_or(Cow::Borrowed(summary), Cow::Owned)
}

/// Splits a summary into records, each beginning with its first line. A summary by another program is one record.
pub(super) fn records(summary: &str) -> Vec<&str> {
    let begins = |line: &str| Head::read(line.trim_end_matches('\n')).is_some();
    let mut starts = vec![0];
    if summary.split_inclusive('\n').next().is_some_and(begins) {
        let mut at = 0;
        for line in summary.split_inclusive('\n') {
            if at > 0 && begins(line) {
                starts.push(at);
            }
            at += line.len();
        }
    }
    let ends = starts.iter().skip(1).copied().chain([summary.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &summary[*start..end])
        .collect()
}

/// Joins lines with their continuation lines; the flag marks those after an empty line.
pub(super) fn joined<'l>(lines: impl Iterator<Item = &'l str>, indented: bool) -> Vec<(bool, String)> {
    let mut found: Vec<(bool, String)> = Vec::new();
    // Empty lines belong to a text if an indented line follows.
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

/// The line prefix of a role, with the tool's name for a tool result.
pub(super) fn speaker(role: Role, tool: Option<&str>) -> Cow<'static, str> {
    Cow::Borrowed(match (role, tool.filter(|tool| is_plain(tool))) {
        (Role::Tool, Some(tool)) => return Cow::Owned(format!("tool {tool}: ")),
        (Role::Tool, None) => "tool: ",
        (Role::User, _) => "user: ",
        (Role::Assistant, _) => "assistant: ",
        (Role::System, _) => "system: ",
        (Role::Developer, _) => "developer: ",
        (Role::Other, _) => "other: ",
    })
}

/// Whether a tool's name cannot be confused with other text of a line.
fn is_plain(name: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    (1..=64).contains(&name.len()) && name.bytes().all(known)
}

pub(super) fn role_of(speaker: &str) -> Option<Role> {
    match speaker {
        "other" => Some(Role::Other),
        name => match name.strip_prefix("tool ") {
            Some(tool) => is_plain(tool).then_some(Role::Tool),
            None => Some(Role::from_name(name)).filter(|role| *role != Role::Other),
        },
    }
}
