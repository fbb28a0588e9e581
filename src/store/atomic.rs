//! All or nothing: what is written at a file's end, and files that are made or replaced as a whole.

use super::directory::{Directory, FILE_MODE, Facts};
use super::lock::{Lock, lock};
use super::mark;
use super::naming::failed;
pub use super::naming::{
    folder, link_new, move_new, put, remove_empty, rename_free, rename_new, sync_below, sync_directory,
    unlink,
};
use crate::error::{Error, Kind, Result};
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime};

/// So many files are synced one by one; a sync of the whole file system takes about as long as that of eight.
#[cfg(target_os = "linux")]
const FEW: usize = 8;

/// Bytes that are written at once.
pub(super) const BLOCK: usize = 256 * 1024;

/// The times of files come from a clock that is this coarse at most.
const CLOCK: Duration = Duration::from_millis(20);

/// Opens a file and takes its lock; none when there is no such file. The file is the one that has the name now:
/// one that was replaced while we waited is opened anew. `known` is an open file that probably has the name.
pub fn open_locked(
    directory: &Directory,
    name: impl AsRef<OsStr>,
    mut known: Option<File>,
    access: OFlags,
    timeout: Duration,
) -> Result<Option<(File, Facts)>> {
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
        let own = Facts::of(&file).map_err(|error| Error::io(directory.shown(name), error))?;
        match directory.facts(name)? {
            None => return Ok(None),
            Some(facts) if facts.is_same_file(&own) => return Ok(Some((file, facts))),
            Some(_) => {}
        }
    }
}

/// Opens a file to read and tells the length at which no change was under way; none when there is no such file.
pub fn open_settled(directory: &Directory, name: &str, timeout: Duration) -> Result<Option<(File, u64)>> {
    let Some(file) = directory.file(name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let shown = directory.shown(name);
    lock(&file, &shown, Lock::Shared, timeout)?;
    let length = file.metadata().map_err(|error| Error::io(&shown, error))?.len();
    file.unlock().map_err(|error| Error::io(&shown, error))?;
    Ok(Some((file, length)))
}

/// Opens a file to read, and reports the length of its last complete state without waiting for its lock; none when there
/// is no such file.
pub fn open_complete(directory: &Directory, name: &str) -> Result<Option<(File, u64)>> {
    let Some(file) = directory.file(name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let length = mark::complete_length(&file).map_err(|error| Error::io(directory.shown(name), error))?;
    Ok(Some((file, length)))
}

/// Writes at the end of a locked file of this length; returns where the bytes went, which is further on when a
/// program that takes no lock wrote meanwhile. On an error the file is cut back to its old length.
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
        return Err(cut_back(file, shown, length, written, error));
    }
    let end = match file.metadata() {
        Ok(data) => data.len(),
        Err(error) => return Err(cut_back(file, shown, length, written, error)),
    };
    let expected = length + written as u64;
    if end == expected {
        return Ok(length);
    }
    if end < expected {
        return Err(cut_back(
            file,
            shown,
            length,
            written,
            io::ErrorKind::WriteZero.into(),
        ));
    }
    find(file, length, end, bytes).ok().flatten().ok_or_else(|| {
        Error::new(
            Kind::Unsure,
            format!("{shown}: modified by another program during the write"),
        )
        .hint("check the last lines before you retry")
    })
}

/// Where between two offsets these bytes stand.
fn find(file: &File, start: u64, end: u64, bytes: &[u8]) -> io::Result<Option<u64>> {
    let Some(length) = end.checked_sub(start) else {
        return Ok(None);
    };
    let mut region = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut region, start)?;
    Ok(memchr::memmem::find(&region, bytes).map(|at| start + at as u64))
}

/// Makes what was written at the end of a locked file durable, or cuts it back to its old length.
pub fn sync_end(file: &File, shown: &str, length: u64, written: usize) -> Result<()> {
    file.sync_data()
        .map_err(|error| cut_back(file, shown, length, written, error))
}

/// Cuts a locked file to a length, durably.
pub fn cut(file: &File, shown: &str, length: u64) -> Result<()> {
    file.set_len(length)
        .and_then(|()| file.sync_data())
        .map_err(|error| Error::io(shown, error).kind(Kind::Unsure))
}

