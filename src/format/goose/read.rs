//! Documents and lines as sessions.

use super::NAME;
use super::element::Element;
use super::held::{Held, Layout};
use super::record;
use crate::error::{Error, Kind, Place, Result};
use crate::format::content;
use crate::format::exported::Listing;
use crate::format::grouped::Ids;
use crate::format::native::{self, HeaderBuilder};
use crate::format::pieces::{Piece, Pieces};
use crate::format::report::Report;
use crate::format::request::piece::{array, quoted};
use crate::format::values::{Value, Values};
use crate::format::workspace::Workspace;
use crate::format::{Format, Input, SessionReader, Source};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::origin::Origin;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::{key, summary, time};
use std::sync::Arc;

/// Opens an input of sessions, as a rule one.
pub fn open(mut input: Input) -> Result<Box<dyn SessionReader>> {
    let lines = is_lines(&mut input)?;
    Ok(Box::new(Sessions {
        name: input.name.clone(),
        returns: input.returns,
        cut: match lines {
            true => Cut::Lines(Pieces::new(input)),
            false => Cut::Values(Values::new(input)),
        },
        read: 0,
        tail: Vec::new(),
    }))
}

/// Whether an input is lines: its first one is a value of its own, and no document.
fn is_lines(input: &mut Input) -> Result<bool> {
    use std::io::Read;
    loop {
        let head = input.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.head);
        let start = json::skip_space(head, 0);
        let end = memchr::memchr(b'\n', &head[start..]).map(|at| start + at);
        if head.get(start).is_some_and(|byte| *byte != b'{') {
            return Ok(head[start] != b'[');
        }
        if let Some(end) = end {
            return Ok(is_line(&head[start..end]));
        }
        let before = input.head.len();
        let more = input.rest.by_ref().take(before.max(64 * 1024) as u64);
        let read = { more }.read_to_end(&mut input.head);
        if read.map_err(|error| Error::io("cannot read", error))? == 0 {
            let head = input.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.head);
            return Ok(is_line(head.trim_ascii()));
        }
    }
}

fn is_line(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    is_object(line) && json::member(line, "conversation").is_none()
}

fn is_object(text: &[u8]) -> bool {
    text.starts_with(b"{")
        && json::value_end(text, 0, Dialect::Strict) == Ok(text.len())
        && std::str::from_utf8(text).is_ok()
}

/// Whether a line tells of a session: it begins one.
fn begins(line: &[u8]) -> bool {
    let has = |name| json::member(line, name).is_some();
    has("working_dir") && has("message_count") && !has("role")
}

enum Cut {
    Lines(Pieces),
    Values(Values),
}

struct Sessions {
    cut: Cut,
    name: Option<String>,
    returns: bool,
    /// Sessions that were read.
    read: usize,
    /// What stands behind the last one and is none.
    tail: Vec<u8>,
}

impl SessionReader for Sessions {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let name = self.name.as_deref();
        loop {
            let (mut session, bytes, lead) = match &mut self.cut {
                Cut::Lines(pieces) => {
                    let Some(piece) = pieces.next(begins)? else {
                        return Ok(None);
                    };
                    let (session, _) = lines(name, self.read, &piece, report);
                    (session, piece.bytes, Vec::new())
                }
                Cut::Values(values) => {
                    let Some(value) = values.next()? else {
                        return match self.read {
                            0 => Err(Error::new(Kind::Data, "contains no goose session")),
                            _ => Ok(None),
                        };
                    };
                    let lead = std::mem::take(&mut self.tail);
                    if let Some(strange) = value.strange {
                        report.damage(value.places().at(strange), "not valid JSON");
                    }
                    let Some((session, _)) = document(name, self.read, &value, report) else {
                        self.tail = [lead, value.bytes].concat();
                        continue;
                    };
                    (session, value.bytes, lead)
                }
            };
            self.read += 1;
            if self.returns {
                session.set_origin(Arc::new(Origin { lead, bytes }));
            }
            return Ok(Some(session));
        }
    }

    fn tail(&self) -> &[u8] {
        &self.tail
    }
}

/// The list of a document.
pub const LIST: &str = "conversation";

/// What an origin is when it is read again: the elements, and how they stand.
pub fn again(origin: &Origin) -> Option<(Held, Option<Value>)> {
    let input = || Input {
        name: None,
        head: origin.bytes.clone(),
        rest: Box::new(std::io::empty()),
        returns: false,
    };
    let mut report = Report::default();
    if is_lines(&mut input()).ok()? {
        let piece = Piece {
            bytes: origin.bytes.clone(),
            start: Place::default(),
        };
        return Some((lines(None, 0, &piece, &mut report).1, None));
    }
    let value = Values::new(input()).next().ok()??;
    let (_, held) = document(None, 0, &value, &mut report)?;
    Some((held, Some(value)))
}

