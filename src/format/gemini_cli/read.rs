//! A recording as sessions.

use super::content::timestamp;
use super::line::session_id;
use super::replay::{Aside, Live, Replay};
use super::{NAME, message};
use crate::error::{Error, Kind, Place, Result};
use crate::format::kit::Frame;
use crate::format::kit::records::passthrough;
use crate::format::listing::Unit;
use crate::format::native::HeaderBuilder;
use crate::format::pieces::Pieces;
use crate::format::report::Report;
use crate::format::request::piece::{array, quoted};
use crate::format::{Format, Input, SessionReader, Source};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key::{self, Derive};
use crate::model::origin::Origin;
use crate::model::session::Session;
use crate::model::time;
use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;

/// Opens a log, or documents; several may stand behind one another.
pub fn open(mut input: Input) -> Result<Box<dyn SessionReader>> {
    let (name, returns) = (input.name.clone(), input.returns);
    if !is_document(&mut input)? {
        return Ok(Box::new(Logs {
            name,
            returns,
            pieces: Pieces::new(input),
            made: 0,
        }));
    }
    Ok(Box::new(Documents {
        name,
        returns,
        bytes: input.whole()?,
        place: Place { line: 1, offset: 0 },
        made: 0,
    }))
}

/// Whether an input is a document and no log: its first value goes on over lines, or it is all there is and holds messages.
fn is_document(input: &mut Input) -> Result<bool> {
    let mut from = 0;
    let first = loop {
        let text = input.head[from..].trim_ascii_start();
        let start = input.head.len() - text.len();
        if let Some(end) = memchr::memchr(b'\n', text) {
            break start..start + end;
        }
        from = start;
        if !more(input)? {
            break start..input.head.len();
        }
    };
    let line = input.head[first.clone()].trim_ascii();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line == b"{" || line.starts_with(b"[") {
        return Ok(true);
    }
    if json::value_end(line, 0, Dialect::Strict) == Ok(line.len()) {
        if !json::member(line, "messages").is_some_and(|raw| raw.starts_with(b"[")) {
            return Ok(false);
        }
        while input.head[first.end..].trim_ascii().is_empty() {
            if !more(input)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    // A first line that is damaged, or a document whose first line says more than a bracket.
    if !line.starts_with(b"{") || line.ends_with(b"}") {
        return Ok(false);
    }
    while more(input)? {}
    Ok(json::value_end(&input.head, first.start, Dialect::Strict).is_ok_and(|end| end > first.end))
}

/// Reads more of an input into its head; false at its end.
fn more(input: &mut Input) -> Result<bool> {
    let before = input.head.len();
    let read = (&mut input.rest).take(64 * 1024).read_to_end(&mut input.head);
    read.map_err(|error| Error::io("cannot read", error))?;
    Ok(input.head.len() > before)
}

/// Logs on their way, as a rule one.
struct Logs {
    pieces: Pieces,
    name: Option<String>,
    returns: bool,
    made: usize,
}

impl SessionReader for Logs {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        loop {
            let mut known: Option<String> = None;
            let begins = |line: &[u8]| match session_id(line) {
                None => false,
                Some(id) => {
                    let other = known.as_deref().is_some_and(|known| known != id);
                    known = Some(id.into_owned());
                    other
                }
            };
            let Some(piece) = self.pieces.next(begins)? else {
                return match self.made {
                    0 => Err(none()),
                    _ => Ok(None),
                };
            };
            let replay = Replay::of_log(&piece.bytes, piece.start);
            if replay.live.is_empty() && replay.told.is_empty() && self.made == 0 && replay.aside.is_empty() {
                continue;
            }
            self.made += 1;
            let mut read = read(&replay, self.name.as_deref(), &piece.bytes, self.made, report);
            if self.returns {
                read.session.set_origin(Arc::new(Origin {
                    bytes: piece.bytes,
                    ..Origin::default()
                }));
            }
            return Ok(Some(read.session));
        }
    }
}

fn none() -> Error {
    Error::new(Kind::Data, "contains no Gemini CLI recording")
}

/// Documents on their way, as a rule one.
struct Documents {
    bytes: Vec<u8>,
    /// Where the rest begins.
    place: Place,
    name: Option<String>,
    returns: bool,
    made: usize,
}

impl SessionReader for Documents {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let at = self.place.offset as usize;
        let mark = usize::from(at == 0 && self.bytes.starts_with(b"\xef\xbb\xbf")) * 3;
        let start = json::skip_space(&self.bytes, at + mark);
        let behind = |place: Place, bytes: &[u8]| Place {
            line: place.line + memchr::memchr_iter(b'\n', bytes).count() as u64,
            offset: place.offset + bytes.len() as u64,
        };
        if start == self.bytes.len() {
            return match self.made {
                0 => Err(none()),
                _ => Ok(None),
            };
        }
        let place = behind(self.place, &self.bytes[at..start]);
        let end = match document_end(&self.bytes, start) {
            Ok(end) => end,
            Err(fault) => {
                let fault_at = fault.offset.clamp(start, self.bytes.len());
                let place = behind(place, &self.bytes[start..fault_at]);
                if self.made > 0 {
                    // The rest stays behind the last session as it is.
                    report.damage(place, fault.what);
                    self.made += 1;
                    self.bytes.truncate(at);
                    return Ok(None);
                }
                return Err(Error {
                    at: Some((String::new(), place)),
                    ..Error::new(Kind::Data, format!("not valid JSON: {}", fault.what))
                });
            }
        };
        let document = self.bytes[start..end].to_vec();
        if !is_recording(&document) {
            let what = "not a Gemini CLI recording";
            let error = Error {
                at: Some((String::new(), place)),
                ..Error::new(Kind::Data, what)
            };
            return Err(match document.starts_with(b"[") {
                true => error.hint("logs.json contains prompts, not sessions; give a file in chats/"),
                false => error,
            });
        }
        self.made += 1;
        let listing = Frame::of(&document, Some("messages"));
        let replay = Replay::of_document(&document, listing.as_ref(), place);
        let mut read = read(&replay, self.name.as_deref(), &document, self.made, report);
        if self.returns {
            read.session.set_origin(Arc::new(Origin {
                lead: self.bytes[at..start].to_vec(),
                bytes: document.clone(),
            }));
        }
        self.place = behind(place, &document);
        Ok(Some(read.session))
    }

    fn tail(&self) -> &[u8] {
        self.bytes.get(self.place.offset as usize..).unwrap_or_default()
    }
}

