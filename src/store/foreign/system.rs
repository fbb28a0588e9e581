//! The operations that convo supports on the files of another system.

use super::finding::DirectoryFindings;
use super::session_file::{FileOptions, SessionFile};
use crate::error::Result;
use crate::format::detect::Detection;
use crate::format::{DocumentSource, Format};
use crate::model::message::Message;
use crate::model::session::Session;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Whether a directory may belong to a system, judged by its file names.
pub enum DirectoryMatch<'n> {
    /// Certainly.
    Certain,
    /// Possibly, unless these files have another format.
    Possible(Vec<&'n str>),
}

/// Options of a compaction of a session file.
#[derive(Clone, Debug)]
pub struct Compaction {
    /// How long to wait for the lock.
    pub lock_timeout: Duration,
    /// The time of the change, RFC 3339.
    pub now: String,
    /// Replace a file with other hard links or another owner, or one that another program has open.
    pub force: bool,
}

/// The result of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionResult {
    /// Bytes of the file, before and after.
    pub bytes: (u64, u64),
    /// Lines that its system counts, before and after.
    pub lines: (u64, u64),
    /// Lines moved to the archive.
    pub archived: u64,
}

/// A system whose directories convo checks, and whose session files it changes in place.
pub trait ForeignSystem: Sync {
    /// The format of its session files.
    fn format(&self) -> Format;

    /// Recognizes a directory by the names in it.
    fn recognize<'n>(&self, names: &'n BTreeSet<String>) -> DirectoryMatch<'n>;

    /// Checks the sessions of a directory, and repairs what can be repaired.
    fn check(&self, path: &Path, out: &mut DirectoryFindings<'_>) -> Result<()>;

    /// Opens a session file of this system's format; none if it is rewritten like a file of any other format.
    fn open<'o>(
        &self,
        path: &'o Path,
        options: &'o FileOptions<'o>,
    ) -> Result<Option<Box<dyn SessionFile + 'o>>>;

    /// Moves hidden records of a session file to an archive; none if the system has no archive.
    fn compact(&self, _path: &Path, _options: &Compaction) -> Result<Option<CompactionResult>> {
        Ok(None)
    }

    /// Whether a log is read together with another file of the same stem; without that it is a list of messages.
    fn has_sidecar(&self) -> bool {
        false
    }

    /// Files in a directory that are not sessions.
    fn indexes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Updates the index of a directory, durably.
    fn write_index(&self, _directory: &Path, _lock_timeout: Duration) -> Result<()> {
        Ok(())
    }

    /// The other names of a session, from its header.
    fn aliases(&self, _header: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// The member of a header's metadata that keeps other names, and its value.
    fn aliases_member(&self, _aliases: &[String]) -> Option<(&'static str, Vec<u8>)> {
        None
    }

    /// How many messages of the view are among the newest `keep` messages as the system counts them.
    fn messages_among(&self, _session: &Session, keep: usize) -> usize {
        keep
    }

    /// Whether the system hides this message from people.
    fn hides(&self, _message: &Message<'_>) -> bool {
        false
    }

    /// Whether backups next to a session may contain more than the session.
    fn keeps_copies(&self) -> bool {
        false
    }

    /// Whether a document is damaged completely, so that a backup may contain more.
    fn is_lost(&self, _bytes: &[u8]) -> bool {
        false
    }

    /// Whether a damaged file of unknown format is a session of this system, by its name or by the index next to it.
    fn claims_damaged(&self, _path: &Path, _verdict: &Detection, _head: &[u8]) -> bool {
        false
    }

    /// The notice that replaces a session of which nothing is recoverable, with the content of its backups; none for
    /// an intact file.
    fn notice(
        &self,
        _source: &DocumentSource<'_>,
        _copies: &[(String, Vec<u8>)],
        _why: &str,
    ) -> Option<Session> {
        None
    }
}
