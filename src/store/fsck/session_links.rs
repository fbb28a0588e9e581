//! The links of a session to others, as its log has them.

use std::collections::HashSet;

/// The links of a session to others.
#[derive(Debug, Default)]
pub struct SessionLinks {
    pub continued_from: Option<String>,
    /// Sessions that continue it, with the event that says so; none if the header does.
    pub continued_to: Vec<(String, Option<String>)>,
    /// Former continuations whose events were undone.
    pub unlinked: HashSet<String>,
    /// The session of which it is a part.
    pub split_from: Option<PartReference>,
    /// Split events, with the parts.
    pub split_into: Vec<(String, Vec<String>)>,
    /// Gc events whose lines the archive must have.
    pub packed: Vec<String>,
}

impl SessionLinks {
    /// Whether it claims to belong to another session.
    pub fn claims(&self) -> bool {
        self.continued_from.is_some() || self.split_from.is_some()
    }
}

/// A reference to the session that was split.
#[derive(Debug)]
pub struct PartReference {
    pub parent: String,
    pub part: usize,
    pub parts: usize,
}