/// Reads a document; none when it is none, which is told. `nth` counts the sessions before it.
fn document(name: Option<&str>, nth: usize, value: &Value, report: &mut Report) -> Option<(Session, Held)> {
    let bytes = &value.bytes;
    let listing = Listing::of(bytes, value.value.clone(), LIST);
    let mut places = value.places();
    let start = places.at(value.value.start);
    for (offset, what) in &listing.faults {
        report.damage(places.at(*offset), *what);
    }
    if !listing.has_list() {
        if !value.value.is_empty() && listing.faults.is_empty() {
            report.damage(start, "not a goose session: no conversation");
        }
        return None;
    }
    let raws: Vec<Vec<u8>> = listing
        .elements
        .iter()
        .map(|range| on_a_line(&bytes[range.clone()]))
        .collect();
    let mut about = ObjectBuilder::default();
    let whole = |raw: &[u8]| json::value_end(raw, 0, Dialect::Strict) == Ok(raw.len());
    for (name, value) in listing.members.iter().filter(|(_, raw)| whole(raw)) {
        about.raw(name, on_a_line(value));
    }
    let (about, layout) = match bytes[value.value.start] {
        b'[' => (None, Layout::List),
        _ => (Some(about.finish()), Layout::Document),
    };
    let mut reading = Reading::new(&raws);
    reading.header(name, nth, bytes, layout, about.as_deref());
    let mut places = value.places();
    for (nth, raw) in raws.iter().enumerate() {
        let place = places.at(listing.elements[nth].start);
        if let Some(element) = Element::of(raw) {
            report_unknown(&element, place, report);
            reading.message(nth, nth + 1, &element, place);
        } else {
            if listing.faults.is_empty() {
                report.damage(place, "not a message; kept unchanged");
            }
            reading.push(foreign(raw), place);
        }
    }
    Some(reading.finish(raws.clone()))
}

/// Reports a message of which no block is known.
fn report_unknown(element: &Element<'_>, place: Place, report: &mut Report) {
    let content = json::member(element.raw, "content").unwrap_or_default();
    if let Some(fault) = content::unknown_parts(content) {
        report.damage(place, fault);
    }
}

/// Reads lines.
fn lines(name: Option<&str>, nth: usize, piece: &Piece, report: &mut Report) -> (Session, Held) {
    let raws: Vec<&[u8]> = piece.bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let body = |raw: &[u8]| -> Vec<u8> {
        raw.strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(raw)
            .trim_ascii()
            .to_vec()
    };
    let bodies: Vec<Vec<u8>> = raws.iter().map(|raw| body(raw)).collect();
    let first = bodies.iter().position(|body| !body.is_empty());
    let first = first.filter(|first| begins(&bodies[*first]) && is_object(&bodies[*first]));
    let mut reading = Reading::new(&bodies);
    let about = first.map(|first| bodies[first].as_slice());
    reading.header(name, nth, &piece.bytes, Layout::Lines, about);
    let mut place = piece.start;
    let mut strange = Vec::new();
    for (nth, body) in bodies.iter().enumerate() {
        place.line += 1;
        let here = place;
        place.offset += raws[nth].len() as u64;
        if body.is_empty() || Some(nth) == first {
            continue;
        }
        if !is_object(body) {
            let record = Record::parse(raws[nth], here);
            if let crate::model::record::Kind::Unreadable(fault) = record.kind {
                let mut place = here;
                place.offset += fault.offset as u64;
                report.damage(place, fault.what);
            }
            reading.session.push_ended(raws[nth], here);
        } else if let Some(element) = Element::of(body) {
            report_unknown(&element, here, report);
            reading.message(nth, here.line as usize, &element, here);
        } else {
            strange.push(here);
            reading.push(foreign(body), here);
        }
    }
    report.strange(strange.into_iter(), "a goose session");
    reading.finish(bodies)
}

/// A value as it may stand in a line: as it is where it already does.
fn on_a_line(raw: &[u8]) -> Vec<u8> {
    match memchr::memchr2(b'\n', b'\r', raw) {
        None => raw.to_vec(),
        Some(_) => json::compact(raw).0,
    }
}

struct Reading {
    session: Session,
    held: Held,
    taken: Ids,
    /// The element that is the summary that is sent.
    summary: Option<usize>,
    /// Ids of messages that the model is not sent.
    hidden: Vec<Vec<u8>>,
    /// The newest time.
    time: Option<String>,
}

