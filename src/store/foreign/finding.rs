//! Problems that a check of another system's directory finds, and their repairs.

use crate::error::Position;
use crate::model::named_enum::named_enum;
use std::time::Duration;

named_enum! {
    /// The kind of a problem.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DirectoryProblemKind {
        /// The last line has no newline.
        TruncatedTail = "torn-tail",
        /// A line or document that its system cannot read.
        Unreadable = "unreadable",
        /// A line with a complete record after other bytes.
        Glued = "glued",
        /// A byte order mark, which makes its system reject the line.
        ByteOrderMark = "byte-order-mark",
        /// A line too long for its system to read the session.
        TooLong = "too-long",
        /// A message with only reasoning, which is never shown.
        ThoughtOnly = "thought-only",
        /// The sidecar hides more lines than exist.
        Skip = "skip",
        /// The recorded number of lines is wrong.
        Count = "count",
        /// The sidecar is missing or unreadable.
        Sidecar = "sidecar",
        /// A sidecar or copy without a session.
        NoSession = "no-session",
        /// The key belongs to another file.
        Key = "key",
        /// A name that several sessions claim.
        Alias = "alias",
        /// A call without a result, or a result without a call.
        Orphan = "orphan",
        /// The index lists a missing session.
        Ghost = "ghost",
        /// The index is missing or does not list an existing session.
        Index = "index",
        /// A link to a missing session, or one that the other session does not confirm.
        BrokenLink = "broken-link",
        /// A leftover file of an interrupted change.
        Temporary = "temporary",
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
    pub problem: DirectoryProblemKind,
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
pub struct DirectoryFindings<'f> {
    pub check: &'f DirectoryCheckOptions,
    pub checked: DirectoryCheckStats,
    pub each: &'f mut dyn FnMut(DirectoryProblem),
}

impl DirectoryFindings<'_> {
    pub fn report(
        &mut self,
        file: &str,
        place: Position,
        problem: DirectoryProblemKind,
        what: impl Into<String>,
        remedy: Option<&'static str>,
    ) {
        (self.each)(DirectoryProblem {
            file: file.to_string(),
            place,
            problem,
            what: what.into(),
            remedy,
        });
    }
}
