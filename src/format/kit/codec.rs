//! The interface that a format on the kit implements.

pub use super::info::{LineageInfo, SessionInfo};
use super::losses;
pub use super::part::DocumentLayout;
use super::part::{Parsed, SideSession};
use super::sidecar::Sidecar;
use crate::error::Position;
use crate::format::report::Report;
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::WorkspaceMember;
use crate::format::{Format, SessionInput};
use crate::model::json::{self, Dialect};
use std::collections::HashSet;

/// A format whose sessions are lists of elements.
pub trait Codec: Sized + Sync + 'static {
    const FORMAT: Format;
    /// Its name, which is also the name of its annotations.
    const NAME: &'static str;
    /// A phrase for a session of the format, with an article, for messages.
    const PHRASE: &'static str;
    /// The document member that contains the elements.
    const LIST: &'static str = "messages";
    /// The document member with the number of elements.
    const COUNT_MEMBER: Option<&'static str> = None;
    /// Whether a session may also be JSON Lines.
    const LINES: bool = matches!(Self::LAYOUT, DocumentLayout::Lines);
    /// Whether an input may hold many documents, in an array or one per line.
    const MAY_BE_COLLECTION: bool = false;
    /// Whether every input is a collection of documents: an array, one per line, or one after another.
    const IS_COLLECTION: bool = false;
    /// The layout of a converted session.
    const LAYOUT: DocumentLayout = DocumentLayout::Document;
    /// Whether a message without an id gets one. It always does if other elements refer to it.
    const IDS: bool = true;
    /// Whether new elements of a document are formatted like the existing ones; this changes white space in arguments.
    const COPIES_LAYOUT: bool = false;
    /// Whether several elements may form a group. If so, the codec receives a group as an array of its elements.
    const GROUPS_ELEMENTS: bool = false;
    /// Whether a summary can be written next to new messages. It precedes all of them.
    const SUMMARIES: bool = false;
    /// Whether a summary is written as a message that quotes it, and such a message is read as a summary.
    const QUOTES_SUMMARIES: bool = false;
    /// Whether tool results must follow their calls in a new session.
    const RESULTS_FOLLOW_CALLS: bool = false;
    /// Whether a line may contain several records, without line endings between them.
    const SEVERAL_PER_LINE: bool = false;
    /// Whether a document is written with one member per line.
    const INDENTS: bool = false;
    /// Header members that the format can represent.
    const HEADER: &'static [&'static str] = &losses::HEADER;
    /// Whether the title is a member of the document, as opposed to an element or another file.
    const HAS_TITLE: bool = true;
    /// Members of the header's metadata that the format can represent.
    const REPRESENTED: &'static [WorkspaceMember] = &[];
    /// The element members with its id and the id of its predecessor.
    const LINK: Option<[&'static str; 2]> = None;
    /// The codecs of a format with several variants of elements.
    const VARIANTS: &'static [Self] = &[];
    /// Information about all elements that decoding one of them requires.
    type ElementOutline;

    /// The name of the variant.
    fn variant(&self) -> &'static str {
        ""
    }
    /// The document member that contains the elements of the variant.
    fn list(&self) -> &'static str {
        Self::LIST
    }
    fn has_variant(&self, _element: &[u8]) -> bool {
        true
    }
    /// The session id and the element in a row of a table with several sessions.
    fn row(&self, _element: &[u8]) -> Option<(String, Vec<u8>)> {
        None
    }
    /// A row with this element: a new row of the same session, or the given row.
    fn with_row(&self, _row: &[u8], element: &[u8], _is_new: bool) -> Vec<u8> {
        element.to_vec()
    }
    /// How many of these elements form a group; at least one.
    fn group_length(&self, _elements: &[Vec<u8>]) -> usize {
        1
    }
    /// Replays a log whose lines are operations on elements; returns the resulting elements.
    fn replay(&self, _bytes: &[u8], _start: Position) -> Option<Parsed> {
        None
    }
    /// Assigns lines to sessions and messages; `None` if every line is a message of the same session.
    fn assemble(&self, _lines: &[&[u8]]) -> Option<Assembly> {
        None
    }
    /// Whether a line describes the session that starts with it, or describes it again. Only for formats that may be
    /// JSON Lines.
    fn begins(&self, _line: &[u8]) -> bool {
        false
    }
    /// Whether an input that starts with this line is JSON Lines.
    fn is_line(&self, line: &[u8]) -> bool {
        json::member(line, Self::LIST).is_none()
    }
    /// Session information from the members next to the list.
    fn info(&self, about: &[u8]) -> SessionInfo {
        let text = |name| json::member_text(about, name);
        SessionInfo {
            id: text("id").map(|id| id.into_owned()),
            title: text("title").map(|title| title.into_owned()),
            ..SessionInfo::default()
        }
    }
    /// A member next to the list that is a message.
    fn instructions(&self, _about: &[u8]) -> Option<draft::AnnotatedDraft> {
        None
    }
    /// Adds session information from the elements.
    fn add_info(&self, _outline: &Self::ElementOutline, _info: &mut SessionInfo) {}
    /// Session information in companion files; the function reads one of them.
    fn sidecar(&self, _input: &SessionInput, _neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
        Sidecar::default()
    }
    /// Completes the messages of an element with information from companion files.
    fn complete(&self, _sidecar: &Sidecar, _element: &[u8], _messages: &mut [Draft]) {}
    /// Remarks on a session for its reader.
    fn remarks(&self, _outline: &Self::ElementOutline, _about: &[u8], _elements: &[Vec<u8>]) -> Vec<String> {
        Vec::new()
    }
    /// Documents nested in a document; each becomes a session after the main one. They cannot be changed in place.
    fn nested(&self, _about: &[u8], _elements: &[&[u8]]) -> Vec<(SideSession, Vec<u8>)> {
        Vec::new()
    }
    /// The id of the nth message after the first one of an element.
    fn further_id(id: &str, nth: usize) -> String {
        format!("{id}#{}", nth + 1)
    }
    /// Collects information about all elements.
    fn outline(&self, elements: &[Vec<u8>]) -> Self::ElementOutline;
    /// As [`Codec::outline`], for the session with this number in its input, from 1.
    fn numbered_outline(&self, _number: usize, elements: &[Vec<u8>]) -> Self::ElementOutline {
        self.outline(elements)
    }
    fn decode(&self, outline: &Self::ElementOutline, nth: usize, element: &[u8]) -> Decoded;
    /// Describes the fault in a message's content, if any.
    fn fault(&self, _element: &[u8]) -> Option<String> {
        None
    }
    /// The id of a message.
    fn id(&self, _element: &[u8]) -> Option<String> {
        None
    }
    /// The time of a message, in RFC 3339.
    fn time(&self, _element: &[u8]) -> Option<String> {
        None
    }
    /// Encodes messages as one element, without members that only a new element has; `None` if they do not form an
    /// element.
    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>>;
}

