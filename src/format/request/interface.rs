//! The trait that each provider's API implements. All other code for requests is common to the APIs, here and in
//! `check`.

use super::draft::AnnotatedDraft;
use super::element::ProviderRequest;
use super::request_part::{AnnotatedMessage, RequestPart, WriteSettings};
use crate::format::report::Report;
use crate::format::spec::WritePurpose;
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;

/// The API of a provider.
pub trait Interface: Sync {
    /// The members of its requests and responses.
    fn shape(&self) -> &'static ApiShape;

    /// A decoder for the elements of one history.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Encodes a history as elements.
    fn write(&self, pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest;

    /// The view without conversion, for an API whose messages are native.
    fn request(
        &self,
        _session: &Session,
        _view: &View,
        _purpose: WritePurpose,
        _report: &mut Report,
    ) -> Option<ProviderRequest> {
        None
    }

    /// Converts the instructions next to a history to a message.
    fn instructions(&self, raw: &[u8]) -> AnnotatedDraft;

    /// Describes the fault of an element that has the envelope of a message but content that the API does not have.
    fn fault(&self, element: &[u8]) -> Option<String>;

    /// How many of these elements are decoded together.
    fn group(&self, _elements: &[&[u8]]) -> usize {
        1
    }

    /// The role of joined messages, if messages of this native role are joined.
    fn joined_role(&self, _role: &str) -> Option<&'static str> {
        None
    }

    /// Whether the ids of a message's calls are generated, because the API does not require any.
    fn generates_call_ids(&self, _message: &AnnotatedMessage<'_>) -> bool {
        false
    }

    /// Whether a history may have encrypted summaries.
    fn has_compactions(&self) -> bool {
        false
    }
}

/// Decodes the elements of a history in order, with the state of earlier ones.
pub trait Decoder {
    /// The native messages of elements that belong together, without annotations for their position.
    fn drafts(&mut self, elements: &[&[u8]]) -> Vec<AnnotatedDraft>;

    /// The element's messages unchanged, for an API whose messages are native.
    fn records(&mut self, _element: &[u8]) -> Option<Vec<Vec<u8>>> {
        None
    }
}

/// The members of the requests and responses of an API.
pub struct ApiShape {
    /// The request member with the history.
    pub list: &'static str,
    /// Whether that member may be a string, the only user message.
    pub text_list: bool,
    /// Names of the member with the instructions; the first is written.
    pub instructions: &'static [&'static str],
    /// Prefix of values that are read as instructions.
    pub instructions_begin: &'static [u8],
    /// Members of which an element has at least one.
    pub element: &'static [&'static str],
    /// Members that identify an object as an element even if it has a member named like a list.
    pub no_body: &'static [&'static str],
    /// The structure of its responses, unless a response is itself a message.
    pub response: Option<ResponseShape>,
    /// Whether a history is written as an array, unless it is written back to its source.
    pub array: bool,
}

impl ApiShape {
    /// The history of a request body if it is a value whose messages cannot be read.
    pub fn unreadable_history<'b>(&self, body: &'b [u8]) -> Option<&'b [u8]> {
        let is_element = self.no_body.iter().any(|name| json::member(body, name).is_some());
        let is_readable = |list: &[u8]| match list.first() {
            Some(b'"') => self.text_list,
            first => first == Some(&b'[') || list == b"null",
        };
        json::member(body, self.list).filter(|list| !is_element && !is_readable(list))
    }
}

/// The members of a response.
pub struct ResponseShape {
    /// The list of answers, or the answer as a list of elements.
    pub list: &'static str,
    /// The member of an answer that is the element; `None` if the list is one answer.
    pub element: Option<&'static str>,
    /// A member that distinguishes a response from an element with such a list.
    pub requires: Option<&'static str>,
    /// Message members, and the response members that they are read from.
    pub answer: &'static [(&'static str, &'static str)],
}
