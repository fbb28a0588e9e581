//! The Gemini API: an array of contents, a request with `systemInstruction` and `contents`, or a response. Calls
//! usually have no ids; generated ids are not written back.

mod element;
mod parts;
mod write;

pub(super) use element::{Calls, read as element};
pub(super) use parts::parts;

use super::detect::Signature;
use super::detect::signature::has_content;
use super::report::Loss;
use super::request::draft::Draft;
use super::request::element::Request;
use super::request::interface::ResponseShape;
use super::request::interface::{Decoder, Interface, Shape};
use super::request::piece::Said;
use super::request::piece::{Piece, Writing};
use super::request::{self, Api};
use super::{Form, Format, Holds, Reading, document};

/// These contents, as a format.
pub const FORM: Form = Form {
    name: "gemini",
    about: "Gemini contents (array or request body)",
    read: Reading::Document(|source, report| document::read(Api::Gemini, Format::Gemini, source, report)),
    many: Some(|input| document::open(Api::Gemini, Format::Gemini, input)),
    holds: Holds::Many,
    back: Some(|sessions, out, report| request::write_back(Api::Gemini, sessions, out, report)),
    write: Some(|session, view, purpose, out, report| {
        request::write(Api::Gemini, session, view, purpose, out, report)
    }),
    api: Some(Api::Gemini),
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
pub(super) struct Gemini;

const SHAPE: Shape = Shape {
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
    fn shape(&self) -> &'static Shape {
        &SHAPE
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Calls::default())
    }

    fn write(&self, pieces: &[Piece<'_>], writing: &mut Writing<'_>) -> Request {
        write::write(pieces, writing)
    }

    fn instructions(&self, raw: &[u8]) -> Draft {
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

    fn generates_call_ids(&self, _: &Said<'_>) -> bool {
        true
    }
}

impl Decoder for Calls {
    fn drafts(&mut self, elements: &[&[u8]]) -> Vec<Draft> {
        elements.iter().flat_map(|raw| element::read(raw, self)).collect()
    }
}

/// The signature.
pub(super) const SIGNATURE: Signature = Signature {
    name: FORM.name,
    what: "Gemini contents",
    document: |shape| {
        let spoken = |content: &super::detect::Shape<'_>| content.has("parts");
        shape.has_element("contents", spoken) || shape.first_has("candidates", &["content", "finishReason"])
    },
    message: |said| said.message.is_array("parts") && has_content(said.message, "parts"),
    ..Signature::BLANK
};
