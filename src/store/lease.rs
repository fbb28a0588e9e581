//! Whether a program that knows nothing of our locks has a file open for writing: what it writes after the file
//! was replaced would go where nobody looks.

use super::directory::Facts;
use std::fs::File;
use std::path::Path;

/// Who has a file open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writers {
    /// Nobody but this program, which looks again under its lock before it writes.
    None,
    /// Others: their process ids, as far as the system tells.
    Some(Vec<u32>),
}

/// Looks who has this file, which is open for reading only, open for writing.
pub fn writers(file: &File) -> Writers {
    // Nearly always the first answer: nobody. Whoever has just closed it is gone by the second look.
    for _ in 0..3 {
        if nobody(file) == Some(true) {
            return Writers::None;
        }
        let found = processes(file);
        if found.iter().any(|(_, own)| !own) {
            let foreign = found.iter().filter(|(_, own)| !own).map(|(process, _)| *process);
            return Writers::Some(foreign.collect());
        }
        if !found.is_empty() || nobody(file).is_none() {
            return Writers::None;
        }
    }
    Writers::Some(Vec::new())
}

/// Whether the system says that nobody has it open for writing; none where it cannot be asked: not on every file
/// system, and not of somebody else's file.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "no library wraps leases, and nothing else sees every writer"
)]
fn nobody(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd;
    /// From the kernel's `include/uapi/asm-generic/fcntl.h`.
    const F_SETSIG: libc::c_int = 10;
    let descriptor = file.as_raw_fd();
    // Safety: the calls take an open descriptor and a number, and touch no memory. Who opens the file in the
    // moment between makes the system send a signal, which would end this process if it were not one that is ignored.
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
fn nobody(_: &File) -> Option<bool> {
    None
}

/// The processes that have it open for writing, and whether each runs this program; those of other users are not
/// seen. Where the system tells nothing, nothing.
fn processes(file: &File) -> Vec<(u32, bool)> {
    let Ok(facts) = Facts::of(file) else {
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

/// Device and inode of what a path leads to.
fn target(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let data = std::fs::metadata(path).ok()?;
    Some((data.dev(), data.ino()))
}

/// Whether the flags of a descriptor let it write.
fn is_writing(information: &str) -> bool {
    let text = std::fs::read_to_string(information).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let octal = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    octal.is_some_and(|flags| flags & 3 != 0) // O_RDONLY is 0, O_WRONLY 1, O_RDWR 2
}
