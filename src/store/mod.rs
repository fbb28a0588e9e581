//! Stores sessions by name: one log per session, with the guarantees of `docs/store.md`.
//!
//! - `log` defines lines and checksums, `log_end` reads the last line, `reader` and `append` are the two ways to use a
//!   log; `append_atomic` appends lines atomically, `append_or_continue` fills a session up to a limit;
//! - `lock` takes locks, `mark` lets readers work without them; only these two, `atomic`, `rename_sync` and
//!   `replace_file` lock, rename and sync; `open_writers` detects other programs that have a file open;
//! - `pending` marks a continuation or split in progress, because only those may be linked automatically;
//! - `resolve` and `names` resolve names to sessions; `alias`, `link`, `split` and `trash` are self-explanatory;
//! - `foreign` handles files and directories of other systems;
//! - `copies` keeps files that other programs may delete;
//! - `gc` makes cuts permanent, `redact` replaces secrets permanently, `fsck` finds and repairs damage.
//!
//! ```
//! use convo::store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::create(&folder.path().join("store"))?;
//! store.create_session("trip", &[br#"{"type":"session","version":1,"id":"trip"}"#.to_vec()])?;
//! store.append("trip", &[br#"{"role":"user","content":"hi"}"#])?;
//! assert_eq!(store.resolve("tri")?, "trip");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alias;
mod append;
mod append_atomic;
mod append_or_continue;
mod append_stream;
mod atomic;
mod batch;
pub mod cache;
pub mod changes;
pub mod copies;
mod directory;
pub mod foreign;
mod foreign_backup;
pub mod fsck;
mod gc;
mod link;
mod lock;
mod locked_log;
pub mod log;
mod log_end;
mod mark;
mod message_count;
mod names;
mod network;
mod open_writers;
mod overviews;
mod patched;
mod pending;
mod reader;
mod redact;
mod rename_sync;
mod replace_file;
mod resolve;
mod run_file;
mod split;
#[cfg(test)]
mod tests;
mod trash;
mod view_cache;

pub use alias::AliasClaim;
pub use append::Appender;
pub use append_or_continue::{AppendOutcome, Bounded, BoundedLine};
pub use batch::{Batch, Staged};
pub use directory::{FileStat, temporary_dir};
pub use gc::{Archived, GcOptions, Receipt};
pub use link::{Continued, Successor};
pub use log_end::truncated_line;
pub use mark::length_before_write;
pub use names::SessionEntry;
pub use overviews::{OverviewCallbacks, Overviewed};
pub use reader::LogReader;
pub use redact::{Redacted, Redaction};
pub use replace_file::{Rewrite, refuse_writers, remove_file, rename_new, sync_file, write_atomically};
pub use resolve::EXACTLY;

use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::report::Report;
use crate::model::key;
use crate::model::session::Session;
use directory::Directory;
use log::{LogChain, Pending};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Default time limit for a lock.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

const SESSIONS: &str = "sessions";

/// The directory of aliases.
const ALIASES: &str = "aliases";

/// A store.
#[derive(Debug)]
pub struct Store {
    directory: Directory,
    sessions: OnceLock<Directory>,
    aliases: OnceLock<Directory>,
    /// When this process last synced the names of the logs, in seconds since 1970.
    synced: AtomicI64,
    /// How long a change waits for another process.
    pub lock_timeout: Duration,
}

/// How a reader handles a change in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// Read the state before it.
    Never,
    /// Wait for the state after it, on which another change is based.
    Unlocked,
}

/// Size in bytes that suffices for most first lines.
const FIRST_LINE: usize = 1024;

fn log_name(id: &str) -> String {
    format!("{id}.jsonl")
}

fn no_session(id: &str) -> Error {
    Error::new(ErrorKind::NotFound, "no such session").at(id, Position::default())
}

