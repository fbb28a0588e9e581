//! Detects sessions that a program is writing: those that changed recently, and those marked by a running process.

use super::claude_code;
use super::files::Transcript;
use super::places::Home;
use super::relocation::has_log;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file that changed within this time may still be changing.
const RECENT: Duration = Duration::from_secs(120);

/// The reason to consider a session running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunningSign {
    /// A running process.
    Process,
    /// A lock that a process holds.
    Lock,
    /// A recent change.
    Recent,
}

impl RunningSign {
    /// Returns a description of the mark.
    pub const fn name(self) -> &'static str {
        match self {
            RunningSign::Process => "a living process",
            RunningSign::Lock => "a lock that its program holds",
            RunningSign::Recent => "a change in the last 2 minutes",
        }
    }
}

/// The markers of running processes in a home.
#[derive(Debug)]
pub struct RunningMarkers {
    now: SystemTime,
    /// The directory of lock files, which are named after sessions.
    locks: Option<PathBuf>,
    /// Sessions and working directories of running processes.
    marks: Vec<(Option<String>, Option<String>)>,
}

impl RunningMarkers {
    /// Reads the markers in a home at this time.
    pub fn of(home: &Home, now: SystemTime) -> RunningMarkers {
        let marks = match (home.program.name, home.root.parent()) {
            ("claude-code", Some(config)) => claude_code::marks(config),
            _ => Vec::new(),
        };
        let living = marks.into_iter().filter(|(pid, ..)| is_alive(*pid));
        let locks = (home.program.name == "codex").then(|| home.root.join("thread-writer-locks"));
        RunningMarkers {
            now,
            locks,
            marks: living
                .map(|(_, session, directory)| (session, directory))
                .collect(),
        }
    }

    /// Returns the reason to consider a session running; `None` if there is none. A marker without a session applies to
    /// its directory.
    pub fn mark(&self, transcript: &Transcript, id: &str, project: Option<&str>) -> Option<RunningSign> {
        let is_marked = self.marks.iter().any(|(session, directory)| match session {
            Some(session) => session == id,
            None => directory.is_some() && directory.as_deref() == project,
        });
        if is_marked {
            return Some(RunningSign::Process);
        }
        if self
            .locks
            .as_ref()
            .is_some_and(|locks| is_locked(&locks.join(format!("{id}.lock"))))
        {
            return Some(RunningSign::Lock);
        }
        // While a program has its database open, a log is next to the database.
        if transcript.is_in_database && !has_log(&transcript.path).unwrap_or(true) {
            return None;
        }
        let age = self.now.duration_since(transcript.modified);
        age.is_ok_and(|age| age < RECENT).then_some(RunningSign::Recent)
    }
}

/// Whether a process is running, including processes of other users.
fn is_alive(pid: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid).filter(|_| pid > 0) else {
        return false;
    };
    !matches!(
        rustix::process::test_kill_process(pid),
        Err(rustix::io::Errno::SRCH)
    )
}

/// Whether a process holds a lock on a file; false if the system does not report locks.
fn is_locked(path: &Path) -> bool {
    let Ok(about) = std::fs::symlink_metadata(path) else {
        return false;
    };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let inode = format!(":{}", about.ino());
    // Ignores the device, because some file systems report another one here.
    locks
        .lines()
        .any(|line| line.split_whitespace().any(|word| word.ends_with(&inode)))
}
