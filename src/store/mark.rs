//! Marks the range that a writer is appending, for readers that do not wait for its lock.
//!
//! A writer that holds a file's lock also locks the range from the old end on, with a lock of its open file
//! description (`F_OFD_SETLK`), which the system releases with the process. Readers do not wait for this lock, but
//! query where the range begins.

use super::{lock, log_end};
use std::fs::File;
use std::io;

/// Maximum number of attempts to read the same length twice; then the current state is used.
const ATTEMPTS: u32 = 1000;

/// The marked range of a file; unmarked when dropped.
#[derive(Debug)]
pub struct RangeMark<'f>(&'f File);

impl<'f> RangeMark<'f> {
    /// Marks everything from this length on in a file that is locked and open for writing. Without support by the
    /// system nothing is marked, and readers ignore an incomplete last line.
    pub fn set(file: &'f File, length: u64) -> RangeMark<'f> {
        range::set(file, length);
        RangeMark(file)
    }
}

impl Drop for RangeMark<'_> {
    fn drop(&mut self) {
        range::clear(self.0);
    }
}

/// The length of a file before the write in progress; none if there is none.
pub fn length_before_write(file: &File) -> Option<u64> {
    range::start(file)
}

/// The length of a file's last complete state, without waiting: before the write in progress, if any.
pub fn complete_length(file: &File) -> io::Result<u64> {
    let mut length = file.metadata()?.len();
    for _ in 0..ATTEMPTS {
        if let Some(length) = lock::stable_length(file)? {
            return Ok(length);
        }
        if let Some(before) = length_before_write(file) {
            return Ok(before);
        }
        let now = file.metadata()?.len();
        if now == length {
            break;
        }
        // Perhaps seen during a write that has ended since.
        length = now;
    }
    // Locked by a program without marks: a last line without newline may be partial.
    log_end::complete_length(file, length)
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod range {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    pub fn set(file: &File, start: u64) {
        control(file, libc::F_OFD_SETLK, libc::F_WRLCK, start);
    }

    pub fn clear(file: &File) {
        control(file, libc::F_OFD_SETLK, libc::F_UNLCK, 0);
    }

    pub fn start(file: &File) -> Option<u64> {
        let found = control(file, libc::F_OFD_GETLK, libc::F_RDLCK, 0)?;
        let is_marked = i32::from(found.l_type) == libc::F_WRLCK;
        is_marked.then(|| u64::try_from(found.l_start).ok()).flatten()
    }

    /// Locks the range from `start` to the end, however far the file grows; none if the call fails.
    #[expect(
        unsafe_code,
        reason = "no library wraps locks of ranges that belong to an open file"
    )]
    fn control(file: &File, command: i32, kind: i32, start: u64) -> Option<libc::flock> {
        // Safety: the structure contains only numbers, for which zero is valid.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        range.l_type = kind as libc::c_short;
        range.l_whence = libc::SEEK_SET as libc::c_short;
        range.l_start = i64::try_from(start).ok()?;
        // Safety: the descriptor is open, and the structure outlives the call.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut range) };
        (done == 0).then_some(range)
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod range {
    use std::fs::File;

    pub fn set(_: &File, _: u64) {}

    pub fn clear(_: &File) {}

    pub fn start(_: &File) -> Option<u64> {
        None
    }
}
