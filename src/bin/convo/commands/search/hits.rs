//! Hits of a search in one file or log.

use convo::error::Error;
use convo::search::FoundText;

/// A session with matching lines.
pub struct Matched {
    /// Its name, if its file has several.
    pub name: Option<String>,
    pub id: Option<String>,
    pub title: Option<String>,
    /// Its working directory.
    pub project: Option<String>,
    pub program: Option<String>,
    /// The shell command that resumes it in its program.
    pub resume: Option<String>,
    /// The time of its newest record.
    pub updated: Option<String>,
    pub found: Vec<FoundText>,
}

/// Hits in one file or log.
#[derive(Default)]
pub struct Scanned {
    pub matched: Vec<Matched>,
    /// The error that ended the search before the end.
    pub error: Option<Error>,
    /// Number of damaged lines.
    pub damaged: u64,
}