/// Undoes a failed append; the error tells whether that succeeded. A sync that failed is not tried again: what
/// is synced here is the shorter file.
fn cut_back(file: &File, shown: &str, length: u64, written: usize, error: io::Error) -> Error {
    let ours = length..=length + written as u64; // more than that is another program's
    let is_ours = file.metadata().is_ok_and(|data| ours.contains(&data.len()));
    if is_ours && file.set_len(length).is_ok() && file.sync_data().is_ok() {
        Error::io(format!("{shown}: cannot write; nothing was changed"), error).kind(Kind::InputOutput)
    } else {
        Error::io(format!("{shown}: cannot write, and cannot undo the write"), error)
            .kind(Kind::Unsure)
            .hint("check the last lines before you retry")
    }
}

/// Makes a file look as if its content were older than the name that it is about to get, so that whoever appends to it
/// knows whether that name may not be durable: see [`Facts::is_named_anew`].
pub fn mark_unnamed(file: &File) -> io::Result<()> {
    mark_older(file, SystemTime::now())
}

/// The same, with the time of the file that it is about to replace, unless that is too near.
pub fn mark_older(file: &File, time: SystemTime) -> io::Result<()> {
    file.set_modified(time.min(SystemTime::now() - CLOCK))
}

/// Writes the content of a file; it may be asked to do so more than once.
pub type Content<'c> = &'c mut dyn FnMut(&mut dyn Write) -> Result<()>;

/// Puts content into an empty file, in as few writes as there are blocks.
pub(super) fn write(file: &File, shown: &str, content: Content<'_>) -> Result<()> {
    let mut writer = io::BufWriter::with_capacity(BLOCK, file);
    content(&mut writer)?;
    let written = writer.flush();
    written.map_err(|error| Error::io(shown, error).kind(Kind::InputOutput))
}

/// Makes a durable file of these bytes under a name that nobody has; whether it did.
pub fn create(directory: &Directory, name: &str, bytes: &[u8]) -> Result<bool> {
    let shown = directory.shown(name);
    create_of(directory, name, &mut |out| put_bytes(out, &shown, bytes))
}

/// Writes bytes of a file.
pub(super) fn put_bytes(out: &mut dyn Write, shown: &str, bytes: &[u8]) -> Result<()> {
    let written = out.write_all(bytes);
    written.map_err(|error| Error::io(shown, error).kind(Kind::InputOutput))
}

/// Makes a durable file of this content under a name that nobody has; whether it did. Nothing half-written ever
/// has a name, so that nothing is left over after a crash.
pub(super) fn create_of(directory: &Directory, name: &str, content: Content<'_>) -> Result<bool> {
    if directory.facts(name)?.is_some() {
        return Ok(false);
    }
    let linked = match create_unnamed(directory, name, content)? {
        Some(linked) => linked,
        None => {
            let temporary = Temporary::new(directory, temporary_name(name), FILE_MODE, Duration::ZERO)?;
            write(&temporary.file, &directory.shown(name), content)?;
            let written = mark_unnamed(&temporary.file).and_then(|()| temporary.file.sync_data());
            written.map_err(|error| Error::io(directory.shown(name), error).kind(Kind::InputOutput))?;
            temporary.keep_new(name)?
        }
    };
    if !linked {
        return Ok(false);
    }
    if let Err(error) = sync_directory(directory) {
        let undone = unlink(directory, name).and_then(|_| sync_directory(directory));
        return Err(error.kind(if undone.is_ok() {
            Kind::InputOutput
        } else {
            Kind::Unsure
        }));
    }
    Ok(true)
}

/// The same through a file without a name, where the system has such: none where it has not.
#[cfg(target_os = "linux")]
fn create_unnamed(directory: &Directory, name: &str, content: Content<'_>) -> Result<Option<bool>> {
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
    written.map_err(|error| Error::io(directory.shown(name), error).kind(Kind::InputOutput))?;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    match fs::linkat(fs::CWD, own, directory, name, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) => Ok(Some(true)),
        Err(Errno::EXIST) => Ok(Some(false)),
        // No /proc here.
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(failed(directory.shown(name), errno)),
    }
}

#[cfg(not(target_os = "linux"))]
fn create_unnamed(_: &Directory, _: &str, _: Content<'_>) -> Result<Option<bool>> {
    Ok(None)
}

