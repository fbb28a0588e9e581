//! Atomic changes of several files: new files are written next to the old ones, a journal with the old bytes commits
//! them, then they are renamed. After a crash the next run completes committed changes and removes others. The last
//! changes can be undone.

mod apply;
mod journal;
mod plan;

pub use journal::{Journal, JournalEntry};
pub use plan::{PlannedChanges, WriteNewContent};

use super::atomic::{self, Temporary};
use super::directory::{DIR_MODE, Directory, FILE_MODE, FileStat};
use super::lock::{Lock, lock};
use super::replace_file::{copy_metadata, refuse_writers};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key::HashWriter;
use apply::split_path;
use journal::{COMMITTED, DONE, PLANNED};
use rustix::fs::OFlags;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name prefix of copies.
const SCRATCH: &str = ".copy-";

/// A directory of journals, locked while open.
#[derive(Debug)]
pub struct Journals {
    directory: Directory,
    base: PathBuf,
    _lock: File,
    timeout: Duration,
}

impl Journals {
    /// Opens the directory, creating it if missing. Paths below `base` are stored relative to it.
    pub fn open(path: &Path, base: &Path, timeout: Duration) -> Result<Journals> {
        super::make_dirs(path, DIR_MODE)?;
        let directory = Directory::open(path)?;
        let shown = path.display().to_string();
        let file = directory.as_file().map_err(|error| Error::io(&shown, error))?;
        lock(&file, shown, Lock::Alone, timeout)?;
        Ok(Journals {
            directory,
            base: base.to_path_buf(),
            _lock: file,
            timeout,
        })
    }

    /// Whether a directory contains journals of unfinished runs. The directory need not exist.
    ///
    /// # Errors
    /// [`ErrorKind::InputOutput`] if it cannot be read.
    pub fn is_unfinished(path: &Path) -> Result<bool> {
        match Directory::open(path) {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
            directory => Ok(directory?
                .all_names()?
                .iter()
                .any(|name| name.as_encoded_bytes().starts_with(b"."))),
        }
    }

