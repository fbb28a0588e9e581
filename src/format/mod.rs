//! Bytes to records and back. One file a format; only this one knows them all.

mod anthropic;
mod base64;
pub mod detect;
mod document;
pub mod folder;
mod gemini;
mod go;
pub mod goaitools;
pub mod gzip;
pub mod jsonl;
pub mod lines;
pub mod native;
mod openai_chat;
mod openai_responses;
pub mod penguiflow;
pub mod penguin;
pub mod picoclaw;
pub mod report;
pub mod request;
pub mod wrapping;

use crate::error::{Error, Kind, Result};
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
use report::Report;
use request::Api;
use std::io::{self, Write};

/// The forms a session can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// The record stream.
    Native,
    /// Bare messages, one a line.
    Jsonl,
    /// Messages of the OpenAI Chat Completions interface: an array, or objects with `messages`.
    OpenaiChat,
    /// Items of the OpenAI Responses interface.
    OpenaiResponses,
    /// Messages of the Anthropic interface.
    Anthropic,
    /// Contents of the Gemini interface.
    Gemini,
    /// PicoClaw: a log of message lines with its sidecar, or whatever else it kept a session in.
    Picoclaw,
    /// PicoClaw: a legacy JSON document.
    PicoclawLegacy,
    /// Penguin: a session document, or an older `conversation_*.json`.
    Penguin,
    /// What Penguin would send to a model.
    PenguinContext,
    /// goaitools: the state of a conversation.
    Goaitools,
    /// PenguiFlow: a memory state.
    Penguiflow,
    /// What PenguiFlow shows a model of its memory.
    PenguiflowContext,
}

impl Format {
    /// Every format; the order is that of the manual.
    pub const ALL: [Format; 13] = [
        Format::Native,
        Format::Jsonl,
        Format::OpenaiChat,
        Format::OpenaiResponses,
        Format::Anthropic,
        Format::Gemini,
        Format::Picoclaw,
        Format::PicoclawLegacy,
        Format::Penguin,
        Format::PenguinContext,
        Format::Goaitools,
        Format::Penguiflow,
        Format::PenguiflowContext,
    ];

    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Native => "native",
            Format::Jsonl => "jsonl",
            Format::OpenaiChat => "openai-chat",
            Format::OpenaiResponses => "openai-responses",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::Picoclaw => "picoclaw",
            Format::PicoclawLegacy => "picoclaw-legacy",
            Format::Penguin => "penguin",
            Format::PenguinContext => "penguin-context",
            Format::Goaitools => "goaitools",
            Format::Penguiflow => "penguiflow",
            Format::PenguiflowContext => "penguiflow-context",
        }
    }

    /// One line about the format, for help and manual.
    pub const fn about(self) -> &'static str {
        match self {
            Format::Native => "the record stream, described in convo-format(5)",
            Format::Jsonl => "bare messages, one JSON object a line",
            Format::OpenaiChat => "OpenAI Chat messages: an array, or objects with messages",
            Format::OpenaiResponses => "OpenAI Responses items: an array, or objects with input",
            Format::Anthropic => "Anthropic messages: an array, or objects with system and messages",
            Format::Gemini => "Gemini contents: an array, or objects with contents",
            Format::Picoclaw => "PicoClaw: a .jsonl with its .meta.json beside it, or legacy JSON",
            Format::PicoclawLegacy => "PicoClaw: the document in which it kept a session before",
            Format::Penguin => {
                "Penguin: session JSON; also read are checkpoints and older conversation_*.json"
            }
            Format::PenguinContext => "what Penguin would send to a model; written only",
            Format::Goaitools => "goaitools: the state of a conversation, one JSON object",
            Format::Penguiflow => "PenguiFlow: the state of a short-term memory",
            Format::PenguiflowContext => "what PenguiFlow shows a model of it; written only",
        }
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether sessions can be written in it.
    pub const fn is_written(self) -> bool {
        let own = matches!(
            self,
            Format::Native
                | Format::Jsonl
                | Format::Picoclaw
                | Format::PicoclawLegacy
                | Format::Penguin
                | Format::PenguinContext
                | Format::Goaitools
                | Format::Penguiflow
                | Format::PenguiflowContext
        );
        own || self.api().is_some()
    }

    /// Whether sessions can be read in it.
    pub const fn is_read(self) -> bool {
        !matches!(self, Format::PenguinContext | Format::PenguiflowContext)
    }

    /// The interface whose requests it is.
    pub const fn api(self) -> Option<Api> {
        match self {
            Format::OpenaiChat => Some(Api::OpenaiChat),
            Format::OpenaiResponses => Some(Api::OpenaiResponses),
            Format::Anthropic => Some(Api::Anthropic),
            Format::Gemini => Some(Api::Gemini),
            Format::Native | Format::Jsonl | Format::Penguin | Format::PenguinContext => None,
            Format::Picoclaw | Format::PicoclawLegacy | Format::Goaitools => None,
            Format::Penguiflow | Format::PenguiflowContext => None,
        }
    }

    /// The form in which a document of this format is, where there are several: what is written back is to have it.
    pub fn of(self, document: &[u8]) -> Format {
        match self {
            Format::Picoclaw if picoclaw::is_document(document) => Format::PicoclawLegacy,
            form => form,
        }
    }

    /// Whether a line of it is a line of the record stream, so that it is read line by line.
    pub const fn is_lines(self) -> bool {
        matches!(self, Format::Native | Format::Jsonl)
    }
}

