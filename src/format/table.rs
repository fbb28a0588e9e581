//! The table of formats, and reading and writing in any of them. The only file that knows all formats.

use super::id::Format;
use super::page::PageOptions;
use super::report::{Loss, Report};
use super::request::api::Api;
use super::request::interface::Interface;
use super::sessions::{SessionInput, SessionReader};
use super::spec::{DocumentSource, EditedSession, FormatSpec, ReadFn, WritePurpose, WriteTarget};
use super::{
    aichat, aider, anthropic, atif, chatgpt_export, claude_ai_export, claude_code, cline, cline_roo, codex,
    continue_ide, copilot_cli, cursor, droid, gemini, gemini_cli, goaitools, goose, grok, html, jsonl, kimi,
    langchain, markdown, native, opaque, openai_chat, openai_responses, opencode, penguiflow, penguin, pi,
    picoclaw, qwen_code, refusal, sharegpt, sts, training, vercel_ui,
};
use crate::error::{Error, Result};
use crate::model::session::Session;
use crate::model::view::View;
use std::io::{self, Write};

impl Format {
    /// The format's description.
    #[inline(never)] // Inlined in a program, it would make the compiler translate all formats again.
    pub fn spec(self) -> &'static FormatSpec {
        match self {
            Format::Native => &native::SPEC,
            Format::Jsonl => &jsonl::SPEC,
            Format::OpenaiChat => &openai_chat::SPEC,
            Format::OpenaiResponses => &openai_responses::SPEC,
            Format::Anthropic => &anthropic::SPEC,
            Format::Gemini => &gemini::SPEC,
            Format::Picoclaw => &picoclaw::SPEC,
            Format::PicoclawLegacy => &picoclaw::LEGACY,
            Format::Penguin => &penguin::SPEC,
            Format::PenguinContext => &penguin::CONTEXT,
            Format::ClaudeCode => &claude_code::SPEC,
            Format::Goaitools => &goaitools::SPEC,
            Format::Penguiflow => &penguiflow::SPEC,
            Format::PenguiflowContext => &penguiflow::CONTEXT,
            Format::Codex => &codex::SPEC,
            Format::Pi => &pi::SPEC,
            Format::GeminiCli => &gemini_cli::SPEC,
            Format::Opencode => &opencode::SPEC,
            Format::Goose => &goose::SPEC,
            Format::GooseJsonl => &goose::LINES,
            Format::Aider => &aider::SPEC,
            Format::ClineRoo => &cline_roo::SPEC,
            Format::Continue => &continue_ide::SPEC,
            Format::Langchain => &langchain::SPEC,
            Format::VercelUi => &vercel_ui::SPEC,
            Format::VercelUiV4 => &vercel_ui::OLD_FORM,
            Format::Markdown => &markdown::SPEC,
            Format::Html => &html::SPEC,
            Format::ChatgptExport => &chatgpt_export::SPEC,
            Format::ClaudeAiExport => &claude_ai_export::SPEC,
            Format::Sharegpt => &sharegpt::SPEC,
            Format::Aichat => &aichat::SPEC,
            Format::OpenaiFinetune => &training::FINETUNE,
            Format::Trl => &training::TRL,
            Format::Sts => &sts::SPEC,
            Format::Cursor => &cursor::SPEC,
            Format::Droid => &droid::SPEC,
            Format::Cline => &cline::SPEC,
            Format::QwenCode => &qwen_code::SPEC,
            Format::CopilotCli => &copilot_cli::SPEC,
            Format::Grok => &grok::SPEC,
            Format::Atif => &atif::SPEC,
            Format::Kimi => &kimi::SPEC,
        }
    }

    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// One-line description for help and manual.
    pub fn about(self) -> &'static str {
        self.spec().about
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether sessions can be written in it.
    pub fn is_written(self) -> bool {
        self.spec().is_written()
    }

    /// Whether it is training data: one session per line.
    pub fn is_training(self) -> bool {
        matches!(self, Format::OpenaiFinetune | Format::Trl)
    }

    /// Whether sessions can be read in it.
    pub fn is_read(self) -> bool {
        !matches!(self.spec().read, ReadFn::None)
    }

    /// The API whose requests it contains.
    pub fn api(self) -> Option<Api> {
        self.spec().api
    }

    /// The API to which the program of this format sends its sessions, if always the same.
    pub fn sent_to(self) -> Option<Api> {
        match self {
            Format::ClaudeCode | Format::Cline | Format::ClineRoo => Some(Api::Anthropic),
            Format::Codex => Some(Api::OpenaiResponses),
            Format::GeminiCli | Format::QwenCode => Some(Api::Gemini),
            _ => self.api(),
        }
    }

    /// The variant of a document, for a format with several; documents are written back in their variant.
    pub fn of(self, document: &[u8]) -> Format {
        self.spec().variant.map_or(self, |variant| variant(document))
    }

    /// Reads an input session by session; returns the input unchanged if the format is read in another way.
    pub fn sessions(
        self,
        input: SessionInput,
    ) -> Result<std::result::Result<Box<dyn SessionReader>, SessionInput>> {
        match (self.spec().read, self.spec().many) {
            (ReadFn::Sessions(open), _) => open(input).map(Ok),
            (_, Some(many)) => many(input),
            _ => Ok(Err(input)),
        }
    }

    /// Reads an input as [`Format::sessions`] does, for sessions that are only displayed: what is needed to write them
    /// back is left out where that saves memory.
    pub fn displayed(
        self,
        input: SessionInput,
    ) -> Result<std::result::Result<Box<dyn SessionReader>, SessionInput>> {
        match self.spec().display {
            Some(open) => open(input).map(Ok),
            None => self.sessions(input),
        }
    }

    /// Whether its lines are records, so that it is read line by line.
    pub fn is_lines(self) -> bool {
        matches!(self.spec().read, ReadFn::Records)
    }
}

