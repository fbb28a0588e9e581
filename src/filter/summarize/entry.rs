//! One thing that was said, as a line of a summary.

use super::frame::role_of;
use crate::model::message::Role;
use jiff::civil::Date;
use std::borrow::Cow;

/// Counts tokens, on any core.
pub type Count<'c> = &'c (dyn Fn(&str) -> u64 + Sync);

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// Who speaks; none where an earlier summary does not say.
    pub role: Option<Role>,
    /// What stands before the text: `user: `, `tool read_file: `, or nothing.
    pub speaker: Cow<'a, str>,
    pub text: Cow<'a, str>,
    pub day: Option<Date>,
    /// Which part of what was said it is.
    pub part: Option<Part>,
}

/// A sentence's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// What it is of.
    pub of: u32,
    /// Which of its sentences it is.
    pub nth: u32,
    /// Whether a line of it begins there.
    pub begins_line: bool,
}

impl Entry<'_> {
    /// Its line, without its day.
    pub fn line(&self) -> String {
        format!("{}{}", self.speaker, self.text)
    }
}

/// A text behind what marks its line; whatever a reader could take for the beginning of another line is indented, and empty lines
/// are left out.
pub(super) fn push_quoted(out: &mut String, before: &str, text: &str) {
    let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let lines = text
        .split(ends)
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    for (nth, line) in lines.enumerate() {
        out.push_str(if nth == 0 { before } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
}

/// A text with what stands before it; its further lines indented, empty ones left empty.
pub(super) fn write_lines(out: &mut String, before: &str, text: &str) {
    out.push_str(before);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 && !line.is_empty() {
            out.push_str("  ");
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Takes a line apart: who speaks, and what is said.
pub(super) fn entry(line: &str, day: Option<Date>) -> Entry<'static> {
    let (role, length) = match line.split_once(": ") {
        Some((speaker, text)) if !text.trim().is_empty() => (role_of(speaker), speaker.len() + 2),
        _ => (None, 0),
    };
    let (speaker, text) = line.split_at(if role.is_some() { length } else { 0 });
    Entry {
        role,
        speaker: Cow::Owned(speaker.to_string()),
        text: Cow::Owned(text.to_string()),
        day,
        part: None,
    }
}
