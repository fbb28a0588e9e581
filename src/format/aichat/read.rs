//! Reads a file as a session.

use super::layout::{self, COMPRESSED, LIVE, ListElement, Section};
use super::message::{self, NAME};
use super::yaml;
use crate::error::{Error, Position, Result};
use crate::format::kit::records::passthrough;
use crate::format::native::{HeaderBuilder, HeaderSource};
use crate::format::report::Report;
use crate::format::workspace::Workspace;
use crate::format::{DocumentSource, Format, content};
use crate::model::event;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::key::{self, Derive};
use crate::model::message::Category;
use crate::model::record::mark_length;
use crate::model::session::{Session, Traits};
use crate::model::source_bytes::SourceBytes;
use std::ops::Range;
use std::sync::Arc;

/// Reads a file.
pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let (mut session, _) = session(source, report)?;
    session.set_origin(Arc::new(SourceBytes {
        bytes: source.bytes.to_vec(),
        ..SourceBytes::default()
    }));
    Ok(vec![session])
}

/// An element of a file, and the session lines that it became.
#[derive(Debug)]
pub struct ReadElement {
    /// Its byte range in the file.
    pub bytes: Range<usize>,
    /// Its lines in the session.
    pub lines: Range<usize>,
    pub is_compressed: bool,
}

/// Reads the session, with the positions of its lines in the file.
pub fn session(source: &DocumentSource<'_>, report: &mut Report) -> Result<(Session, Vec<ReadElement>)> {
    let sections = layout::sections(source.bytes);
    let is_list = |section: &Section<'_>| matches!(section.name, Some(LIVE | COMPRESSED));
    if !sections.iter().any(is_list) {
        let error = Error::data("not an aichat session: no messages");
        return Err(error.hint("'messages:' must start a line"));
    }
    let mut reading = AichatReader {
        bytes: source.bytes,
        session: Session::default(),
        derive: Derive::default(),
        ids: Vec::new(),
        elements: Vec::new(),
        report,
    };
    let header = reading.header(source, &sections);
    reading.session.push_new(&header);
    for element in layout::elements(&sections, COMPRESSED) {
        reading.element(element, true);
    }
    let mut live = layout::elements(&sections, LIVE).into_iter();
    if let [first, .., last] | [first @ last] = reading.ids.as_slice() {
        let covers = array([quoted(first), quoted(last)]);
        let id = key::id_from("evt_", format!("{last}\n{}", key::sha256(source.bytes)));
        if reading.compressed(&id, covers, live.as_slice().first().copied()) {
            live.next();
        }
    }
    for element in live {
        reading.element(element, false);
    }
    Ok((reading.session, reading.elements))
}

struct AichatReader<'a> {
    bytes: &'a [u8],
    session: Session,
    derive: Derive,
    /// Ids of the messages so far.
    ids: Vec<String>,
    elements: Vec<ReadElement>,
    report: &'a mut Report,
}

