//! The effect of an event, and text received in pieces.

use convo::model::json;

/// The effect of an event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StreamStep {
    /// Text to print.
    pub text: String,
    /// Whether the reply is complete.
    pub done: bool,
}

impl StreamStep {
    /// A step with a piece of text, given as JSON.
    pub fn of(raw: Option<&[u8]>) -> StreamStep {
        StreamStep {
            text: raw.and_then(json::text).unwrap_or_default().into_owned(),
            done: false,
        }
    }

    pub fn done() -> StreamStep {
        StreamStep {
            done: true,
            ..StreamStep::default()
        }
    }
}

/// A string received in pieces, kept JSON-encoded because a character may be split across pieces.
#[derive(Debug, Default)]
pub struct StreamText(pub Vec<u8>);

impl StreamText {
    /// Appends a JSON string; ignores any other value.
    pub fn push(&mut self, raw: Option<&[u8]>) {
        if let Some([b'"', inside @ .., b'"']) = raw {
            self.0.extend_from_slice(inside);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The JSON string.
    pub fn raw(&self) -> Vec<u8> {
        [b"\"", self.0.as_slice(), b"\""].concat()
    }

    pub fn decoded(&self) -> String {
        json::text(&self.raw()).unwrap_or_default().into_owned()
    }
}
