//! A directory held open by its descriptor: operations in it cannot be redirected by links or renamed parents.

use crate::error::{Error, ErrorKind, Result};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::{File, Metadata, Permissions};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Mode of the directories of a store: access for the owner only.
pub const DIR_MODE: u32 = 0o700;

pub const FILE_MODE: u32 = 0o600;

/// An open directory, and its path for messages.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    path: PathBuf,
    /// Whether it belongs to a store, so that new entries are given to the store's owner.
    is_in_store: bool,
}

/// Metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
    /// Modification time of the content in seconds and nanoseconds.
    pub size: u64,
    /// Seconds and nanoseconds of the last change of its content.
    pub modified: (i64, i64),
    /// Time of the last change of content or metadata, including names.
    pub changed: (i64, i64),
    /// Number of hard links.
    pub links: u64,
    /// Permission bits.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// Whether it is a regular file.
    pub regular: bool,
}

impl FileStat {
    /// Reads the metadata of an open file.
    pub fn of(file: &File) -> std::io::Result<FileStat> {
        Ok(FileStat::about(&file.metadata()?))
    }

    /// Converts file metadata.
    pub fn about(data: &Metadata) -> FileStat {
        FileStat {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
            links: data.nlink(),
            mode: data.mode() & 0o7777,
            owner: (data.uid(), data.gid()),
            regular: data.is_file(),
        }
    }

    /// Seconds since 1970.
    pub fn now() -> i64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(0))
    }

    /// Whether both are the same file, possibly with other content.
    pub fn is_same_file(&self, other: &FileStat) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Whether the file was named or renamed after its last write, perhaps by a process that died before the name was
    /// durable.
    pub fn was_just_renamed(&self) -> bool {
        self.changed != self.modified
    }

    /// The time of the last change.
    pub fn modified_at(&self) -> SystemTime {
        let (seconds, nanoseconds) = self.modified;
        let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
    }
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the members' types differ between systems"
)]
fn facts(stat: &fs::Stat) -> FileStat {
    FileStat {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        links: stat.st_nlink as u64,
        mode: (stat.st_mode as u32) & 0o7777,
        owner: (stat.st_uid, stat.st_gid),
        regular: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
    }
}

/// Converts the error of a system call: links, devices and missing permissions are refusals, other errors are
/// failures.
pub fn failed(what: impl Display, errno: Errno) -> Error {
    let error = Error::io(what, errno.into());
    match errno {
        Errno::LOOP | Errno::NXIO | Errno::ISDIR | Errno::NOTDIR | Errno::ACCESS | Errno::PERM => {
            error.kind(ErrorKind::Unsafe)
        }
        _ => error,
    }
}

fn irregular(shown: impl Display) -> Error {
    Error::new(ErrorKind::Unsafe, format!("{shown}: not a regular file"))
        .hint("symbolic links, pipes and devices are not supported")
}

