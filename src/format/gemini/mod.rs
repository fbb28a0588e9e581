//! The Gemini API: an array of contents, a request with `systemInstruction` and `contents`, or a response. Calls
//! usually have no ids; generated ids are not written back.

mod element;
mod parts;
mod write;

pub(super) use element::{GeminiCallIds, read as element};
pub(super) use parts::parts;

use super::detect::Signature;
use super::detect::signature::has_content;
use super::report::{Loss, LossSet};
use super::request::Api;
use super::request::draft::AnnotatedDraft;
use super::request::element::ProviderRequest;
use super::request::interface::{ApiShape, Decoder, Interface, ResponseShape};
use super::request::request_part::{AnnotatedMessage, RequestPart, WriteSettings};
use super::{Format, FormatSpec, document};

/// These contents, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Gemini contents (array or request body)",
    unsupported: LossSet::USUAL.with(&[Loss::Model, Loss::Message, Loss::Orphan]),
    ..document::spec!(Gemini)
};

/// The API.
pub(super) struct Gemini;

const SHAPE: ApiShape = ApiShape {
    list: "contents",
    text_list: false,
    instructions: &["systemInstruction", "system_instruction"],
    instructions_begin: b"\"{",
    element: &["parts"],
    no_body: &[],
    response: Some(ResponseShape {
        list: "candidates",
        element: Some("content"),
        requires: None,
        answer: &[("model", "modelVersion"), ("usage", "usageMetadata")],
    }),
    array: false,
};

impl Interface for Gemini {
    fn shape(&self) -> &'static ApiShape {
        &SHAPE
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(GeminiCallIds::default())
    }

    fn write(&self, pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
        write::write(pieces, writing)
    }

    fn instructions(&self, raw: &[u8]) -> AnnotatedDraft {
        element::system(raw)
    }

    fn fault(&self, element: &[u8]) -> Option<String> {
        element::fault(element)
    }

    fn joined_role(&self, role: &str) -> Option<&'static str> {
        Some(match role {
            "assistant" => "model",
            "tool" => "function",
            _ => "user",
        })
    }

    fn generates_call_ids(&self, _: &AnnotatedMessage<'_>) -> bool {
        true
    }
}

impl Decoder for GeminiCallIds {
    fn drafts(&mut self, elements: &[&[u8]]) -> Vec<AnnotatedDraft> {
        elements.iter().flat_map(|raw| element::read(raw, self)).collect()
    }
}

pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "Gemini contents",
    document: |shape| {
        let is_message = |content: &super::detect::ObjectShape<'_>| content.has("parts");
        shape.has_element("contents", is_message)
            || shape.first_has("candidates", &["content", "finishReason"])
    },
    message: |annotated| annotated.message.is_array("parts") && has_content(annotated.message, "parts"),
    ..Signature::BLANK
};
