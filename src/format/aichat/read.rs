//! Reads a file as a session.

use super::layout::{self, ListElement, Section};
use super::{COMPRESSED, LIVE, NAME, message, yaml};
use crate::error::{Error, Position, Result};
use crate::format::kit::records::passthrough;
use crate::format::native::{HeaderBuilder, HeaderSource};
use crate::format::report::Report;
use crate::format::workspace::Workspace;
use crate::format::{DocumentSource, Format, content};
use crate::model::event;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::key::{self, Derive};
use crate::model::message::Role;
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
}

/// Reads the session, with the positions of its lines in the file.
pub fn session(source: &DocumentSource<'_>, report: &mut Report) -> Result<(Session, Vec<ReadElement>)> {
    let skipped = mark_length(source.bytes);
    let sections = layout::sections(&source.bytes[skipped..]);
    if !sections
        .iter()
        .any(|section| section.name == Some(LIVE) || section.name == Some(COMPRESSED))
    {
        let error = Error::data("not an aichat session: no messages");
        return Err(error.hint("'messages:' must start a line"));
    }
    let mut reading = AichatReader {
        bytes: &source.bytes[skipped..],
        skipped,
        session: Session::default(),
        derive: Derive::default(),
        ids: Vec::new(),
        elements: Vec::new(),
        report,
    };
    let header = reading.header(source, &sections);
    reading.session.push_new(&header);
    let list = |name: &str| -> Vec<&ListElement> {
        let named = sections.iter().filter(|section| section.name == Some(name));
        named.flat_map(|section| &section.elements).collect()
    };
    for element in list(COMPRESSED) {
        reading.element(element);
    }
    let mut live = list(LIVE).into_iter();
    if let (Some(first), Some(last)) = (reading.ids.first().cloned(), reading.ids.last().cloned()) {
        reading.compressed(
            live.as_slice().first().copied(),
            [&first, &last],
            source,
            &mut live,
        );
    }
    for element in live {
        reading.element(element);
    }
    Ok((reading.session, reading.elements))
}

struct AichatReader<'a> {
    bytes: &'a [u8],
    /// Number of bytes before the elements.
    skipped: usize,
    session: Session,
    derive: Derive,
    /// Ids of the messages so far.
    ids: Vec<String>,
    elements: Vec<ReadElement>,
    report: &'a mut Report,
}