/// Converts a document of a format that is not read line by line.
pub fn convert(format: Format, source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let usage = |what: &str| Err(Error::usage(format!("{}: {what}", format.name())));
    let spec = format.spec();
    if let (ReadFn::Document(convert), None) = (spec.read, spec.many) {
        return convert(source, report);
    }
    let input = SessionInput {
        name: source.name.map(str::to_string),
        head: source.bytes.to_vec(),
        rest: Box::new(io::empty()),
        returns: false,
        neighbor: None,
    };
    let mut reader = match (spec.read, format.sessions(input)?) {
        (_, Ok(reader)) => reader,
        (ReadFn::Document(convert), _) => return convert(source, report),
        (ReadFn::None, _) => return usage("write-only format"),
        _ => return usage("read line by line"),
    };
    let mut sessions = Vec::new();
    while let Some(session) = reader.next(report)? {
        sessions.push(session);
    }
    Ok(sessions)
}

/// Writes a session in a format other than the native one.
pub fn write(
    format: Format,
    session: &Session,
    view: &View,
    purpose: WritePurpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let options = PageOptions::default();
    write_page(format, session, view, (purpose, &options), out, report)
}

/// Writes a session as [`write()`] does, with options for pages.
pub fn write_page(
    format: Format,
    session: &Session,
    view: &View,
    (purpose, options): (WritePurpose, &PageOptions),
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let vercel = [Format::VercelUi, Format::VercelUiV4].contains(&format);
    if purpose == WritePurpose::Export
        && !vercel
        && native::source_format(session).as_deref() == Some("vercel-ui")
    {
        report.count_loss(Loss::Part, vercel_ui::differing_contents(session, view));
    }
    let Some(write) = format.spec().write else {
        let what = format!("cannot write sessions as {}", format.name());
        return Err(Error::usage(what));
    };
    let readable = opaque::readable(format, session, view, report);
    let view = readable.as_ref().unwrap_or(view);
    let with_refusals = refusal::in_content(format, session, view);
    let view = with_refusals.as_ref().unwrap_or(view);
    let target = WriteTarget(purpose, out, report);
    match format {
        Format::Html => html::write_page(session, view, options, target),
        Format::OpenaiFinetune | Format::Trl => {
            let kind = match format {
                Format::Trl => training::TrainingKind::Trl,
                _ => training::TrainingKind::Finetune,
            };
            training::write(kind, session, view, &options.training, target)
        }
        Format::Markdown if options.remote_images => {
            // A page loads these images from the web when it is opened.
            markdown::write(session, view, markdown::ImagePolicy::Remote, target)
        }
        _ => write(session, view, target),
    }
}

/// Writes sessions of one source back to it, unchanged ones with their original bytes.
pub fn write_back(
    format: Format,
    sessions: &[EditedSession<'_>],
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let Some(back) = format.spec().write_back else {
        let what = format!("cannot write several sessions as {}", format.name());
        return Err(Error::usage(what));
    };
    let with_refusals: Vec<Option<View>> = sessions
        .iter()
        .map(|edited| refusal::in_content(format, edited.session, edited.view))
        .collect();
    let sessions: Vec<EditedSession<'_>> = sessions
        .iter()
        .zip(&with_refusals)
        .map(|(edited, view)| EditedSession {
            view: view.as_ref().unwrap_or(edited.view),
            ..*edited
        })
        .collect();
    back(&sessions, out, report)
}

impl Api {
    /// The implementation of the API.
    pub(super) fn interface(self) -> &'static dyn Interface {
        match self {
            Api::OpenaiChat => &openai_chat::Chat,
            Api::OpenaiResponses => &openai_responses::Responses,
            Api::Anthropic => &anthropic::Anthropic,
            Api::Gemini => &gemini::Gemini,
        }
    }
}
