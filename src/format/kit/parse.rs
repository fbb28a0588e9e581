//! Splits an input into elements: a document or lines, possibly damaged, of one session or of rows from several
//! sessions.

use super::any_codec::AnyCodec;
use super::codec::{Assembly, DocumentLayout};
use super::frame::Frame;
use super::part::{ElementPart, ElementState, Parsed};
use super::values::SplitValue;
use crate::error::{Error, Position, Result};
use crate::format::SessionInput;
use crate::format::json_entries::EntryLine;
use crate::format::report::Report;
use crate::model::json::{self, Dialect, ObjectBuilder, array};
use crate::model::record::without_mark;
use std::collections::HashMap;
use std::io::Read;

/// Whether an input is JSON Lines: its first line is an object that the codec recognizes as a line, or is damaged and
/// such a line follows.
pub fn is_lines(codec: &dyn AnyCodec, input: &mut SessionInput) -> Result<bool> {
    let is_line = |line: &[u8]| {
        let first = split_lines(codec, line)
            .first()
            .map_or(line, |first| first)
            .trim_ascii();
        is_object(first) && codec.is_line(first)
    };
    if !codec.constants().lines {
        return Ok(false);
    }
    loop {
        let head = without_mark(&input.head);
        let start = json::skip_space(head, 0);
        if head.get(start).is_some_and(|byte| *byte != b'{') {
            return Ok(head[start] != b'[');
        }
        let mut lines = head[start..].split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        if is_line(first) || (is_damaged(first) && lines.any(is_line)) {
            return Ok(true);
        }
        if first.ends_with(b"\n") && !is_damaged(first) {
            return Ok(false);
        }
        let before = input.head.len();
        // Do not search beyond this much damage.
        if first.ends_with(b"\n") && before > FARTHEST {
            return Ok(false);
        }
        let more = input.rest.by_ref().take(before.max(64 * 1024) as u64);
        let read = { more }.read_to_end(&mut input.head);
        if read.map_err(|error| Error::io("cannot read", error))? == 0 {
            return Ok(false);
        }
    }
}

/// How many bytes to search for a valid line after damaged ones.
const FARTHEST: usize = 1 << 20;

/// Whether a line is damaged, as opposed to the start of a multi-line value.
fn is_damaged(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    json::value_end(line, 0, Dialect::Python).is_err_and(|fault| fault.offset < line.len())
}

/// Whether a text is a JSON object in UTF-8.
pub fn is_object(text: &[u8]) -> bool {
    text.starts_with(b"{") && is_complete(text, Dialect::Strict) && std::str::from_utf8(text).is_ok()
}

fn is_complete(raw: &[u8], dialect: Dialect) -> bool {
    json::value_end(raw, 0, dialect) == Ok(raw.len())
}

/// The elements of a document; `None` if it has no list, which is reported.
pub fn document(codec: &dyn AnyCodec, value: &SplitValue, report: &mut Report) -> Option<Parsed> {
    let bytes = &value.bytes;
    let mut list = codec.list();
    let mut frame = Frame::parse(bytes, value.value.clone(), list);
    for other in codec.variants().into_iter().map(|codec| codec.list()) {
        if !frame.has_list() && other != list {
            list = other;
            frame = Frame::parse(bytes, value.value.clone(), list);
        }
    }
    let mut places = value.places();
    let start = places.at(value.value.start);
    for (offset, what) in &frame.faults {
        report.damage(places.at(*offset), *what);
    }
    let is_array = bytes.get(value.value.start) == Some(&b'[');
    // A single element is a list of one.
    let is_single = codec.constants().layout == DocumentLayout::List
        && !frame.has_list()
        && !is_array
        && frame.faults.is_empty();
    if is_single && !value.value.is_empty() {
        frame.elements.push(value.value.clone());
        frame.members.clear();
    } else if !frame.has_list() {
        if !value.value.is_empty() && frame.faults.is_empty() {
            report.damage(
                start,
                format!("not {}: no {}", codec.constants().phrase, codec.constants().list),
            );
        }
        return None;
    }
    let repairs = frame.is_python || std::str::from_utf8(&bytes[value.value.clone()]).is_err();
    let mut about = ObjectBuilder::default();
    for (name, raw) in &frame.members {
        if is_complete(raw, Dialect::Python) {
            about.raw(name, on_a_line(raw, repairs, start, report));
        }
    }
    let (about, layout) = match is_array || is_single {
        true => (None, DocumentLayout::List),
        false => (Some(about.finish()), DocumentLayout::Document),
    };
    let mut places = value.places();
    let parts = frame.elements.iter().enumerate().map(|(at, range)| {
        let place = places.at(range.start);
        ElementPart {
            at,
            size: 1,
            further: Vec::new(),
            raw: on_a_line(&bytes[range.clone()], repairs, place, report),
            row: None,
            place,
            state: ElementState::Element,
        }
    });
    let parts: Vec<ElementPart> = parts.collect();
    Some(Parsed {
        layout,
        list: Some(list),
        about,
        parts: if codec.constants().groups_elements {
            grouped(codec, parts)
        } else {
            parts
        },
        is_reported: !frame.faults.is_empty(),
        ..Parsed::default()
    })
}