/// Creates a directory and its missing parents, durably. The name of the last one is always synced, because the
/// process that created it may have been killed before its sync.
pub fn make_dirs(path: &Path, mode: u32) -> Result<()> {
    let missing = path
        .ancestors()
        .take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists())
        .count();
    let built = std::fs::DirBuilder::new().recursive(true).mode(mode).create(path);
    built.map_err(|error| Error::io(path.display(), error))?;
    for (nth, dir) in path.ancestors().take(missing.max(1)).enumerate() {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        match Directory::open(parent.unwrap_or(Path::new("."))) {
            Ok(parent) => atomic::sync_directory(&parent)?,
            // A parent directory of another user that already existed was synced by its creator.
            Err(_) if nth >= missing => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Syncs the names in a directory, including those that a killed process left.
pub fn sync_directory_names(path: &Path) -> Result<()> {
    atomic::sync_directory(&Directory::open(path)?)
}

impl Store {
    /// Opens an existing store.
    pub fn open(path: &Path) -> Result<Store> {
        match Directory::open(path) {
            Ok(directory) => Ok(Store {
                directory: directory.of_store(),
                sessions: OnceLock::new(),
                aliases: OnceLock::new(),
                synced: AtomicI64::default(),
                lock_timeout: LOCK_TIMEOUT,
            }),
            Err(error) if error.kind == ErrorKind::NotFound => Err(Error::new(
                ErrorKind::NotFound,
                format!("{}: no store", path.display()),
            )
            .hint("create one with: convo new or convo migrate, or select one with --store")),
            Err(error) => Err(error),
        }
    }

    /// Opens a store, creating it if missing, with access for the owner only.
    pub fn create(path: &Path) -> Result<Store> {
        make_dirs(path, directory::DIR_MODE).map_err(|error| Error {
            message: format!("{}: cannot create a store", error.message),
            ..error
        })?;
        Store::open(path)
    }

    /// The path with which it was opened.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    fn directory(&self) -> &Directory {
        &self.directory
    }

    /// A directory of the store, opened once; none if it is missing.
    fn dir<'s>(&'s self, cell: &'s OnceLock<Directory>, name: &str) -> Result<Option<&'s Directory>> {
        if let Some(dir) = cell.get() {
            return Ok(Some(dir));
        }
        Ok(self.directory.inner(name)?.map(|dir| cell.get_or_init(|| dir)))
    }

    fn sessions(&self) -> Result<Option<&Directory>> {
        self.dir(&self.sessions, SESSIONS)
    }

    fn aliases_dir(&self) -> Result<Option<&Directory>> {
        self.dir(&self.aliases, ALIASES)
    }

    fn make_sessions(&self) -> Result<&Directory> {
        // Sync its name too, because its content would be lost with it.
        let built = atomic::dir(&self.directory, SESSIONS)?;
        Ok(self.sessions.get_or_init(|| built))
    }

    /// Makes the name of a log durable, because another process may have created it without syncing, and
    /// acknowledgments depend on it.
    fn sync_name(&self, sessions: &Directory, facts: &FileStat) -> Result<()> {
        if facts.was_just_renamed() && facts.changed.0 >= self.synced.load(Ordering::Relaxed) {
            let before = FileStat::now();
            atomic::sync_directory(sessions)?;
            // A name created in the same second may be newer than the sync.
            self.synced.store(before, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether there is a session of exactly this id.
    pub fn has(&self, id: &str) -> Result<bool> {
        match self.sessions()? {
            Some(sessions) => sessions.has(&log_name(key::checked_id(id)?)),
            None => Ok(false),
        }
    }

    /// Size of a session's log in bytes.
    pub fn size(&self, id: &str) -> Result<u64> {
        let facts = match self.sessions()? {
            Some(sessions) => sessions.facts(log_name(key::checked_id(id)?))?,
            None => None,
        };
        facts.map(|facts| facts.size).ok_or_else(|| no_session(id))
    }

    /// The first line of a session's log with its newline. A log always has its first line, which never changes.
    pub fn first_line(&self, id: &str) -> Result<Vec<u8>> {
        self.read_log(id, |file| {
            let mut line = Vec::new();
            BufReader::with_capacity(FIRST_LINE, file).read_until(b'\n', &mut line)?;
            Ok(line)
        })
    }

    /// The last line of a session's log without newline and checksum; empty if it is long.
    pub fn last_line(&self, id: &str) -> Result<Vec<u8>> {
        let line = self.read_log(id, |file| log_end::last_line(&file, file.metadata()?.len()))?;
        Ok(log::strip(&line).into_owned())
    }

    fn read_log<T>(&self, id: &str, read: impl FnOnce(File) -> std::io::Result<T>) -> Result<T> {
        let name = log_name(key::checked_id(id)?);
        let sessions = self.sessions()?.ok_or_else(|| no_session(id))?;
        let file = sessions.file(&name, OFlags::RDONLY)?;
        read(file.ok_or_else(|| no_session(id))?).map_err(|error| Error::io(sessions.shown(&name), error))
    }

    /// Fails if the id of a new session is used as a session id or alias.
    fn refuse_taken(&self, id: &str) -> Result<()> {
        if let Some(sessions) = self.sessions()?
            && sessions.facts(log_name(id))?.is_some()
        {
            return Err(Error::new(
                ErrorKind::Exists,
                format!("{id}: session already exists"),
            ));
        }
        if self.alias_ids(id)?.is_some() {
            return Err(Error::new(
                ErrorKind::Exists,
                format!("{id}: name already used by an alias"),
            ));
        }
        Ok(())
    }

    /// Creates a session with these lines, atomically and durably. An id used by a session or alias is
    /// [`ErrorKind::Exists`].
    pub fn create_session(&self, id: &str, lines: &[Vec<u8>]) -> Result<()> {
        let id = key::checked_id(id)?;
        let mut pending = Pending::default();
        for line in lines {
            pending.push(line)?;
        }
        pending.close(&mut LogChain::default());
        let sessions = self.make_sessions()?;
        self.refuse_taken(id)?;
        if atomic::create(sessions, &log_name(id), pending.bytes(false))? {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Exists,
                format!("{id}: session already exists"),
            ))
        }
    }

    /// Appends lines to a session: all of them durably, or none.
    pub fn append(&self, id: &str, lines: &[&[u8]]) -> Result<()> {
        let mut appender = self.appender(id)?;
        for line in lines {
            appender.push(line)?;
        }
        appender.flush().map(|_| ())
    }

    /// Appends lines to a session if its log still has the length that was read; returns whether it had.
    pub fn append_to(&self, id: &str, lines: &[&[u8]], length: u64) -> Result<bool> {
        let mut appender = self.appender(id)?.expecting(length);
        for line in lines {
            appender.push(line)?;
        }
        match appender.flush() {
            Ok(_) => Ok(true),
            Err(error) if error.kind == ErrorKind::Locked && self.size(id)? != length => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Appends lines to a session in groups.
    pub fn appender(&self, id: &str) -> Result<Appender<'_>> {
        Ok(Appender::new(self, key::checked_id(id)?))
    }

    /// Makes the names of all sessions durable, including those that a killed process left.
    pub fn sync_names(&self) -> Result<()> {
        self.sessions()?.map_or(Ok(()), atomic::sync_directory)
    }

    /// Makes existing lines of a session durable, because another process may have been killed before its sync.
    pub fn sync_lines(&self, id: &str) -> Result<()> {
        let id = key::checked_id(id)?;
        let sessions = self.sessions()?.ok_or_else(|| no_session(id))?;
        let name = log_name(id);
        atomic::sync_files(sessions, [name.as_str()].into_iter())
    }

    /// Reads a session line by line: its last complete state, without waiting for a change in progress.
    pub fn reader(&self, id: &str) -> Result<LogReader> {
        self.reader_of(id, Wait::Never)
    }

    fn reader_of(&self, id: &str, wait: Wait) -> Result<LogReader> {
        let id = key::checked_id(id)?;
        let sessions = self.sessions()?.ok_or_else(|| no_session(id))?;
        let opened = self.open_log(sessions, id, wait)?;
        let (file, length) = opened.ok_or_else(|| no_session(id))?;
        Ok(LogReader::new(file, length))
    }

    /// Opens a log for reading, with the length to read; none if it is missing.
    fn open_log(&self, sessions: &Directory, id: &str, wait: Wait) -> Result<Option<(File, u64)>> {
        match wait {
            Wait::Never => atomic::open_complete(sessions, &log_name(id)),
            Wait::Unlocked => atomic::open_unlocked(sessions, &log_name(id), self.lock_timeout),
        }
    }

    /// Reads a whole session without waiting.
    pub fn load(&self, id: &str, report: &mut Report) -> Result<Session> {
        self.reader(id)?.whole(report).map(|(session, _)| session)
    }

    /// Reads a whole session to plan a change, and returns the length of the log that was read. Waits for a change in
    /// progress.
    pub fn load_with_length(&self, id: &str, report: &mut Report) -> Result<(Session, u64)> {
        self.reader_of(id, Wait::Unlocked)?.whole(report)
    }

    /// Like [`Store::load`], but without long values of messages, for uses that need only events.
    pub fn load_events(&self, id: &str, report: &mut Report) -> Result<Session> {
        let reader = self.reader(id)?;
        reader.into(Session::of_ids(), report).map(|(session, _)| session)
    }

    /// Like [`Store::load_with_length`], but without long values of messages, for uses that need only events.
    pub fn load_events_with_length(&self, id: &str, report: &mut Report) -> Result<(Session, u64)> {
        self.reader_of(id, Wait::Unlocked)?
            .into(Session::of_ids(), report)
    }

    /// Begins a batch of new sessions, which are synced and named together.
    pub fn batch(&self) -> Result<Batch> {
        let sessions = self.make_sessions()?.duplicate()?;
        let aliases = self.aliases_dir()?.map(Directory::duplicate).transpose()?;
        Batch::in_store(sessions, aliases)
    }
}
