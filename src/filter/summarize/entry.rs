//! An entry of a summary: a quoted text as one line.

use super::frame::role_of;
use crate::model::message::Role;
use jiff::civil::Date;
use std::borrow::Cow;

/// Counts tokens; may run on any thread.
pub type CountFn<'c> = &'c (dyn Fn(&str) -> u64 + Sync);

/// A quoted text with its speaker and day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QuotedText<'a> {
    /// The role of the speaker; none if an earlier summary does not name it.
    pub role: Option<Role>,
    /// The prefix of the line: `user: `, `tool read_file: `, or nothing.
    pub speaker: Cow<'a, str>,
    pub text: Cow<'a, str>,
    pub day: Option<Date>,
    /// The position in the source, if the text is a part of it.
    pub part: Option<SentencePosition>,
}

/// The position of a sentence in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentencePosition {
    /// The number of the source.
    pub of: u32,
    /// The number of the sentence.
    pub nth: u32,
    /// Whether the sentence begins a line.
    pub begins_line: bool,
}

impl QuotedText<'_> {
    /// Formats the line, without its day.
    pub fn line(&self) -> String {
        format!("{}{}", self.speaker, self.text)
    }
}

/// Appends a text with a prefix. Further lines are indented, so that no text can imitate the beginning of another
/// entry; empty lines are dropped.
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

/// Appends a text with a prefix. Further lines are indented; empty lines are kept empty.
pub(super) fn write_lines(out: &mut String, before: &str, text: &str) {
    out.push_str(before);
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        out.push_str(&text[from..=end]);
        from = end + 1;
        if !text[from..].is_empty() && !text[from..].starts_with('\n') {
            out.push_str("  ");
        }
    }
    out.push_str(&text[from..]);
    out.push('\n');
}

/// Parses a line into speaker and text.
pub(super) fn entry(line: &str, day: Option<Date>) -> QuotedText<'static> {
    let (role, length) = match line.split_once(": ") {
        Some((speaker, text)) if !text.trim().is_empty() => (role_of(speaker), speaker.len() + 2),
        _ => (None, 0),
    };
    let (speaker, text) = line.split_at(if role.is_some() { length } else { 0 });
    QuotedText {
        role,
        speaker: Cow::Owned(speaker.to_string()),
        text: Cow::Owned(text.to_string()),
        day,
        part: None,
    }
}
