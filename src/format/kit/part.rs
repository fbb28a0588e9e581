//! Elements of a session before decoding.

use crate::error::Position;
use crate::model::named_enum::named_enum;

named_enum! {
    /// How the elements of a session are stored.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum DocumentLayout {
        /// A list in a document.
        #[default]
        Document = "document",
        /// A bare list.
        List = "list",
        /// One element per line.
        Lines = "lines",
    }
}

/// The parsed elements of a session.
#[derive(Default)]
pub struct Parsed {
    /// How they are stored.
    pub layout: DocumentLayout,
    /// The document member that contains the elements.
    pub list: Option<&'static str>,
    /// The members next to the list, or the line that describes the session.
    pub about: Option<Vec<u8>>,
    pub parts: Vec<ElementPart>,
    /// Whether damage was already reported.
    pub is_reported: bool,
    /// The session id in its rows.
    pub row: Option<String>,
    /// For a side session: its number in the log.
    pub side: Option<(usize, SideSession)>,
}

/// A side session in the same log.
#[derive(Clone, Debug)]
pub struct SideSession {
    /// `branch` or `sidechain`.
    pub kind: &'static str,
    /// The id of the main session's message that it follows.
    pub at: Option<String>,
    /// Its id, or a numbered one if it has none.
    pub id: Option<String>,
}

pub struct ElementPart {
    /// Its index in the input.
    pub at: usize,
    /// Indexes of its further lines.
    pub further: Vec<usize>,
    /// Its JSON on one line.
    pub raw: Vec<u8>,
    /// Number of input elements that it consists of.
    pub size: usize,
    /// The row that contains it.
    pub row: Option<Vec<u8>>,
    pub place: Position,
    /// Its kind.
    pub state: ElementState,
}

/// The kind of an element before decoding.
pub enum ElementState {
    /// To be decoded.
    Element,
    /// An empty line, or one that describes the session.
    Skipped,
    /// A line that is not an object.
    Damaged(Vec<u8>),
    /// A line that is not an element of the format.
    Unrecognized(Vec<u8>),
}