/// Makes the content of these files durable: of a few one by one, of many with everything else on the file system.
pub fn sync_files<'n>(directory: &Directory, names: impl ExactSizeIterator<Item = &'n str>) -> Result<()> {
    #[cfg(target_os = "linux")]
    if names.len() >= FEW {
        return fs::syncfs(directory).map_err(|errno| failed(directory.path().display(), errno));
    }
    for name in names {
        let gone = || {
            Error::new(
                Kind::InputOutput,
                format!("{}: no such file", directory.shown(name)),
            )
        };
        let file = directory.file(name, OFlags::RDWR)?.ok_or_else(gone)?;
        file.sync_data()
            .map_err(|error| Error::io(directory.shown(name), error))?;
    }
    Ok(())
}

/// The name under which a file of ours is written before it gets its own: always the same, so that the next writer finds
/// what a dead one left.
pub fn temporary_name(name: &str) -> String {
    format!(".{name}.new")
}

/// Replaces a file of ours by one with these bytes.
pub fn replace(directory: &Directory, name: &str, bytes: &[u8], timeout: Duration) -> Result<()> {
    replace_through(directory, name, temporary_name(name), bytes, |_| Ok(()), timeout).map(drop)
}

/// Replaces a file by one with these bytes, written under the name `hidden` and dressed before it is synced. The
/// new file is given back, still locked.
pub fn replace_through(
    directory: &Directory,
    name: impl AsRef<OsStr>,
    hidden: String,
    bytes: &[u8],
    dress: impl FnOnce(&File) -> Result<()>,
    timeout: Duration,
) -> Result<File> {
    let name = name.as_ref();
    let mut temporary = Temporary::new(directory, hidden, FILE_MODE, timeout)?;
    let failed = |error| Error::io(directory.shown(name), error).kind(Kind::InputOutput);
    temporary.file.write_all(bytes).map_err(failed)?;
    dress(&temporary.file)?;
    temporary.file.sync_all().map_err(failed)?;
    let file = temporary.file.try_clone().map_err(failed)?; // the lock belongs to both
    temporary.keep(name)?;
    sync_directory(directory).map_err(|error| error.kind(Kind::Unsure))?;
    Ok(file)
}

/// Takes away a temporary file that a dead process left under this name. One in use stays, and so does one that
/// cannot be taken away: it is in nobody's way.
pub fn sweep(directory: &Directory, name: &str) {
    if let Ok(Some(dead)) = directory.facts(name).and_then(|facts| match facts {
        Some(_) => open_locked(directory, name, None, OFlags::RDWR, Duration::ZERO),
        None => Ok(None),
    }) {
        let _ = unlink(directory, name);
        drop(dead);
    }
}

/// A file under a temporary name, locked as long as it is wanted; gone when it is dropped.
#[derive(Debug)]
pub struct Temporary<'d> {
    /// The open file.
    pub file: File,
    directory: &'d Directory,
    name: String,
    kept: bool,
}

impl<'d> Temporary<'d> {
    /// Makes it. One that a dead process left under this name goes; one that is in use is waited for.
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
                Err(error) if error.kind == Kind::Exists => {
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
            // Between the two calls another process may have taken it for a dead one's.
            let own = Facts::of(&temporary.file).map_err(|error| Error::io(shown, error))?;
            if directory
                .facts(&name)?
                .is_some_and(|facts| facts.is_same_file(&own))
            {
                return Ok(temporary);
            }
            temporary.leave();
        }
    }

    /// Drops the file without touching the name, which is another's by now.
    fn leave(mut self) {
        self.kept = true;
    }

    /// Keeps the temporary name; whoever holds the file answers for it.
    pub fn into_file(mut self) -> io::Result<File> {
        let file = self.file.try_clone()?; // the lock belongs to both
        self.kept = true;
        Ok(file)
    }

    /// Gives it its name, which nobody may have; whether it did.
    pub fn keep_new(mut self, name: impl AsRef<OsStr>) -> Result<bool> {
        self.kept = rename_new(self.directory, &self.name, self.directory, name)?;
        Ok(self.kept)
    }

    /// Gives it its name, in place of the file that had it.
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
            let _ = fs::unlinkat(self.directory, &self.name, AtFlags::empty()); // swept by the next writer otherwise
        }
    }
}
