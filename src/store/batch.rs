//! Creates many files efficiently: writes them under temporary names, syncs them together, then renames them. A
//! session may consist of several files, which are renamed one after another.

use super::atomic::{self, Temporary};
use super::directory::{Directory, FILE_MODE};
use super::log::{LogChain, Pending};
use super::log_name;
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Prefix of temporary names: `.stage-PID-N` is locked while the batch exists, `.stage-PID-N-K` are its files.
pub(super) const PREFIX: &str = ".stage-";

/// Write buffer size in bytes.
const BLOCK: usize = 256 * 1024;

/// Files that are named together. Threads may share it.
#[derive(Debug)]
pub struct Batch {
    directory: Directory,
    /// The store's aliases, whose names must not be reused.
    aliases: Option<Directory>,
    /// Whether lines get checksums.
    checked: bool,
    mode: u32,
    tag: String,
    _marker: File,
    staged: AtomicU64,
}

/// A session of a batch whose files have no names yet; removed on drop unless committed.
#[derive(Debug)]
pub struct Staged<'b> {
    batch: &'b Batch,
    id: String,
    /// In the order of naming.
    files: Vec<Unnamed>,
}

/// A written file without a name.
#[derive(Debug)]
struct Unnamed {
    temporary: String,
    name: String,
    named: bool,
}

impl Batch {
    /// A batch for a directory outside a store: files `<id>.jsonl` without checksums, with permissions by umask.
    pub fn in_dir(path: &Path) -> Result<Batch> {
        Batch::new(Directory::open(path)?, None, false, 0o666)
    }

    /// A batch for a directory of another system, with files accessible to the owner only.
    pub fn in_foreign_dir(path: &Path) -> Result<Batch> {
        Batch::new(Directory::open(path)?, None, false, FILE_MODE)
    }

    /// A batch for a store's sessions.
    pub(super) fn in_store(sessions: Directory, aliases: Option<Directory>) -> Result<Batch> {
        Batch::new(sessions, aliases, true, FILE_MODE)
    }

    fn new(directory: Directory, aliases: Option<Directory>, checked: bool, mode: u32) -> Result<Batch> {
        remove_dead_files(&directory)?;
        static MADE: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let (tag, marker) = loop {
            let tag = format!("{PREFIX}{process}-{}", MADE.fetch_add(1, Ordering::Relaxed));
            match Temporary::new(&directory, tag.clone(), FILE_MODE, Duration::ZERO) {
                Ok(marker) => break (tag, marker.into_file()),
                // A process with the same id in another container.
                Err(error) if error.kind == ErrorKind::Locked => {}
                Err(error) => return Err(error),
            }
        };
        let marker = marker.map_err(|error| Error::io(directory.shown(&tag), error))?;
        Ok(Batch {
            directory,
            aliases,
            checked,
            mode,
            tag,
            _marker: marker,
            staged: AtomicU64::new(0),
        })
    }

