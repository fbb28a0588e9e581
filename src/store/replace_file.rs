//! Replaces a user's file, or a log of the store, atomically.

use super::atomic::{self, Temporary, WriteContent};
use super::directory::{self, Directory, FileStat};
use super::foreign_backup;
use super::mark::RangeMark;
use super::open_writers::{self, Writers};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use rustix::fs::{self, AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Options of a replacement.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// Keep the old file under its name with this suffix.
    pub backup: Option<OsString>,
    /// Keep the old file under its name with this suffix, replacing an existing file.
    pub previous: Option<OsString>,
    /// Proceed even if the file has other hard links, an owner that cannot be preserved, or is open in another
    /// program.
    pub force: bool,
    /// The file as it was when its content was read; fail if it has changed.
    pub read: Option<FileStat>,
    /// Fail if the file exists.
    pub is_new: bool,
    /// Keep the modification time.
    pub keep_time: bool,
    /// Whether lines appended by another program meanwhile may follow the new content.
    pub lines: bool,
    /// How long to wait for the lock.
    pub lock_timeout: Duration,
}

impl Default for Rewrite {
    fn default() -> Self {
        Rewrite {
            backup: None,
            previous: None,
            force: false,
            read: None,
            is_new: false,
            keep_time: false,
            lines: false,
            lock_timeout: super::LOCK_TIMEOUT,
        }
    }
}

/// Replaces or creates a file, so that its name always has either the old or the new content. Links, pipes and
/// devices are [`ErrorKind::Unsafe`]; a file that changes meanwhile is not replaced and is [`ErrorKind::Locked`].
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
    options: &Rewrite,
) -> Result<()> {
    let mut write = Some(write);
    let mut content = |out: &mut dyn Write| write.take().map_or(Ok(()), |write| write(out));
    replace(path, &mut content, options)
}

fn replace(path: &Path, content: WriteContent<'_>, options: &Rewrite) -> Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| Error::new(ErrorKind::Unsafe, format!("{}: not a file name", path.display())))?;
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let directory = Directory::open(parent)?;
    if options.is_new && directory.facts(name)?.is_some() {
        return Err(Error::new(
            ErrorKind::Exists,
            format!("{}: already exists", path.display()),
        ));
    }
    let old = open_old(&directory, name, options)?;
    let mode = old.as_ref().map_or(0o666, |_| directory::FILE_MODE);
    if let Some((_, facts)) = &old
        && directory
            .facts(hidden(name))?
            .is_some_and(|left| left.is_same_file(facts))
    {
        atomic::unlink(&directory, hidden(name))?; // only a second name
    }
    let temporary = Temporary::new(&directory, hidden(name), mode, options.lock_timeout)?;
    let failed = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
    let mut writer = BufWriter::with_capacity(256 * 1024, &temporary.file);
    content(&mut writer)?;
    writer.flush().map_err(failed)?;
    drop(writer);
    if let Some((_, facts)) = &old {
        copy_metadata(&temporary.file, facts, path, options.force)?;
        if options.keep_time {
            atomic::mark_older(&temporary.file, facts.modified_at()).map_err(failed)?;
        }
    }
    temporary.file.sync_all().map_err(failed)?;
    let Some((old, facts)) = old else {
        if !temporary.keep_new(name)? {
            return Err(changed(path));
        }
        return atomic::sync_directory(&directory).map_err(|error| error.kind(ErrorKind::Unsure));
    };
    let saved = options
        .backup
        .as_deref()
        .map(|suffix| back_up(&directory, name, suffix, &facts))
        .transpose()?;
    let spared = options.previous.as_deref().map_or(Ok(()), |suffix| {
        let dressed = |new: &File| copy_metadata(new, &facts, path, true);
        let link = hidden_link(name);
        foreign_backup::keep(
            &directory,
            name,
            suffix,
            (&old, &facts),
            link,
            dressed,
            options.lock_timeout,
        )
    });
    let swapped = spared.and_then(|()| swap(&directory, name, temporary, (&old, &facts), options.lines));
    swapped.inspect_err(|error| {
        if error.kind != ErrorKind::Unsure {
            remove_backup(&directory, saved.flatten());
        }
    })
}

/// Replaces a locked file with a synced temporary one, unless it has changed, and copies bytes appended meanwhile.
fn swap(
    directory: &Directory,
    name: &OsStr,
    temporary: Temporary<'_>,
    (old, facts): (&File, &FileStat),
    lines: bool,
) -> Result<()> {
    let shown = directory.shown(name);
    let now = directory.facts(name)?;
    if !now.is_some_and(|now| is_unchanged(&now, facts)) {
        return Err(changed(Path::new(&shown)));
    }
    let new = temporary
        .file
        .try_clone()
        .map_err(|error| Error::io(&shown, error).kind(ErrorKind::InputOutput))?;
    temporary.keep(name)?;
    let preserved = copy_appended(old, &new, facts, lines);
    atomic::sync_directory(directory).map_err(|error| error.kind(ErrorKind::Unsure))?;
    preserved.map_err(|error| {
        Error::io(
            format!("{shown}: modified by another program during the write"),
            error,
        )
        .kind(ErrorKind::Unsure)
    })
}

