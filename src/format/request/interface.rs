//! What the interface of a provider defines. All else about requests is the same for each of them, here and in `check`.

use super::draft::Draft;
use super::element::Request;
use super::piece::{Piece, Said, Writing};
use crate::format::form::Purpose;
use crate::format::report::Report;
use crate::model::session::Session;
use crate::model::view::View;

/// The interface of a provider.
pub trait Interface: Sync {
    /// The members of its requests and responses.
    fn shape(&self) -> &'static Shape;

    /// Reads elements of one history.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Writes pieces as elements.
    fn write(&self, pieces: &[Piece<'_>], writing: &mut Writing<'_>) -> Request;

    /// The view as it is, for an interface whose messages are those of the record stream.
    fn request(
        &self,
        _session: &Session,
        _view: &View,
        _purpose: Purpose,
        _report: &mut Report,
    ) -> Option<Request> {
        None
    }

    /// The message that the instructions next to a history read as.
    fn instructions(&self, raw: &[u8]) -> Draft;

    /// What is wrong with an element that has the envelope of a message and a content that the interface does not have.
    fn fault(&self, element: &[u8]) -> Option<String>;

    /// How many of these elements are read as one.
    fn group(&self, _elements: &[&[u8]]) -> usize {
        1
    }

    /// The role whose messages are joined, when messages of the record stream's role become such.
    fn joined_role(&self, _role: &str) -> Option<&'static str> {
        None
    }

    /// Whether the ids of a message's calls are generated, because the interface does not require them.
    fn generates_call_ids(&self, _said: &Said<'_>) -> bool {
        false
    }

    /// Whether a history may have encrypted summaries as elements.
    fn has_compactions(&self) -> bool {
        false
    }
}

/// Reads the elements of a history one after another, and knows those before.
pub trait Decoder {
    /// The native messages of elements that belong together, without notes on how they lie.
    fn drafts(&mut self, elements: &[&[u8]]) -> Vec<Draft>;

    /// The bodies of these messages as they are, for an interface whose messages are those of the record stream.
    fn records(&mut self, _element: &[u8]) -> Option<Vec<Vec<u8>>> {
        None
    }
}

/// The members of the requests and responses of an interface.
pub struct Shape {
    /// The member of a request that holds the history.
    pub list: &'static str,
    /// Whether the member may be a text, which is the user's only message.
    pub text_list: bool,
    /// The member that holds the instructions, by its names: the first is written.
    pub instructions: &'static [&'static str],
    /// What instructions begin with that are read as such.
    pub instructions_begin: &'static [u8],
    /// Members of which an element has at least one.
    pub element: &'static [&'static str],
    /// Members that make an object an element, although it has a member with the name of a list.
    pub no_body: &'static [&'static str],
    /// What its responses hold, where that is not a message itself.
    pub response: Option<ResponseShape>,
    /// Whether a history is written as an array, unless it goes back to where it came from.
    pub array: bool,
}

/// The members of a response.
pub struct ResponseShape {
    /// The list of answers, or the answer as a list of elements.
    pub list: &'static str,
    /// The member of an answer that is the element; none when the list is one answer.
    pub element: Option<&'static str>,
    /// A member that a response has, and an element with such a list does not.
    pub requires: Option<&'static str>,
    /// Members of a message, and the members of the response that they are read from.
    pub answer: &'static [(&'static str, &'static str)],
}
