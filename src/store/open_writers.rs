//! Detects whether a program that does not use our locks has a file open for writing: its later writes would be lost
//! when the file is replaced.

use super::directory::FileStat;
use std::fs::File;
use std::path::Path;

/// The processes that have a file open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writers {
    /// None except this program, which checks again under its lock before it writes.
    None,
    /// Others: their process ids, as far as the system reports them.
    Some(Vec<u32>),
}

/// Finds the processes that have this file open for writing; the file itself must be open read-only.
pub fn writers(file: &File) -> Writers {
    // Usually the first attempt succeeds. A process that has just closed the file is gone at the second.
    for _ in 0..3 {
        if has_no_writer(file) == Some(true) {
            return Writers::None;
        }
        let found = processes(file);
        if found.iter().any(|(_, own)| !own) {
            let foreign = found.iter().filter(|(_, own)| !own).map(|(process, _)| *process);
            return Writers::Some(foreign.collect());
        }
        if !found.is_empty() || has_no_writer(file).is_none() {
            return Writers::None;
        }
    }
    Writers::Some(Vec::new())
}

/// Whether the system confirms that no process has the file open for writing; none if leases are not available, as on
/// some file systems and for files of other users.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "no library wraps leases, and nothing else sees every writer"
)]
fn has_no_writer(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd;
    /// From the kernel's `include/uapi/asm-generic/fcntl.h`.
    const F_SETSIG: libc::c_int = 10;
    let descriptor = file.as_raw_fd();
    // Safety: the calls take an open descriptor and a number, and access no memory. If the file is opened at this
    // moment, the system sends a signal, which would end this process if it were not one that is ignored.
    let taken = unsafe {
        if libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) != 0 {
            return None;
        }
        let taken = libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_RDLCK) == 0;
        let error = std::io::Error::last_os_error().raw_os_error();
        libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK);
        if taken { None } else { error }
    };
    match taken {
        None => Some(true),
        Some(libc::EAGAIN) => Some(false),
        Some(_) => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn has_no_writer(_: &File) -> Option<bool> {
    None
}

/// The processes that have the file open for writing, and whether each runs this program; those of other users are
/// not visible. Empty if the system does not provide this.
fn processes(file: &File) -> Vec<(u32, bool)> {
    let Ok(facts) = FileStat::of(file) else {
        return Vec::new();
    };
    let own = target(Path::new("/proc/self/exe"));
    let number = |name: &std::ffi::OsStr| name.to_str()?.parse::<u32>().ok();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found = Vec::new();
    for process in entries.filter_map(|entry| number(&entry.file_name())) {
        let place = format!("/proc/{process}");
        let files = std::fs::read_dir(format!("{place}/fd"))
            .into_iter()
            .flatten()
            .flatten();
        let writes = |entry: &std::fs::DirEntry| {
            let same = target(&entry.path()) == Some((facts.device, facts.inode));
            same && is_writing(&format!("{place}/fdinfo/{}", entry.file_name().display()))
        };
        if files.into_iter().any(|entry| writes(&entry)) {
            let same = own.is_some() && target(Path::new(&format!("{place}/exe"))) == own;
            found.push((process, same));
        }
    }
    found
}

/// Device and inode of the target of a path.
fn target(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let data = std::fs::metadata(path).ok()?;
    Some((data.dev(), data.ino()))
}

/// Whether the flags of a descriptor allow writing.
fn is_writing(information: &str) -> bool {
    let text = std::fs::read_to_string(information).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let octal = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    octal.is_some_and(|flags| flags & 3 != 0) // O_RDONLY is 0, O_WRONLY 1, O_RDWR 2
}
