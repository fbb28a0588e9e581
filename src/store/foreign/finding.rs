//! Problems that a check of another system's directory finds, and their repairs.

use crate::error::Position;
use std::time::Duration;

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DirectoryProblemKind {
    /// The last line has no newline.
    TornTail,
    /// A line or document that its system cannot read.
    Unreadable,
    /// A line with a complete record after other bytes.
    Glued,
    /// A byte order mark, which makes its system reject the line.
    ByteOrderMark,
    /// A line too long for its system to read the session.
    TooLong,
    /// A message with only reasoning, which is never shown.
    ThoughtOnly,
    /// The sidecar hides more lines than exist.
    Skip,
    /// The recorded number of lines is wrong.
    Count,
    /// The sidecar is missing or unreadable.
    Sidecar,
    /// A sidecar or copy without a session.
    NoSession,
    /// The key belongs to another file.
    Key,
    /// A name that several sessions claim.
    Alias,
    /// A call without a result, or a result without a call.
    Orphan,
    /// The index lists a missing session.
    Ghost,
    /// The index is missing or does not list an existing session.
    Index,
    /// A link to a missing session, or one that the other session does not confirm.
    BrokenLink,
    /// A leftover file of an interrupted change.
    Temporary,
}

impl DirectoryProblemKind {
    /// The word in a report.
    pub const fn name(self) -> &'static str {
        match self {
            DirectoryProblemKind::TornTail => "torn-tail",
            DirectoryProblemKind::Unreadable => "unreadable",
            DirectoryProblemKind::Glued => "glued",
            DirectoryProblemKind::ByteOrderMark => "byte-order-mark",
            DirectoryProblemKind::TooLong => "too-long",
            DirectoryProblemKind::ThoughtOnly => "thought-only",
            DirectoryProblemKind::Skip => "skip",
            DirectoryProblemKind::Count => "count",
            DirectoryProblemKind::Sidecar => "sidecar",
            DirectoryProblemKind::NoSession => "no-session",
            DirectoryProblemKind::Key => "key",
            DirectoryProblemKind::Alias => "alias",
            DirectoryProblemKind::Orphan => "orphan",
            DirectoryProblemKind::Ghost => "ghost",
            DirectoryProblemKind::Index => "index",
            DirectoryProblemKind::BrokenLink => "broken-link",
            DirectoryProblemKind::Temporary => "temporary",
        }
    }
}

/// A problem found by a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryProblem {
    /// The file, relative to the checked directory.
    pub file: String,
    /// The position; line 0 means the whole file.
    pub place: Position,
    /// What kind.
    pub trouble: DirectoryProblemKind,
    /// Description.
    pub what: String,
    /// The repair, planned or done; none if the problem is only reported.
    pub remedy: Option<&'static str>,
}

/// Options of a check.
#[derive(Clone, Debug)]
pub struct DirectoryCheckOptions {
    /// Repair what can be repaired; contains the modification time for changed files, RFC 3339.
    pub repair: Option<String>,
    /// How long to wait for a lock.
    pub lock_timeout: Duration,
    /// Repair even if another program has a file open for writing.
    pub force: bool,
}

/// Statistics of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryCheckStats {
    /// Sessions.
    pub sessions: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// Collects the findings of a check.
pub struct Findings<'f> {
    pub check: &'f DirectoryCheckOptions,
    pub checked: DirectoryCheckStats,
    pub each: &'f mut dyn FnMut(DirectoryProblem),
}

impl Findings<'_> {
    pub fn report(
        &mut self,
        file: &str,
        place: Position,
        trouble: DirectoryProblemKind,
        what: impl Into<String>,
        remedy: Option<&'static str>,
    ) {
        (self.each)(DirectoryProblem {
            file: file.to_string(),
            place,
            trouble,
            what: what.into(),
            remedy,
        });
    }
}
