//! Messages of the OpenAI Chat Completions interface, which the record stream is modelled on: members go over
//! unchanged, so that unknown ones stay where they are. Read: an array of messages; an object with `messages`
//! (a request) or `choices` (a response); an array, or lines, of such objects: many sessions.
//!
//! What the record stream spells otherwise is noted in `metadata.openai-chat`, so that it can be written back:
//! `reasoning` names the member that the reasoning came from, `function` marks the legacy form of calls, `own` names
//! the members that the message had of itself although the record stream uses them for books.

use super::native::{self, HeaderBuilder};
use super::report::{Loss, Report};
use super::{Format, Source};
mod write;

pub use write::{request, write};

use crate::error::{Error, Kind, Place, Result};
use crate::model::json::{self, Dialect, Members, ObjectBuilder};
use crate::model::key;
use crate::model::record::Record;
use crate::model::session::Session;

/// Members of reasoning in the wild, and whether they hold text.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// Reads a document into sessions.
pub fn read(source: &Source<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let text = source.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source.bytes);
    let skipped = source.bytes.len() - text.len();
    let mut reading = Reading {
        source,
        skipped,
        sessions: Vec::new(),
        many: false,
        lines: LineCount::default(),
        member: native::source_member(Format::OpenaiChat, source, &[]),
    };
    let start = json::skip_space(text, 0);
    // One value is a document; otherwise there is a session on each line.
    match json::value_end(text, start, Dialect::Python) {
        Ok(end) if json::skip_space(text, end) == text.len() => reading.value(text, start, end, report)?,
        Ok(_) => reading.lines(text, report)?,
        Err(_) if text.split(|byte| *byte == b'\n').any(is_object) => reading.lines(text, report)?,
        Err(fault) => return Err(reading.broken(fault)),
    }
    if reading.sessions.is_empty() {
        return Err(Error::new(Kind::Data, "no messages in it"));
    }
    Ok(reading.sessions)
}

fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"{") && json::value_end(line, 0, Dialect::Python) == Ok(line.len())
}

/// Counts lines up to an offset, going forward only.
#[derive(Default)]
struct LineCount {
    offset: usize,
    line: u64,
}

struct Reading<'a> {
    source: &'a Source<'a>,
    /// Bytes of a byte order mark.
    skipped: usize,
    sessions: Vec<Session>,
    /// Whether sessions are numbered.
    many: bool,
    lines: LineCount,
    /// What the headers say of the source; made once, as it hashes the whole of it.
    member: Vec<u8>,
}