/// A document that is read as a whole, and what lies beside it.
pub struct Source<'a> {
    /// Name of the file without its folder; none for a pipe.
    pub name: Option<&'a str>,
    /// The bytes; empty when only neighbours are there.
    pub bytes: &'a [u8],
    /// The bytes of a file in the same folder; none when there is no such file.
    pub neighbour: &'a dyn Fn(&str) -> io::Result<Option<Vec<u8>>>,
}

impl<'a> Source<'a> {
    /// A source without neighbours, as a pipe is.
    pub fn alone(bytes: &'a [u8]) -> Source<'a> {
        Source {
            name: None,
            bytes,
            neighbour: &|_| Ok(None),
        }
    }

    /// The name without this ending; `session` for a pipe.
    pub fn stem(&self, ending: &str) -> &'a str {
        self.name
            .map_or("session", |name| name.strip_suffix(ending).unwrap_or(name))
    }
}

/// Reads records one after another.
pub trait Reader {
    /// The next record; it borrows the reader's memory. What is wrong with it goes to the report.
    fn next(&mut self, report: &mut Report) -> Result<Option<Record<'_>>>;
}

/// Sessions that were converted from a document, read as a stream.
#[derive(Debug, Default)]
pub struct Converted {
    sessions: Vec<Session>,
    session: usize,
    line: usize,
}

impl From<Vec<Session>> for Converted {
    fn from(sessions: Vec<Session>) -> Self {
        Converted {
            sessions,
            session: 0,
            line: 0,
        }
    }
}

impl Reader for Converted {
    fn next(&mut self, _: &mut Report) -> Result<Option<Record<'_>>> {
        while self
            .sessions
            .get(self.session)
            .is_some_and(|session| self.line == session.len())
        {
            self.session += 1;
            self.line = 0;
        }
        let Some(session) = self.sessions.get(self.session) else {
            return Ok(None);
        };
        self.line += 1;
        Ok(Some(session.record(self.line - 1)))
    }
}

/// Reads a document of a format that is not read line by line.
pub fn convert(format: Format, source: &Source<'_>, report: &mut Report) -> Result<Vec<Session>> {
    match format {
        Format::Native | Format::Jsonl => Err(Error::new(
            Kind::Usage,
            format!("{} is read line by line", format.name()),
        )),
        Format::OpenaiChat => document::read(Api::OpenaiChat, format, source, report),
        Format::OpenaiResponses => document::read(Api::OpenaiResponses, format, source, report),
        Format::Anthropic => document::read(Api::Anthropic, format, source, report),
        Format::Gemini => document::read(Api::Gemini, format, source, report),
        Format::Picoclaw | Format::PicoclawLegacy => picoclaw::read(source, report),
        Format::Penguin => penguin::read(source, report),
        Format::Goaitools => goaitools::read(source, report),
        Format::Penguiflow => penguiflow::read(source, report),
        Format::PenguinContext | Format::PenguiflowContext => Err(Error::new(
            Kind::Usage,
            format!("{} is written only", format.name()),
        )),
    }
}

/// What a session is written for; decides what counts as a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To keep it: whatever does not come along is lost.
    Export,
    /// To send it to a model: ids, times and books were never meant for it.
    Context,
    /// Back in the format that it came in: what was there before is there again, and what was added on the way
    /// goes without a word.
    Return,
}

/// Writes a session in a format other than the native one.
pub fn write(
    format: Format,
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    match format {
        Format::Picoclaw => return picoclaw::write(session, view, purpose, out, report),
        Format::PicoclawLegacy => return picoclaw::write_document(session, view, purpose, out, report),
        Format::Penguin => {
            return penguin::write(session, view, purpose, &penguin::Save::default(), out, report);
        }
        _ => {}
    }
    // States have a place for some of the lines that are no messages.
    if purpose == Purpose::Export && !matches!(format, Format::Goaitools | Format::Penguiflow) {
        report.lose_lines(session);
    }
    match (format, format.api()) {
        (_, Some(api)) => request::write(api, session, view, purpose, out, report),
        (Format::Goaitools, _) => goaitools::write(session, view, purpose, out, report),
        (Format::Jsonl, _) => jsonl::write(session, view, purpose, out, report),
        (Format::Penguiflow, _) => penguiflow::write(session, view, purpose, out, report),
        (Format::PenguinContext, _) => penguin::write_context(session, view, purpose, out, report),
        (Format::PenguiflowContext, _) => penguiflow::write_context(session, view, out, report),
        _ => Err(Error::new(
            Kind::Usage,
            format!("sessions are not written as {} here", format.name()),
        )),
    }
}

/// An error of writing, as this library tells it; the one who opened the output knows its name.
fn written(result: io::Result<()>) -> Result<()> {
    result.map_err(|error| Error::io("cannot write", error))
}

/// Splits a stream into sessions: each header begins one.
pub struct Sessions<'r> {
    reader: Box<dyn Reader + 'r>,
    next: Option<Session>,
    done: bool,
}

impl<'r> Sessions<'r> {
    /// Over a reader.
    pub fn new(reader: Box<dyn Reader + 'r>) -> Self {
        Sessions {
            reader,
            next: None,
            done: false,
        }
    }

    /// The next session; a stream without any line has none.
    pub fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let mut session = self.next.take().unwrap_or_default();
        let mut begun = !session.is_empty();
        while !self.done {
            let Some(record) = self.reader.next(report)? else {
                self.done = true;
                break;
            };
            if begun && record.event().is_some_and(|event| event.is_header()) {
                let mut next = Session::default();
                next.push(&record);
                self.next = Some(next);
                return Ok(Some(session));
            }
            // Blank lines ahead of a header begin no session of their own.
            begun |= !matches!(record.kind, crate::model::record::Kind::Blank);
            session.push(&record);
        }
        Ok((!session.is_empty()).then_some(session))
    }
}