/// Replaces a locked log of the store, keeping owner and mode; `time` is the modification time, by default now. Lines
/// appended meanwhile by a program without locks follow.
pub(super) fn replace_log(
    directory: &Directory,
    name: &str,
    (old, facts): (&File, &FileStat),
    content: WriteContent<'_>,
    time: Option<SystemTime>,
    timeout: Duration,
) -> Result<()> {
    let shown = directory.shown(name);
    let failed = |error| Error::io(&shown, error).kind(ErrorKind::InputOutput);
    let temporary = Temporary::new(
        directory,
        atomic::temporary_name(name),
        directory::FILE_MODE,
        timeout,
    )?;
    atomic::write(&temporary.file, &shown, content)?;
    copy_metadata(&temporary.file, facts, Path::new(&shown), false)?;
    let marked = match time {
        Some(time) => atomic::mark_older(&temporary.file, time),
        None => atomic::mark_unnamed(&temporary.file),
    };
    marked.map_err(failed)?;
    temporary.file.sync_all().map_err(failed)?;
    swap(directory, name.as_ref(), temporary, (old, facts), true)
}

/// The time to wait for writers. A process that is being started has the open files of its parent until it runs its
/// program, also those that another thread has just written and closed.
const WRITER_TIMEOUT: Duration = Duration::from_millis(500);

/// Fails if another program has a file open for writing, because its later writes would be lost.
///
/// # Errors
/// [`ErrorKind::Locked`], naming the process if known.
pub fn refuse_writers(file: &File, shown: &str) -> Result<()> {
    let began = Instant::now();
    let processes = loop {
        match open_writers::writers(file) {
            Writers::None => return Ok(()),
            Writers::Some(processes) if began.elapsed() >= WRITER_TIMEOUT => break processes,
            Writers::Some(_) => std::thread::sleep(WRITER_TIMEOUT / 50),
        }
    };
    let by = match &processes[..] {
        [] => "another program".to_string(),
        [process, ..] => format!("process {process}"),
    };
    Err(
        Error::new(ErrorKind::Locked, format!("{shown}: open for writing in {by}"))
            .hint("close it, or use --force"),
    )
}

/// Syncs a file and its parent directories, and removes a second name left by a dead process.
pub fn sync_file(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = Directory::open(parent.unwrap_or(Path::new(".")))?;
    let name = path.file_name().unwrap_or_default();
    let both = directory.facts(name)?.zip(directory.facts(hidden(name))?);
    if both.is_some_and(|(own, left)| own.is_same_file(&left)) {
        atomic::unlink(&directory, hidden(name))?;
    }
    atomic::sync_below(&directory).map_err(|error| error.kind(ErrorKind::Unsure))
}

/// Removes a user's file, durably.
pub fn remove_file(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = Directory::open(parent.unwrap_or(Path::new(".")))?;
    atomic::unlink(&directory, path.file_name().unwrap_or_default())?;
    atomic::sync_directory(&directory).map_err(|error| error.kind(ErrorKind::Unsure))
}

/// Renames a user's file within its directory, durably. An existing name is [`ErrorKind::Exists`].
pub fn rename_new(from: &Path, to: &Path) -> Result<()> {
    let (Some(old), Some(new)) = (from.file_name(), to.file_name()) else {
        return Err(Error::new(
            ErrorKind::Unsafe,
            format!("{}: not a file name", from.display()),
        ));
    };
    let parent = from
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let directory = Directory::open(parent)?;
    if !atomic::rename_new(&directory, old, &directory, new)? {
        return Err(Error::new(
            ErrorKind::Exists,
            format!("{}: already exists", to.display()),
        ));
    }
    atomic::sync_directory(&directory).map_err(|error| error.kind(ErrorKind::Unsure))
}

/// Opens and locks the file to replace; none if it is missing.
fn open_old(directory: &Directory, name: &OsStr, options: &Rewrite) -> Result<Option<(File, FileStat)>> {
    let Some((file, facts)) =
        atomic::open_locked(directory, name, None, OFlags::RDONLY, options.lock_timeout)?
    else {
        return if options.read.is_some() {
            Err(changed(Path::new(name)))
        } else {
            Ok(None)
        };
    };
    if options.read.is_some_and(|read| !is_unchanged(&read, &facts)) {
        return Err(changed(&directory.path().join(name)));
    }
    if facts.links > 1 && !options.force && !is_backed_up(directory, name, &facts, options)? {
        let message = format!("{}: has {} hard links", directory.shown(name), facts.links);
        return Err(Error::new(ErrorKind::Unsafe, message)
            .hint("the other links would keep the old content; proceed with --force"));
    }
    if !options.force {
        refuse_writers(&file, &directory.shown(name))?;
    }
    Ok(Some((file, facts)))
}