/// Assigns the lines of a log to messages and sessions. A line that is not an object belongs to the line before it.
#[derive(Default)]
pub struct Assembly {
    /// For each line, the first line of its message: its own index, or an earlier one. A message of several lines is
    /// passed to the codec as an array.
    pub first: Vec<usize>,
    /// For each line, its session; 0 is the main session.
    pub session: Vec<usize>,
    pub others: Vec<SideSession>,
}

/// The lines that form an element.
pub fn lines_of(element: &[u8]) -> Vec<&[u8]> {
    let lines = element
        .starts_with(b"[")
        .then(|| json::elements(element, Dialect::Strict));
    let lines = lines.flatten().filter(|lines| !lines.is_empty());
    lines.unwrap_or_else(|| vec![element])
}

/// The content of an element.
pub enum Decoded {
    Messages(Vec<Draft>),
    /// A summary of earlier messages.
    Summary(SummaryDraft),
    /// Messages, and a summary that follows them.
    Summarized(Vec<Draft>, SummaryDraft),
    /// An element of the format without a message.
    Passthrough,
    /// Not an element of the format; reported as damage.
    Unrecognized,
}

impl Decoded {
    /// One message with its time, which the model receives completely; unrecognized if there is none.
    pub fn timed(message: Option<draft::AnnotatedDraft>, time: Option<String>) -> Decoded {
        let Some(mut message) = message else {
            return Decoded::Unrecognized;
        };
        if let Some(time) = time {
            message.raw("timestamp", json::quoted(&time));
        }
        Decoded::Messages(vec![message.into()])
    }
}

/// A decoded message.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The message without its id.
    pub message: draft::AnnotatedDraft,
    /// What a model receives of it.
    pub visible: Visible,
}

impl From<draft::AnnotatedDraft> for Draft {
    /// A message that the model receives completely.
    fn from(message: draft::AnnotatedDraft) -> Draft {
        Draft {
            message,
            visible: Visible::Whole,
        }
    }
}

/// What a model receives of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visible {
    Whole,
    /// Nothing.
    Hidden,
    /// This content in place of its own.
    Content(Vec<u8>),
}

/// A decoded summary.
#[derive(Debug, Default)]
pub struct SummaryDraft {
    pub text: String,
    /// The first element that is not covered; `None` if nothing is covered.
    pub kept: Option<usize>,
    /// Earlier elements that are not covered either; `None` if all are covered.
    pub spared: Option<HashSet<usize>>,
    /// Further members of its event.
    pub members: Vec<(&'static str, Vec<u8>)>,
    /// Messages that the model receives after it. Without a text, they alone replace the covered messages.
    pub inserted: Vec<draft::AnnotatedDraft>,
}