/// Where the value at a place ends; what is no UTF-8 is damage like any other.
fn document_end(bytes: &[u8], start: usize) -> std::result::Result<usize, json::Fault> {
    let end = json::value_end(bytes, start, Dialect::Strict)?;
    match std::str::from_utf8(&bytes[start..end]) {
        Ok(_) => Ok(end),
        Err(error) => Err(json::Fault {
            offset: start + error.valid_up_to(),
            what: "not UTF-8",
        }),
    }
}

/// Whether a value is an object that tells of a session.
pub fn is_recording(document: &[u8]) -> bool {
    let has = |name| json::member(document, name).is_some();
    has("sessionId") && (has("projectHash") || has("messages"))
}

/// A session, and which of its lines each message that was left became.
pub struct Recording {
    /// The session.
    pub session: Session,
    /// The messages that were left, one a unit.
    pub units: Vec<Unit>,
}

/// Makes a session of what is left of a recording; it is the nth of its input.
pub fn read(
    replay: &Replay<'_>,
    name: Option<&str>,
    bytes: &[u8],
    nth: usize,
    report: &mut Report,
) -> Recording {
    let source = Source {
        name,
        ..Source::alone(bytes)
    };
    let strange = replay.aside.iter().filter(|aside| aside.fault.is_none());
    report.strange(strange.map(|aside| aside.place), "a Gemini CLI log");
    let mut session = Session::default();
    session.push_new(&header(replay, &source, nth));
    let mut units = Vec::with_capacity(replay.live.len());
    let mut aside = replay.aside.iter().peekable();
    let mut known: HashSet<&str> = HashSet::new();
    let mut derive = Derive::default();
    for (at, live) in replay.live.iter().enumerate() {
        while let Some(aside) = aside.next_if(|aside| aside.behind <= at) {
            beside(aside, &mut session, report);
        }
        let start = session.len();
        let own = live.id.as_deref().is_some_and(|id| known.insert(id));
        said(live, own, &mut derive, &mut session, report);
        units.push(Unit {
            elements: at..at + 1,
            lines: start..session.len(),
        });
    }
    for aside in aside {
        beside(aside, &mut session, report);
    }
    Recording { session, units }
}

