//! What a message is taken to, in either version.

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
}

/// A call.
pub struct Call {
    /// The id, as JSON.
    pub id: Vec<u8>,
    /// The tool, as JSON.
    pub name: Vec<u8>,
    /// The arguments: a string's JSON.
    pub arguments: Vec<u8>,
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
