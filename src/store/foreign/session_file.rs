//! The interface of session files that are changed in place together with other files.

use crate::error::Result;
use crate::format::Format;
use crate::format::report::Report;
use crate::model::session::Session;
use std::io;
use std::time::Duration;

/// Options of a change in place, known before the file is opened.
pub struct FileOptions<'o> {
    /// The format of the file: given, or certain from its content.
    pub format: Format,
    /// The file is compressed, or encoded as text.
    pub compressed: bool,
    /// The file before the change is kept under its name and this suffix.
    pub backup: Option<&'o str>,
    /// The format to write.
    pub to: Option<Format>,
    /// The complete log is to be kept, including the new events.
    pub full_log: bool,
    /// Nothing is to be changed.
    pub dry_run: bool,
    /// Replace a file with other hard links or another owner, or one that another program has open.
    pub force: bool,
    /// How long to wait for a lock.
    pub lock_timeout: Duration,
    /// Reads a file of the same directory; none if there is none.
    pub neighbor: &'o dyn Fn(&str) -> io::Result<Option<Vec<u8>>>,
}

/// A planned change.
pub struct FileChange<'c> {
    /// The new records, without newlines.
    pub lines: &'c [Vec<u8>],
    /// The records are messages to append.
    pub append_only: bool,
    /// Only check whether the change is possible.
    pub dry_run: bool,
    /// Reject data that the files cannot represent.
    pub strict: bool,
    /// RFC 3339.
    pub now: &'c str,
}

/// The result of a change.
#[derive(Debug, Default)]
pub struct FileChanged {
    /// The lines of an append as the file has them; otherwise the records of the plan.
    pub lines: Vec<Vec<u8>>,
    /// A step that failed although the change is durable.
    pub warning: Option<String>,
    /// Addition to the report of the change.
    pub addition: Option<String>,
}

/// An open session file. Holds the lock that its system needs until drop.
pub trait SessionFile {
    /// Whether its messages and events have ids and times of their own.
    fn has_ids(&self) -> bool;

    /// Reads the session. With `append_only`, only the end of the file is examined and the session is empty.
    fn session(&mut self, append_only: bool, report: &mut Report) -> Result<Session>;

    /// Syncs the files when no change is needed, because a killed process may have written them without syncing.
    fn sync(&mut self) -> Result<()>;

    /// Applies a change planned with this session: durably, or not at all.
    fn change(
        &mut self,
        session: Session,
        change: &FileChange<'_>,
        report: &mut Report,
    ) -> Result<FileChanged>;
}
