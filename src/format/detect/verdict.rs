//! The result of detection.

use super::signature::Signature;
use crate::format::Format;

/// The result of detection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The detected format; `None` if unknown or unsupported.
    pub format: Option<Format>,
    /// Its name, also if it is recognized but not supported.
    pub name: Option<&'static str>,
    /// Other formats in which the same bytes are valid; if there are any, the result is ambiguous.
    pub others: Vec<&'static str>,
    /// Other formats that parts of the input match, with evidence.
    pub votes: Vec<FormatCandidate>,
    /// Whether the input looks like damaged JSON.
    pub damaged: bool,
    /// The evidence, for messages.
    pub evidence: String,
    /// What the user can do, if anything.
    pub hint: Option<&'static str>,
}

/// A candidate format of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatCandidate {
    /// Its name.
    pub name: &'static str,
    /// The evidence for it.
    pub evidence: String,
}

impl Detection {
    /// A supported format.
    pub(super) fn known(format: Format, evidence: impl Into<String>) -> Detection {
        Detection {
            format: Some(format),
            name: Some(format.name()),
            ..Detection::unknown(evidence)
        }
    }

    /// A format that is known without detection.
    pub fn certain(format: Format, evidence: &str) -> Detection {
        Detection::known(format, evidence)
    }

    /// No supported format.
    pub(super) fn unknown(evidence: impl Into<String>) -> Detection {
        Detection {
            format: None,
            name: None,
            others: Vec::new(),
            votes: Vec::new(),
            damaged: false,
            evidence: evidence.into(),
            hint: None,
        }
    }

    /// The result for a signature, whose format may not be supported.
    pub(super) fn named(signature: &Signature) -> Detection {
        match Format::from_name(signature.name).filter(|format| format.is_read()) {
            Some(format) => Detection::known(format, signature.what),
            None => Detection::unread(signature.name, signature.what),
        }
    }

    /// The result for a format that is not supported.
    pub(super) fn unread(name: &'static str, what: &str) -> Detection {
        Detection {
            name: Some(name),
            hint: Some("list the supported formats with: convo detect --help"),
            ..Detection::unknown(format!("unsupported format '{name}': {what}"))
        }
    }

    /// The result for an input with the envelope of a format but no supported content.
    pub(super) fn hollow(signature: &Signature, messages: usize) -> Detection {
        Detection::unknown(format!(
            "has the structure of {}, but no messages of this format (messages: {messages})",
            signature.what
        ))
    }

    /// The problem with an input that cannot be read, for an error.
    pub fn problem(&self) -> String {
        match self.name {
            Some(_) => self.evidence.clone(),
            None => format!("unknown format: {}", self.evidence),
        }
    }

    pub(super) fn hint(mut self, hint: &'static str) -> Detection {
        self.hint = Some(hint);
        self
    }

    /// The confidence: `certain`, `ambiguous`, `unread` for a format that is not supported, or `unknown`.
    pub fn confidence(&self) -> &'static str {
        match (self.name, self.others.is_empty()) {
            (None, _) => "unknown",
            (Some(_), _) if self.format.is_none() => "unread",
            (Some(_), true) => "certain",
            (Some(_), false) => "ambiguous",
        }
    }

    /// The candidate formats, the detected one first.
    pub fn candidates(&self) -> Vec<FormatCandidate> {
        let verdict = self.name.map(|name| FormatCandidate {
            name,
            evidence: self.evidence.clone(),
        });
        let also = self.others.iter().map(|name| FormatCandidate {
            name,
            evidence: "the same bytes are valid in this format".to_string(),
        });
        verdict
            .into_iter()
            .chain(also)
            .chain(self.votes.iter().cloned())
            .collect()
    }
}