impl AichatReader<'_> {
    fn place(&self, place: Position) -> Position {
        Position {
            offset: place.offset + self.skipped as u64,
            ..place
        }
    }

    /// Parses a range of lines; reports damage.
    fn value(&mut self, bytes: &Range<usize>, place: Position) -> Option<Vec<u8>> {
        let lines = &self.bytes[bytes.clone()];
        let mut at = self.place(place);
        let text = match std::str::from_utf8(lines) {
            Ok(text) => text,
            Err(error) => {
                let before = &lines[..error.valid_up_to()];
                at.line += before.iter().filter(|byte| **byte == b'\n').count() as u64;
                at.offset += before.len() as u64;
                self.report.damage(at, "not UTF-8");
                return None;
            }
        };
        match yaml::value(text) {
            Ok(value) => Some(value),
            Err(fault) => {
                let before = text
                    .split_inclusive('\n')
                    .take(fault.line)
                    .map(str::len)
                    .sum::<usize>();
                at.line += fault.line as u64;
                at.offset += before as u64;
                self.report.damage(at, fault.what);
                None
            }
        }
    }

    fn header(&mut self, source: &DocumentSource<'_>, sections: &[Section<'_>]) -> Vec<u8> {
        let name = source.name_or_hash();
        let mut own = ObjectBuilder::default();
        let mut known: Vec<&str> = Vec::new();
        for section in sections {
            let Some(name) = section.name else { continue };
            let place = self.place(section.place);
            if known.contains(&name) {
                self.report.damage(place, format!("duplicate member {name}"));
            }
            known.push(name);
            if [COMPRESSED, LIVE].contains(&name) {
                let lines = &self.bytes[section.bytes.clone()];
                let below = lines.split(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii);
                let filled = below
                    .filter(|line| !line.starts_with(b"#"))
                    .any(|line| !line.is_empty());
                let empty = matches!(section.rest, b"" | b"[]" | b"null" | b"~") && !filled;
                if section.elements.is_empty() && !empty {
                    self.report.damage(place, format!("{name} is not a list"));
                }
                continue;
            }
            let Some(value) = self.value(&section.bytes, section.place) else {
                continue;
            };
            own.optional(name, json::member(&value, name));
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

    fn element(&mut self, element: &ListElement) {
        let first = self.session.len();
        let mut place = self.place(element.place);
        place.offset = place.offset.max(1);
        let value = self.value(&element.bytes, element.place);
        // A list with one element, because it starts with a dash.
        let value = value
            .as_deref()
            .and_then(|list| json::elements(list, json::Dialect::Strict));
        let value = value.and_then(|list| list.first().map(|one| one.to_vec()));
        let records = value
            .as_ref()
            .and_then(|one| message::records(one, &element.place.offset.to_string()));
        match (records, value) {
            (Some(records), one) => {
                let content = one.as_deref().and_then(|one| json::member(one, "content"));
                if let Some(fault) = content.and_then(content::unknown_parts) {
                    self.report.damage(place, fault);
                }
                for body in records {
                    self.ids.push(self.derive.id(&body));
                    self.session.push_made(body, place);
                }
            }
            (None, value) => {
                let lines = &self.bytes[element.bytes.clone()];
                let raw = value.inspect(|_| {
                    self.report.damage(place, "not a message; kept unchanged");
                });
                let raw = raw.unwrap_or_else(|| quoted(&String::from_utf8_lossy(lines)));
                self.session.push_made(passthrough(NAME, &raw), place);
            }
        }
        self.elements.push(ReadElement {
            bytes: self.skipped + element.bytes.start..self.skipped + element.bytes.end,
            lines: first..self.session.len(),
        });
    }

    /// Appends the event for compressed messages, whose summary is the first live message if that has the system role.
    fn compressed(
        &mut self,
        first: Option<&ListElement>,
        ends: [&str; 2],
        source: &DocumentSource<'_>,
        live: &mut std::vec::IntoIter<&ListElement>,
    ) {
        let text = first.and_then(|element| {
            let mut quiet = Report::default();
            std::mem::swap(self.report, &mut quiet);
            let value = self.value(&element.bytes, element.place);
            std::mem::swap(self.report, &mut quiet);
            let list = value
                .as_deref()
                .and_then(|list| json::elements(list, json::Dialect::Strict))?;
            let one = list.first()?;
            let system = json::member(one, "role") == Some(b"\"system\"");
            json::member(one, "content")
                .filter(|raw| system && raw.starts_with(b"\""))
                .map(<[u8]>::to_vec)
        });
        let name = format!("{}\n{}", ends[1], key::sha256(source.bytes));
        let covers = array(ends.map(quoted));
        // A summary does not cover system messages, but all compressed messages must be hidden.
        let is_rule = |traits: Traits| matches!(traits.role, Role::System | Role::Developer);
        let rules = self.session.messages().any(|(_, traits)| is_rule(traits));
        let plain = text.is_some() && !rules;
        let mut event = event::begin(
            if plain { "summary" } else { "compact" },
            &key::id_from("evt_", &name),
        );
        event.text("at", event::EPOCH);
        match &text {
            Some(text) if plain => drop(event.raw("content", text).raw("covers", covers).text("by", NAME)),
            text => {
                event.text("strategy", NAME).raw("drop", array([covers]));
                if let Some(text) = text {
                    event.raw("summary", wrapped("content", text));
                }
            }
        }
        let line = self.session.len();
        let place = first.map_or(Position { line: 0, offset: 1 }, |element| {
            self.place(element.place)
        });
        self.session.push_made(event.finish(), place);
        if let (Some(element), Some(_)) = (first, text) {
            live.next();
            self.elements.push(ReadElement {
                bytes: self.skipped + element.bytes.start..self.skipped + element.bytes.end,
                lines: line..line + 1,
            });
        }
    }
}
