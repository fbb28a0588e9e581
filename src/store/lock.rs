//! File locks between processes, with a timeout.

use super::directory::FileStat;
use crate::error::{Error, ErrorKind, Result};
use rustix::fs;
use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, Instant};

/// The first wait for a lock: about the duration of an append on a fast disk.
const FIRST_WAIT: Duration = Duration::from_micros(100);

/// The longest wait between two attempts: a few appends on a slow disk.
const LONGEST_WAIT: Duration = Duration::from_millis(4);

/// The kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Exclusive, for a change.
    Alone,
    /// Shared with other readers.
    Shared,
}

/// Locks an open file, or fails after `timeout` with [`ErrorKind::Locked`].
pub fn lock(file: &File, shown: impl Display, lock: Lock, timeout: Duration) -> Result<()> {
    let began = Instant::now();
    let mut wait = FIRST_WAIT;
    loop {
        let outcome = match lock {
            Lock::Alone => file.try_lock(),
            Lock::Shared => file.try_lock_shared(),
        };
        match outcome {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(TryLockError::Error(error)) => return Err(Error::io(format!("cannot lock {shown}"), error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let left = timeout.saturating_sub(began.elapsed());
        if left.is_zero() {
            let by = holder(file).map_or("another process".to_string(), |pid| format!("process {pid}"));
            return Err(Error::new(ErrorKind::Locked, format!("{shown}: locked by {by}"))
                .hint("nothing was changed; retry, or raise --lock-timeout"));
        }
        std::thread::sleep(wait.min(left));
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// The length of a file while no process changes it; none while its lock is held. Does not wait. A file system
/// without locks counts as locked, so that reading is still possible.
pub fn stable_length(file: &File) -> io::Result<Option<u64>> {
    loop {
        match file.try_lock_shared() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Ok(None),
        }
    }
    let length = file.metadata()?.len();
    file.unlock()?;
    Ok(Some(length))
}

/// The process that holds a file's lock, if the system reports it.
fn holder(file: &File) -> Option<String> {
    let facts = FileStat::of(file).ok()?;
    let (major, minor) = (fs::major(facts.device), fs::minor(facts.device));
    let place = format!("{major:02x}:{minor:02x}:{}", facts.inode);
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        match fields[..] {
            // A waiting process has an arrow in the second column; pid 0 is in another container.
            [_, "FLOCK", _, _, pid, range, ..] if range == place && pid != "0" => Some(pid.to_string()),
            _ => None,
        }
    })
}
