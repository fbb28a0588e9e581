//! Many new files at once: written under temporary names, synced together, then named. A session may be several files,
//! which get their names one after another.

use super::atomic::{self, Temporary};
use super::directory::{Directory, FILE_MODE};
use super::log::{Chain, Pending};
use super::log_name;
use crate::error::{Error, Kind, Result};
use crate::model::key;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Temporary names begin so; `.stage-PID-N` is locked as long as the batch lives, `.stage-PID-N-K` are its files.
pub(super) const PREFIX: &str = ".stage-";

/// How much of a file is collected before it is written.
const BLOCK: usize = 256 * 1024;

/// Files that get their names together. Threads may share it.
#[derive(Debug)]
pub struct Batch {
    directory: Directory,
    /// The store's aliases, which take names too.
    aliases: Option<Directory>,
    /// Whether lines get checksums.
    checked: bool,
    mode: u32,
    tag: String,
    _marker: File,
    made: AtomicU64,
}

/// A session of a batch whose files have no names yet; dropped without a commit they are gone.
#[derive(Debug)]
pub struct Staged<'b> {
    batch: &'b Batch,
    id: String,
    /// In the order in which they get their names.
    files: Vec<Unnamed>,
}

/// A file that is written and has no name yet.
#[derive(Debug)]
struct Unnamed {
    temporary: String,
    name: String,
    named: bool,
}

impl Batch {
    /// For a folder outside a store: files `<id>.jsonl` without checksums, readable as the umask says.
    pub fn in_folder(path: &Path) -> Result<Batch> {
        Batch::new(Directory::open(path)?, None, false, 0o666)
    }

    /// For the folder of another system: its files, which are their owner's alone.
    pub fn in_foreign_folder(path: &Path) -> Result<Batch> {
        Batch::new(Directory::open(path)?, None, false, FILE_MODE)
    }

    /// For a store's sessions.
    pub(super) fn in_store(sessions: Directory, aliases: Option<Directory>) -> Result<Batch> {
        Batch::new(sessions, aliases, true, FILE_MODE)
    }

    fn new(directory: Directory, aliases: Option<Directory>, checked: bool, mode: u32) -> Result<Batch> {
        sweep(&directory)?;
        static MADE: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let (tag, marker) = loop {
            let tag = format!("{PREFIX}{process}-{}", MADE.fetch_add(1, Ordering::Relaxed));
            match Temporary::new(&directory, tag.clone(), FILE_MODE, Duration::ZERO) {
                Ok(marker) => break (tag, marker.into_file()),
                // A process of the same number in another container.
                Err(error) if error.kind == Kind::Locked => {}
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
            made: AtomicU64::new(0),
        })
    }

    /// Writes a file that will be `<id>.jsonl`, without waiting for the disk. A newline at a line's end is taken
    /// as its ending.
    pub fn stage<L: AsRef<[u8]>>(&self, id: &str, lines: impl IntoIterator<Item = L>) -> Result<Staged<'_>> {
        key::checked_id(id)?;
        let (mut staged, mut file, shown) = self.begin(id, log_name(id))?;
        let mut pending = Pending::default();
        let mut chain = Chain::default();
        let mut write = |pending: &mut Pending| {
            pending.close(&mut chain);
            let written = file.write_all(pending.bytes(false));
            pending.clear();
            written.map_err(|error| Error::io(&shown, error).kind(Kind::InputOutput))
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

    /// Writes the files that a session has in another system's folder: name and content of each, in the order in
    /// which they are to get their names.
    pub fn stage_files<'f>(
        &self,
        id: &str,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<Staged<'_>> {
        let mut all: Option<Staged<'_>> = None;
        for (name, bytes) in files {
            let (mut staged, mut file, shown) = self.begin(id, name.to_string())?;
            let written = file.write_all(bytes);
            written.map_err(|error| Error::io(&shown, error).kind(Kind::InputOutput))?;
            staged.finish(&file)?;
            match &mut all {
                Some(all) => all.files.append(&mut staged.files),
                None => all = Some(staged),
            }
        }
        all.ok_or_else(|| Error::new(Kind::Usage, format!("{id}: not a file")))
    }

