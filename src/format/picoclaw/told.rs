//! What is to be told of the lines of a log: which of them PicoClaw reads, and what others hold.

use super::line::Line as Message;
use super::member::Rules;
use super::raw::lines;
use crate::error::Place;
use crate::model::json::{self, Dialect};

/// One line that PicoClaw counts.
#[derive(Debug)]
pub struct Line {
    /// Where it begins.
    pub place: Place,
    /// Its bytes, without its ending.
    pub size: usize,
    /// Whether it begins with a byte order mark.
    pub mark: bool,
    /// What PicoClaw reads of it, or why nothing.
    pub reading: Result<Said, &'static str>,
    /// How many whole messages a line holds that is none.
    pub records: usize,
}

/// A message, as far as it matters here.
#[derive(Debug)]
pub struct Said {
    /// Whether PicoClaw never shows it.
    pub thought_only: bool,
    /// The ids of its calls.
    pub calls: Vec<String>,
    /// The call that it answers.
    pub answers: Option<String>,
}

/// The lines of a log, one after another.
pub fn told_lines(bytes: &[u8]) -> impl Iterator<Item = Line> + '_ {
    lines(bytes).map(|raw| {
        let reading = Message::read(raw.text, Rules::Log);
        let records = if reading.is_err() {
            pieces(raw.text).filter(|(_, is_record)| *is_record).count()
        } else {
            0
        };
        let text = |raw: Option<&[u8]>| {
            let text = raw.and_then(json::text)?.into_owned();
            (!text.is_empty()).then_some(text)
        };
        Line {
            place: raw.place,
            size: raw.text.len() + raw.bom,
            mark: raw.bom > 0,
            reading: reading.map_err(|fault| fault.what).map(|message| Said {
                thought_only: message.is_thought_only(),
                calls: message.calls.iter().filter_map(|call| text(call.id)).collect(),
                answers: text(message.tool_call_id),
            }),
            records,
        }
    })
}

/// The parts of a line that is no message: whole messages, and what lies between them. What is in a value that is whole
/// belongs to it.
fn pieces(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let (mut start, mut at) = (0, 0);
    // A line of nothing but beginnings is not read to its end from each of them.
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

/// Whether this is a message, and not an object in one: it says who speaks.
fn is_record(object: &[u8]) -> bool {
    json::member(object, "role").is_some() && Message::read(object, Rules::Log).is_ok()
}

/// The log with every whole message on a line of its own, without a byte order mark, and with an end of its last line.
/// The first `skip` lines stay as they are.
pub fn mended(bytes: &[u8], skip: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for (raw, nth) in lines(bytes).zip(1..) {
        let whole = &raw.full[raw.bom..];
        let inside = nth <= skip || Message::read(raw.text, Rules::Log).is_ok();
        let parts: Vec<_> = if inside {
            Vec::new()
        } else {
            pieces(raw.text).collect()
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
