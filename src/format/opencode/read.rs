//! A document as a session.

use super::NAME;
use super::compaction::{self, Part};
use super::element::{Element, rfc3339};
use super::held::{Compaction, Held};
use super::step;
use crate::error::{Error, Kind, Place, Result};
use crate::format::content;
use crate::format::exported::Listing;
use crate::format::grouped::Ids;
use crate::format::native::{self, HeaderBuilder};
use crate::format::report::Report;
use crate::format::request::piece::{array, quoted};
use crate::format::values::{Value, Values};
use crate::format::workspace::Workspace;
use crate::format::{Format, Input, SessionReader, Source};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::origin::Origin;
use crate::model::record::Record;
use crate::model::session::Session;
use std::sync::Arc;

/// Opens an input of documents, as a rule one.
pub fn open(input: Input) -> Result<Box<dyn SessionReader>> {
    Ok(Box::new(Documents {
        name: input.name.clone(),
        returns: input.returns,
        values: Values::new(input),
        read: 0,
        tail: Vec::new(),
    }))
}

struct Documents {
    values: Values,
    name: Option<String>,
    returns: bool,
    /// Documents that were read.
    read: usize,
    /// What stands behind the last one and is none.
    tail: Vec<u8>,
}

impl SessionReader for Documents {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        while let Some(mut value) = self.values.next()? {
            let lead = std::mem::take(&mut self.tail);
            if let Some(strange) = value.strange {
                report.damage(value.places().at(strange), "not valid JSON");
            }
            let Some((mut session, _)) = read(self.name.as_deref(), self.read, &value, report) else {
                self.tail = [lead, value.bytes].concat();
                continue;
            };
            self.read += 1;
            if self.returns {
                let bytes = std::mem::take(&mut value.bytes);
                session.set_origin(Arc::new(Origin { lead, bytes }));
            }
            return Ok(Some(session));
        }
        match self.read {
            0 => Err(Error::new(Kind::Data, "contains no opencode session")),
            _ => Ok(None),
        }
    }

    fn tail(&self) -> &[u8] {
        &self.tail
    }
}

/// The document of an origin read again: the session as it came, and the elements that it was.
pub fn again(origin: &Origin) -> Option<(Value, Held)> {
    let mut values = Values::new(Input {
        name: None,
        head: origin.bytes.clone(),
        rest: Box::new(std::io::empty()),
        returns: false,
    });
    let value = values.next().ok()??;
    let (_, held) = read(None, 0, &value, &mut Report::default())?;
    Some((value, held))
}

/// Reads a document; none when it is none, which is told. `nth` counts those before it.
pub fn read(name: Option<&str>, nth: usize, value: &Value, report: &mut Report) -> Option<(Session, Held)> {
    let bytes = &value.bytes;
    let listing = Listing::of(bytes, value.value.clone(), "messages");
    let mut places = value.places();
    let start = places.at(value.value.start);
    for (offset, what) in &listing.faults {
        report.damage(places.at(*offset), *what);
    }
    if !listing.has_list() {
        if !value.value.is_empty() && listing.faults.is_empty() {
            report.damage(start, "not an opencode session: no messages");
        }
        return None;
    }
    let source = Source {
        name,
        ..Source::alone(bytes)
    };
    let mut reading = Reading {
        session: Session::default(),
        held: Held::default(),
        taken: Ids::default(),
        ids: Vec::new(),
        drop: Vec::new(),
        edit: Vec::new(),
    };
    reading.session.push_new(&header(&source, &listing, nth));
    let raws: Vec<Vec<u8>> = listing
        .elements
        .iter()
        .map(|range| on_a_line(&bytes[range.clone()]))
        .collect();
    let elements: Vec<Option<Element<'_>>> = raws.iter().map(|raw| Element::of(raw)).collect();
    let parts = compaction::parts(&elements);
    let ids = elements.iter().flatten().filter_map(|element| element.text("id"));
    ids.for_each(|id| reading.taken.keep(&id));
    let mut places = value.places();
    for (nth, element) in elements.iter().enumerate() {
        let place = places.at(listing.elements[nth].start);
        let parts_of = element
            .as_ref()
            .and_then(|element| json::member(element.raw, "parts"));
        if let Some(fault) = parts_of.and_then(content::unknown_parts) {
            report.damage(place, fault);
        }
        reading.element(nth, element.as_ref(), &raws[nth], parts[nth], place);
        if element.is_none() && listing.is_whole && listing.faults.is_empty() {
            report.damage(place, "not a message; kept unchanged");
        }
    }
    let times = elements.iter().flatten().filter_map(Element::created);
    let at = times.max().and_then(rfc3339);
    reading.unsent(at.as_deref().unwrap_or("1970-01-01T00:00:00Z"), start);
    drop(elements);
    reading.held.elements.count = raws.len();
    reading.held.raws = raws;
    Some((reading.session, reading.held))
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
    /// The id of each record so far, with its element.
    ids: Vec<(usize, String)>,
    /// Ids of records that a model is not sent.
    drop: Vec<Vec<u8>>,
    /// What it is sent instead of others.
    edit: Vec<Vec<u8>>,
}

impl Reading {
    fn push(&mut self, mut body: Vec<u8>, place: Place) -> usize {
        body.push(b'\n');
        self.session.push(&Record::parse(&body, place));
        self.session.len() - 1
    }

    fn element(&mut self, nth: usize, element: Option<&Element<'_>>, raw: &[u8], part: Part, place: Place) {
        match (element, part) {
            (Some(element), Part::Said) => self.said(nth, element, place),
            (Some(element), Part::Summary(kept)) => {
                let body = self.summary(nth, element, kept);
                let line = self.push(body, place);
                self.held.compactions.push(Compaction { answer: nth, line });
            }
            _ => {
                let body = foreign(raw);
                self.push(body, place);
            }
        }
    }