    /// Makes a file that will have this name; from here on dropping it takes the file away.
    fn begin(&self, id: &str, name: String) -> Result<(Staged<'_>, File, String)> {
        let temporary = format!("{}-{}", self.tag, self.made.fetch_add(1, Ordering::Relaxed));
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

    /// Makes all of them durable and names them. A result is told when it is final: the id, and
    /// [`Kind::Exists`] where the name was taken.
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
                .map(|file| (file.id.clone(), Err(like(&error, Kind::InputOutput))))
                .collect();
        }
        let mut results: Vec<Result<()>> = staged.iter().map(|_| Ok(())).collect();
        let mut staged = staged;
        let most = staged.iter().map(|one| one.files.len()).max().unwrap_or(0);
        for nth in 0..most {
            let mut named = Vec::new();
            for (at, one) in staged.iter_mut().enumerate() {
                // Whoever sees a file has seen those before it.
                if nth < one.files.len() && results[at].is_ok() {
                    results[at] = self.name(one, nth);
                    named.extend(results[at].is_ok().then_some(at));
                }
            }
            if !named.is_empty()
                && let Err(error) = atomic::sync_directory(&self.directory)
            {
                for at in named {
                    results[at] = Err(like(&error, Kind::Unsure));
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
                Kind::Exists,
                format!("{id}: name already used by an alias"),
            ));
        }
        let file = &mut staged.files[nth];
        file.named = atomic::rename_new(&self.directory, &file.temporary, &self.directory, &file.name)?;
        if file.named {
            return Ok(());
        }
        Err(Error::new(
            Kind::Exists,
            match file.name == log_name(id) {
                true => format!("{id}: session already exists"),
                false => format!("{}: file already exists", file.name),
            },
        ))
    }
}

/// The same failure for another file.
fn like(error: &Error, kind: Kind) -> Error {
    Error::new(kind, error.message.clone())
}

impl Staged<'_> {
    /// The id that it will have.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The last file is written.
    fn finish(&mut self, file: &File) -> Result<()> {
        let shown = || {
            self.files
                .last()
                .map_or(String::new(), |last| self.batch.directory.shown(&last.temporary))
        };
        atomic::mark_unnamed(file).map_err(|error| Error::io(shown(), error).kind(Kind::InputOutput))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        for file in self.files.iter().filter(|file| !file.named) {
            let _ = atomic::unlink(&self.batch.directory, &file.temporary); // swept by the next batch otherwise
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = atomic::unlink(&self.directory, &self.tag); // swept by the next batch otherwise
    }
}

/// Whether a file of this name belongs to a batch that is at work.
pub(super) fn is_in_use(directory: &Directory, name: &str) -> Result<bool> {
    let numbers: Vec<&str> = name.strip_prefix(PREFIX).unwrap_or_default().split('-').collect();
    let marker = format!("{PREFIX}{}", numbers[..numbers.len().min(2)].join("-"));
    match atomic::open_locked(directory, marker, None, OFlags::RDWR, Duration::ZERO) {
        Err(error) if error.kind == Kind::Locked => Ok(true),
        marker => marker.map(|_| false),
    }
}

/// Takes away what batches of dead processes left: those whose lock can be had.
pub(super) fn sweep(directory: &Directory) -> Result<()> {
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
    // The files of a batch first, its marker, which is shorter, last.
    files.sort_by(|one, other| (&one.0, other.1.len()).cmp(&(&other.0, one.1.len())));
    for batch in files.chunk_by(|one, other| one.0 == other.0) {
        // Opened by name and not looked up in the list, which may be older than a marker.
        let marker = match atomic::open_locked(directory, &batch[0].0, None, OFlags::RDWR, Duration::ZERO) {
            Err(error) if error.kind == Kind::Locked => continue,
            marker => marker?,
        };
        for (_, name) in batch {
            atomic::unlink(directory, name)?;
        }
        drop(marker);
    }
    Ok(())
}