/// Joins the elements of each group to an array.
fn grouped(codec: &dyn AnyCodec, parts: Vec<ElementPart>) -> Vec<ElementPart> {
    let places: Vec<Position> = parts.iter().map(|part| part.place).collect();
    let raws: Vec<Vec<u8>> = parts.into_iter().map(|part| part.raw).collect();
    let (mut groups, mut at) = (Vec::new(), 0);
    while at < raws.len() {
        let size = codec.group_length(&raws[at..]).clamp(1, raws.len() - at);
        groups.push(ElementPart {
            at: groups.len(),
            size,
            further: Vec::new(),
            raw: array(&raws[at..at + size]),
            row: None,
            place: places[at],
            state: ElementState::Element,
        });
        at += size;
    }
    groups
}

/// A value in record form: unchanged if it is on one line, in UTF-8 and without numbers that are invalid in JSON.
fn on_a_line(raw: &[u8], repairs: bool, place: Position, report: &mut Report) -> Vec<u8> {
    if repairs && is_complete(raw, Dialect::Python) {
        let line = EntryLine::of(raw);
        line.report(place, report);
        return line.bytes.into_owned();
    }
    match memchr::memchr2(b'\n', b'\r', raw) {
        None => raw.to_vec(),
        Some(_) => json::compact(raw).0,
    }
}

/// The lines of a log; several records on one line are returned as several lines.
pub fn split_lines<'b>(codec: &dyn AnyCodec, bytes: &'b [u8]) -> Vec<&'b [u8]> {
    let several_per_line = codec.constants().several_per_line;
    let mut lines = Vec::new();
    for mut line in bytes.split_inclusive(|byte| *byte == b'\n') {
        while several_per_line
            && let Ok(end) = json::value_end(line, json::skip_space(line, 0), Dialect::Strict)
            && line.get(json::skip_space(line, end)) == Some(&b'{')
        {
            lines.push(&line[..end]);
            line = &line[end..];
        }
        lines.push(line);
    }
    lines
}

/// The elements of lines.
pub fn lines(codec: &dyn AnyCodec, bytes: &[u8], start: Position, report: &mut Report) -> Parsed {
    if let Some(parsed) = codec.replay(bytes, start) {
        return parsed;
    }
    let mut place = start;
    let mut about = None;
    let (mut is_first, mut is_begun) = (true, false);
    let lines = split_lines(codec, bytes).into_iter().enumerate();
    let parts = lines.map(|(at, full)| {
        let body = without_mark(full).trim_ascii();
        if std::mem::replace(&mut is_begun, !full.ends_with(b"\n")) {
            report.note(place, "several records on one line; read as if each had its own");
        } else {
            place.line += 1;
        }
        let here = place;
        place.offset += full.len() as u64;
        let is_element = is_object(body);
        let begins = is_first && is_element && codec.begins(body);
        is_first &= body.is_empty();
        if begins {
            about = Some(body.to_vec());
        }
        let mut raw = body.to_vec();
        let state = match begins || body.is_empty() {
            true => ElementState::Skipped,
            false if is_element => ElementState::Element,
            false
                if body.starts_with(b"{")
                    && is_complete(body, Dialect::Python)
                    && std::str::from_utf8(body).is_ok() =>
            {
                raw = on_a_line(body, true, here, report);
                ElementState::Element
            }
            false => ElementState::Damaged(full.to_vec()),
        };
        ElementPart {
            at,
            size: 1,
            further: Vec::new(),
            raw,
            row: None,
            place: here,
            state,
        }
    });
    Parsed {
        layout: DocumentLayout::Lines,
        parts: parts.collect(),
        about,
        ..Parsed::default()
    }
}

