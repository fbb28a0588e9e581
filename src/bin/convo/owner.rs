//! The owner of files in the homes of other programs.

use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Refuses to write a file, or to create one in a directory, that belongs to another user.
///
/// # Errors
/// [`ErrorKind::Unsafe`] with the path of the existing file or directory.
pub fn refuse_other_owner(path: &Path) -> Result<()> {
    let existing = path
        .ancestors()
        .find_map(|path| Some((path, std::fs::metadata(path).ok()?)));
    match existing {
        Some((path, about)) if about.uid() != rustix::process::geteuid().as_raw() => {
            let error = Error::new(ErrorKind::Unsafe, "belongs to another user");
            Err(named(error.hint("run convo as that user"), &path_name(path)))
        }
        _ => Ok(()),
    }
}
