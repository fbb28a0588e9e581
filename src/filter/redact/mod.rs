//! Finds and replaces secrets and personal data in session texts: JSON, JSON Lines, Markdown, YAML. Lines without
//! findings keep their bytes.

mod edit;
mod forms;
mod hit;
mod kind;
mod mapped;
mod mark;
mod media;
mod options;
mod personal;
mod place;
mod prefilter;
mod proof;
mod runs;
mod scan;
mod shapes;
#[cfg(test)]
mod tests;
mod value;
mod walk;

pub use edit::Secret;
pub use kind::{Certainty, PERSONAL, SecretKind};
pub use mark::Template;
pub use options::RedactorOptions;

use crate::model::record::mark_length;
use edit::{LocatedEdit, TextEdit, apply};
use mapped::Mapped;
use scan::{RedactionState, SecretScan, is_json};
use std::ops::Range;
use walk::Walk;

/// Every kind of finding, sorted and unique.
pub fn kinds() -> Vec<SecretKind> {
    let others = [&kind::BY_PLACE[..], &kind::BY_FORM, &PERSONAL, &[kind::NAME]].concat();
    let mut all: Vec<SecretKind> = shapes::kinds().chain(others).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A secret and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    /// JSON pointer of the string in its line; empty in a line that is not JSON.
    pub pointer: String,
    /// Byte range in the decoded string, or in the line.
    pub range: Range<usize>,
    /// The secret.
    pub secret: Secret,
}

/// The result of redacting a line or a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactionOutcome {
    /// The new bytes; none when nothing was found.
    pub bytes: Option<Vec<u8>>,
    /// The findings, in order.
    pub findings: Vec<SecretFinding>,
    /// Whether the bytes are not JSON.
    pub is_text: bool,
}

/// Finds and replaces secrets, line by line.
#[derive(Debug, Default)]
pub struct Redactor {
    options: RedactorOptions,
    state: RedactionState,
}

impl Redactor {
    /// Creates a redactor for one input.
    pub fn new(options: RedactorOptions) -> Redactor {
        Redactor {
            options,
            state: RedactionState::default(),
        }
    }

    /// Reserves the placeholder numbers in this text, so that a later run continues after them.
    pub fn reserve(&mut self, text: &[u8]) {
        self.state.numbers.reserve(text);
    }

    /// Number of encrypted parts, which cannot be decoded.
    pub fn opaque(&self) -> u64 {
        self.state.opaque
    }

    /// Number of signed parts dropped because their signature would not match the new text.
    pub fn signed(&self) -> u64 {
        self.state.signed
    }

    /// Redacts one line or a whole document. Bytes that are not JSON are treated as text.
    pub fn redact(&mut self, bytes: &[u8]) -> RedactionOutcome {
        let bom = mark_length(bytes);
        let mut scan = SecretScan {
            options: &self.options,
            state: &mut self.state,
            depth: 0,
            walk: |text, scan| Walk::new(text, scan).run(),
        };
        let text = std::str::from_utf8(&bytes[bom..]).ok();
        let json = text.filter(|text| is_json(text));
        let is_text = json.is_none();
        if scan.is_fast()
            && !scan.options.drop_media
            && text.is_some_and(|text| !prefilter::may_contain_secret(text))
        {
            return RedactionOutcome {
                is_text,
                ..RedactionOutcome::default()
            };
        }
        let mut placed = match json {
            Some(text) => Walk::new(text, &mut scan).run(),
            None => {
                let mapped = Mapped::lossy(&bytes[bom..]);
                let in_line = |edit: TextEdit| LocatedEdit {
                    pointer: String::new(),
                    start: edit.range.start,
                    end: edit.range.end,
                    edit: TextEdit {
                        range: mapped.source(&edit.range),
                        ..edit
                    },
                };
                scan.text(&mapped.text).into_iter().map(in_line).collect()
            }
        };
        if placed.is_empty() {
            return RedactionOutcome {
                is_text,
                ..RedactionOutcome::default()
            };
        }
        for LocatedEdit { edit, .. } in &mut placed {
            edit.range = edit.range.start + bom..edit.range.end + bom;
        }
        let finding = |placed: &LocatedEdit| {
            let (pointer, range) = (placed.pointer.clone(), placed.start..placed.end);
            let secrets = placed.edit.secrets.clone().into_iter();
            secrets.map(move |secret| SecretFinding {
                pointer: pointer.clone(),
                range: range.clone(),
                secret,
            })
        };
        let findings = placed.iter().flat_map(finding).collect();
        let edits: Vec<TextEdit> = placed.into_iter().map(|placed| placed.edit).collect();
        RedactionOutcome {
            bytes: Some(apply(bytes, &edits)),
            findings,
            is_text,
        }
    }
}