/// A message that is left.
fn said(live: &Live<'_>, own: bool, derive: &mut Derive, session: &mut Session, report: &mut Report) {
    let record = json::compact(live.raw).0;
    if let Some(fault) = message::fault(&record) {
        report.damage(live.place, fault);
    }
    let Some(bodies) = message::bodies(&record, own) else {
        return session.push_made(passthrough(NAME, &record), live.place);
    };
    let hidden = is_hidden(&record);
    for body in bodies {
        let derived = (json::member(&body, "id").is_none()).then(|| derive.id(&body));
        let id = derived.or_else(|| Some(json::member(&body, "id").and_then(json::text)?.into_owned()));
        session.push_made(body, live.place);
        if let Some(id) = id.filter(|_| hidden) {
            session.push_made(hide(&id, timestamp(&record)), live.place);
        }
    }
}

fn beside(aside: &Aside<'_>, session: &mut Session, report: &mut Report) {
    match aside.fault {
        Some(fault) => {
            let mut place = aside.place;
            place.offset += fault.offset as u64;
            report.damage(place, fault.what);
            session.push_ended(aside.full, aside.place);
        }
        None => session.push_made(passthrough(NAME, aside.body.trim_ascii()), aside.place),
    }
}

/// Whether the program does not send what the user said when it goes on: commands, and context that it makes anew.
fn is_hidden(record: &[u8]) -> bool {
    if json::member(record, "type") != Some(b"\"user\"") {
        return false;
    }
    let content = json::member(record, "content").unwrap_or_default();
    let parts = json::elements(content, Dialect::Strict).unwrap_or_else(|| vec![content]);
    let text = parts
        .first()
        .and_then(|part| json::text(json::member(part, "text").unwrap_or(part)));
    let marks = ["/", "?", "<session_context>", "<hook_context>"];
    text.is_some_and(|text| marks.iter().any(|mark| text.trim_start().starts_with(mark)))
}

/// The event that takes a message out of view.
fn hide(message: &str, time: Option<&[u8]>) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event
        .text("type", "compact")
        .text(
            "id",
            &format!(
                "evt_{}",
                &key::sha256(format!("hidden\n{message}").as_bytes())[..16]
            ),
        )
        .raw("at", time.unwrap_or(b"\"1970-01-01T00:00:00Z\""))
        .text("strategy", NAME)
        .raw("drop", array([quoted(message)]));
    event.finish()
}

fn header(replay: &Replay<'_>, source: &Source<'_>, nth: usize) -> Vec<u8> {
    let text = |name: &str| {
        replay
            .get(name)
            .and_then(json::text)
            .filter(|text| !text.is_empty())
    };
    let mut header = HeaderBuilder::default();
    let begun = replay
        .get("startTime")
        .filter(|raw| json::text(raw).is_some_and(|text| time::is_rfc3339(&text)));
    if let Some(begun) = begun {
        header.raw("created_at", begun.to_vec());
    }
    header.text("title", text("summary").as_deref());
    let id = header.named(Format::GeminiCli, source, text("sessionId").as_deref(), nth - 1);
    let mut told = ObjectBuilder::default();
    for (name, value) in &replay.told {
        told.raw(name, json::compact(value).0);
    }
    if !told.is_empty() {
        let mut own = ObjectBuilder::default();
        own.raw("session", told.finish());
        let mut metadata = ObjectBuilder::default();
        metadata.raw(NAME, own.finish());
        header.raw("metadata", metadata.finish());
    }
    header.finish(&id)
}
