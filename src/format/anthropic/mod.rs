//! The Anthropic API: an array of messages, a request with `system` and `messages`, or a response. Tool results are in
//! user messages there, and are native tool messages.

mod block;
mod element;
mod write;

pub(super) use element::read as element;
pub(super) use write::write;

use super::content;
use super::detect::Signature;
use super::report::Loss;
use super::request::draft::Draft;
use super::request::element::Request;
use super::request::interface::{Decoder, Interface, Shape};
use super::request::piece::{Piece, Writing};
use super::request::{self, Api};
use super::{Form, Format, Holds, Reading, document};

/// These messages, as a format.
pub const FORM: Form = Form {
    name: "anthropic",
    about: "Anthropic messages (array or request body)",
    read: Reading::Document(|source, report| {
        document::read(Api::Anthropic, Format::Anthropic, source, report)
    }),
    many: Some(|input| document::open(Api::Anthropic, Format::Anthropic, input)),
    holds: Holds::Many,
    back: Some(|sessions, out, report| request::write_back(Api::Anthropic, sessions, out, report)),
    write: Some(|session, view, purpose, out, report| {
        request::write(Api::Anthropic, session, view, purpose, out, report)
    }),
    api: Some(Api::Anthropic),
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Arguments,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Orphan,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    ..Form::BLANK
};

/// The API.
pub(super) struct Anthropic;

const SHAPE: Shape = Shape {
    list: "messages",
    text_list: false,
    instructions: &["system"],
    instructions_begin: b"\"[",
    element: &["role"],
    no_body: &[],
    response: None,
    array: false,
};

impl Interface for Anthropic {
    fn shape(&self) -> &'static Shape {
        &SHAPE
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Messages)
    }

    fn write(&self, pieces: &[Piece<'_>], writing: &mut Writing<'_>) -> Request {
        write::write(pieces, writing)
    }

    fn instructions(&self, raw: &[u8]) -> Draft {
        element::system(raw)
    }

    fn fault(&self, element: &[u8]) -> Option<String> {
        content::fault(element, &[])
    }

    fn joined_role(&self, role: &str) -> Option<&'static str> {
        Some(if role == "assistant" { "assistant" } else { "user" })
    }
}

struct Messages;

impl Decoder for Messages {
    fn drafts(&mut self, elements: &[&[u8]]) -> Vec<Draft> {
        elements.iter().flat_map(|raw| element::read(raw)).collect()
    }
}

/// The signature. Plain messages match several formats.
pub(super) const SIGNATURE: Signature = Signature {
    name: FORM.name,
    what: "Anthropic messages",
    message: |said| {
        let source = said
            .parts
            .iter()
            .any(|part| part.has("source") && (part.says("type", "image") || part.says("type", "document")));
        let blocks = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
        !said.is_own() && (source || said.has_part(&blocks))
    },
    takes_plain: true,
    ..Signature::BLANK
};
