//! What becomes of a place in a text.

use super::kind::{Kind, Level};
use std::ops::Range;

/// A secret that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The kind.
    pub kind: Kind,
    /// How certain that is.
    pub level: Level,
    /// Bytes of the value.
    pub length: usize,
    /// SHA-256 of the value, in hexadecimal digits. Of a value that can be guessed, it would confirm the guess: the hash under
    /// the key, or none.
    pub sha256: Option<String>,
    /// Its encodings, the outermost first: `json`, `percent`, `base64`.
    pub layers: Vec<&'static str>,
}

/// A place in a text, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What replaces them.
    pub text: String,
    /// The secrets in it.
    pub secrets: Vec<Secret>,
}

impl Edit {
    /// The same in another layer.
    pub fn within(mut self, layer: &'static str) -> Edit {
        self.secrets
            .iter_mut()
            .for_each(|secret| secret.layers.insert(0, layer));
        self
    }
}

/// A text with its edits carried out, which are in order and apart.
pub fn apply(text: &[u8], edits: &[Edit]) -> Vec<u8> {
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
