//! Reads inputs as sessions.

use super::any_codec::AnyCodec;
use super::codec::DocumentLayout;
use super::parse::{by_session, document, is_lines, lines, variant_of};
use super::part::Parsed;
use super::session::{InputPart, session};
use super::sidecar::Sidecar;
use super::source::SourceElements;
use super::values::{SplitValue, Values};
use crate::error::{Error, Position, Result};
use crate::format;
use crate::format::concatenated_logs::LogSplitter;
use crate::format::document::{SectionRule, open_all, open_sections};
use crate::format::native::HeaderSource;
use crate::format::report::Report;
use crate::format::{SessionInput, SessionReader};
use crate::model::json;
use crate::model::record::mark_length;
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Opens an input with one or more sessions.
pub fn open(codec: &'static dyn AnyCodec, input: SessionInput) -> Result<Box<dyn SessionReader>> {
    open_for(codec, input, false)
}

/// Opens an input whose sessions are only displayed, and thus cannot be written back.
pub fn open_displayed(codec: &'static dyn AnyCodec, input: SessionInput) -> Result<Box<dyn SessionReader>> {
    open_for(codec, input, true)
}

fn open_for(
    codec: &'static dyn AnyCodec,
    mut input: SessionInput,
    is_displayed: bool,
) -> Result<Box<dyn SessionReader>> {
    if codec.constants().is_collection {
        return open_all(documents(codec, is_displayed), input);
    }
    if codec.constants().may_be_collection {
        input = match open_sections(documents(codec, is_displayed), input)? {
            Ok(reader) => return Ok(reader),
            Err(input) => input,
        };
    }
    let lines = is_lines(codec, &mut input)?;
    let extra = input.neighbor.take();
    let neighbor = |name: &str| extra.as_ref().and_then(|read| read(name).ok().flatten());
    let sidecar = codec.sidecar(&input, &neighbor);
    Ok(Box::new(CodecSessions {
        sidecar,
        codec,
        name: input.name.clone(),
        returns: input.returns,
        is_displayed,
        inputs: match lines {
            true => Inputs::Lines(LogSplitter::new(input)),
            false => Inputs::Values(Values::new(input)),
        },
        count: 0,
        ready: VecDeque::new(),
        tail: Vec::new(),
    }))
}

/// Reads the session of a complete document.
pub fn read_document(
    codec: &dyn AnyCodec,
    source: &format::DocumentSource<'_>,
    report: &mut Report,
) -> Result<Session> {
    let value = whole_value(source.bytes);
    let parsed = document(codec, &value, report).ok_or_else(|| no_session(codec))?;
    let extra = (InputPart::default(), &Sidecar::default());
    let origin = HeaderSource::of(codec.constants().format, source);
    let (mut session, _) = session(codec, extra, &origin, parsed, report);
    session.set_origin(Arc::new(SourceBytes {
        before: Vec::new(),
        bytes: value.bytes,
        value: Some(value.value),
    }));
    Ok(session)
}

/// The value of a complete document, which may be damaged.
fn whole_value(bytes: &[u8]) -> SplitValue {
    let start = json::skip_space(bytes, mark_length(bytes));
    SplitValue {
        value: start..bytes.trim_ascii_end().len().max(start),
        bytes: bytes.to_vec(),
        start: Position::default(),
        unrecognized: None,
    }
}

fn no_session(codec: &dyn AnyCodec) -> Error {
    Error::data(format!("contains no {}", noun(codec.constants().phrase)))
}

