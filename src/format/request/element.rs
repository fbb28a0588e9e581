//! A request history in the form that a provider receives.

/// A message, item or turn of a provider's history, with the view items that it represents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestElement {
    /// Its JSON, on one line.
    pub raw: Vec<u8>,
    /// Indexes of view items, in order. One item may be in several elements, and one element may have several items.
    pub items: Vec<usize>,
}

impl AsRef<[u8]> for RequestElement {
    fn as_ref(&self) -> &[u8] {
        &self.raw
    }
}

/// A request in the form that a provider would receive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderRequest {
    /// Instructions next to the history, as JSON: `system` of Anthropic, `systemInstruction` of Gemini, `instructions`
    /// of Responses.
    pub system: Option<Vec<u8>>,
    /// Indexes of the view items that became instructions.
    pub system_items: Vec<usize>,
    /// The history.
    pub elements: Vec<RequestElement>,
    /// Whether the request defines tools; `None` if the session was not read from a request.
    pub tools: Option<bool>,
}
