//! Reads one document as sessions.

use super::body::{self, Body, Listed, elements};
use crate::error::{Error, Position, Result};
use crate::format::kit::records::passthrough;
use crate::format::native::{self, HeaderBuilder};
use crate::format::report::{Loss, Report};
use crate::format::request::{self, Api};
use crate::format::{DocumentSource, Format};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key;
use crate::model::record::without_mark;
use crate::model::session::Session;
use crate::model::summary;

/// Reads a document into sessions.
pub fn read(
    api: Api,
    format: Format,
    source: &DocumentSource<'_>,
    report: &mut Report,
) -> Result<Vec<Session>> {
    let text = without_mark(source.bytes);
    let skipped = source.bytes.len() - text.len();
    let mut reading = DocumentReader::new(api, format, source);
    reading.skipped = skipped;
    let start = json::skip_space(text, 0);
    // A single value is a document; otherwise each line is a session, or an element of one.
    match json::value_end(text, start, Dialect::Python) {
        Ok(end) if json::skip_space(text, end) == text.len() => {
            reading.value(&text[start..end], start, report)
        }
        Ok(_) => reading.lines(text, report),
        Err(_) if text.split(|byte| *byte == b'\n').any(is_object) => reading.lines(text, report),
        Err(fault) => return Err(reading.broken(fault)),
    }
    if reading.sessions.is_empty() {
        return Err(Error::data("contains no messages"));
    }
    Ok(reading.sessions)
}

fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"{") && json::value_end(line, 0, Dialect::Python) == Ok(line.len())
}

/// Computes line numbers of offsets in ascending order.
#[derive(Default)]
struct LineCount {
    offset: usize,
    line: u64,
}

/// Reads the values of a document into sessions.
pub struct DocumentReader<'a> {
    api: Api,
    format: Format,
    source: &'a DocumentSource<'a>,
    /// Length of a byte order mark.
    skipped: usize,
    pub sessions: Vec<Session>,
    /// Position of the source in its input.
    pub base: Position,
    /// Number of sessions before the source.
    pub sessions_before: usize,
    /// Whether sessions are numbered.
    pub many: bool,
    lines: LineCount,
    /// The `source` member of the headers; computed once, because it hashes the complete source.
    member: Vec<u8>,
    /// Whether messages may quote a summary.
    has_summaries: bool,
}

impl<'a> DocumentReader<'a> {
    pub fn new(api: Api, format: Format, source: &'a DocumentSource<'a>) -> Self {
        DocumentReader {
            api,
            format,
            source,
            skipped: 0,
            sessions: Vec::new(),
            base: Position { line: 1, offset: 0 },
            sessions_before: 0,
            many: false,
            lines: LineCount::default(),
            member: native::source_member(format, source, &[]),
            has_summaries: summary::may_be_in(source.bytes),
        }
    }

    fn place(&mut self, offset: usize) -> Position {
        let offset = offset + self.skipped;
        if offset < self.lines.offset {
            self.lines = LineCount::default();
        }
        let between = &self.source.bytes[self.lines.offset..offset];
        self.lines.line += memchr::memchr_iter(b'\n', between).count() as u64;
        self.lines.offset = offset;
        Position {
            line: self.base.line + self.lines.line,
            offset: self.base.offset + offset as u64,
        }
    }

    fn broken(&mut self, fault: json::JsonError) -> Error {
        let place = self.place(fault.offset.min(self.source.bytes.len() - self.skipped));
        Error {
            at: Some((String::new(), place)),
            ..Error::data(format!("not valid JSON: {}", fault.what))
        }
    }