impl Directory {
    /// Opens a directory named by the user; links in the path are followed.
    pub fn open(path: &Path) -> Result<Directory> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match fs::openat(fs::CWD, path, flags, Mode::empty()) {
            Ok(descriptor) => Ok(Directory {
                descriptor,
                path: path.to_path_buf(),
                is_in_store: false,
            }),
            Err(errno) => Err(failed(path.display(), errno)),
        }
    }

    /// Opens a subdirectory; none if it is missing.
    pub fn inner(&self, name: impl AsRef<OsStr>) -> Result<Option<Directory>> {
        let name = name.as_ref();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match fs::openat(self, name.as_bytes(), flags, Mode::empty()) {
            Ok(descriptor) => Ok(Some(Directory {
                descriptor,
                path: self.path.join(name),
                is_in_store: self.is_in_store,
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(failed(self.shown(name), errno)),
        }
    }

    /// Creates a subdirectory; returns whether it was missing. The caller syncs.
    pub(super) fn make(&self, name: impl AsRef<OsStr>) -> Result<bool> {
        let name = name.as_ref();
        match fs::mkdirat(self, name.as_bytes(), Mode::from_raw_mode(DIR_MODE)) {
            Ok(()) => match self.inner(name)? {
                Some(built) => self.adopt(&built, name).map(|()| true),
                None => Ok(true), // removed right after its creation
            },
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(failed(self.shown(name), errno)),
        }
    }

    /// The same directory as part of a store.
    pub(super) fn of_store(self) -> Directory {
        Directory {
            is_in_store: true,
            ..self
        }
    }

    /// Changes the owner of a new entry to that of the directory, so that root does not lock the owner out.
    pub(super) fn adopt(&self, built: impl AsFd, name: impl AsRef<OsStr>) -> Result<()> {
        if !self.is_in_store || !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        let refuse = |errno| failed(self.shown(&name), errno);
        let stat = fs::fstat(self).map_err(refuse)?;
        if stat.st_uid == 0 {
            return Ok(());
        }
        let (user, group) = (fs::Uid::from_raw(stat.st_uid), fs::Gid::from_raw(stat.st_gid));
        fs::fchown(built, Some(user), Some(group)).map_err(refuse)
    }

    /// Opens a regular file; none if it is missing. Never follows a link or blocks on a pipe.
    pub fn file(&self, name: impl AsRef<OsStr>, access: OFlags) -> Result<Option<File>> {
        let name = name.as_ref();
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match fs::openat(self, name.as_bytes(), flags, Mode::from_raw_mode(FILE_MODE)) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO | Errno::ISDIR) => return Err(irregular(self.shown(name))),
            Err(errno) => return Err(failed(self.shown(name), errno)),
        };
        let stat = fs::fstat(&file).map_err(|errno| failed(self.shown(name), errno))?;
        let facts = facts(&stat);
        if !facts.regular {
            return Err(irregular(self.shown(name)));
        }
        if access.intersects(OFlags::WRONLY | OFlags::RDWR) {
            self.refuse_linked(name, &facts)?;
        }
        Ok(Some(file))
    }

    /// Fails if a file of a store also has a name outside of it.
    pub(super) fn refuse_linked(&self, name: impl AsRef<OsStr>, facts: &FileStat) -> Result<()> {
        if facts.links <= 1 || !self.has_outer_name(&name, facts) {
            return Ok(());
        }
        let shown = self.shown(name);
        Err(
            Error::new(ErrorKind::Unsafe, format!("{shown}: has another hard link")).hint(format!(
                "replace it with a separate copy: cp -p {shown} COPY && mv COPY {shown}"
            )),
        )
    }

    /// Whether a file of a store has more names than the store itself creates temporarily: a log being repaired also
    /// has one in the quarantine, one being removed in the trash, and a new one a hidden name.
    pub(super) fn has_outer_name(&self, name: impl AsRef<OsStr>, facts: &FileStat) -> bool {
        if !self.is_in_store || facts.links <= 1 {
            return false;
        }
        let count = |dir: &Directory, counts: &dyn Fn(&str) -> bool| {
            let names = dir.names().unwrap_or_default().into_iter();
            let is_same = |name: &String| {
                let other = dir.facts(name).ok().flatten();
                other.is_some_and(|other| other.is_same_file(facts))
            };
            names.filter(|name| counts(name)).filter(is_same).count() as u64
        };
        let own = |other: &str| other.starts_with('.') || OsStr::new(other) == name.as_ref();
        let mut known = count(self, &own);
        for place in ["sessions", "quarantine", "trash"] {
            if self.path.file_name() != Some(OsStr::new(place))
                && let Ok(Some(dir)) = self.inner(format!("../{place}"))
            {
                known += count(&dir, &|_| true);
            }
        }
        known < facts.links
    }

    /// Creates a file unless the name exists.
    pub(super) fn create(&self, name: &str, mode: u32) -> Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match fs::openat(self, name, flags, Mode::from_raw_mode(mode)) {
            Ok(descriptor) => {
                self.adopt(&descriptor, name)?;
                Ok(File::from(descriptor))
            }
            Err(Errno::EXIST) => Err(Error::new(
                ErrorKind::Exists,
                format!("{}: already exists", self.shown(name)),
            )),
            Err(errno) => Err(failed(self.shown(name), errno)),
        }
    }

    /// The metadata of an entry, without following links; none if it is missing.
    pub fn facts(&self, name: impl AsRef<OsStr>) -> Result<Option<FileStat>> {
        let name = name.as_ref();
        match fs::statat(self, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(facts(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(failed(self.shown(name), errno)),
        }
    }

    /// The metadata of a file in a subdirectory, found in one system call without following links; none if that fails
    /// or the system has no such call.
    pub fn facts_below(&self, path: &Path) -> Option<FileStat> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let resolve = fs::ResolveFlags::BENEATH | fs::ResolveFlags::NO_SYMLINKS;
            let file = fs::openat2(self, path, flags, Mode::empty(), resolve).ok()?;
            fs::fstat(&file).ok().map(|stat| facts(&stat))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = path;
            None
        }
    }

    /// Whether a regular file with this name exists; fails for any other kind of entry.
    pub fn has(&self, name: &str) -> Result<bool> {
        match self.facts(name)? {
            None => Ok(false),
            Some(facts) if facts.regular => Ok(true),
            Some(_) => Err(irregular(self.shown(name))),
        }
    }

    /// The directory's own permission bits.
    pub(super) fn mode(&self) -> Result<u32> {
        let stat = fs::fstat(self).map_err(|errno| failed(self.path.display(), errno))?;
        Ok(facts(&stat).mode)
    }

    /// Sets the directory's own permission bits.
    pub(super) fn set_mode(&self, mode: u32) -> Result<()> {
        fs::fchmod(self, Mode::from_raw_mode(mode)).map_err(|errno| failed(self.path.display(), errno))
    }

    /// All UTF-8 names, in system order; other names cannot belong to a store.
    pub fn names(&self) -> Result<Vec<String>> {
        let names = self.all_names()?.into_iter();
        Ok(names.filter_map(|name| name.into_string().ok()).collect())
    }

    /// All names, including those that are not UTF-8.
    pub(super) fn all_names(&self) -> Result<Vec<OsString>> {
        let read = |errno| failed(self.path.display(), errno);
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(self).map_err(read)? {
            let entry = entry.map_err(read)?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(OsStr::from_bytes(name).to_os_string());
            }
        }
        Ok(names)
    }

    /// The path of an entry for messages.
    pub fn shown(&self, name: impl AsRef<OsStr>) -> String {
        self.path.join(name.as_ref()).display().to_string()
    }

    /// The directory as a file, which can be locked.
    pub(super) fn as_file(&self) -> std::io::Result<File> {
        Ok(File::from(self.descriptor.try_clone()?))
    }

    /// Duplicates the handle.
    pub(super) fn duplicate(&self) -> Result<Directory> {
        let descriptor = self
            .descriptor
            .try_clone()
            .map_err(|error| Error::io(self.path.display(), error))?;
        Ok(Directory {
            descriptor,
            path: self.path.clone(),
            is_in_store: self.is_in_store,
        })
    }

    /// The path with which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Creates a temporary directory that only this user can read; it is removed on drop.
pub fn temporary_dir() -> std::io::Result<TempDir> {
    let mode = Permissions::from_mode(DIR_MODE);
    tempfile::Builder::new()
        .prefix("convo-")
        .permissions(mode)
        .tempdir()
}
