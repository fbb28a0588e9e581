//! Bytes to records and back. One file a format, which says in its `FORM` what it is; only this one knows them all.

mod aichat;
mod aider;
mod anthropic;
pub mod array;
mod base64;
mod branches;
mod chatgpt_export;
mod claude_ai_export;
mod claude_code;
mod cline_roo;
mod codex;
mod collection;
mod content;
mod continue_ide;
pub mod detect;
mod document;
mod entries;
mod exported;
mod fate;
pub mod folder;
mod form;
mod gemini;
mod gemini_cli;
mod go;
pub mod goaitools;
mod goose;
mod grouped;
pub mod gzip;
mod indent;
pub mod jsonl;
mod langchain;
pub mod lines;
mod listed;
mod listing;
mod markdown;
pub mod native;
mod object;
mod opaque;
mod openai_chat;
mod openai_responses;
pub mod opencode;
pub mod packed;
pub mod penguiflow;
pub mod penguin;
mod pi;
pub mod picoclaw;
mod pieces;
pub mod report;
pub mod request;
mod sessions;
mod sharegpt;
#[cfg(test)]
mod tests;
mod values;
mod vercel_ui;
mod window;
mod workspace;
pub mod wrapping;

use crate::error::{Error, Kind, Result};
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
pub use form::{Form, Holds, Reading, Returned};
use report::{Loss, Report};
use request::Api;
pub use sessions::{Converted, Input, SessionReader, Sessions, Stream};
use std::io::{self, Write};

