//! The elements of a session before they are decoded.

use crate::error::Place;

/// How the elements of a session are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// A list in a document.
    #[default]
    Document,
    /// A list alone.
    List,
    /// An element per line.
    Lines,
}

impl Layout {
    /// The word in a header.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Document => "document",
            Layout::List => "list",
            Layout::Lines => "lines",
        }
    }

    /// The layout of this name.
    pub fn from_name(name: &str) -> Option<Layout> {
        let all = [Layout::Document, Layout::List, Layout::Lines];
        all.into_iter().find(|layout| layout.name() == name)
    }
}

/// The elements of a session.
#[derive(Default)]
pub struct Parsed {
    /// How they are stored.
    pub layout: Layout,
    /// The members next to the list, or the line that describes the session.
    pub about: Option<Vec<u8>>,
    /// The elements.
    pub parts: Vec<Part>,
    /// Whether damage was reported already.
    pub is_reported: bool,
    /// The session that its rows name.
    pub row: Option<String>,
    /// Its number beside the main session of a log.
    pub aside: Option<(usize, Aside)>,
}

/// A session beside the main one in the same log.
#[derive(Clone, Debug)]
pub struct Aside {
    /// `branch` or `sidechain`.
    pub kind: &'static str,
    /// The id of the message of the main session that it follows.
    pub at: Option<String>,
    /// Its id; one with a number if it has none.
    pub id: Option<String>,
}

/// An element.
pub struct Part {
    /// Its index in the input.
    pub at: usize,
    /// The indexes of further lines that are part of it.
    pub further: Vec<usize>,
    /// Its bytes on one line.
    pub raw: Vec<u8>,
    /// How many elements of the input it is.
    pub size: usize,
    /// The row that it is in.
    pub row: Option<Vec<u8>>,
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub state: State,
}

/// What an element is before it is decoded.
pub enum State {
    /// To be decoded.
    Element,
    /// An empty line, or the one that describes the session.
    Skipped,
    /// A line that is not an object.
    Damaged(Vec<u8>),
    /// A line that is not of the format.
    Strange(Vec<u8>),
}