impl Reading<'_> {
    fn place(&mut self, offset: usize) -> Place {
        let offset = offset + self.skipped;
        if offset < self.lines.offset {
            self.lines = LineCount::default();
        }
        let between = &self.source.bytes[self.lines.offset..offset];
        self.lines.line += memchr::memchr_iter(b'\n', between).count() as u64;
        self.lines.offset = offset;
        Place {
            line: self.lines.line + 1,
            offset: offset as u64,
        }
    }

    fn broken(&mut self, fault: json::Fault) -> Error {
        let place = self.place(fault.offset.min(self.source.bytes.len() - self.skipped));
        Error {
            at: Some((String::new(), place)),
            ..Error::new(Kind::Data, format!("not JSON: {}", fault.what))
        }
    }

    /// Every line a request of its own.
    fn lines(&mut self, text: &[u8], report: &mut Report) -> Result<()> {
        self.many = true;
        let mut start = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let at = start + json::skip_space(line, 0);
            let end = start + line.trim_ascii_end().len();
            start += line.len();
            if at >= end {
                continue;
            }
            if let Err(fault) = json::value_end(text, at, Dialect::Python).and_then(|behind| {
                if behind == end {
                    Ok(())
                } else {
                    Err(json::Fault {
                        offset: behind,
                        what: "something follows the value",
                    })
                }
            }) {
                let place = self.place(fault.offset.min(end));
                report.damage(place, fault.what);
                continue;
            }
            self.value(text, at, end, report)?;
        }
        Ok(())
    }

    /// A value at `start..end` of `text`: messages, a request, a response, or an array of those.
    fn value(&mut self, text: &[u8], start: usize, end: usize, report: &mut Report) -> Result<()> {
        let value = &text[start..end];
        if value.starts_with(b"[") {
            let elements = elements(value);
            let sessions = elements
                .iter()
                .any(|(_, element)| json::member(element, "messages").is_some());
            if !sessions {
                return self.session(start, &elements, &[], report);
            }
            self.many = true;
            for (offset, element) in elements {
                self.value(text, start + offset, start + offset + element.len(), report)?;
            }
            return Ok(());
        }
        let (mut messages, mut choices, mut role, mut rest) = (None, None, None, Vec::new());
        let mut scan = Members::new(value, Dialect::Python).map_err(|fault| self.broken(fault))?;
        while let Some(member) = scan.next().map_err(|fault| self.broken(fault))? {
            let found = Some((start + member.end - member.value.len(), member.value));
            match member.name().as_ref() {
                "messages" => messages = found,
                "choices" => choices = found,
                name => {
                    role = role.or(found.filter(|_| name == "role"));
                    rest.push((name.to_string(), member.value));
                }
            }
        }
        if let Some((at, messages)) = messages {
            return self.session(at, &elements(messages), &rest, report);
        }
        if let Some((at, choices)) = choices {
            self.many = true;
            for (offset, choice) in elements(choices) {
                if let Some(message) = json::member(choice, "message") {
                    self.session(at + offset, &[(0, message)], &rest, report)?;
                }
            }
            return Ok(());
        }
        if role.is_some() {
            return self.session(start, &[(0, value)], &[], report);
        }
        let place = self.place(start);
        report.damage(place, "neither a message nor an object with messages");
        Ok(())
    }

    fn session(
        &mut self,
        base: usize,
        messages: &[(usize, &[u8])],
        request: &[(String, &[u8])],
        report: &mut Report,
    ) -> Result<()> {
        let name = self.source.name.map_or_else(
            || format!("session_{}", &key::sha256(self.source.bytes)[..16]),
            |name| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string(),
        );
        let name = if self.many {
            format!("{name}.{}", self.sessions.len() + 1)
        } else {
            name
        };
        let id = key::id_for_key(&name);
        let mut header = HeaderBuilder::default();
        if id != name {
            header.text("key", Some(&name));
        }
        header.raw("source", self.member.clone());
        if !request.is_empty() {
            let mut members = ObjectBuilder::default();
            for (name, value) in request {
                members.raw(name, json::compact(value).0);
            }
            let mut metadata = ObjectBuilder::default();
            metadata.raw("request", members.finish());
            header.raw("metadata", metadata.finish());
        }
        let mut session = Session::default();
        session.push_new(&header.finish(&id));
        let mut functions = Functions::default();
        for (offset, element) in messages {
            let place = self.place(base + offset);
            let (body, replaced) = json::compact(element);
            if replaced > 0 {
                report.lose(Loss::Number, replaced);
                report.damage(place, "NaN or Infinity, which JSON does not have, became null");
            }
            let mut line = functions.read(repair_text(body, place, report));
            line = carried(line, place, report);
            line.push(b'\n');
            session.push(&Record::parse(&line, place));
        }
        self.sessions.push(session);
        Ok(())
    }
}

fn elements(array: &[u8]) -> Vec<(usize, &[u8])> {
    let mut found = Vec::new();
    if let Ok(mut scan) = json::Elements::new(array, Dialect::Python) {
        while let Ok(Some(element)) = scan.next() {
            found.push(element);
        }
    }
    found
}

/// A native line is UTF-8: bytes that are not become U+FFFD, which is told.
fn repair_text(body: Vec<u8>, place: Place, report: &mut Report) -> Vec<u8> {
    match String::from_utf8(body) {
        Ok(text) => text.into_bytes(),
        Err(error) => {
            report.damage(place, "bytes that are no UTF-8 became U+FFFD");
            String::from_utf8_lossy(error.as_bytes())
                .into_owned()
                .into_bytes()
        }
    }
}

/// A line that is no message is carried as a foreign record, so that it cannot be taken for an event.
fn carried(line: Vec<u8>, place: Place, report: &mut Report) -> Vec<u8> {
    if Record::parse(&line, Place { line: 1, offset: 1 })
        .message()
        .is_some()
    {
        return line;
    }
    report.damage(
        place,
        "an element that is no message is carried as a foreign record",
    );
    let mut built = ObjectBuilder::default();
    built
        .text("type", "foreign")
        .text("format", Format::OpenaiChat.name())
        .raw("raw", &line);
    built.finish()
}

/// Members that the record stream adds, and a message from elsewhere may have of itself.
pub(super) const BOOKS: [&str; 7] = [
    "id",
    "timestamp",
    "category",
    "tokens",
    "usage",
    "model",
    "metadata",
];