    /// Copies a file next to the journals and records its state. The copy is removed on drop or by the next run,
    /// together with files that a database creates by adding a suffix to its name.
    ///
    /// # Errors
    /// Read and write errors.
    pub fn scratch(&self, path: &Path) -> Result<Scratch<'_>> {
        let failed = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
        let (directory, name) = split_path(path)?;
        let file = directory.file(name, OFlags::RDONLY)?;
        let mut file = file.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
        let facts = FileStat::of(&file).map_err(failed)?;
        let names = self.directory.names()?;
        let free = (0..).map(|nth: u32| format!("{SCRATCH}{nth}"));
        let name = free.skip_while(|name| names.contains(name)).take(1).collect();
        let scratch = Scratch {
            journals: self,
            path: path.to_path_buf(),
            facts,
            name,
        };
        let mut copy = self.directory.create(&scratch.name, FILE_MODE)?;
        std::io::copy(&mut file, &mut copy).map_err(|error| {
            Error::io(self.directory.shown(&scratch.name), error).kind(ErrorKind::InputOutput)
        })?;
        Ok(scratch)
    }

    /// Completes committed changes of earlier runs and removes uncommitted ones; returns the number of each.
    ///
    /// # Errors
    /// Read and write errors.
    pub fn finish(&self) -> Result<(usize, usize)> {
        let (mut finished, mut removed) = (0, 0);
        for name in self.directory.all_names()? {
            let Some(name) = name.to_str().filter(|name| name.starts_with('.')) else {
                continue;
            };
            if name.starts_with(SCRATCH) {
                atomic::unlink(&self.directory, name)?;
            } else if let Some(id) = journal::id(name, COMMITTED) {
                let journal = self.read(name, id)?;
                self.carry_out(&journal)?;
                finished += 1;
            } else if let Some(id) = journal::id(name, PLANNED) {
                // If the journal is incomplete, no file was written yet.
                if let Ok(journal) = self.read(name, id) {
                    apply::remove_uncommitted(&journal)?;
                }
                atomic::unlink(&self.directory, name)?;
                removed += 1;
            }
        }
        if finished + removed > 0 {
            atomic::sync_directory(&self.directory)?;
        }
        Ok((finished, removed))
    }

    /// Applies all changes or none; `about` is stored with them. Removes the journal that they undo, if any.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] if a file changed meanwhile or a program has it open, [`ErrorKind::Exists`] if a new path exists,
    /// [`ErrorKind::Unsure`] if the changes are committed but the next run must complete them.
    pub fn change(
        &self,
        at: &str,
        about: &Value,
        changes: &PlannedChanges<'_>,
        undoes: Option<&Journal>,
    ) -> Result<()> {
        let id = self.free(at)?;
        let mut read = Vec::new();
        for (path, content) in &changes.writes {
            let (directory, name) = split_path(path)?;
            let file = directory.file(name, OFlags::RDONLY)?;
            let missing = || Error::io(path.display(), std::io::ErrorKind::NotFound.into());
            let file = file.ok_or_else(missing)?;
            let facts = FileStat::of(&file).map_err(|error| Error::io(path.display(), error))?;
            refuse_writers(&file, &path.display().to_string())?;
            let mut sum = HashWriter::default();
            content(&mut sum)?;
            read.push((directory, name, file, facts, sum.hex()));
        }
        let plan = format!(".{id}{PLANNED}");
        let done = self
            .plan(&plan, &id, about, changes, undoes, &mut read)
            .and_then(|()| {
                for ((path, content), (directory, name, _, facts, _)) in changes.writes.iter().zip(&read) {
                    let failed = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
                    let temporary =
                        Temporary::new(directory, apply::temporary(name, &id)?, FILE_MODE, self.timeout)?;
                    let mut out = BufWriter::with_capacity(256 << 10, &temporary.file);
                    content(&mut out)?;
                    out.flush().map_err(failed)?;
                    drop(out);
                    copy_metadata(&temporary.file, facts, path, false)?;
                    atomic::mark_older(&temporary.file, facts.modified_at()).map_err(failed)?;
                    temporary.into_file().map_err(failed)?;
                }
                apply::sync(
                    read.iter()
                        .map(|(directory, ..)| directory)
                        .chain([&self.directory]),
                )?;
                for (path, (directory, name, _, facts, _)) in
                    changes.writes.iter().map(|(path, _)| path).zip(&read)
                {
                    if directory.facts(name)?.as_ref() != Some(facts) {
                        let error = format!("{}: changed while it was read", path.display());
                        return Err(Error::new(ErrorKind::Locked, error)
                            .hint("nothing was changed; run the command again"));
                    }
                }
                for (_, to) in &changes.moves {
                    let taken = format!("{}: already exists", to.display());
                    if to.symlink_metadata().is_ok() {
                        return Err(Error::new(ErrorKind::Exists, taken).hint("nothing was changed"));
                    }
                }
                atomic::put(&self.directory, &plan, OsStr::new(&format!(".{id}{COMMITTED}")))
            });
        if let Err(error) = done {
            for (directory, name, ..) in &read {
                if let Ok(name) = apply::temporary(name, &id) {
                    let _ = atomic::unlink(directory, name); // on failure the next run removes it
                }
            }
            let _ = atomic::unlink(&self.directory, &plan);
            return Err(error);
        }
        let committed = atomic::sync_directory(&self.directory)
            .and_then(|()| self.read(&format!(".{id}{COMMITTED}"), &id))
            .and_then(|journal| self.carry_out(&journal));
        committed.map_err(|error| {
            let hint = "the next run finishes the changes";
            error.kind(ErrorKind::Unsure).hint(hint)
        })
    }

    /// The newest completed changes that were not undone.
    ///
    /// # Errors
    /// Read errors.
    pub fn last(&self) -> Result<Option<Journal>> {
        let last = self.ids()?.pop();
        last.map(|id| self.journal(&id)).transpose()
    }

    /// The ids of the finished journals, oldest first.
    ///
    /// # Errors
    /// Read errors.
    pub fn ids(&self) -> Result<Vec<String>> {
        let names = self.directory.names()?.into_iter();
        let ids = names.filter_map(|name| Some(name.strip_suffix(DONE)?.to_string()));
        let mut ids: Vec<String> = ids.filter(|id| !id.starts_with('.')).collect();
        ids.sort();
        Ok(ids)
    }

    /// A finished journal.
    ///
    /// # Errors
    /// Read errors; [`ErrorKind::NotFound`] for an unknown id.
    pub fn journal(&self, id: &str) -> Result<Journal> {
        self.read(&format!("{id}{DONE}"), id)
    }

    /// The changes that undo these.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] if a file changed since.
    pub fn undoing<'c>(&'c self, journal: &'c Journal) -> Result<PlannedChanges<'c>> {
        apply::undoing(&self.directory, journal)
    }

    /// A free name for a journal: the time, with a number if necessary.
    fn free(&self, at: &str) -> Result<String> {
        let names = self.directory.names()?;
        let time: String = at.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let id = |nth: u32| format!("{time}-{nth:03}");
        let taken = |id: &String| names.iter().any(|name| name.starts_with(id.as_str()));
        // Later journals must sort after earlier ones.
        Ok((1..).map(id).find(|id| !taken(id)).unwrap_or(time))
    }

    fn plan(
        &self,
        plan: &str,
        id: &str,
        about: &Value,
        changes: &PlannedChanges<'_>,
        undoes: Option<&Journal>,
        read: &mut [(Directory, &OsStr, File, FileStat, String)],
    ) -> Result<()> {
        let failed = |error| Error::io(self.directory.shown(plan), error).kind(ErrorKind::InputOutput);
        let temporary = Temporary::new(&self.directory, plan.to_string(), FILE_MODE, self.timeout)?;
        let mut out = BufWriter::with_capacity(256 << 10, &temporary.file);
        journal::write_header(&mut out, id, about, undoes.map(|journal| journal.id.as_str()))
            .map_err(failed)?;
        for ((path, _), (_, _, file, facts, sum)) in changes.writes.iter().zip(read) {
            journal::write(&mut out, path, &self.base, facts.size, sum).map_err(failed)?;
            if journal::copy(file, (0, facts.size), &mut out).map_err(failed)? != facts.size {
                let error = format!("{}: changed while it was read", path.display());
                return Err(
                    Error::new(ErrorKind::Locked, error).hint("nothing was changed; run the command again")
                );
            }
            out.write_all(b"\n").map_err(failed)?;
        }
        journal::end(&mut out, changes, &self.base).map_err(failed)?;
        out.flush().map_err(failed)?;
        drop(out);
        temporary.into_file().map_err(failed)?;
        atomic::sync_below(&self.directory)
    }

    fn read(&self, name: &str, id: &str) -> Result<Journal> {
        let missing = || Error::io(self.directory.shown(name), std::io::ErrorKind::NotFound.into());
        let file = self.directory.file(name, OFlags::RDONLY)?.ok_or_else(missing)?;
        Journal::read(file, &self.directory.shown(name), id, &self.base)
    }

    /// Applies the remaining committed changes.
    fn carry_out(&self, journal: &Journal) -> Result<()> {
        apply::apply(journal)?;
        let committed = format!(".{}{COMMITTED}", journal.id);
        match &journal.undoes {
            // Undone changes leave no journal.
            Some(undone) => {
                atomic::unlink(&self.directory, format!("{undone}{DONE}"))?;
                // In the reverse order, the changes could be undone again.
                atomic::sync_directory(&self.directory)?;
                atomic::unlink(&self.directory, &committed)?;
            }
            None => atomic::put(
                &self.directory,
                &committed,
                OsStr::new(&format!("{}{DONE}", journal.id)),
            )?,
        }
        atomic::sync_directory(&self.directory)
    }
}

/// A copy of a file that a program changes before it replaces the file.
#[derive(Debug)]
pub struct Scratch<'j> {
    journals: &'j Journals,
    path: PathBuf,
    facts: FileStat,
    name: String,
}

impl Scratch<'_> {
    /// The path of the copy.
    pub fn path(&self) -> PathBuf {
        self.journals.directory.path().join(&self.name)
    }

    /// Writes the current content of the copy.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] if the original was replaced since it was copied.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let (directory, name) = split_path(&self.path)?;
        if directory.facts(name)?.as_ref() != Some(&self.facts) {
            let error = format!("{}: changed while it was read", self.path.display());
            return Err(
                Error::new(ErrorKind::Locked, error).hint("nothing was changed; run the command again")
            );
        }
        let failed = |error| Error::io(self.path().display(), error).kind(ErrorKind::InputOutput);
        let file = File::open(self.path()).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        journal::copy(&file, (0, length), out).map(drop).map_err(failed)
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let _ = atomic::unlink(&self.journals.directory, format!("{}{ending}", self.name)); // or the next run
        }
    }
}