    /// Each line is a request, or an element of the session that adjacent lines form.
    fn lines(&mut self, text: &[u8], report: &mut Report) {
        self.many = true;
        let mut start = 0;
        let mut single: Vec<Listed<'_>> = Vec::new();
        let bodies = |line: &[u8]| body::is_body(self.api, line);
        let many = text.split(|byte| *byte == b'\n').any(bodies);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let at = start + json::skip_space(line, 0);
            let end = start + line.trim_ascii_end().len();
            start += line.len();
            if at >= end {
                continue;
            }
            let fault = match json::value_end(text, at, Dialect::Python) {
                Ok(after) if after == end => None,
                Ok(after) => Some((after, "unexpected text after the value")),
                Err(fault) => Some((fault.offset, fault.what)),
            };
            if let Some((offset, what)) = fault {
                let place = self.place(offset.min(end));
                report.damage(place, what);
            } else if !many && text[at] == b'{' {
                single.push((at, text[at..end].into()));
            } else {
                self.value(&text[at..end], at, report);
            }
        }
        if !single.is_empty() {
            self.many = false;
            let mut body = Body::of_list(single);
            body.instead = Some("lines");
            self.session(body, report);
        }
    }

    /// Reads the value at an offset: a history, a body, or an array of bodies.
    pub fn value(&mut self, value: &[u8], start: usize, report: &mut Report) {
        if !value.starts_with(b"[") {
            return self.object(value, start, report);
        }
        let elements = elements(value);
        if !elements
            .iter()
            .any(|(_, element)| body::is_body(self.api, element))
        {
            let list = elements.into_iter().map(|(at, raw)| (start + at, raw.into()));
            return self.session(Body::of_list(list.collect()), report);
        }
        self.many = true;
        for (offset, element) in elements {
            self.object(element, start + offset, report);
        }
    }

    fn object(&mut self, value: &[u8], start: usize, report: &mut Report) {
        let bodies = body::bodies(self.api, value, start);
        if bodies.is_empty() {
            let place = self.place(start);
            report.damage(
                place,
                format!("neither {} of {}", body::EXPECTED_INPUT, self.api.name()),
            );
        }
        let shape = self.api.interface().shape();
        if let Some(list) = shape.unreadable_history(value) {
            let place = self.place(start + list.as_ptr() as usize - value.as_ptr() as usize);
            report.damage(place, format!("'{}' is not a list; not read", shape.list));
        }
        // A response may have several answers.
        self.many |= bodies.iter().any(|body| body.is_choice);
        let answers = shape
            .response
            .as_ref()
            .map(|shape| json::list(value, shape.list).len());
        if bodies.iter().any(|body| body.is_choice) && answers > Some(bodies.len()) {
            let place = self.place(start);
            report.damage(place, "an answer without a message; not read");
        }
        for body in bodies {
            self.session(body, report);
        }
    }

    fn session(&mut self, body: Body<'_>, report: &mut Report) {
        let mut session = Session::default();
        let (header, id) = self.header(&body);
        session.push_new(&header.finish(&id));
        if let Some((offset, system)) = &body.system {
            let (system, place) = (self.cleaned(*offset, system, report), self.place(*offset));
            session.push_generated(request::system_record(self.api, &system), place);
        }
        let cleaned: Vec<_> = body
            .list
            .iter()
            .map(|(offset, element)| self.cleaned(*offset, element, report))
            .collect();
        let raws: Vec<&[u8]> = cleaned.iter().map(Vec::as_slice).collect();
        let units = request::read(self.api, &raws);
        let answer = units
            .iter()
            .rposition(|unit| unit.records.iter().any(|body| is_assistant(body)));
        for (nth, unit) in units.iter().enumerate() {
            let offset = body.list[unit.elements.start].0;
            let place = self.place(offset);
            let summarized = match unit.records.as_slice() {
                [record] if self.has_summaries => {
                    request::summary_records(self.api, &raws[unit.elements.clone()], record)
                }
                _ => None,
            };
            for record in summarized.as_ref().unwrap_or(&unit.records) {
                let reported = body.message_members(Some(nth) == answer && is_assistant(record));
                let record = json::with_members(record, &reported).unwrap_or_else(|_| record.clone());
                session.push_generated(record, place);
            }
            let whole = &unit.elements;
            for nth in whole.clone().filter(|_| !unit.records.is_empty()) {
                if let Some(fault) = self.api.interface().fault(raws[nth]) {
                    report.damage(self.place(body.list[nth].0), fault);
                }
            }
            if unit.records.is_empty() {
                for raw in &raws[unit.elements.clone()] {
                    session.push_generated(self.foreign(raw, place, report), place);
                }
            }
        }
        self.sessions.push(session);
    }

    fn header(&self, body: &Body<'_>) -> (HeaderBuilder, String) {
        let name = self.source.name_or_hash();
        let name = if self.many {
            format!("{name}#{}", self.sessions_before + self.sessions.len() + 1)
        } else {
            name
        };
        let id = key::id_for_key(&name);
        let mut header = HeaderBuilder::default();
        if id != name {
            header.text("key", Some(&name));
        }
        header.raw("source", self.member.clone());
        let mut metadata = ObjectBuilder::default();
        for (name, extra) in [("request", &body.rest), ("response", &body.response)] {
            let Some(extra) = extra else { continue };
            let mut members = ObjectBuilder::default();
            for (name, value) in extra {
                members.raw(name, utf_8(json::compact(value).0).0);
            }
            metadata.raw(name, members.finish());
        }
        if let Some(instead) = body.instead {
            metadata.text("input", instead);
        }
        header.metadata(metadata);
        (header, id)
    }

    /// An element in record form: on one line, in UTF-8, without numbers that are invalid in JSON.
    fn cleaned(&mut self, offset: usize, element: &[u8], report: &mut Report) -> Vec<u8> {
        let (body, replaced) = json::compact(element);
        let (body, repaired) = utf_8(body);
        if replaced > 0 {
            report.count_loss(Loss::Number, replaced);
            let place = self.place(offset);
            report.damage(
                place,
                "NaN or Infinity, which JSON does not allow, replaced by null",
            );
        }
        if repaired {
            let place = self.place(offset);
            report.damage(place, "bytes that are not UTF-8 replaced by U+FFFD");
        }
        body
    }

    /// Stores a value that is not a message as a passthrough record, so that it is not mistaken for an event.
    fn foreign(&self, raw: &[u8], place: Position, report: &mut Report) -> Vec<u8> {
        report.damage(place, "not a message; kept unchanged");
        passthrough(self.format.name(), raw)
    }
}

fn is_assistant(body: &[u8]) -> bool {
    json::member(body, "role") == Some(b"\"assistant\"")
}

/// Replaces invalid UTF-8 by U+FFFD, because native lines are UTF-8. The second value is whether there was any.
fn utf_8(body: Vec<u8>) -> (Vec<u8>, bool) {
    match String::from_utf8(body) {
        Ok(text) => (text.into_bytes(), false),
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (text.into_bytes(), true)
        }
    }
}
