//! Atomic file operations: appends that are rolled back on errors, and files that are created or replaced as a whole.

use super::directory::{Directory, FILE_MODE, FileStat};
use super::lock::{Lock, lock};
use super::mark;
use super::rename_sync::failed;
pub use super::rename_sync::{
    dir, link_new, move_new, put, remove_empty, rename_free, rename_new, sync_below, sync_directory, unlink,
};
use crate::error::{Error, ErrorKind, Result};
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime};

/// Up to this many files are synced individually; syncing the whole file system takes about as long as syncing eight.
#[cfg(target_os = "linux")]
const FEW: usize = 8;

/// Write size in bytes.
pub(super) const BLOCK: usize = 256 * 1024;

/// Maximum granularity of file timestamps.
const CLOCK: Duration = Duration::from_millis(20);

/// Opens a file and takes its lock; none when there is no such file. If the file was replaced while waiting, the new
/// one is opened. `known` is an open file that probably has the name.
pub fn open_locked(
    directory: &Directory,
    name: impl AsRef<OsStr>,
    mut known: Option<File>,
    access: OFlags,
    timeout: Duration,
) -> Result<Option<(File, FileStat)>> {
    let name = name.as_ref();
    let began = Instant::now();
    loop {
        let file = match known.take() {
            Some(file) => file,
            None => match directory.file(name, access)? {
                Some(file) => file,
                None => return Ok(None),
            },
        };
        lock(
            &file,
            directory.shown(name),
            Lock::Alone,
            timeout.saturating_sub(began.elapsed()),
        )?;
        let own = FileStat::of(&file).map_err(|error| Error::io(directory.shown(name), error))?;
        match directory.facts(name)? {
            None => return Ok(None),
            Some(facts) if facts.is_same_file(&own) => return Ok(Some((file, facts))),
            Some(_) => {}
        }
    }
}

