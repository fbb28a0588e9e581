//! A replacement of secrets in a text.

use super::kind::{Certainty, SecretKind};
use std::ops::Range;

/// A secret that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The kind.
    pub kind: SecretKind,
    /// The certainty.
    pub level: Certainty,
    /// Length of the value in bytes.
    pub length: usize,
    /// SHA-256 of the value in hexadecimal. For a guessable value, which a plain hash would confirm, the keyed hash,
    /// or none without a key.
    pub sha256: Option<String>,
    /// Its encodings, the outermost first: `json`, `percent`, `base64`.
    pub layers: Vec<&'static str>,
}

/// A range of a text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What replaces them.
    pub text: String,
    /// The secrets in the range.
    pub secrets: Vec<Secret>,
}

impl TextEdit {
    /// Adds an outer encoding to the secrets.
    pub fn within(mut self, layer: &'static str) -> TextEdit {
        self.secrets
            .iter_mut()
            .for_each(|secret| secret.layers.insert(0, layer));
        self
    }
}

/// Applies edits, which must be sorted and must not overlap.
pub fn apply(text: &[u8], edits: &[TextEdit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(&text[at..edit.range.start]);
        out.extend_from_slice(edit.text.as_bytes());
        at = edit.range.end;
    }
    out.extend_from_slice(&text[at..]);
    out
}

/// An edit, and the JSON pointer of the string that it is in.
pub struct LocatedEdit {
    pub edit: TextEdit,
    pub pointer: String,
    /// The position in the decoded string.
    pub start: usize,
    pub end: usize,
}