/// Whether all other links were created by this program: the backup of an interrupted replacement, or the temporary
/// name of a completed one.
fn is_backed_up(directory: &Directory, name: &OsStr, facts: &FileStat, options: &Rewrite) -> Result<bool> {
    let mut others = vec![OsString::from(hidden(name)), hidden_link(name).into()];
    others.extend(
        options
            .previous
            .as_deref()
            .map(|suffix| foreign_backup::name_of(name, suffix)),
    );
    if let Some(suffix) = &options.backup {
        let mut backup = name.to_os_string();
        backup.push(suffix);
        others.push(backup);
    }
    let mut known_links = 1;
    for other in others {
        let same = directory
            .facts(other)?
            .is_some_and(|other| other.is_same_file(facts));
        known_links += u64::from(same);
    }
    Ok(facts.links == known_links)
}

/// The temporary name of a file: always the same, so that the next writer finds the file of a dead one.
pub(super) fn hidden(name: &OsStr) -> String {
    format!(".convo-{}", &key::sha256(name.as_bytes())[..16])
}

/// The temporary name of its backup copy.
fn hidden_link(name: &OsStr) -> String {
    format!("{}.spare", hidden(name))
}

/// Whether the file was not written to. Metadata changed by a backup's link is not compared.
fn is_unchanged(one: &FileStat, other: &FileStat) -> bool {
    one.is_same_file(other) && one.size == other.size && one.modified == other.modified
}

fn changed(path: &Path) -> Error {
    Error::new(
        ErrorKind::Locked,
        format!(
            "{}: modified by another program; nothing was changed",
            path.display()
        ),
    )
    .hint("run the command again")
}

/// Copies owner and permissions of the old file to the new one.
pub(super) fn copy_metadata(new: &File, old: &FileStat, path: &Path, force: bool) -> Result<()> {
    let failed = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
    let own = FileStat::of(new).map_err(failed)?;
    if own.owner != old.owner {
        let (user, group) = old.owner;
        let given = fs::fchown(new, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        if given.is_err() && !force {
            return Err(Error::new(
                ErrorKind::Unsafe,
                format!("{}: owned by another user", path.display()),
            )
            .hint("replacing it changes the owner; proceed with --force"));
        }
    }
    fs::fchmod(new, Mode::from_raw_mode(old.mode)).map_err(|errno| failed(errno.into()))
}

/// Links the old file under a second name; returns the name, unless it already exists for the same file.
fn back_up(
    directory: &Directory,
    name: &OsStr,
    suffix: &OsStr,
    facts: &FileStat,
) -> Result<Option<OsString>> {
    let mut backup = name.to_os_string();
    backup.push(suffix);
    if suffix.is_empty() || suffix.as_bytes().contains(&b'/') {
        return Err(Error::usage(format!(
            "-i={}: invalid backup suffix",
            suffix.display()
        )));
    }
    let link = fs::linkat(
        directory,
        name.as_bytes(),
        directory,
        backup.as_bytes(),
        AtFlags::empty(),
    );
    let built = match link {
        Ok(()) => Some(backup),
        Err(Errno::EXIST)
            if directory
                .facts(&backup)?
                .is_some_and(|other| other.is_same_file(facts)) =>
        {
            None
        }
        Err(Errno::EXIST) => {
            return Err(Error::new(
                ErrorKind::Exists,
                format!("{}: backup already exists", directory.shown(&backup)),
            ));
        }
        Err(errno) => return Err(directory::failed(directory.shown(&backup), errno)),
    };
    // Sync before the replacement, so that the old content always has one of the two names.
    if let Err(error) = atomic::sync_directory(directory) {
        remove_backup(directory, built);
        return Err(error);
    }
    Ok(built)
}

/// Removes the link of a backup, which is only a second name.
fn remove_backup(directory: &Directory, backup: Option<OsString>) {
    if let Some(backup) = backup {
        let _ = fs::unlinkat(directory, backup.as_bytes(), AtFlags::empty());
    }
}

/// Copies bytes that a program without locks appended between the last check and the rename.
fn copy_appended(old: &File, new: &File, seen: &FileStat, lines: bool) -> std::io::Result<()> {
    let length = old.metadata()?.len();
    if length <= seen.size {
        return Ok(());
    }
    if !lines {
        return Err(std::io::Error::other("the original bytes were not kept"));
    }
    let mut late = vec![0; usize::try_from(length - seen.size).map_err(std::io::Error::other)?];
    old.read_exact_at(&mut late, seen.size)?;
    let mut new = new;
    let _mark = RangeMark::set(new, new.seek(SeekFrom::End(0))?);
    new.write_all(&late)?;
    atomic::mark_unnamed(new)?;
    new.sync_data()
}
