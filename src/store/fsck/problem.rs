//! The problems that a check finds.

use crate::error::Position;
use crate::model::named_enum::named_enum;
use crate::store::{SESSIONS, Store, log_name};

named_enum! {
    /// The kind of a problem.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Problem {
        /// The last line has no newline.
        TruncatedTail = "torn-tail",
        /// A line that is not a record.
        Unreadable = "unreadable",
        /// A line that was modified or moved.
        Checksum = "checksum",
        /// Two messages or two events have the same id.
        DuplicateId = "duplicate-id",
        /// An event refers to something missing.
        DanglingEvent = "dangling-event",
        /// The header is missing, misplaced, or of a later version.
        Header = "header",
        /// A session continues a missing one.
        BrokenLink = "broken-link",
        /// A session was continued or split by a run that was interrupted before it recorded that.
        MissingLink = "missing-link",
        /// A session claims to belong to another one, which does not confirm it.
        Claim = "claim",
        /// An alias names no session.
        Alias = "alias",
        /// Data in the archive or the quarantine is damaged, missing, or belongs to a missing session.
        ArchivedData = "piece",
        /// A leftover file of an interrupted change.
        Temporary = "temporary",
        /// Users other than the owner have access.
        Permissions = "permissions",
        /// An unexpected file in the store.
        UnexpectedFile = "stranger",
    }
}

impl Problem {
    /// Its meaning, as in the manual.
    pub const fn meaning(self) -> &'static str {
        match self {
            Problem::TruncatedTail => "last line is truncated",
            Problem::Unreadable => "line is not a record",
            Problem::Checksum => "line modified or misplaced",
            Problem::DuplicateId => "id used twice",
            Problem::DanglingEvent => "event refers to a missing record",
            Problem::Header => "missing, misplaced or newer header",
            Problem::BrokenLink => "link to a missing session or one that does not confirm it, or link cycle",
            Problem::MissingLink => "continuation or parts not recorded in the original",
            Problem::Claim => {
                "session claims to continue or to be a part of another one, which does not name it; not counted as damage"
            }
            Problem::Alias => "alias of a missing session",
            Problem::ArchivedData => "damaged, missing or orphaned data in archive or quarantine",
            Problem::Temporary => "leftover of an interrupted change",
            Problem::Permissions => "accessible to other users",
            Problem::UnexpectedFile => "unexpected file",
        }
    }

    /// The repair by `--repair`; none if it is only reported.
    pub const fn remedy(self) -> Option<&'static str> {
        match self {
            Problem::TruncatedTail => Some("newline added, or fragment quarantined"),
            Problem::Unreadable => Some("quarantined"),
            Problem::Checksum => Some(
                "single-bit errors, duplicates and swaps corrected, other lines covered by a repair event",
            ),
            Problem::MissingLink => Some("link event added"),
            Problem::Claim => Some("link event added if `--link` names the session"),
            Problem::Alias => Some("quarantined"),
            Problem::Temporary => Some("removed unless in use"),
            Problem::Permissions => Some("restricted to the owner"),
            Problem::BrokenLink => Some("link undone"),
            Problem::ArchivedData => Some("damaged data quarantined"),
            Problem::Header => Some("missing header created"),
            Problem::DuplicateId | Problem::DanglingEvent | Problem::UnexpectedFile => None,
        }
    }
}

/// A problem found by a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProblem {
    /// The session, if any.
    pub session: Option<String>,
    /// The path of the file.
    pub file: String,
    /// The position; line 0 means the whole file.
    pub place: Position,
    /// What kind.
    pub problem: Problem,
    /// Description.
    pub what: String,
    /// The repair, done or planned; none if there is none.
    pub remedy: Option<String>,
}

impl FoundProblem {
    /// A problem of a session's log as a whole.
    pub(super) fn of(
        store: &Store,
        id: &str,
        problem: Problem,
        what: String,
        remedy: Option<&str>,
    ) -> FoundProblem {
        let file = store.path().join(SESSIONS).join(log_name(id));
        FoundProblem {
            session: Some(id.to_string()),
            file: file.display().to_string(),
            place: Position::default(),
            problem,
            what,
            remedy: remedy.map(str::to_string),
        }
    }
}
