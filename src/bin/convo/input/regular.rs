//! Opens regular files without blocking on pipes or reading devices.

use convo::error::{Error, ErrorKind, Result};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for reading; a pipe, device, socket or directory is [`ErrorKind::Unsafe`].
pub fn open(path: &Path) -> Result<File> {
    open_with(path, OFlags::NONBLOCK)
}

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_all(open(path)?)
}

/// Reads a whole file as text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes =
        read(path).map_err(|error| error.source.unwrap_or_else(|| io::Error::other(error.message)))?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens an existing file at an output path; none if there is none. A symbolic link is not followed; like any other
/// non-regular file it is [`ErrorKind::Unsafe`].
pub fn open_target(path: &Path) -> Result<Option<File>> {
    match open_with(path, OFlags::NONBLOCK | OFlags::NOFOLLOW) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(_) if path.is_symlink() => Err(Error::new(ErrorKind::Unsafe, "is a symbolic link")),
        Err(error) => Err(error),
    }
}

/// The content of an existing file at an output path, if it has this size.
pub fn read_target(path: &Path, size: usize) -> Result<FileTarget> {
    let Some(file) = open_target(path)? else {
        return Ok(FileTarget::None);
    };
    match size_of(&file)? == size as u64 {
        true => read_all(file).map(FileTarget::SameSize),
        false => Ok(FileTarget::OtherSize),
    }
}

/// See [`read_target`].
pub enum FileTarget {
    None,
    OtherSize,
    SameSize(Vec<u8>),
}

/// Reads a file to its end.
pub fn read_all(mut file: File) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(size_of(&file)?).unwrap_or(0));
    file.read_to_end(&mut bytes)
        .map_err(|error| Error::io("cannot read", error))?;
    Ok(bytes)
}

fn size_of(file: &File) -> Result<u64> {
    let about = file.metadata().map_err(|error| Error::io("cannot read", error))?;
    Ok(about.len())
}

fn open_with(path: &Path, flags: OFlags) -> Result<File> {
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        // A socket, or a device without a driver.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Err(not_regular());
        }
        Err(error) => return Err(Error::open(error)),
    };
    let about = file.metadata().map_err(|error| Error::io("cannot read", error))?;
    match about.is_file() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

fn not_regular() -> Error {
    Error::new(ErrorKind::Unsafe, "not a regular file")
}
