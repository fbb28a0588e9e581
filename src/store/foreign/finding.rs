//! What a check of a directory of another system finds, and what it repairs.

use crate::error::Place;
use std::time::Duration;

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// The last line has no end.
    TornTail,
    /// A line, or a document, that its system does not read.
    Unreadable,
    /// A line that holds a whole record behind something else.
    Glued,
    /// A byte order mark, at which its system rejects the line.
    ByteOrderMark,
    /// A line so long that its system does not read the session.
    TooLong,
    /// Thinking alone, which is never shown.
    ThoughtOnly,
    /// More is out of view than there is.
    Skip,
    /// The number of lines is another.
    Count,
    /// The sidecar is missing or unreadable.
    Sidecar,
    /// There is a sidecar, or a copy, and no session.
    NoSession,
    /// The key is one of another file.
    Key,
    /// A name that several sessions claim.
    Alias,
    /// A call without a result, or a result without a call.
    Orphan,
    /// The index names a session that is not there.
    Ghost,
    /// The index does not name a session that is there, or is not there itself.
    Index,
    /// A session continues, or is continued by, one that is not there or does not tell so.
    BrokenLink,
    /// A file of a change that was cut off.
    Temporary,
}

impl Trouble {
    /// The word in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Trouble::TornTail => "torn-tail",
            Trouble::Unreadable => "unreadable",
            Trouble::Glued => "glued",
            Trouble::ByteOrderMark => "byte-order-mark",
            Trouble::TooLong => "too-long",
            Trouble::ThoughtOnly => "thought-only",
            Trouble::Skip => "skip",
            Trouble::Count => "count",
            Trouble::Sidecar => "sidecar",
            Trouble::NoSession => "no-session",
            Trouble::Key => "key",
            Trouble::Alias => "alias",
            Trouble::Orphan => "orphan",
            Trouble::Ghost => "ghost",
            Trouble::Index => "index",
            Trouble::BrokenLink => "broken-link",
            Trouble::Temporary => "temporary",
        }
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, below the folder.
    pub file: String,
    /// Where in it; line 0 for the file as a whole.
    pub place: Place,
    /// What kind.
    pub trouble: Trouble,
    /// What, in words.
    pub what: String,
    /// What a repair does about it, or did; none when it is only told.
    pub remedy: Option<&'static str>,
}

/// How a folder is looked at.
#[derive(Clone, Debug)]
pub struct Check {
    /// Mend what can be mended: the time that changed files are given, RFC 3339.
    pub repair: Option<String>,
    /// How long to wait for a lock.
    pub lock_timeout: Duration,
    /// Mend although another program has a file open for writing.
    pub force: bool,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Sessions.
    pub sessions: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What came of it.
pub struct Findings<'f> {
    pub check: &'f Check,
    pub checked: Checked,
    pub each: &'f mut dyn FnMut(Finding),
}

impl Findings<'_> {
    pub fn tell(
        &mut self,
        file: &str,
        place: Place,
        trouble: Trouble,
        what: impl Into<String>,
        remedy: Option<&'static str>,
    ) {
        (self.each)(Finding {
            file: file.to_string(),
            place,
            trouble,
            what: what.into(),
            remedy,
        });
    }
}
