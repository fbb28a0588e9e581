//! What a message is taken to, in either version.

use crate::format::request::piece::rest;
use crate::model::json::ObjectBuilder;

/// One piece of a message.
pub enum Piece {
    /// The border between two steps.
    Border,
    /// A thought.
    Thought(Vec<u8>),
    /// A part of the content.
    Part(Vec<u8>),
    /// A call, and its result.
    Call(Call),
    /// A part that is shown and not sent.
    Shown(Vec<u8>),
}

/// A call.
pub struct Call {
    /// The id, as JSON.
    pub id: Vec<u8>,
    /// The tool, as JSON.
    pub name: Vec<u8>,
    /// The arguments: a string's JSON.
    pub arguments: Vec<u8>,
    /// What it has beside.
    pub note: Vec<u8>,
    /// What came of it.
    pub result: Option<Answer>,
}

/// What came of a call.
pub struct Answer {
    /// A string's JSON.
    pub content: Vec<u8>,
    /// Whether the tool failed.
    pub failed: bool,
    /// Whether the tool was not allowed to run.
    pub denied: bool,
}

/// A message in pieces.
#[derive(Default)]
pub struct Taken {
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// When it was made, as JSON.
    pub time: Option<Vec<u8>>,
    /// Members that are left.
    pub members: Option<Vec<u8>>,
    /// The application's own.
    pub metadata: Option<Vec<u8>>,
}

/// What is left of an object; nothing when that is nothing.
pub fn left(object: &[u8], known: &[&str]) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    for (name, value) in rest(object, known) {
        built.raw(&name, value);
    }
    built.finish()
}
