//! What detection found.

use super::signature::Signature;
use crate::format::Format;

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The format to read it as; none when it is not known or not read.
    pub format: Option<Format>,
    /// Its name; also that of a format which is known and not read.
    pub name: Option<&'static str>,
    /// Formats that the same bytes are valid in as well: the verdict is ambiguous when there are any.
    pub others: Vec<&'static str>,
    /// What else some of it looks like, and why.
    pub votes: Vec<Candidate>,
    /// Whether it looks like JSON that is damaged.
    pub damaged: bool,
    /// What was seen, for people.
    pub evidence: String,
    /// What to do, where something can be done.
    pub hint: Option<&'static str>,
}

/// A format that an input may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: &'static str,
    /// What speaks for it.
    pub evidence: String,
}

impl Detection {
    /// A format that is read.
    pub(super) fn known(format: Format, evidence: impl Into<String>) -> Detection {
        Detection {
            format: Some(format),
            name: Some(format.name()),
            ..Detection::unknown(evidence)
        }
    }

    /// What is known without a look at it.
    pub fn certain(format: Format, evidence: &str) -> Detection {
        Detection::known(format, evidence)
    }

    /// Nothing that is read.
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

    /// The verdict on a format that was named; some are known by their name only.
    pub(super) fn named(signature: &Signature) -> Detection {
        match Format::from_name(signature.name).filter(|format| format.is_read()) {
            Some(format) => Detection::known(format, signature.what),
            None => Detection::unread(signature.name, signature.what),
        }
    }

    /// The verdict on a format that is known by its name only.
    pub(super) fn unread(name: &'static str, what: &str) -> Detection {
        Detection {
            name: Some(name),
            hint: Some("list the supported formats with: convo detect --help"),
            ..Detection::unknown(format!("unsupported format '{name}': {what}"))
        }
    }

    /// The verdict on an input with the envelope of a format and none of its content.
    pub(super) fn hollow(signature: &Signature, messages: usize) -> Detection {
        Detection::unknown(format!(
            "has the structure of {}, but no messages of this format (messages: {messages})",
            signature.what
        ))
    }

    /// What is wrong with an input that is not read, for an error.
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

    /// How sure it is: `certain`, `ambiguous`, `unread` for a format that is known by its name only, or `unknown`.
    pub fn confidence(&self) -> &'static str {
        match (self.name, self.others.is_empty()) {
            (None, _) => "unknown",
            (Some(_), _) if self.format.is_none() => "unread",
            (Some(_), true) => "certain",
            (Some(_), false) => "ambiguous",
        }
    }

    /// The formats that it may be in, the verdict first.
    pub fn candidates(&self) -> Vec<Candidate> {
        let verdict = self.name.map(|name| Candidate {
            name,
            evidence: self.evidence.clone(),
        });
        let also = self.others.iter().map(|name| Candidate {
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