/// Splits an array or lines into documents.
fn documents(codec: &'static dyn AnyCodec, is_displayed: bool) -> SectionRule {
    SectionRule {
        is_section: Box::new(move |object| {
            let has_list =
                json::member(object, codec.constants().list).is_some_and(|list| list.starts_with(b"["));
            has_list && json::member(object, "role").is_none()
        }),
        read: Box::new(move |piece, report| {
            let value = SplitValue {
                bytes: piece.bytes.to_vec(),
                value: 0..piece.bytes.len(),
                start: Position {
                    line: piece.place.line - 1,
                    ..piece.place
                },
                unrecognized: None,
            };
            let part = InputPart {
                nth: piece.sessions_before,
                is_many: true,
                is_displayed,
            };
            let parsed = document(codec, &value, report);
            // A single element is not a document.
            if parsed
                .as_ref()
                .is_some_and(|parsed| parsed.layout == DocumentLayout::List)
            {
                report.damage(
                    piece.place,
                    format!("not {}: no {}", codec.constants().phrase, codec.constants().list),
                );
                return Vec::new();
            }
            let parsed: Vec<Parsed> = { parsed.into_iter() }
                .flat_map(|parsed| by_session(codec, parsed))
                .collect();
            let parsed = with_nested(codec, parsed, report).into_iter();
            let origin = origin(codec, piece.name, piece.bytes);
            let sessions = parsed.map(|parsed| {
                let extra = (part, &Sidecar::default());
                session(variant_of(codec, &parsed), extra, &origin, parsed, report).0
            });
            sessions.collect()
        }),
        rest: None,
    }
}

/// The source of the sessions in an input with this name.
fn origin(codec: &dyn AnyCodec, name: Option<&str>, bytes: &[u8]) -> HeaderSource {
    let source = format::DocumentSource {
        name,
        ..format::DocumentSource::alone(bytes)
    };
    HeaderSource::of(codec.constants().format, &source)
}

/// Inserts the sessions of nested documents, each after the session that contains it.
fn with_nested(codec: &dyn AnyCodec, parsed: Vec<Parsed>, report: &mut Report) -> Vec<Parsed> {
    let mut all = Vec::new();
    for parsed in parsed {
        add_nested(codec, parsed, &mut 0, &mut all, report);
    }
    all
}

fn add_nested(
    codec: &dyn AnyCodec,
    parsed: Parsed,
    count: &mut usize,
    all: &mut Vec<Parsed>,
    report: &mut Report,
) {
    let about = parsed.about.as_deref().unwrap_or(b"{}");
    let elements: Vec<&[u8]> = parsed.parts.iter().map(|part| part.raw.as_slice()).collect();
    let nested = codec.nested(about, &elements);
    let parent = codec.info(about).id;
    all.push(parsed);
    for (side, bytes) in nested {
        let value = SplitValue {
            value: 0..bytes.len(),
            bytes,
            start: Position::default(),
            unrecognized: None,
        };
        if let Some(mut inner) = document(codec, &value, report) {
            *count += 1;
            inner.side = Some((*count, side));
            inner.row = parent.clone();
            add_nested(codec, inner, count, all, report);
        }
    }
}

enum Inputs {
    Lines(LogSplitter),
    Values(Values),
}

struct CodecSessions {
    codec: &'static dyn AnyCodec,
    inputs: Inputs,
    name: Option<String>,
    returns: bool,
    is_displayed: bool,
    /// Information from companion files.
    sidecar: Sidecar,
    /// Number of sessions so far.
    count: usize,
    /// Sessions of the last read part.
    ready: VecDeque<Session>,
    /// Bytes after the last session.
    tail: Vec<u8>,
}

