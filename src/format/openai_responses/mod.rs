//! Items of the OpenAI Responses interface: an array, a request with `instructions` and `input`, a response. Reasoning,
//! a text and calls that follow one another are one message here, and items again when they are written.

mod item;
mod part;
mod signature;
mod write;

pub(super) use item::{Tools, fault, group, instructions, is_unnamed, read as items};
pub(super) use signature::SIGNATURE;
pub(super) use write::write;

use super::report::Loss;
use super::request::{self, Api};
use super::{Form, Format, Holds, Reading, document};

/// These items, as a format.
pub const FORM: Form = Form {
    name: "openai-responses",
    about: "OpenAI Responses items (array or request body)",
    read: Reading::Document(|source, report| {
        document::read(Api::OpenaiResponses, Format::OpenaiResponses, source, report)
    }),
    many: Some(|input| document::open(Api::OpenaiResponses, Format::OpenaiResponses, input)),
    holds: Holds::Many,
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
    ..Form::BLANK
};
