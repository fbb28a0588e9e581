//! The backup that another system keeps next to a file: its state before the last change. Unlike a requested backup,
//! it replaces the previous one.

use super::atomic;
use super::directory::{Directory, Facts};
use super::naming;
use crate::error::{Error, Kind, Result};
use rustix::fs::{self, AtFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The name of the backup.
pub(super) fn name_of(name: &OsStr, suffix: &OsStr) -> OsString {
    let mut copy = name.to_os_string();
    copy.push(suffix);
    copy
}

/// Keeps a locked file under its name with this suffix too, durably: as a hard link or, if not supported, as a copy
/// with the same metadata. `link` is the temporary name; a dead process may have left it as a second name of the
/// file.
pub(super) fn keep(
    directory: &Directory,
    name: &OsStr,
    suffix: &OsStr,
    (file, facts): (&File, &Facts),
    link: String,
    dress: impl FnOnce(&File) -> Result<()>,
    timeout: Duration,
) -> Result<()> {
    let copy = name_of(name, suffix);
    if directory
        .facts(&copy)?
        .is_some_and(|there| there.is_same_file(facts))
    {
        return Ok(());
    }
    if directory.facts(&link)?.is_some() {
        atomic::unlink(directory, &link)?;
    }
    match fs::linkat(directory, name.as_bytes(), directory, &link, AtFlags::empty()) {
        Ok(()) => {
            if let Err(error) = naming::put(directory, &link, &copy) {
                let _ = atomic::unlink(directory, &link);
                return Err(error);
            }
            atomic::sync_directory(directory)
        }
        // Hard links are not supported, or their maximum number is reached.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
            let shown = directory.shown(name);
            let failed = |error| Error::io(&shown, error).kind(Kind::InputOutput);
            let length = usize::try_from(facts.size).map_err(|error| failed(std::io::Error::other(error)))?;
            let mut bytes = vec![0; length];
            file.read_exact_at(&mut bytes, 0).map_err(failed)?;
            atomic::replace_through(directory, &copy, link, &bytes, dress, timeout).map(drop)
        }
        Err(errno) => Err(naming::failed(directory.shown(&copy), errno)),
    }
}
