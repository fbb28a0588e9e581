//! The pieces of a message, for both versions.

/// One piece of a message.
pub enum UiPart {
    /// The separator between two steps.
    Border,
    /// Reasoning.
    Thought(Vec<u8>),
    /// A part of the content.
    Part(Vec<u8>),
    /// A call, and its result.
    Call(UiCall),
}

pub struct UiCall {
    /// The id, as JSON.
    pub id: Vec<u8>,
    /// The tool, as JSON.
    pub name: Vec<u8>,
    /// The arguments, a JSON string.
    pub arguments: Vec<u8>,
    pub result: Option<CallResult>,
}

pub struct CallResult {
    /// The content, a JSON string.
    pub content: Vec<u8>,
    /// Whether the tool failed.
    pub failed: bool,
    pub denied: bool,
}