    /// Writes the file that will be `<id>.jsonl`, without syncing. A newline at the end of a line counts as its
    /// ending.
    pub fn stage<L: AsRef<[u8]>>(&self, id: &str, lines: impl IntoIterator<Item = L>) -> Result<Staged<'_>> {
        key::checked_id(id)?;
        let (mut staged, mut file, shown) = self.begin(id, log_name(id))?;
        let mut pending = Pending::default();
        let mut chain = LogChain::default();
        let mut write = |pending: &mut Pending| {
            pending.close(&mut chain);
            let written = file.write_all(pending.bytes(false));
            pending.clear();
            written.map_err(|error| Error::io(&shown, error).kind(ErrorKind::InputOutput))
        };
        for line in lines {
            if self.checked {
                pending.push(line.as_ref())?;
            } else {
                pending.push_bare(line.as_ref());
            }
            if pending.size() >= BLOCK {
                write(&mut pending)?;
            }
        }
        write(&mut pending)?;
        staged.finish(&file)?;
        Ok(staged)
    }

    /// Writes the file that will be `<id>.jsonl` with the bytes from the callback, without syncing. For a batch of files,
    /// whose lines have no checksums; a log is written with [`Batch::stage`].
    pub fn stage_written(
        &self,
        id: &str,
        write: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<Staged<'_>> {
        debug_assert!(!self.checked, "lines of a log need checksums");
        key::checked_id(id)?;
        let (mut staged, file, shown) = self.begin(id, log_name(id))?;
        let mut out = BufWriter::with_capacity(BLOCK, &file);
        write(&mut out)?;
        out.flush()
            .map_err(|error| Error::io(&shown, error).kind(ErrorKind::InputOutput))?;
        drop(out);
        staged.finish(&file)?;
        Ok(staged)
    }

    /// Writes the files of a session for another system's directory: name and content of each, in the order of
    /// naming.
    pub fn stage_files<'f>(
        &self,
        id: &str,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<Staged<'_>> {
        let mut all: Option<Staged<'_>> = None;
        for (name, bytes) in files {
            let (mut staged, mut file, shown) = self.begin(id, name.to_string())?;
            let written = file.write_all(bytes);
            written.map_err(|error| Error::io(&shown, error).kind(ErrorKind::InputOutput))?;
            staged.finish(&file)?;
            match &mut all {
                Some(all) => all.files.append(&mut staged.files),
                None => all = Some(staged),
            }
        }
        all.ok_or_else(|| Error::usage(format!("{id}: not a file")))
    }

    /// Creates a file that will have this name; removed on drop from here on.
    fn begin(&self, id: &str, name: String) -> Result<(Staged<'_>, File, String)> {
        let temporary = format!("{}-{}", self.tag, self.staged.fetch_add(1, Ordering::Relaxed));
        let shown = self.directory.shown(&temporary);
        let file = self.directory.create(&temporary, self.mode)?;
        let unnamed = Unnamed {
            temporary,
            name,
            named: false,
        };
        let staged = Staged {
            batch: self,
            id: id.to_string(),
            files: vec![unnamed],
        };
        Ok((staged, file, shown))
    }

    /// Syncs and names all files. Returns the final result for each id: [`ErrorKind::Exists`] if the name was taken.
    pub fn commit(&self, staged: Vec<Staged<'_>>) -> Vec<(String, Result<()>)> {
        let temporary: Vec<&str> = staged
            .iter()
            .flat_map(|one| &one.files)
            .map(|file| &*file.temporary)
            .collect();
        if temporary.is_empty() {
            return Vec::new();
        }
        if let Err(error) = atomic::sync_files(&self.directory, temporary.into_iter()) {
            return staged
                .iter()
                .map(|file| (file.id.clone(), Err(like(&error, ErrorKind::InputOutput))))
                .collect();
        }
        let mut results: Vec<Result<()>> = staged.iter().map(|_| Ok(())).collect();
        let mut staged = staged;
        let most = staged.iter().map(|one| one.files.len()).max().unwrap_or(0);
        for nth in 0..most {
            let mut named = Vec::new();
            for (at, one) in staged.iter_mut().enumerate() {
                // A visible file implies that the earlier ones are visible.
                if nth < one.files.len() && results[at].is_ok() {
                    results[at] = self.name(one, nth);
                    named.extend(results[at].is_ok().then_some(at));
                }
            }
            if !named.is_empty()
                && let Err(error) = atomic::sync_directory(&self.directory)
            {
                for at in named {
                    results[at] = Err(like(&error, ErrorKind::Unsure));
                }
            }
        }
        staged.iter().map(|one| one.id.clone()).zip(results).collect()
    }

    fn name(&self, staged: &mut Staged<'_>, nth: usize) -> Result<()> {
        let id = &staged.id;
        if let Some(aliases) = &self.aliases
            && aliases.has(&key::id_for_key(id))?
        {
            return Err(Error::new(
                ErrorKind::Exists,
                format!("{id}: name already used by an alias"),
            ));
        }
        let file = &mut staged.files[nth];
        file.named = atomic::rename_new(&self.directory, &file.temporary, &self.directory, &file.name)?;
        if file.named {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Exists,
            match file.name == log_name(id) {
                true => format!("{id}: session already exists"),
                false => format!("{}: file already exists", file.name),
            },
        ))
    }
}

/// The same error for another file.
fn like(error: &Error, kind: ErrorKind) -> Error {
    Error::new(kind, error.message.clone())
}

impl Staged<'_> {
    /// Its future id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Completes the last file.
    fn finish(&mut self, file: &File) -> Result<()> {
        let shown = || {
            self.files
                .last()
                .map_or(String::new(), |last| self.batch.directory.shown(&last.temporary))
        };
        atomic::mark_unnamed(file).map_err(|error| Error::io(shown(), error).kind(ErrorKind::InputOutput))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        for file in self.files.iter().filter(|file| !file.named) {
            let _ = atomic::unlink(&self.batch.directory, &file.temporary); // on failure the next batch removes it
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = atomic::unlink(&self.directory, &self.tag); // on failure the next batch removes it
    }
}

/// Whether a file with this name belongs to an active batch.
pub(super) fn is_in_use(directory: &Directory, name: &str) -> Result<bool> {
    let numbers: Vec<&str> = name.strip_prefix(PREFIX).unwrap_or_default().split('-').collect();
    let marker = format!("{PREFIX}{}", numbers[..numbers.len().min(2)].join("-"));
    match atomic::open_locked(directory, marker, None, OFlags::RDWR, Duration::ZERO) {
        Err(error) if error.kind == ErrorKind::Locked => Ok(true),
        marker => marker.map(|_| false),
    }
}

/// Removes files of dead batches: those whose lock is free.
pub(super) fn remove_dead_files(directory: &Directory) -> Result<()> {
    let mut files: Vec<(String, String)> = Vec::new();
    for name in directory.names()? {
        let Some(rest) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let numbers: Vec<&str> = rest.split('-').collect();
        if let [process, number, ..] = numbers[..]
            && numbers.len() <= 3
            && numbers
                .iter()
                .all(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        {
            files.push((format!("{PREFIX}{process}-{number}"), name));
        }
    }
    // Remove the files of a batch before its marker, which has a shorter name.
    files.sort_by(|one, other| (&one.0, other.1.len()).cmp(&(&other.0, one.1.len())));
    for batch in files.chunk_by(|one, other| one.0 == other.0) {
        // Open by name rather than from the list, which may be older than a marker.
        let marker = match atomic::open_locked(directory, &batch[0].0, None, OFlags::RDWR, Duration::ZERO) {
            Err(error) if error.kind == ErrorKind::Locked => continue,
            marker => marker?,
        };
        for (_, name) in batch {
            atomic::unlink(directory, name)?;
        }
        drop(marker);
    }
    Ok(())
}
