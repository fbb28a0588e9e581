//! The Anthropic API: an array of messages, a request with `system` and `messages`, or a response. Tool results are in
//! user messages there, and are native tool messages.

mod block;
mod element;
mod write;

pub(super) use element::message;
pub(super) use write::write;

use super::detect::Signature;
use super::report::{Loss, LossSet};
use super::request::Api;
use super::request::draft::AnnotatedDraft;
use super::request::element::ProviderRequest;
use super::request::interface::{ApiShape, Decoder, Interface};
use super::request::request_part::{RequestPart, WriteSettings};
use super::{Format, FormatSpec, content, document};

/// These messages, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Anthropic messages (array or request body)",
    unsupported: LossSet::USUAL.with(&[Loss::Model, Loss::Message, Loss::Orphan]),
    ..document::spec!(Anthropic)
};

/// The API.
pub(super) struct Anthropic;

const SHAPE: ApiShape = ApiShape {
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
    fn shape(&self) -> &'static ApiShape {
        &SHAPE
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Messages)
    }

    fn write(&self, pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
        write::write(pieces, writing)
    }

    fn instructions(&self, raw: &[u8]) -> AnnotatedDraft {
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
    fn drafts(&mut self, elements: &[&[u8]]) -> Vec<AnnotatedDraft> {
        elements.iter().flat_map(|raw| element::read(raw)).collect()
    }
}

/// The signature. Plain messages match several formats.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "Anthropic messages",
    message: |message| {
        let source = message.parts.iter().any(|part| {
            part.has("source") && (part.text_equals("type", "image") || part.text_equals("type", "document"))
        });
        let blocks = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
        !message.is_own() && (source || message.has_part(&blocks))
    },
    takes_plain: true,
    ..Signature::BLANK
};
