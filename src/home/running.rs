//! Detects sessions that a program is writing: those that changed recently, and those marked by a running process.

use super::claude_code;
use super::files::Transcript;
use super::places::Home;
use super::relocation::has_log;
use crate::model::named_enum::named_enum;
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file that changed within this time may still be changing.
const RECENT: Duration = Duration::from_secs(120);

named_enum! {
    /// The reason to consider a session running.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RunningSign {
        /// A running process.
        Process = "a living process",
        /// A lock that a process holds.
        Lock = "a lock that its program holds",
        /// A recent change.
        Recent = "a change in the last 2 minutes",
    }
}

/// The markers of running processes in a home.
#[derive(Debug)]
pub struct RunningMarkers {
    program: &'static str,
    now: SystemTime,
    /// The directory of lock files, which are named after sessions: the program holds a lock on them, or they name their
    /// writer.
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
        let locks = match (home.program.name, home.root.parent()) {
            ("codex", _) => Some(home.root.join("thread-writer-locks")),
            ("qwen-code", Some(base)) => Some(base.join("tmp/session-writer-locks")),
            _ => None,
        };
        RunningMarkers {
            program: home.program.name,
            now,
            locks,
            marks: living
                .map(|(_, session, directory)| (session, directory))
                .collect(),
        }
    }

    /// Returns the mark of a process that runs in the home, whatever its session.
    pub fn process(&self) -> Option<RunningSign> {
        (!self.marks.is_empty()).then_some(RunningSign::Process)
    }

    /// Returns the reason to consider a session or one of its subagents running. `others` are files of the same home.
    pub fn mark_with_subagents<'t>(
        &self,
        transcript: &Transcript,
        id: &str,
        project: Option<&str>,
        others: impl IntoIterator<Item = &'t Transcript>,
    ) -> Option<RunningSign> {
        let is_below = |other: &&Transcript| !id.is_empty() && other.parent.as_deref() == Some(id);
        let below = |other: &Transcript| self.mark(other, other.id.as_deref().unwrap_or_default(), None);
        let own = self.mark(transcript, id, project);
        let mut signs = own
            .into_iter()
            .chain(others.into_iter().filter(is_below).filter_map(below));
        let first = signs.next()?;
        // A recent change alone can be overridden.
        Some(match first {
            RunningSign::Recent => signs.find(|sign| *sign != first).unwrap_or(first),
            _ => first,
        })
    }

    /// Returns the reason to consider a session running; `None` if there is none. A marker applies to its session and
    /// to its directory, because it may name a session that the process has left.
    pub fn mark(&self, transcript: &Transcript, id: &str, project: Option<&str>) -> Option<RunningSign> {
        let is_marked = self.marks.iter().any(|(session, directory)| {
            session.as_deref() == Some(id) || directory.is_some() && directory.as_deref() == project
        });
        if is_marked || self.is_in_use(&transcript.path) {
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
        // A program may write after the clock was read, or have a clock that is ahead.
        let age = self.now.duration_since(transcript.modified);
        let age = age.unwrap_or_else(|ahead| ahead.duration());
        (age < RECENT).then_some(RunningSign::Recent)
    }

    /// Whether a file next to a transcript names a living process that uses the session.
    fn is_in_use(&self, transcript: &Path) -> bool {
        let pid = |value: &Value| i32::try_from(value.get("pid")?.as_i64()?).ok();
        match (self.program, transcript.parent()) {
            ("qwen-code", Some(dir)) => {
                let id = transcript.file_stem().unwrap_or_default().to_string_lossy();
                // The status remains when its process ends, whose id another process may have now.
                let status = claude_code::read(&dir.join(format!("{id}.runtime.json")));
                let is_serving = |value: &Value| {
                    let at = value.get("started_at").and_then(Value::as_f64);
                    pid(value).is_some_and(|pid| is_alive(pid) && was_running(pid, at))
                };
                let locks = self.locks.as_ref();
                let lock = locks.and_then(|locks| claude_code::read(&locks.join(format!("{id}.lock"))));
                let is_held = |value: &Value| {
                    let start = value["process_start_identity"].as_str();
                    let is_holder = |pid| is_alive(pid) && is_same_process(pid, start);
                    value["state"] != "sealed" && pid(value).is_some_and(is_holder)
                };
                status.as_ref().is_some_and(is_serving) || lock.as_ref().is_some_and(is_held)
            }
            ("copilot-cli", Some(dir)) => {
                let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
                entries
                    .filter_map(|entry| lock_owner(&entry.file_name().to_string_lossy()))
                    .any(is_alive)
            }
            ("cline", Some(dir)) => {
                let name = transcript.file_name().unwrap_or_default().to_string_lossy();
                let manifest = name.strip_suffix(".messages.json").and_then(|id| {
                    let id = id.split_once("__").map_or(id, |(id, _)| id);
                    claude_code::read(&dir.join(format!("{id}.json")))
                });
                manifest
                    .is_some_and(|value| value["status"] == "running" && pid(&value).is_some_and(is_alive))
            }
            _ => false,
        }
    }
}

/// Returns the process that a lock file such as `inuse.4711.lock` names.
fn lock_owner(name: &str) -> Option<i32> {
    name.strip_prefix("inuse.")?.strip_suffix(".lock")?.parse().ok()
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

/// The start times of processes are counted from the start of the system, whose time depends on later corrections of the
/// clock.
const INACCURACY: f64 = 60.0;

/// Units of start times that Linux reports, per second.
const TICKS: f64 = 100.0;

/// Whether a process existed at this time in seconds since 1970; true if either is unknown.
fn was_running(pid: i32, at: Option<f64>) -> bool {
    let started = || {
        let ticks: f64 = start_ticks(pid)?.parse().ok()?;
        let system = std::fs::read_to_string("/proc/stat").ok()?;
        let boot = system.lines().find_map(|line| line.strip_prefix("btime "))?;
        Some(boot.trim().parse::<f64>().ok()? + ticks / TICKS)
    };
    at.zip(started())
        .is_none_or(|(at, started)| started < at + INACCURACY)
}

/// Returns the time between the starts of the system and of a process.
fn start_ticks(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain spaces.
    let after_name = stat.rsplit(')').next()?;
    after_name.split_whitespace().nth(19).map(str::to_string)
}

/// Whether a process started as a lock notes: `linux:BOOT_ID:TICKS`; true if either is unknown. Another process may have
/// the id of one that ended.
fn is_same_process(pid: i32, noted: Option<&str>) -> bool {
    let started = || {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(format!("linux:{}:{}", boot.trim(), start_ticks(pid)?))
    };
    let noted = noted.filter(|noted| noted.starts_with("linux:"));
    noted
        .zip(started())
        .is_none_or(|(noted, started)| noted == started)
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