/// Makes [`Format`] of the list of formats: a variant and a row of the table for each line.
macro_rules! formats {
    ($($(#[$about:meta])* $variant:ident = $form:path,)*) => {
        /// The forms a session can have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format {
            $($(#[$about])* $variant,)*
        }

        /// What each format is, in the order of its variants.
        static FORMS: &[Form] = &[$($form,)*];

        impl Format {
            /// Every format; the order is that of the manual.
            pub const ALL: [Format; FORMS.len()] = [$(Format::$variant,)*];
        }
    };
}

formats! {
    /// The record stream.
    Native = native::FORM,
    /// Bare messages, one a line.
    Jsonl = jsonl::FORM,
    /// Messages of the OpenAI Chat Completions interface: an array, or objects with `messages`.
    OpenaiChat = openai_chat::FORM,
    /// Items of the OpenAI Responses interface.
    OpenaiResponses = openai_responses::FORM,
    /// Messages of the Anthropic interface.
    Anthropic = anthropic::FORM,
    /// Contents of the Gemini interface.
    Gemini = gemini::FORM,
    /// PicoClaw: a log of message lines with its sidecar, or whatever else it kept a session in.
    Picoclaw = picoclaw::FORM,
    /// PicoClaw: a legacy JSON document.
    PicoclawLegacy = picoclaw::LEGACY,
    /// Penguin: a session document, or an older `conversation_*.json`.
    Penguin = penguin::FORM,
    /// What Penguin would send to a model.
    PenguinContext = penguin::CONTEXT,
    /// Claude Code: the log of a session.
    ClaudeCode = claude_code::FORM,
    /// goaitools: the state of a conversation.
    Goaitools = goaitools::FORM,
    /// PenguiFlow: a memory state.
    Penguiflow = penguiflow::FORM,
    /// What PenguiFlow shows a model of its memory.
    PenguiflowContext = penguiflow::CONTEXT,
    /// Codex: the log of a session.
    Codex = codex::FORM,
    /// pi: a session, and the branches that were left.
    Pi = pi::FORM,
    /// Gemini CLI: the recording of a chat.
    GeminiCli = gemini_cli::FORM,
    /// opencode: what its export prints.
    Opencode = opencode::FORM,
    /// goose: a session, as its export has it or as lines.
    Goose = goose::FORM,
    /// goose: a session as lines.
    GooseJsonl = goose::LINES,
    /// aider: its chat history.
    Aider = aider::FORM,
    /// Cline and Roo Code: the history of a task.
    ClineRoo = cline_roo::FORM,
    /// Continue: a session.
    Continue = continue_ide::FORM,
    /// LangChain: messages as its libraries serialise them.
    Langchain = langchain::FORM,
    /// Vercel AI SDK: messages of the user interface.
    VercelUi = vercel_ui::FORM,
    /// The same as version 4 has it.
    VercelUiV4 = vercel_ui::OLD_FORM,
    /// Markdown, for people.
    Markdown = markdown::FORM,
    /// ChatGPT: the export of its conversations.
    ChatgptExport = chatgpt_export::FORM,
    /// Claude.ai: the export of its conversations.
    ClaudeAiExport = claude_ai_export::FORM,
    /// ShareGPT: training sets.
    Sharegpt = sharegpt::FORM,
    /// aichat: a session in YAML.
    Aichat = aichat::FORM,
}

impl Format {
    /// Its row of the table.
    pub fn form(self) -> &'static Form {
        &FORMS[self as usize]
    }

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.form().name
    }

    /// One line about the format, for help and manual.
    pub fn about(self) -> &'static str {
        self.form().about
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether sessions can be written in it.
    pub fn is_written(self) -> bool {
        self.form().is_written()
    }

    /// Whether sessions can be read in it.
    pub fn is_read(self) -> bool {
        !matches!(self.form().read, Reading::None)
    }

    /// The interface whose requests it is.
    pub fn api(self) -> Option<Api> {
        self.form().api
    }

    /// The interface to which the program behind this format sends its sessions, where that is always the same.
    pub fn sent_to(self) -> Option<Api> {
        match self {
            Format::ClaudeCode | Format::ClineRoo => Some(Api::Anthropic),
            Format::Codex => Some(Api::OpenaiResponses),
            Format::GeminiCli => Some(Api::Gemini),
            _ => self.api(),
        }
    }

    /// The form in which a document of this format is, where there are several: what is written back is to have it.
    pub fn of(self, document: &[u8]) -> Format {
        self.form().variant.map_or(self, |variant| variant(document))
    }

    /// Reads an input of it session by session; gives back one that is read otherwise.
    pub fn sessions(self, input: Input) -> Result<std::result::Result<Box<dyn SessionReader>, Input>> {
        match (self.form().read, self.form().many) {
            (Reading::Sessions(open), _) => open(input).map(Ok),
            (_, Some(many)) => many(input),
            _ => Ok(Err(input)),
        }
    }

    /// Whether a line of it is a line of the record stream, so that it is read line by line.
    pub fn is_lines(self) -> bool {
        matches!(self.form().read, Reading::Records)
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

/// Reads a document of a format that is not read line by line.
pub fn convert(format: Format, source: &Source<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let usage = |what: &str| Err(Error::new(Kind::Usage, format!("{} is {what}", format.name())));
    let form = format.form();
    if let (Reading::Document(convert), None) = (form.read, form.many) {
        return convert(source, report);
    }
    let input = Input {
        name: source.name.map(str::to_string),
        head: source.bytes.to_vec(),
        rest: Box::new(io::empty()),
        returns: false,
    };
    let mut reader = match (form.read, format.sessions(input)?) {
        (_, Ok(reader)) => reader,
        (Reading::Document(convert), _) => return convert(source, report),
        (Reading::None, _) => return usage("written only"),
        _ => return usage("read line by line"),
    };
    let mut sessions = Vec::new();
    while let Some(session) = reader.next(report)? {
        sessions.push(session);
    }
    Ok(sessions)
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
    write_by(format, format.form().write, (session, view), purpose, out, report)
}

/// Writes a session as Markdown whose pages load images from the web.
pub fn write_with_images(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let write = Some(markdown::write_with_images as form::Save);
    write_by(Format::Markdown, write, (session, view), purpose, out, report)
}

fn write_by(
    format: Format,
    write: Option<form::Save>,
    (session, view): (&Session, &View),
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let vercel = [Format::VercelUi, Format::VercelUiV4].contains(&format);
    if purpose == Purpose::Export && !vercel && native::source_format(session).as_deref() == Some("vercel-ui")
    {
        report.lose(Loss::Part, vercel_ui::differing_contents(session, view));
    }
    match write {
        Some(write) => {
            let readable = opaque::readable(format, session, view, report);
            write(session, readable.as_ref().unwrap_or(view), purpose, out, report)
        }
        None => Err(Error::new(
            Kind::Usage,
            format!("sessions are not written as {} here", format.name()),
        )),
    }
}

/// An error of writing, as this library tells it; the one who opened the output knows its name.
fn written(result: io::Result<()>) -> Result<()> {
    result.map_err(|error| Error::io("cannot write", error))
}