impl AichatReader<'_> {
    /// Parses a range of lines, or returns the damage.
    fn parsed(
        &self,
        bytes: &Range<usize>,
        mut place: Position,
    ) -> std::result::Result<Vec<u8>, (Position, &'static str)> {
        let lines = &self.bytes[bytes.clone()];
        let (before, what) = match std::str::from_utf8(lines).map(|text| (text, yaml::value(text))) {
            Ok((_, Ok(value))) => return Ok(value),
            Ok((text, Err(fault))) => {
                let before = text.split_inclusive('\n').take(fault.line);
                (before.map(str::len).sum(), fault.what)
            }
            Err(error) => (error.valid_up_to(), "not UTF-8"),
        };
        place.line += memchr::memchr_iter(b'\n', &lines[..before]).count() as u64;
        place.offset += before as u64;
        Err((place, what))
    }

    /// Parses a range of lines; reports damage.
    fn value(&mut self, bytes: &Range<usize>, place: Position) -> Option<Vec<u8>> {
        let parsed = self.parsed(bytes, place);
        parsed
            .map_err(|(place, what)| self.report.damage(place, what))
            .ok()
    }

    fn header(&mut self, source: &DocumentSource<'_>, sections: &[Section<'_>]) -> Vec<u8> {
        let name = source.name_or_hash();
        let mut own = ObjectBuilder::default();
        let mut known: Vec<&str> = Vec::new();
        for section in sections {
            let Some(name) = section.name else { continue };
            if known.contains(&name) {
                self.report
                    .damage(section.place, format!("duplicate member {name}"));
            }
            known.push(name);
            if [COMPRESSED, LIVE].contains(&name) {
                if let Some(place) = section.stray_text(self.bytes) {
                    let (place, what) = match section.elements.is_empty() {
                        true => (section.place, format!("{name} is not a list")),
                        false => (place, format!("text before the first element of {name}")),
                    };
                    self.report.damage(place, what);
                }
                continue;
            }
            let value = self.value(&section.bytes, section.place);
            own.optional(name, value.as_deref().and_then(|value| json::member(value, name)));
        }
        let mut metadata = ObjectBuilder::default();
        let own = own.finish();
        // CLIENT:MODEL; other formats only have the model.
        let model = json::member_text(&own, "model");
        let model = model.as_deref().and_then(|model| model.split_once(':'));
        let model = model.map(|(_, model)| quoted(model));
        Workspace::new(None, None, model.as_deref()).add_to(&mut metadata);
        metadata.raw(NAME, own);
        let mut header = HeaderBuilder::default();
        header.text("title", source.name.map(|_| name.as_str()));
        let id = header.named(&HeaderSource::of(Format::Aichat, source), None, 0);
        header.raw("metadata", metadata.finish());
        header.finish(&id)
    }

    fn element(&mut self, element: &ListElement, is_compressed: bool) {
        let first = self.session.len();
        let mut place = element.place;
        place.offset = place.offset.max(1);
        let value = self.value(&element.bytes, element.place).and_then(only);
        // The ids of calls do not depend on a byte order mark.
        let start = element.bytes.start - mark_length(self.bytes);
        match value
            .as_ref()
            .and_then(|one| message::records(one, &start.to_string()))
        {
            Some(records) => {
                let content = value.as_deref().and_then(|one| json::member(one, "content"));
                if let Some(fault) = content.and_then(content::unknown_parts) {
                    self.report.damage(place, fault);
                }
                for body in records {
                    self.ids.push(self.derive.id(&body));
                    self.session.push_generated(body, place);
                }
            }
            None => {
                if value.is_some() {
                    self.report.damage(place, "not a message; kept unchanged");
                }
                let lines = || quoted(&String::from_utf8_lossy(&self.bytes[element.bytes.clone()]));
                let raw = value.unwrap_or_else(lines);
                self.session.push_generated(passthrough(NAME, &raw), place);
            }
        }
        self.elements.push(ReadElement {
            bytes: element.bytes.clone(),
            lines: first..self.session.len(),
            is_compressed,
        });
    }

    /// Appends the event for compressed messages, whose summary is the first live message if that has the system role.
    /// Whether this is the case.
    fn compressed(&mut self, id: &str, covers: Vec<u8>, first: Option<&ListElement>) -> bool {
        let parsed = first.and_then(|element| self.parsed(&element.bytes, element.place).ok());
        let message = parsed.and_then(only).unwrap_or_default();
        let is_system = json::member(&message, "role") == Some(b"\"system\"");
        let text = json::member(&message, "content").filter(|raw| is_system && raw.starts_with(b"\""));
        // A summary does not cover system messages, but all compressed messages must be hidden.
        let is_rule = |traits: Traits| traits.role.category() == Category::System;
        let has_rules = self.session.messages().any(|(_, traits)| is_rule(traits));
        let is_plain = text.is_some() && !has_rules;
        let mut event = event::begin(if is_plain { "summary" } else { "compact" }, id);
        event.text("at", event::EPOCH);
        if is_plain {
            event
                .optional("content", text)
                .raw("covers", covers)
                .text("by", NAME);
        } else {
            event.text("strategy", NAME).raw("drop", array([covers]));
            event.optional("summary", text.map(|text| wrapped("content", text)));
        }
        let line = self.session.len();
        let place = first.map_or(Position { line: 0, offset: 1 }, |element| element.place);
        self.session.push_generated(event.finish(), place);
        let summary = first.filter(|_| text.is_some());
        self.elements.extend(summary.map(|element| ReadElement {
            bytes: element.bytes.clone(),
            lines: line..line + 1,
            is_compressed: false,
        }));
        text.is_some()
    }
}

/// The element of a list with one; a parsed element is such a list, because it starts with a dash.
fn only(list: Vec<u8>) -> Option<Vec<u8>> {
    let elements = json::elements(&list, Dialect::Strict)?;
    elements.first().map(|one| one.to_vec())
}