impl CodecSessions {
    /// Reads the next part of the input; `false` at the end.
    fn read(&mut self, report: &mut Report) -> Result<bool> {
        let codec = self.codec;
        let (parsed, bytes, range) = match &mut self.inputs {
            Inputs::Lines(pieces) => {
                // A log may describe its session again.
                let mut known: Option<String> = None;
                let begins = |line: &[u8]| {
                    let id = codec.begins(line).then(|| codec.info(line).id);
                    let is_other = id
                        .as_ref()
                        .is_some_and(|id| id.is_none() || (known.is_some() && known != *id));
                    known = id.flatten().or(known.take());
                    is_other
                };
                let Some(piece) = pieces.next(begins)? else {
                    return Ok(false);
                };
                let parsed = by_session(codec, lines(codec, &piece.bytes, piece.start, report));
                (parsed, piece.bytes, None)
            }
            Inputs::Values(values) => {
                let Some(value) = values.next()? else {
                    return match self.count {
                        0 => Err(no_session(codec)),
                        _ => Ok(false),
                    };
                };
                if let Some(unrecognized) = value.unrecognized {
                    report.damage(value.places().at(unrecognized), "not valid JSON");
                }
                let parsed = document(codec, &value, report).map(|parsed| by_session(codec, parsed));
                let parsed = with_nested(codec, parsed.unwrap_or_default(), report);
                (parsed, value.bytes, Some(value.value))
            }
        };
        let before = std::mem::take(&mut self.tail);
        if parsed.is_empty() {
            self.tail = [before, bytes].concat();
            return Ok(true);
        }
        let is_many = parsed.len() > 1 && parsed.iter().all(|parsed| parsed.side.is_none());
        let origin = origin(codec, self.name.as_deref(), &bytes);
        for parsed in parsed {
            let part = InputPart {
                nth: self.count - parsed.side.as_ref().map_or(0, |(nth, _)| *nth),
                is_many,
                is_displayed: self.is_displayed,
            };
            let variant = variant_of(codec, &parsed);
            self.ready
                .push_back(session(variant, (part, &self.sidecar), &origin, parsed, report).0);
            self.count += 1;
        }
        if self.returns {
            let origin = Arc::new(SourceBytes {
                before,
                bytes,
                value: range,
            });
            let sessions = self.ready.iter_mut();
            sessions.for_each(|session| session.set_origin(origin.clone()));
        }
        Ok(true)
    }
}

impl SessionReader for CodecSessions {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        loop {
            if let Some(session) = self.ready.pop_front() {
                return Ok(Some(session));
            }
            if !self.read(report)? {
                return Ok(None);
            }
        }
    }

    fn tail(&self) -> &[u8] {
        &self.tail
    }
}

/// A phrase without its article.
fn noun(what: &str) -> &str {
    what.split_once(' ').map_or(what, |(_, noun)| noun)
}

/// A session of source bytes that were parsed again.
pub struct ReparsedSession {
    /// The codec of its variant.
    pub codec: &'static dyn AnyCodec,
    /// The session, without the names of its input and the information of companion files.
    pub session: Session,
    /// Its elements.
    pub source: SourceElements,
    /// The members next to the list.
    pub about: Option<Vec<u8>>,
    /// Whether it is nested in another document.
    pub is_nested: bool,
}

/// Parses source bytes again, in the way in which they were read.
pub fn reparse(codec: &'static dyn AnyCodec, origin: &SourceBytes) -> Vec<ReparsedSession> {
    let mut report = Report::default();
    let parsed = match &origin.value {
        None => Some(lines(codec, &origin.bytes, Position::default(), &mut report)),
        Some(range) => {
            let value = SplitValue {
                bytes: origin.bytes.clone(),
                value: range.clone(),
                start: Position::default(),
                unrecognized: None,
            };
            document(codec, &value, &mut report)
        }
    };
    let parsed = parsed.map(|parsed| by_session(codec, parsed)).unwrap_or_default();
    let unnamed = self::origin(codec, None, &origin.bytes);
    let sessions = with_nested(codec, parsed, &mut report).into_iter().map(|parsed| {
        let is_nested = origin.value.is_some() && parsed.side.is_some();
        let codec = variant_of(codec, &parsed);
        let about = parsed.about.clone();
        let extra = (InputPart::default(), &Sidecar::default());
        let (session, source) = session(codec, extra, &unnamed, parsed, &mut report);
        ReparsedSession {
            codec,
            session,
            source,
            about,
            is_nested,
        }
    });
    sessions.collect()
}
