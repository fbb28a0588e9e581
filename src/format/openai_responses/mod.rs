//! The OpenAI Responses API: an array of items, a request with `instructions` and `input`, or a response. Consecutive
//! reasoning, a text and calls form one native message, and become items again when written.

mod item;
mod part;
mod signature;
mod write;

use item::ItemTools;
pub(super) use item::is_unnamed;
pub(super) use signature::SIGNATURE;

use super::report::{Loss, LossSet};
use super::request::Api;
use super::request::draft::AnnotatedDraft;
use super::request::element::ProviderRequest;
use super::request::interface::{ApiShape, Decoder, Interface, ResponseShape};
use super::request::request_part::{AnnotatedMessage, RequestPart, WriteSettings};
use super::{Format, FormatSpec, document};

/// These items, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "OpenAI Responses items (array or request body)",
    unsupported: LossSet::USUAL
        .without(&[Loss::Arguments])
        .with(&[Loss::Model, Loss::Message, Loss::Orphan]),
    ..document::spec!(OpenaiResponses)
};

/// The API.
pub(super) struct Responses;

const SHAPE: ApiShape = ApiShape {
    list: "input",
    text_list: true,
    instructions: &["instructions"],
    instructions_begin: b"\"",
    element: &["role", "type"],
    no_body: &["type", "role", "call_id"],
    response: Some(ResponseShape {
        list: "output",
        element: None,
        requires: Some("object"),
        answer: &[("model", "model"), ("usage", "usage")],
    }),
    array: false,
};

impl Interface for Responses {
    fn shape(&self) -> &'static ApiShape {
        &SHAPE
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ItemTools::default())
    }

    fn write(&self, pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
        write::write(pieces, writing)
    }

    fn instructions(&self, raw: &[u8]) -> AnnotatedDraft {
        item::instructions(raw)
    }

    fn fault(&self, element: &[u8]) -> Option<String> {
        item::fault(element)
    }

    fn group(&self, elements: &[&[u8]]) -> usize {
        item::group(elements)
    }

    fn generates_call_ids(&self, annotated: &AnnotatedMessage<'_>) -> bool {
        annotated.noted("unnamed").is_some()
    }

    fn has_compactions(&self) -> bool {
        true
    }
}

impl Decoder for ItemTools {
    fn drafts(&mut self, elements: &[&[u8]]) -> Vec<AnnotatedDraft> {
        item::read(elements, self)
    }
}
