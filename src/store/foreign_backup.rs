//! The backup that another system keeps next to a file: its state before the last change. Unlike a requested backup,
//! it replaces the previous one.

use super::directory::{Directory, FileStat};
use super::patched::Patched;
use super::{atomic, rename_sync};
use crate::error::Result;
use rustix::fs::{self, AtFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

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
    (file, facts): (&File, &FileStat),
    link: String,
    copy_metadata: impl FnOnce(&File) -> Result<()>,
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
            if let Err(error) = rename_sync::put(directory, &link, &copy) {
                let _ = atomic::unlink(directory, &link);
                return Err(error);
            }
            atomic::sync_directory(directory)
        }
        // Hard links are not supported, or their maximum number is reached.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
            let shown = directory.shown(name);
            let old = Patched::new(Some(file), facts.size);
            let content = &mut |out: &mut dyn Write| old.write(out, &shown).map(drop);
            atomic::replace_by(directory, &copy, link, content, copy_metadata, timeout).map(drop)
        }
        Err(errno) => Err(rename_sync::failed(directory.shown(&copy), errno)),
    }
}
