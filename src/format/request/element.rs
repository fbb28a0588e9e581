//! The history of a request, as a provider receives it.

/// One message, item or turn of a provider's history, and the items of the view that it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its JSON, on one line.
    pub raw: Vec<u8>,
    /// Indexes into the view's items, in order. One item may be in several elements, and one element may hold
    /// several items.
    pub items: Vec<usize>,
}

impl AsRef<[u8]> for Element {
    fn as_ref(&self) -> &[u8] {
        &self.raw
    }
}

/// What a provider would be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The instructions that stand beside the history: Anthropic's `system`, Gemini's `systemInstruction`, the
    /// `instructions` of Responses, as JSON.
    pub system: Option<Vec<u8>>,
    /// Indexes of the view's items that the instructions came from.
    pub system_items: Vec<usize>,
    /// The history.
    pub elements: Vec<Element>,
    /// Whether the request defines tools; none when the session did not come in a request.
    pub tools: Option<bool>,
}
