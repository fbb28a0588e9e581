//! Describes the lines of a log for reports: what PicoClaw reads of each, and what other lines contain.

use super::line::MessageLine as Message;
use super::member::ParseRules;
use super::raw::lines;
use crate::error::Position;
use crate::model::json::{self, Dialect};

/// A line that PicoClaw counts.
#[derive(Debug)]
pub struct CountedLine {
    /// Its position.
    pub place: Position,
    /// Its size in bytes, without its ending.
    pub size: usize,
    /// Whether it starts with a byte order mark.
    pub mark: bool,
    /// What PicoClaw reads, or why it rejects the line.
    pub reading: Result<LineTraits, &'static str>,
    /// Number of complete messages in a rejected line.
    pub records: usize,
}

/// The relevant properties of a message.
#[derive(Debug)]
pub struct LineTraits {
    /// Whether PicoClaw never shows it.
    pub thought_only: bool,
    /// Ids of its calls.
    pub calls: Vec<String>,
    /// Id of the call that it answers.
    pub answers: Option<String>,
}

/// Iterates over the lines of a log.
pub fn counted_lines(bytes: &[u8]) -> impl Iterator<Item = CountedLine> + '_ {
    lines(bytes).map(|raw| {
        let reading = Message::read(raw.text, ParseRules::Log);
        let records = if reading.is_err() {
            complete_messages(raw.text)
                .filter(|(_, is_record)| *is_record)
                .count()
        } else {
            0
        };
        let text = |raw: Option<&[u8]>| {
            let text = raw.and_then(json::text)?.into_owned();
            (!text.is_empty()).then_some(text)
        };
        CountedLine {
            place: raw.place,
            size: raw.text.len() + raw.bom,
            mark: raw.bom > 0,
            reading: reading.map_err(|fault| fault.what).map(|message| LineTraits {
                thought_only: message.is_reasoning_only(),
                calls: message.calls.iter().filter_map(|call| text(call.id)).collect(),
                answers: text(message.tool_call_id),
            }),
            records,
        }
    })
}

/// Splits a rejected line into complete messages and other bytes. Objects inside a complete value are not split off.
fn complete_messages(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let (mut start, mut at) = (0, 0);
    // Limit the total work, so that a line of object starts is not parsed to its end from each of them.
    let mut left = 16 * text.len() + 4096;
    let mut found = Vec::new();
    while let Some(next) = memchr::memchr(b'{', &text[at..]).map(|next| at + next) {
        match json::value_end(text, next, Dialect::Strict) {
            Ok(end) if is_record(&text[next..end]) => {
                found.push((&text[start..next], false));
                found.push((&text[next..end], true));
                (start, at) = (end, end);
            }
            Ok(end) => at = end,
            Err(fault) => {
                at = next + 1;
                match left.checked_sub(fault.offset.saturating_sub(next)) {
                    Some(rest) => left = rest,
                    None => break,
                }
            }
        }
    }
    found.push((&text[start..], false));
    found
        .into_iter()
        .filter(|(piece, _)| !piece.trim_ascii().is_empty())
}

/// Whether this is a message with a role, not an object inside one.
fn is_record(object: &[u8]) -> bool {
    json::member(object, "role").is_some() && Message::read(object, ParseRules::Log).is_ok()
}

/// The log with every complete message on its own line, without byte order marks, and with a final newline. The first
/// `skip` lines are unchanged.
pub fn repaired_log(bytes: &[u8], skip: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for (raw, nth) in lines(bytes).zip(1..) {
        let whole = &raw.full[raw.bom..];
        let inside = nth <= skip || Message::read(raw.text, ParseRules::Log).is_ok();
        let parts: Vec<_> = if inside {
            Vec::new()
        } else {
            complete_messages(raw.text).collect()
        };
        if parts.iter().any(|(_, is_record)| *is_record) {
            for (part, _) in parts {
                out.extend_from_slice(part);
                out.push(b'\n');
            }
        } else {
            out.extend_from_slice(whole);
            if !whole.ends_with(b"\n") {
                out.push(b'\n');
            }
        }
    }
    out
}
