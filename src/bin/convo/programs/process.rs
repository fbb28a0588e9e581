//! Processes in a group of their own, which includes their children: pipes, signals and exit statuses.

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Connects all streams of a command, and gives it a group.
pub fn piped(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
}

/// Sends a signal to a process and its children.
pub fn signal_group(child: &Child, signal: Signal) {
    // If the group is already gone, there is nothing to signal.
    let _ = kill_process_group(Pid::from_child(child), signal);
}

/// Describes the status of a process that failed.
pub fn describe_failure(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("failed with status {code}"),
        (None, signal) => format!("killed by signal {}", signal.unwrap_or_default()),
    }
}

/// Reads a stream to its end and returns its last bytes, at most `most`.
pub fn tail(mut stream: impl Read, most: usize) -> Vec<u8> {
    let mut kept = VecDeque::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        kept.extend(&buffer[..read]);
        let surplus = kept.len().saturating_sub(most);
        kept.drain(..surplus);
    }
    kept.into()
}