impl Reading {
    fn new(raws: &[Vec<u8>]) -> Reading {
        let is_summary = |raw: &Vec<u8>| {
            let element = Element::of(raw).filter(|element| !element.is_model && element.is_sent());
            element.is_some_and(|element| {
                element
                    .text()
                    .is_some_and(|text| summary::unquoted(&text).is_some())
            })
        };
        // Ids that are there are not given to those that have none.
        let mut taken = Ids::default();
        let ids = raws
            .iter()
            .filter_map(|raw| json::member(raw, "id").and_then(json::text));
        ids.for_each(|id| taken.keep(&id));
        Reading {
            session: Session::default(),
            held: Held::default(),
            taken,
            summary: raws.iter().rposition(is_summary),
            hidden: Vec::new(),
            time: None,
        }
    }

    fn push(&mut self, mut body: Vec<u8>, place: Place) -> usize {
        body.push(b'\n');
        self.session.push(&Record::parse(&body, place));
        self.session.len() - 1
    }

    /// The message that an element is; `number` makes an id for one that has none.
    fn message(&mut self, nth: usize, number: usize, element: &Element<'_>, place: Place) {
        self.time = element.time().or(self.time.take());
        if element.is_notice() {
            self.push(foreign(element.raw), place);
            return;
        }
        if self.summary == Some(nth) {
            let line = self.push(event(element), place);
            self.held.summary = Some((nth, line));
            return;
        }
        let id = match element.id() {
            Some(id) => self.taken.next(&id, true),
            None => self.taken.next(&format!("msg_{number}"), false),
        };
        for (id, body) in record::records(element, &id) {
            let line = self.push(body, place);
            self.held.elements.of.insert(line, nth);
            if !element.is_sent() {
                self.hidden.push(quoted(&id));
            }
        }
    }

    fn header(&mut self, name: Option<&str>, nth: usize, bytes: &[u8], layout: Layout, about: Option<&[u8]>) {
        let get = |name: &str| about.and_then(|about| json::member(about, name));
        let text = |name: &str| get(name).and_then(json::text).filter(|text| !text.is_empty());
        let source = Source {
            name,
            ..Source::alone(bytes)
        };
        let name = match (text("id"), name) {
            (Some(id), _) => id.into_owned(),
            (None, Some(name)) => {
                let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                match nth {
                    0 => stem.to_string(),
                    nth => format!("{stem}#{}", nth + 1),
                }
            }
            (None, None) => format!("session_{}", &key::sha256(bytes)[..16]),
        };
        let id = key::id_for_key(&name);
        let mut header = HeaderBuilder::default();
        let created = text("created_at").filter(|time| time::is_rfc3339(time));
        header
            .text("created_at", created.as_deref())
            .text("title", text("name").or(text("description")).as_deref())
            .text("key", (id != name).then_some(name.as_str()))
            .raw("source", native::source_member(Format::Goose, &source, &[]));
        let mut metadata = ObjectBuilder::default();
        let model = get("model_config").and_then(|config| json::member(config, "model_name"));
        Workspace::new(get("working_dir"), None, model).add_to(&mut metadata);
        let mut own = ObjectBuilder::default();
        own.text("form", layout.name());
        if let Some(about) = about {
            own.raw("session", about);
        }
        metadata.raw(NAME, own.finish());
        header.raw("metadata", metadata.finish());
        self.session.push_new(&header.finish(&id));
    }

    fn finish(mut self, raws: Vec<Vec<u8>>) -> (Session, Held) {
        if !self.hidden.is_empty() {
            let hidden = array(&self.hidden);
            let mut event = ObjectBuilder::default();
            event
                .text("type", "compact")
                .text("id", &format!("evt_{}", &key::sha256(&hidden)[..16]))
                .text("at", self.time.as_deref().unwrap_or("1970-01-01T00:00:00Z"))
                .text("strategy", NAME)
                .raw("drop", hidden);
            self.session.push_new(&event.finish());
        }
        self.held.elements.count = raws.len();
        self.held.raws = raws;
        (self.session, self.held)
    }
}

/// The event that a summary is again.
fn event(element: &Element<'_>) -> Vec<u8> {
    let text = element.text().and_then(|text| summary::unquoted(&text));
    let mut own = ObjectBuilder::default();
    own.raw("raw", element.raw);
    let mut metadata = ObjectBuilder::default();
    metadata.raw(NAME, own.finish());
    let mut event = ObjectBuilder::default();
    event
        .text("type", "summary")
        .text("id", &format!("evt_{}", &key::sha256(element.raw)[..16]))
        .text("at", element.time().as_deref().unwrap_or("1970-01-01T00:00:00Z"))
        .text("content", &text.unwrap_or_default())
        .text("as", "user")
        .raw("here", "true")
        .raw("metadata", metadata.finish());
    event.finish()
}

/// An element that no model is told of, carried along; one that is damaged as the text that it is.
fn foreign(raw: &[u8]) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event.text("type", "foreign").text("format", NAME);
    match json::value_end(raw, 0, Dialect::Strict) {
        Ok(end) if end == raw.len() => event.raw("raw", raw),
        _ => event.text("raw", &String::from_utf8_lossy(raw)),
    };
    event.finish()
}
