//! What a format defines.

pub use super::info::{Lineage, SessionInfo};
use super::losses;
pub use super::part::Layout;
use super::part::{Aside, Parsed};
use super::sidecar::Sidecar;
use crate::error::Place;
use crate::format::report::Report;
use crate::format::request::draft;
use crate::format::request::piece::Said;
use crate::format::workspace::Member;
use crate::format::{Format, Input};
use crate::model::json::{self, Dialect};
use std::collections::HashSet;

/// A format whose sessions are lists of elements.
pub trait Codec: Sized + Sync + 'static {
    /// The format.
    const FORMAT: Format;
    /// Its name, under which residues are kept.
    const NAME: &'static str;
    /// A session of it, for messages, with an article.
    const WHAT: &'static str;
    /// The member of a document that holds the elements.
    const LIST: &'static str;
    /// The member of a document that counts the elements.
    const COUNT: Option<&'static str> = None;
    /// Whether a session may also be JSON Lines.
    const LINES: bool = false;
    /// Whether an input may hold many documents, in an array or one per line.
    const MANY: bool = false;
    /// The layout of a session from elsewhere.
    const LAYOUT: Layout = Layout::Document;
    /// Whether a message without an id gets one. It does in any case where others refer to it.
    const IDS: bool = true;
    /// Whether new elements of a document are laid out like the others; white space in arguments changes.
    const LAYS_OUT: bool = false;
    /// Whether several elements may form a unit. What the codec calls an element is an array of those of a unit then.
    const UNITS: bool = false;
    /// Whether a summary has a place next to new messages. It is before all of them.
    const SUMMARIES: bool = false;
    /// Whether the results of calls follow these in a new session.
    const ORDERS: bool = false;
    /// Whether a line may hold several records, without an end of line between them.
    const GLUED: bool = false;
    /// Whether a document is written with a member per line.
    const INDENTS: bool = false;
    /// Members of a header that it has a place for.
    const HEADER: &'static [&'static str] = &losses::HEADER;
    /// Whether the title of a session is among the members that describe it, not in an element or in another file.
    const HAS_TITLE: bool = true;
    /// Members of a header's metadata that it has a place for.
    const PLACED: &'static [Member] = &[];
    /// The members of an element with its id and the id of the element before it.
    const LINK: Option<[&'static str; 2]> = None;
    /// The codecs of a format whose elements have variants.
    const VARIANTS: &'static [Self] = &[];
    /// What has to be known of all elements to decode one.
    type Outline;

    /// The name of the variant.
    fn variant(&self) -> &'static str {
        ""
    }
    /// Whether an element is of this variant.
    fn has_variant(&self, _element: &[u8]) -> bool {
        true
    }
    /// The session and the element in a row of a table of many sessions.
    fn row(&self, _element: &[u8]) -> Option<(String, Vec<u8>)> {
        None
    }
    /// A row with this element: a new one of the same session, or the row itself.
    fn with_row(&self, _row: &[u8], element: &[u8], _is_new: bool) -> Vec<u8> {
        element.to_vec()
    }
    /// How many of these elements form a unit, at least one.
    fn unit(&self, _elements: &[Vec<u8>]) -> usize {
        1
    }
    /// The elements that are left of a log whose lines are operations on them.
    fn replay(&self, _bytes: &[u8], _start: Place) -> Option<Parsed> {
        None
    }
    /// The sessions and messages that lines belong to; none if all are of one session and a message each.
    fn assemble(&self, _lines: &[&[u8]]) -> Option<Assembly> {
        None
    }
    /// Whether a line describes the session that begins with it, or describes it again. Only formats that are also JSON
    /// Lines have such.
    fn begins(&self, _line: &[u8]) -> bool {
        false
    }
    /// Whether an input that begins with this line is JSON Lines.
    fn is_line(&self, line: &[u8]) -> bool {
        json::member(line, Self::LIST).is_none()
    }
    /// The session, by the members next to its list.
    fn info(&self, about: &[u8]) -> SessionInfo {
        let text = |name| json::member(about, name).and_then(json::text);
        SessionInfo {
            id: text("id").map(|id| id.into_owned()),
            title: text("title").map(|title| title.into_owned()),
            ..SessionInfo::default()
        }
    }
    /// The message that a member next to the list is.
    fn instructions(&self, _about: &[u8]) -> Option<draft::Draft> {
        None
    }
    /// Adds what its elements say of the session.
    fn add_info(&self, _outline: &Self::Outline, _info: &mut SessionInfo) {}
    /// What files next to an input say of its session; the function reads one of them.
    fn sidecar(&self, _input: &Input, _neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
        Sidecar::default()
    }
    /// Adds to the messages of an element what files next to the input say of them.
    fn complete(&self, _sidecar: &Sidecar, _element: &[u8], _messages: &mut [Draft]) {}
    /// What a reader has to know of a session that is read as it is.
    fn remarks(&self, _about: &[u8], _elements: &[Vec<u8>]) -> Vec<String> {
        Vec::new()
    }
    /// Documents within a document, each a session after the main one. They are not changed in place.
    fn nested(&self, _about: &[u8], _elements: &[&[u8]]) -> Vec<(Aside, Vec<u8>)> {
        Vec::new()
    }
    /// The id of the nth message after the first one of an element with this id.
    fn further_id(id: &str, nth: usize) -> String {
        format!("{id}#{}", nth + 1)
    }
    /// Looks at all elements.
    fn outline(&self, elements: &[Vec<u8>]) -> Self::Outline;
    /// The meaning of an element.
    fn decode(&self, outline: &Self::Outline, nth: usize, element: &[u8]) -> Decoded;
    /// What is wrong with the content of a message.
    fn fault(&self, element: &[u8]) -> Option<String>;
    /// The id of a message.
    fn id(&self, element: &[u8]) -> Option<String>;
    /// The time of a message, in RFC 3339.
    fn time(&self, _element: &[u8]) -> Option<String> {
        None
    }
    /// The element of messages, without what only a new element needs; none of messages that make no element.
    fn encode(&self, messages: &[Said<'_>], report: &mut Report) -> Option<Vec<u8>>;
}

/// The variant of this name, or the codec itself.
pub fn variant_named<C: Codec>(codec: &'static C, name: &str) -> &'static C {
    let mut variants = C::VARIANTS.iter();
    variants.find(|codec| codec.variant() == name).unwrap_or(codec)
}

/// Where the lines of a log belong. What is not an object has no line of its own here: it follows the line before it.
#[derive(Default)]
pub struct Assembly {
    /// The first line of the message that each line is part of: its own index, or an earlier one. What the codec calls an
    /// element is an array of lines then, if there are several.
    pub first: Vec<usize>,
    /// The session of each line; 0 is the main one.
    pub session: Vec<usize>,
    /// The sessions beside the main one.
    pub others: Vec<Aside>,
}

/// The lines of an element.
pub fn lines_of(element: &[u8]) -> Vec<&[u8]> {
    let lines = element
        .starts_with(b"[")
        .then(|| json::elements(element, Dialect::Strict));
    let lines = lines.flatten().filter(|lines| !lines.is_empty());
    lines.unwrap_or_else(|| vec![element])
}

/// The meaning of an element.
pub enum Decoded {
    /// Messages.
    Messages(Vec<Draft>),
    /// A summary of messages before it.
    Summary(Summary),
    /// Messages, and a summary that follows them.
    Summarized(Vec<Draft>, Summary),
    /// An element of the format that is not a message.
    Passthrough,
    /// Not an element of the format: damage.
    Unrecognized,
}

/// A message that was decoded.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The message without its id.
    pub message: draft::Draft,
    /// What the model receives of it.
    pub visible: Visible,
}

impl From<draft::Draft> for Draft {
    /// A message that the model receives.
    fn from(message: draft::Draft) -> Draft {
        Draft {
            message,
            visible: Visible::Whole,
        }
    }
}

/// What the model receives of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visible {
    /// All of it.
    Whole,
    /// Nothing.
    Hidden,
    /// This content instead of its own.
    Content(Vec<u8>),
}

/// A summary that was decoded.
#[derive(Debug, Default)]
pub struct Summary {
    /// Its text.
    pub text: String,
    /// The first element that it does not cover; none for a summary that covers nothing.
    pub kept: Option<usize>,
    /// Elements before it that it does not cover either; none if it covers all.
    pub spared: Option<HashSet<usize>>,
    /// Further members of its event.
    pub members: Vec<(&'static str, Vec<u8>)>,
    /// The messages that the model receives after it. Without a text, these are all that stands for what it covers.
    pub inserted: Vec<draft::Draft>,
}