/// Notes which of those members the message has.
fn own_members(line: Vec<u8>) -> Vec<u8> {
    let own: Vec<String> = BOOKS
        .iter()
        .filter(|name| json::member(&line, name).is_some())
        .map(|name| format!("{name:?}"))
        .collect();
    let object = json::member(&line, "metadata").is_none_or(|raw| raw.starts_with(b"{"));
    if own.is_empty() || !object {
        return line;
    }
    let metadata = noted(&line, "own", &format!("[{}]", own.join(",")));
    json::with_members(&line, &[("metadata", Some(&metadata))]).unwrap_or(line)
}

/// Reasoning in a provider's own member becomes reasoning parts; the member's name is noted.
fn native_reasoning(line: Vec<u8>) -> Vec<u8> {
    for name in REASONING {
        let Some(value) = json::member(&line, name) else {
            continue;
        };
        // A message with two kinds of it keeps both as they are.
        if name != "reasoning" && json::member(&line, "reasoning").is_some() {
            continue;
        }
        let parts = match (name, value.first()) {
            ("reasoning_content" | "reasoning", Some(b'"')) => {
                let mut part = ObjectBuilder::default();
                part.text("type", "text").raw("text", value);
                [b"[".as_slice(), &part.finish(), b"]"].concat()
            }
            ("reasoning_details", Some(b'[')) => value.to_vec(),
            _ => continue,
        };
        let metadata = noted(&line, "reasoning", &format!("{name:?}"));
        let removed: &[u8] = &parts;
        let mut changes = vec![
            ("reasoning", Some(removed)),
            ("metadata", Some(metadata.as_slice())),
        ];
        if name != "reasoning" {
            changes.push((name, None));
        }
        return json::with_members(&line, &changes).unwrap_or(line);
    }
    line
}

/// The line's metadata with a note of this format added.
fn noted(line: &[u8], name: &str, value: &str) -> Vec<u8> {
    let metadata = json::member(line, "metadata")
        .filter(|raw| raw.starts_with(b"{"))
        .unwrap_or(b"{}");
    let own = json::member(metadata, "openai-chat")
        .filter(|raw| raw.starts_with(b"{"))
        .unwrap_or(b"{}");
    let own = json::with_members(own, &[(name, Some(value.as_bytes()))]).unwrap_or_default();
    json::with_members(metadata, &[("openai-chat", Some(&own))]).unwrap_or_default()
}

/// The native message that an element of a history reads as.
pub(super) fn records(functions: &mut Functions, element: &[u8]) -> Vec<Vec<u8>> {
    let line = functions.read(json::compact(element).0);
    let is_message = Record::parse(&line, Place { line: 1, offset: 1 })
        .message()
        .is_some();
    is_message.then_some(line).into_iter().collect()
}

/// Gives the calls of the legacy form ids, and their results the same.
#[derive(Debug, Default)]
pub(super) struct Functions {
    made: u64,
    open: Option<String>,
}

impl Functions {
    /// A message as a native one.
    fn read(&mut self, line: Vec<u8>) -> Vec<u8> {
        self.modern(native_reasoning(own_members(line)))
    }

    fn modern(&mut self, line: Vec<u8>) -> Vec<u8> {
        if let Some(call) = json::member(&line, "function_call").filter(|raw| raw.starts_with(b"{"))
            && json::member(&line, "tool_calls").is_none()
        {
            self.made += 1;
            let id = format!("fn_{}", self.made);
            let mut built = ObjectBuilder::default();
            built
                .text("id", &id)
                .text("type", "function")
                .raw("function", call);
            let calls = [b"[".as_slice(), &built.finish(), b"]"].concat();
            let metadata = noted(&line, "function", "true");
            self.open = Some(id);
            let changes: [(&str, Option<&[u8]>); 3] = [
                ("function_call", None),
                ("tool_calls", Some(&calls)),
                ("metadata", Some(&metadata)),
            ];
            return json::with_members(&line, &changes).unwrap_or(line);
        }
        if json::member(&line, "role") == Some(b"\"function\"")
            && let Some(id) = self.open.take()
        {
            let metadata = noted(&line, "function", "true");
            let id = format!("{id:?}");
            let changes: [(&str, Option<&[u8]>); 3] = [
                ("role", Some(b"\"tool\"")),
                ("tool_call_id", Some(id.as_bytes())),
                ("metadata", Some(&metadata)),
            ];
            return json::with_members(&line, &changes).unwrap_or(line);
        }
        line
    }
}