/// Opens a file for reading and returns its length between two changes; none when there is no such file.
pub fn open_unlocked(directory: &Directory, name: &str, timeout: Duration) -> Result<Option<(File, u64)>> {
    let Some(file) = directory.file(name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let shown = directory.shown(name);
    lock(&file, &shown, Lock::Shared, timeout)?;
    let length = file.metadata().map_err(|error| Error::io(&shown, error))?.len();
    file.unlock().map_err(|error| Error::io(&shown, error))?;
    Ok(Some((file, length)))
}

/// Opens a file for reading and returns the length of its last complete state, without waiting for its lock; none
/// when there is no such file.
pub fn open_complete(directory: &Directory, name: &str) -> Result<Option<(File, u64)>> {
    let Some(file) = directory.file(name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let length = mark::complete_length(&file).map_err(|error| Error::io(directory.shown(name), error))?;
    Ok(Some((file, length)))
}

/// Appends to a locked file of this length; returns the offset of the bytes, which is greater if a program without
/// locks wrote meanwhile. On an error the file is truncated to its old length.
pub fn write_end(file: &File, shown: &str, length: u64, bytes: &[u8]) -> Result<u64> {
    let mut written = 0;
    while written < bytes.len() {
        let error = match (&*file).write(&bytes[written..]) {
            Ok(0) => io::ErrorKind::WriteZero.into(),
            Ok(more) => {
                written += more;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        return Err(roll_back(file, shown, length, written, error));
    }
    let end = match file.metadata() {
        Ok(data) => data.len(),
        Err(error) => return Err(roll_back(file, shown, length, written, error)),
    };
    let expected = length + written as u64;
    if end == expected {
        return Ok(length);
    }
    if end < expected {
        return Err(roll_back(
            file,
            shown,
            length,
            written,
            io::ErrorKind::WriteZero.into(),
        ));
    }
    find(file, length, end, bytes).ok().flatten().ok_or_else(|| {
        Error::new(
            ErrorKind::Unsure,
            format!("{shown}: modified by another program during the write"),
        )
        .hint("check the last lines before you retry")
    })
}

/// The offset of these bytes within a range of the file.
fn find(file: &File, start: u64, end: u64, bytes: &[u8]) -> io::Result<Option<u64>> {
    let Some(length) = end.checked_sub(start) else {
        return Ok(None);
    };
    let mut region = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut region, start)?;
    Ok(memchr::memmem::find(&region, bytes).map(|at| start + at as u64))
}

/// Syncs an append to a locked file, or truncates the file to its old length.
pub fn sync_end(file: &File, shown: &str, length: u64, written: usize) -> Result<()> {
    file.sync_data()
        .map_err(|error| roll_back(file, shown, length, written, error))
}

/// Truncates a locked file, durably.
pub fn cut(file: &File, shown: &str, length: u64) -> Result<()> {
    file.set_len(length)
        .and_then(|()| file.sync_data())
        .map_err(|error| Error::io(shown, error).kind(ErrorKind::Unsure))
}

/// Rolls back a failed append; the error states whether that succeeded. A failed sync is not repeated: only the
/// truncated file is synced.
fn roll_back(file: &File, shown: &str, length: u64, written: usize, error: io::Error) -> Error {
    let written_here = length..=length + written as u64; // anything beyond was written by another program
    let is_written_here = file
        .metadata()
        .is_ok_and(|data| written_here.contains(&data.len()));
    if is_written_here && file.set_len(length).is_ok() && file.sync_data().is_ok() {
        Error::io(format!("{shown}: cannot write; nothing was changed"), error).kind(ErrorKind::InputOutput)
    } else {
        Error::io(format!("{shown}: cannot write, and cannot undo the write"), error)
            .kind(ErrorKind::Unsure)
            .hint("check the last lines before you retry")
    }
}

/// Sets a timestamp that makes the file look older than the name that it will get, so that a later append knows that
/// the name may not be durable: see [`FileStat::was_just_renamed`].
pub fn mark_unnamed(file: &File) -> io::Result<()> {
    mark_older(file, SystemTime::now())
}

/// The same with the time of the file that it will replace, unless that is too recent.
pub fn mark_older(file: &File, time: SystemTime) -> io::Result<()> {
    file.set_modified(time.min(SystemTime::now() - CLOCK))
}

/// Writes the content of a file; may be called more than once.
pub type WriteContent<'c> = &'c mut dyn FnMut(&mut dyn Write) -> Result<()>;

/// Writes content to an empty file, in large blocks.
pub(super) fn write(file: &File, shown: &str, content: WriteContent<'_>) -> Result<()> {
    let mut writer = io::BufWriter::with_capacity(BLOCK, file);
    content(&mut writer)?;
    let written = writer.flush();
    written.map_err(|error| Error::io(shown, error).kind(ErrorKind::InputOutput))
}

/// Creates a durable file with these bytes unless the name exists; returns whether it was created.
pub fn create(directory: &Directory, name: &str, bytes: &[u8]) -> Result<bool> {
    let shown = directory.shown(name);
    create_of(directory, name, &mut |out| put_bytes(out, &shown, bytes))
}

/// Writes bytes of a file.
pub(super) fn put_bytes(out: &mut dyn Write, shown: &str, bytes: &[u8]) -> Result<()> {
    let written = out.write_all(bytes);
    written.map_err(|error| Error::io(shown, error).kind(ErrorKind::InputOutput))
}

/// Creates a durable file with this content unless the name exists; returns whether it was created. A partial file
/// never has a name, so a crash leaves nothing.
pub(super) fn create_of(directory: &Directory, name: &str, content: WriteContent<'_>) -> Result<bool> {
    if directory.facts(name)?.is_some() {
        return Ok(false);
    }
    let linked = match create_unnamed(directory, name, content)? {
        Some(linked) => linked,
        None => {
            let temporary = Temporary::new(directory, temporary_name(name), FILE_MODE, Duration::ZERO)?;
            write(&temporary.file, &directory.shown(name), content)?;
            let written = mark_unnamed(&temporary.file).and_then(|()| temporary.file.sync_data());
            written.map_err(|error| Error::io(directory.shown(name), error).kind(ErrorKind::InputOutput))?;
            temporary.keep_new(name)?
        }
    };
    if !linked {
        return Ok(false);
    }
    if let Err(error) = sync_directory(directory) {
        let undone = unlink(directory, name).and_then(|_| sync_directory(directory));
        return Err(error.kind(if undone.is_ok() {
            ErrorKind::InputOutput
        } else {
            ErrorKind::Unsure
        }));
    }
    Ok(true)
}

/// The same with an unnamed file; none if the system does not support that.
#[cfg(target_os = "linux")]
fn create_unnamed(directory: &Directory, name: &str, content: WriteContent<'_>) -> Result<Option<bool>> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = match fs::openat(directory, ".", flags, Mode::from_raw_mode(FILE_MODE)) {
        Ok(descriptor) => File::from(descriptor),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(failed(directory.shown(name), errno)),
    };
    directory.adopt(&file, name)?;
    write(&file, &directory.shown(name), content)?;
    let written = mark_unnamed(&file).and_then(|()| file.sync_data());
    written.map_err(|error| Error::io(directory.shown(name), error).kind(ErrorKind::InputOutput))?;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    match fs::linkat(fs::CWD, own, directory, name, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) => Ok(Some(true)),
        Err(Errno::EXIST) => Ok(Some(false)),
        // /proc is not available.
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(failed(directory.shown(name), errno)),
    }
}

#[cfg(not(target_os = "linux"))]
fn create_unnamed(_: &Directory, _: &str, _: WriteContent<'_>) -> Result<Option<bool>> {
    Ok(None)
}

/// Syncs the content of these files: individually if few, otherwise with the whole file system.
pub fn sync_files<'n>(directory: &Directory, names: impl ExactSizeIterator<Item = &'n str>) -> Result<()> {
    #[cfg(target_os = "linux")]
    if names.len() >= FEW {
        return fs::syncfs(directory).map_err(|errno| failed(directory.path().display(), errno));
    }
    for name in names {
        let removed = || {
            Error::new(
                ErrorKind::InputOutput,
                format!("{}: no such file", directory.shown(name)),
            )
        };
        let file = directory.file(name, OFlags::RDWR)?.ok_or_else(removed)?;
        file.sync_data()
            .map_err(|error| Error::io(directory.shown(name), error))?;
    }
    Ok(())
}

