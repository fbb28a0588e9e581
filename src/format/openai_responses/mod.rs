//! The OpenAI Responses API: an array of items, a request with `instructions` and `input`, or a response. Consecutive
//! reasoning, a text and calls form one native message, and become items again when written.

mod item;
mod part;
mod signature;
mod write;

use item::ItemTools;
pub(super) use item::is_unnamed;
pub(super) use signature::SIGNATURE;

use super::report::Loss;
use super::request::draft::AnnotatedDraft;
use super::request::element::ProviderRequest;
use super::request::interface::ResponseShape;
use super::request::interface::{ApiShape, Decoder, Interface};
use super::request::request_part::AnnotatedMessage;
use super::request::request_part::{RequestPart, WriteSettings};
use super::request::{self, Api};
use super::{Format, FormatSpec, ReadFn, SessionCount, document};

/// These items, as a format.
pub const FORM: FormatSpec = FormatSpec {
    name: "openai-responses",
    about: "OpenAI Responses items (array or request body)",
    read: ReadFn::Document(|source, report| {
        document::read(Api::OpenaiResponses, Format::OpenaiResponses, source, report)
    }),
    many: Some(|input| document::open(Api::OpenaiResponses, Format::OpenaiResponses, input)),
    holds: SessionCount::Many,
    back: Some(|sessions, out, report| request::write_back(Api::OpenaiResponses, sessions, out, report)),
    write: Some(|session, view, purpose, out, report| {
        request::write(Api::OpenaiResponses, session, view, purpose, out, report)
    }),
    api: Some(Api::OpenaiResponses),
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
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
    ..FormatSpec::BLANK
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
