//! Runs a command that answers a tool call. The command and its children are killed on timeout and when this program
//! is interrupted.

use crate::interrupt::Interrupt;
use crate::process::{describe_failure, piped, signal_group, tail};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The result of a command.
#[derive(Debug)]
pub struct CommandOutcome {
    pub text: String,
    /// Whether to mark the result as an error.
    pub failed: bool,
}

impl CommandOutcome {
    fn failed(text: String) -> CommandOutcome {
        CommandOutcome { text, failed: true }
    }
}

/// Maximum size of a result in bytes: more would exceed any context window.
const MAXIMUM: u64 = 4 << 20;

/// How many trailing bytes of standard error to include in a result.
const TAIL: usize = 2048;

/// How long to read output after the command exited.
const GRACE: Duration = Duration::from_millis(500);

/// How long to wait for the command to exit when this program is interrupted.
const INTERRUPT_WAIT: Duration = Duration::from_millis(200);

/// A shell command that answers the calls of a tool.
pub struct ShellCommand<'t> {
    pub line: &'t str,
    /// Name of the tool, which the command receives as CONVO_TOOL.
    pub tool: &'t str,
    pub timeout: Duration,
    /// Environment variables to withhold, because a model chooses the arguments and reads the output.
    pub withheld: &'t [&'static str],
}

/// Runs a command with the arguments on its standard input.
pub fn run(command: &ShellCommand<'_>, arguments: &str, interrupt: &Interrupt) -> CommandOutcome {
    interrupt.hold();
    let outcome = run_attended(command, arguments, interrupt);
    if let Some(interrupted) = interrupt.release() {
        interrupted.end_program();
    }
    outcome
}

fn run_attended(command: &ShellCommand<'_>, arguments: &str, interrupt: &Interrupt) -> CommandOutcome {
    let timeout = command.timeout;
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command.line).env("CONVO_TOOL", command.tool);
    for name in command.withheld {
        shell.env_remove(name);
    }
    let mut child = match piped(&mut shell).spawn() {
        Ok(child) => child,
        Err(error) => return CommandOutcome::failed(format!("cannot start: {error}")),
    };
    let (given, stderr) = start_io(&mut child, arguments);
    let status = wait(&mut child, timeout, || interrupt.received().is_some());
    if interrupt.received().is_some() {
        signal_group(&child, Signal::TERM);
        let _ = wait(&mut child, INTERRUPT_WAIT, || false);
        signal_group(&child, Signal::KILL);
        return CommandOutcome::failed("interrupted".to_string());
    }
    // Background processes may hold the outputs open, so end the whole group.
    signal_group(&child, Signal::TERM);
    let given = given.recv_timeout(GRACE);
    let stderr = stderr.recv_timeout(GRACE).unwrap_or_default();
    signal_group(&child, Signal::KILL);
    let late = status.is_none();
    let status = status.or_else(|| child.wait().ok());
    let given = match given {
        Ok(bytes) if bytes.len() as u64 > MAXIMUM => {
            return CommandOutcome::failed(format!("result longer than {MAXIMUM} bytes"));
        }
        Ok(bytes) => text(bytes),
        Err(_) => String::new(),
    };
    let why = match status {
        _ if late => format!("timed out after {} ms", timeout.as_millis()),
        Some(status) if status.success() => {
            return CommandOutcome {
                text: given,
                failed: false,
            };
        }
        Some(status) => describe_failure(status),
        None => "ended for an unknown reason".to_string(),
    };
    let stderr = text(stderr);
    let parts = [given.trim_end(), &why, stderr.trim_end()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    CommandOutcome::failed(parts.join("\n"))
}

/// Decodes text without one trailing newline; invalid UTF-8 becomes U+FFFD.
fn text(bytes: Vec<u8>) -> String {
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Writes the arguments and reads both outputs in separate threads, so that no order of reads and writes blocks.
fn start_io(child: &mut Child, arguments: &str) -> (Receiver<Vec<u8>>, Receiver<Vec<u8>>) {
    let (sender, given) = channel();
    let (send_stderr, stderr) = channel();
    if let Some(mut input) = child.stdin.take() {
        let line = format!("{arguments}\n");
        // A command may ignore its input.
        std::thread::spawn(move || input.write_all(line.as_bytes()));
    }
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.take(MAXIMUM + 1).read_to_end(&mut bytes);
            sender.send(bytes)
        });
    }
    if let Some(output) = child.stderr.take() {
        std::thread::spawn(move || send_stderr.send(tail(output, TAIL)));
    }
    (given, stderr)
}

/// Waits for the process to exit; none on timeout or when `stops` returns true.
fn wait(child: &mut Child, timeout: Duration, stops: impl Fn() -> bool) -> Option<ExitStatus> {
    let until = Instant::now() + timeout;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stops() {
            return None;
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
