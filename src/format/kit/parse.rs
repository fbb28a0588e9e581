//! The elements of an input of one session: of a document or of lines, damaged or not.

use super::codec::{Codec, Layout};
use super::frame::Frame;
use super::values::Value;
use crate::error::{Error, Place, Result};
use crate::format::Input;
use crate::format::report::Report;
use crate::model::json::{self, Dialect, ObjectBuilder};
use std::io::Read;

/// An input of one session.
pub struct Parsed<'a> {
    /// How its elements are stored.
    pub layout: Layout,
    /// The members next to the list, or the line that describes the session.
    pub about: Option<Vec<u8>>,
    /// The elements.
    pub parts: Vec<Part<'a>>,
    /// Whether damage was reported already.
    pub is_reported: bool,
}

/// An element.
pub struct Part<'a> {
    /// Its bytes on one line.
    pub raw: Vec<u8>,
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub state: State<'a>,
}

/// What an element is before it is decoded.
pub enum State<'a> {
    /// To be decoded.
    Element,
    /// An empty line, or the one that describes the session.
    Skipped,
    /// A line that is not an object.
    Damaged(&'a [u8]),
}

/// Whether an input is JSON Lines: its first line is an object of its own that the codec knows as a line.
pub fn is_lines<C: Codec>(codec: &C, input: &mut Input) -> Result<bool> {
    let is_line = |line: &[u8]| is_object(line.trim_ascii()) && codec.is_line(line.trim_ascii());
    if !C::LINES {
        return Ok(false);
    }
    loop {
        let head = input.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.head);
        let start = json::skip_space(head, 0);
        if head.get(start).is_some_and(|byte| *byte != b'{') {
            return Ok(head[start] != b'[');
        }
        if let Some(end) = memchr::memchr(b'\n', &head[start..]) {
            return Ok(is_line(&head[start..start + end]));
        }
        let before = input.head.len();
        let more = input.rest.by_ref().take(before.max(64 * 1024) as u64);
        let read = { more }.read_to_end(&mut input.head);
        if read.map_err(|error| Error::io("cannot read", error))? == 0 {
            return Ok(is_line(
                input.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.head),
            ));
        }
    }
}

fn is_object(text: &[u8]) -> bool {
    text.starts_with(b"{") && is_whole(text) && std::str::from_utf8(text).is_ok()
}

fn is_whole(raw: &[u8]) -> bool {
    json::value_end(raw, 0, Dialect::Strict) == Ok(raw.len())
}

/// The elements of a document; none of one without a list, which is reported.
pub fn document<C: Codec>(_: &C, value: &Value, report: &mut Report) -> Option<Parsed<'static>> {
    let bytes = &value.bytes;
    let frame = Frame::parse(bytes, value.value.clone(), C::LIST);
    let mut places = value.places();
    let start = places.at(value.value.start);
    for (offset, what) in &frame.faults {
        report.damage(places.at(*offset), *what);
    }
    if !frame.has_list() {
        if !value.value.is_empty() && frame.faults.is_empty() {
            report.damage(start, format!("not {}: no {}", C::WHAT, C::LIST));
        }
        return None;
    }
    let mut about = ObjectBuilder::default();
    for (name, value) in frame.members.iter().filter(|(_, raw)| is_whole(raw)) {
        about.raw(name, on_a_line(value));
    }
    let (about, layout) = match bytes[value.value.start] {
        b'[' => (None, Layout::List),
        _ => (Some(about.finish()), Layout::Document),
    };
    let mut places = value.places();
    let parts = frame.elements.iter().map(|range| Part {
        raw: on_a_line(&bytes[range.clone()]),
        place: places.at(range.start),
        state: State::Element,
    });
    Some(Parsed {
        layout,
        about,
        parts: parts.collect(),
        is_reported: !frame.faults.is_empty(),
    })
}

/// A value as it can be in a line: unchanged if it is on one.
fn on_a_line(raw: &[u8]) -> Vec<u8> {
    match memchr::memchr2(b'\n', b'\r', raw) {
        None => raw.to_vec(),
        Some(_) => json::compact(raw).0,
    }
}

/// The elements of lines.
pub fn lines<'a, C: Codec>(codec: &C, bytes: &'a [u8], start: Place) -> Parsed<'a> {
    let mut place = start;
    let mut about = None;
    let mut is_first = true;
    let parts = bytes.split_inclusive(|byte| *byte == b'\n').map(|full| {
        let body = full.strip_prefix(b"\xef\xbb\xbf").unwrap_or(full).trim_ascii();
        place.line += 1;
        let here = place;
        place.offset += full.len() as u64;
        let begins = is_first && !body.is_empty() && codec.begins(body) && is_object(body);
        is_first &= body.is_empty();
        if begins {
            about = Some(body.to_vec());
        }
        let state = match (begins || body.is_empty(), is_object(body)) {
            (true, _) => State::Skipped,
            (false, true) => State::Element,
            (false, false) => State::Damaged(full),
        };
        Part {
            raw: body.to_vec(),
            place: here,
            state,
        }
    });
    Parsed {
        layout: Layout::Lines,
        parts: parts.collect(),
        about,
        is_reported: false,
    }
}