/// The temporary name of a file: always the same, so that the next writer finds the file of a dead one.
pub fn temporary_name(name: &str) -> String {
    format!(".{name}.new")
}

/// Replaces a file of the store with one that has these bytes.
pub fn replace(directory: &Directory, name: &str, bytes: &[u8], timeout: Duration) -> Result<()> {
    replace_through(directory, name, temporary_name(name), bytes, |_| Ok(()), timeout).map(drop)
}

/// The same with a temporary name, and with the metadata copied before the sync. Returns the new file, still locked.
pub fn replace_through(
    directory: &Directory,
    name: impl AsRef<OsStr>,
    hidden: String,
    bytes: &[u8],
    copy_metadata: impl FnOnce(&File) -> Result<()>,
    timeout: Duration,
) -> Result<File> {
    let shown = directory.shown(&name);
    let content = &mut |out: &mut dyn Write| put_bytes(out, &shown, bytes);
    replace_by(directory, name, hidden, content, copy_metadata, timeout)
}

/// The same with content that need not be in memory.
pub(super) fn replace_by(
    directory: &Directory,
    name: impl AsRef<OsStr>,
    hidden: String,
    content: WriteContent<'_>,
    copy_metadata: impl FnOnce(&File) -> Result<()>,
    timeout: Duration,
) -> Result<File> {
    let name = name.as_ref();
    let temporary = Temporary::new(directory, hidden, FILE_MODE, timeout)?;
    let failed = |error| Error::io(directory.shown(name), error).kind(ErrorKind::InputOutput);
    write(&temporary.file, &directory.shown(name), content)?;
    copy_metadata(&temporary.file)?;
    temporary.file.sync_all().map_err(failed)?;
    let file = temporary.file.try_clone().map_err(failed)?; // both share the lock
    temporary.keep(name)?;
    sync_directory(directory).map_err(|error| error.kind(ErrorKind::Unsure))?;
    Ok(file)
}

/// Removes a temporary file that a dead process left under this name. A file in use, or one that cannot be removed,
/// is ignored.
pub fn remove_dead_file(directory: &Directory, name: &str) {
    if let Ok(Some(dead)) = directory.facts(name).and_then(|facts| match facts {
        Some(_) => open_locked(directory, name, None, OFlags::RDWR, Duration::ZERO),
        None => Ok(None),
    }) {
        let _ = unlink(directory, name);
        drop(dead);
    }
}

/// A locked file with a temporary name, removed on drop.
#[derive(Debug)]
pub struct Temporary<'d> {
    /// The open file.
    pub file: File,
    directory: &'d Directory,
    name: String,
    kept: bool,
}

impl<'d> Temporary<'d> {
    /// Creates the file. Replaces one of a dead process, and waits for one in use.
    pub fn new(
        directory: &'d Directory,
        name: String,
        mode: u32,
        timeout: Duration,
    ) -> Result<Temporary<'d>> {
        let began = Instant::now();
        loop {
            let file = match directory.create(&name, mode) {
                Ok(file) => file,
                Err(error) if error.kind == ErrorKind::Exists => {
                    let left = timeout.saturating_sub(began.elapsed());
                    if let Some(dead) = open_locked(directory, &name, None, OFlags::RDWR, left)? {
                        unlink(directory, &name)?;
                        drop(dead);
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            let temporary = Temporary {
                file,
                directory,
                name: name.clone(),
                kept: false,
            };
            let shown = directory.shown(&name);
            lock(
                &temporary.file,
                &shown,
                Lock::Alone,
                timeout.saturating_sub(began.elapsed()),
            )?;
            // Another process may have removed the file between the two calls.
            let own = FileStat::of(&temporary.file).map_err(|error| Error::io(shown, error))?;
            if directory
                .facts(&name)?
                .is_some_and(|facts| facts.is_same_file(&own))
            {
                return Ok(temporary);
            }
            temporary.leave();
        }
    }

    /// Drops the file without removing the name, which now belongs to another process.
    fn leave(mut self) {
        self.kept = true;
    }

    /// Keeps the temporary name; the holder of the file is responsible for it.
    pub fn into_file(mut self) -> io::Result<File> {
        let file = self.file.try_clone()?; // both share the lock
        self.kept = true;
        Ok(file)
    }

    /// Renames the file unless the name exists; returns whether it was renamed.
    pub fn keep_new(mut self, name: impl AsRef<OsStr>) -> Result<bool> {
        self.kept = rename_new(self.directory, &self.name, self.directory, name)?;
        Ok(self.kept)
    }

    /// Renames the file, replacing any existing one.
    pub fn keep(mut self, name: impl AsRef<OsStr>) -> Result<()> {
        let name = name.as_ref();
        fs::renameat(self.directory, &self.name, self.directory, name.as_bytes())
            .map_err(|errno| failed(self.directory.shown(name), errno))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::unlinkat(self.directory, &self.name, AtFlags::empty()); // on failure the next writer removes it
        }
    }
}