/// Splits a log into the main session and its side sessions, and joins lines of the same message into one element.
fn assembled(parsed: Parsed, assembly: Assembly) -> Vec<Parsed> {
    let Parsed {
        layout,
        about,
        parts,
        is_reported,
        ..
    } = parsed;
    let sides = assembly.others.into_iter().enumerate();
    let sides = sides.map(|(nth, side)| Some((nth + 1, side)));
    let sessions = std::iter::once(None).chain(sides).map(|side| Parsed {
        layout,
        about: about.clone(),
        is_reported,
        side,
        ..Parsed::default()
    });
    let mut all: Vec<Parsed> = sessions.collect();
    let mut placed: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut session = 0;
    for (nth, part) in parts.into_iter().enumerate() {
        if matches!(part.state, ElementState::Element) {
            session = assembly.session.get(nth).copied().unwrap_or(0);
        }
        let first = assembly.first.get(nth).filter(|first| **first < nth);
        match first.and_then(|first| placed.get(first)) {
            Some((session, index)) => {
                let lead: &mut ElementPart = &mut all[*session].parts[*index];
                lead.further.push(part.at);
                if !lead.raw.starts_with(b"[") {
                    lead.raw = array([&lead.raw]);
                }
                lead.raw.pop();
                lead.raw.extend_from_slice(&[b",", &part.raw[..], b"]"].concat());
            }
            None => {
                placed.insert(nth, (session, all[session].parts.len()));
                all[session].parts.push(part);
            }
        }
    }
    all
}

/// The sessions of a log or of rows, in order of their first element; a single session for other elements.
pub fn by_session(codec: &dyn AnyCodec, parsed: Parsed) -> Vec<Parsed> {
    if parsed.layout == DocumentLayout::Lines {
        let is_element = |part: &ElementPart| matches!(part.state, ElementState::Element);
        let lines = parsed.parts.iter();
        let lines: Vec<&[u8]> = lines
            .map(|part| if is_element(part) { &part.raw[..] } else { b"" })
            .collect();
        if let Some(assembly) = codec.assemble(&lines) {
            return assembled(parsed, assembly);
        }
    }
    let Parsed {
        layout,
        list,
        about,
        parts,
        is_reported,
        ..
    } = parsed;
    let mut all: Vec<Parsed> = Vec::new();
    let mut known: HashMap<Option<String>, usize> = HashMap::new();
    let mut last = None;
    for mut part in parts {
        let mut row = None;
        if let ElementState::Element = part.state
            && let Some((session, element)) = codec.row(&part.raw)
        {
            row = Some(session);
            part.row = Some(std::mem::replace(&mut part.raw, element));
        }
        // A damaged line belongs to the session of the line before it.
        let is_element = matches!(part.state, ElementState::Element);
        let at = last.filter(|_| !is_element).unwrap_or_else(|| {
            *known.entry(row.clone()).or_insert_with(|| {
                all.push(Parsed {
                    layout,
                    list,
                    about: about.clone(),
                    is_reported,
                    row,
                    ..Parsed::default()
                });
                all.len() - 1
            })
        });
        last = Some(at);
        all[at].parts.push(part);
    }
    if all.is_empty() {
        all.push(Parsed {
            layout,
            list,
            about,
            is_reported,
            ..Parsed::default()
        });
    }
    all
}

/// The codec for the variant of the elements.
pub fn variant_of(codec: &'static dyn AnyCodec, parsed: &Parsed) -> &'static dyn AnyCodec {
    let is_element = |part: &&ElementPart| {
        matches!(part.state, ElementState::Element) && is_complete(&part.raw, Dialect::Strict)
    };
    let first = parsed.parts.iter().find(is_element).map(|part| &part.raw);
    let has_list = |codec: &dyn AnyCodec| parsed.list.is_none_or(|list| list == codec.list());
    let mut variants = codec.variants();
    variants.retain(|codec| has_list(*codec));
    let known = first.and_then(|raw| variants.iter().copied().find(|codec| codec.has_variant(raw)));
    known.unwrap_or_else(|| match has_list(codec) {
        true => codec,
        false => variants.first().copied().unwrap_or(codec),
    })
}
