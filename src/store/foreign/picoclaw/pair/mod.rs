//! The log and sidecar of a PicoClaw session, changed in place. Each step is one append or one replaced file, ordered
//! so that a crash between two steps preserves the view.

mod append;
mod apply;
mod compact;
mod repair;
mod shown;
mod sidecar_only;
#[cfg(test)]
mod tests;

pub use compact::compact;
pub use repair::PairRepair;
pub use shown::PairView;

use crate::error::{Error, ErrorKind, Result};
use crate::format::picoclaw::{self, LOG, PicoclawSidecar, SIDECAR};
use crate::format::report::Report;
use crate::format::{DocumentSource, Format, convert};
use crate::model::session::Session;
use crate::store::atomic;
use crate::store::directory::{Directory, FileStat};
use crate::store::replace_file::{copy_metadata, hidden};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// A session's log and sidecar, read under the lock of the log, which is held until drop.
#[derive(Debug)]
pub struct Pair {
    directory: Directory,
    /// The common file name without extension.
    stem: String,
    /// The log, which holds the lock.
    file: File,
    facts: FileStat,
    bytes: Vec<u8>,
    sidecar: PicoclawSidecar,
    /// The sidecar's file; none if there is none.
    known: Option<(FileStat, Vec<u8>)>,
    timeout: Duration,
    /// Replace a file although its owner cannot be kept.
    pub force: bool,
}

fn read_all(mut file: &File, shown: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| Error::io(shown, error).kind(ErrorKind::InputOutput))?;
    Ok(bytes)
}

impl Pair {
    /// Locks and reads the log at this path, and reads its sidecar. Links and devices are [`ErrorKind::Unsafe`]; an
    /// unreadable sidecar is [`ErrorKind::Data`], because changes depend on its content.
    pub fn open(path: &Path, timeout: Duration) -> Result<Pair> {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(stem) = name.and_then(|name| name.strip_suffix(LOG)) else {
            let what = format!("{}: not the log of a PicoClaw session", path.display());
            return Err(Error::usage(what));
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = Directory::open(parent.unwrap_or(Path::new(".")))?;
        let log = format!("{stem}{LOG}");
        let opened = atomic::open_locked(&directory, &log, None, OFlags::RDONLY, timeout)?;
        let removed = || {
            Error::new(
                ErrorKind::NotFound,
                format!("{}: no such file", directory.shown(&log)),
            )
        };
        let (file, facts) = opened.ok_or_else(removed)?;
        for name in [&log, &format!("{stem}{SIDECAR}")] {
            atomic::remove_dead_file(&directory, &hidden(name.as_ref()));
        }
        let bytes = read_all(&file, &directory.shown(&log))?;
        if !picoclaw::is_log(&bytes) {
            let what = format!("{}: a document, not a log", directory.shown(&log));
            return Err(Error::usage(what).hint("omit -i and redirect the output"));
        }
        let mut pair = Pair {
            directory,
            stem: stem.to_string(),
            file,
            facts,
            bytes,
            sidecar: PicoclawSidecar::new(stem),
            known: None,
            timeout,
            force: false,
        };
        pair.read_sidecar()?;
        Ok(pair)
    }

    fn log_name(&self) -> String {
        format!("{}{LOG}", self.stem)
    }

    fn sidecar_name(&self) -> String {
        format!("{}{SIDECAR}", self.stem)
    }

    fn read_sidecar(&mut self) -> Result<()> {
        let name = self.sidecar_name();
        let shown = self.directory.shown(&name);
        let Some(file) = self.directory.file(&name, OFlags::RDONLY)? else {
            (self.sidecar, self.known) = (PicoclawSidecar::new(&self.stem), None);
            return Ok(());
        };
        let facts =
            FileStat::of(&file).map_err(|error| Error::io(&shown, error).kind(ErrorKind::InputOutput))?;
        let bytes = read_all(&file, &shown)?;
        self.sidecar = PicoclawSidecar::read(&bytes).map_err(|why| {
            let what = format!("{shown}: unreadable ({why}); the view is unknown");
            let hint = "nothing was changed; repair it, or move it away to show all lines";
            Error::data(what).hint(hint)
        })?;
        self.known = Some((facts, bytes));
        Ok(())
    }

    /// The session with PicoClaw's view.
    pub fn session(&self, report: &mut Report) -> Result<Session> {
        let log = self.log_name();
        let neighbor = |name: &str| {
            let known = self.known.as_ref().filter(|_| name == self.sidecar_name());
            Ok(known.map(|(_, bytes)| bytes.clone()))
        };
        let source = DocumentSource {
            name: Some(&log),
            bytes: &self.bytes,
            neighbor: &neighbor,
        };
        let mut sessions = convert(Format::Picoclaw, &source, report)?;
        if sessions.len() == 1 {
            return Ok(sessions.remove(0));
        }
        let what = format!("{}: not one session", self.directory.shown(&log));
        Err(Error::data(what))
    }

    /// Number of lines that PicoClaw counts.
    pub fn raw_lines(&self) -> u64 {
        picoclaw::raw_lines(&self.bytes).count() as u64
    }

    /// How many more lines than exist the sidecar skips. If not 0, the view is empty, and appended lines would be
    /// hidden.
    pub fn excess_skip(&self) -> u64 {
        self.sidecar.skip().saturating_sub(self.raw_lines())
    }

    /// Whether the last line has no newline.
    pub fn is_truncated(&self) -> bool {
        self.bytes.last().is_some_and(|last| *last != b'\n')
    }

    /// Syncs the files when no change is needed, because a process may have died before it synced its change.
    pub fn sync(&self) -> Result<()> {
        atomic::sync_directory(&self.directory)
    }

    /// Writes the current sidecar.
    fn write_sidecar(&mut self, now: &str) -> Result<()> {
        let name = self.sidecar_name();
        self.check_sidecar()?;
        if self.sidecar.has_no_time() {
            let first = picoclaw::first_time(&self.bytes);
            self.sidecar.set_created(first.as_deref().unwrap_or(now));
        }
        self.sidecar.set_updated(now);
        let bytes = self.sidecar.bytes();
        let old = self.known.as_ref().map(|(facts, _)| *facts);
        let path = self.directory.path().join(&name);
        let force = self.force;
        let dressed = |file: &File| old.map_or(Ok(()), |old| copy_metadata(file, &old, &path, force));
        let file = atomic::replace_through(
            &self.directory,
            &name,
            hidden(name.as_ref()),
            &bytes,
            dressed,
            self.timeout,
        )?;
        let facts =
            FileStat::of(&file).map_err(|error| Error::io(path.display(), error).kind(ErrorKind::Unsure))?;
        self.known = Some((facts, bytes));
        Ok(())
    }

    /// Fails if a program without locks changed the sidecar since it was read.
    fn check_sidecar(&self) -> Result<()> {
        let name = self.sidecar_name();
        let is = self.directory.facts(&name)?;
        let same = match (&is, &self.known) {
            (None, None) => true,
            (Some(is), Some((known, _))) => {
                is.is_same_file(known) && (is.size, is.modified) == (known.size, known.modified)
            }
            _ => false,
        };
        if same {
            return Ok(());
        }
        let what = format!(
            "{}: modified by another program; nothing was changed",
            self.directory.shown(&name)
        );
        Err(Error::new(ErrorKind::Locked, what).hint("run the command again"))
    }
}