    fn said(&mut self, nth: usize, element: &Element<'_>, place: Place) {
        // Of an id that repeats the second is another one.
        let id = match element.text("id") {
            Some(id) => self.taken.next(&id, true),
            None => self.taken.next(&format!("msg_{}", nth + 1), false),
        };
        for step::Line { id, body, sent } in step::records(element, &id) {
            let line = self.push(body, place);
            self.held.elements.of.insert(line, nth);
            match sent {
                Some(None) => self.drop.push(quoted(&id)),
                Some(Some(content)) => {
                    let mut change = ObjectBuilder::default();
                    change.text("id", &id).raw("content", content);
                    self.edit.push(change.finish());
                }
                None => {}
            }
            self.ids.push((nth, id));
        }
    }

    /// One event for all that a model is not sent, or sent otherwise; `at` is when the last message was made.
    fn unsent(&mut self, at: &str, place: Place) {
        if self.drop.is_empty() && self.edit.is_empty() {
            return;
        }
        let (drop, edit) = (array(&self.drop), array(&self.edit));
        let name = [b"compact\n", drop.as_slice(), &edit].concat();
        let mut event = ObjectBuilder::default();
        event
            .text("type", "compact")
            .text("id", &format!("evt_{}", &key::sha256(&name)[..16]))
            .text("at", at)
            .text("strategy", NAME)
            .raw("drop", drop)
            .raw("edit", edit);
        self.push(event.finish(), place);
    }

    /// The event that the answer to a question for a compaction is.
    fn summary(&self, nth: usize, element: &Element<'_>, kept: usize) -> Vec<u8> {
        let mut event = begun(nth, element);
        event.text("content", &element.said());
        let covered = &self.ids[..self.ids.partition_point(|(at, _)| *at < kept)];
        if let (Some((_, first)), Some((_, last))) = (covered.first(), covered.last()) {
            event.raw("covers", array([quoted(first), quoted(last)]));
        }
        event.text("by", NAME);
        let used = element.parts.iter().filter_map(|part| step::tokens(part)).next();
        if let Some(used) = used.or(json::member(element.info, "tokens")) {
            event.raw("usage", used);
        }
        let mut own = ObjectBuilder::default();
        own.raw("raw", element.raw);
        let mut metadata = ObjectBuilder::default();
        metadata.raw(NAME, own.finish());
        event.raw("metadata", metadata.finish());
        event.finish()
    }
}

/// Begins the event that an answer is.
fn begun(nth: usize, element: &Element<'_>) -> ObjectBuilder {
    let name = format!("{nth}\n{}", String::from_utf8_lossy(element.raw));
    let at = element.created().and_then(rfc3339);
    let mut event = ObjectBuilder::default();
    event
        .text("type", "summary")
        .text("id", &format!("evt_{}", &key::sha256(name.as_bytes())[..16]))
        .text("at", at.as_deref().unwrap_or("1970-01-01T00:00:00Z"));
    event
}

/// An element that no model is told of, carried along; one that is damaged as the text that it is.
fn foreign(raw: &[u8]) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event.text("type", "foreign").text("format", NAME);
    match json::value_end(raw, 0, json::Dialect::Strict) {
        Ok(end) if end == raw.len() => event.raw("raw", raw),
        _ => event.text("raw", &String::from_utf8_lossy(raw)),
    };
    event.finish()
}

fn header(source: &Source<'_>, listing: &Listing<'_>, nth: usize) -> Vec<u8> {
    let is_whole = |raw: &[u8]| json::value_end(raw, 0, json::Dialect::Strict) == Ok(raw.len());
    let info = listing
        .get("info")
        .filter(|raw| raw.starts_with(b"{") && is_whole(raw));
    let get = |name: &str| info.and_then(|info| json::member(info, name));
    let text = |name: &str| get(name).and_then(json::text).filter(|text| !text.is_empty());
    let name = match (text("id"), source.name) {
        (Some(id), _) => id.into_owned(),
        (None, Some(name)) => {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            match nth {
                0 => stem.to_string(),
                nth => format!("{stem}#{}", nth + 1),
            }
        }
        (None, None) => format!("session_{}", &key::sha256(source.bytes)[..16]),
    };
    let id = key::id_for_key(&name);
    let mut header = HeaderBuilder::default();
    let created = info.and_then(super::make::begun).and_then(rfc3339);
    header
        .text("created_at", created.as_deref())
        .text("title", text("title").as_deref())
        .text("key", (id != name).then_some(name.as_str()))
        .raw("source", native::source_member(Format::Opencode, source, &[]));
    let mut metadata = ObjectBuilder::default();
    Workspace::new(get("directory"), None, None).add_to(&mut metadata);
    if let Some(parent) = text("parentID") {
        let mut lineage = ObjectBuilder::default();
        lineage
            .text("kind", "child")
            .text("parent", &key::id_for_key(&parent));
        metadata.raw("lineage", lineage.finish());
    }
    let mut own = ObjectBuilder::default();
    own.raw("session", info.map_or(b"null".to_vec(), on_a_line));
    let mut beside = ObjectBuilder::default();
    let others = listing
        .members
        .iter()
        .filter(|(name, raw)| name != "info" && is_whole(raw));
    for (name, value) in others {
        beside.raw(name, on_a_line(value));
    }
    if !beside.is_empty() {
        own.raw("members", beside.finish());
    }
    metadata.raw(NAME, own.finish());
    header.raw("metadata", metadata.finish());
    header.finish(&id)
}
