//! A command that answers a call: it gets the arguments, so much time and no more; then it is ended with all that it started,
//! and so it is when this program is interrupted.

use crate::interrupt::Interrupt;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// What a command gave.
#[derive(Debug)]
pub struct Outcome {
    pub text: String,
    /// Whether it is an error that the model is to know of.
    pub failed: bool,
}

impl Outcome {
    fn failed(text: String) -> Outcome {
        Outcome { text, failed: true }
    }
}

/// Most bytes of a result: more fits no window.
const MOST: u64 = 4 << 20;

/// How many of the last bytes that it says on standard error are told.
const TAIL: usize = 2048;

/// How long its output may stay open when it has ended.
const GRACE: Duration = Duration::from_millis(500);

/// How long it may take to end when this program is interrupted: whoever did that does not wait for long either.
const HASTE: Duration = Duration::from_millis(200);

/// Runs a line of the shell with the arguments on its standard input.
pub fn run(line: &str, tool: &str, arguments: &str, timeout: Duration, interrupt: &Interrupt) -> Outcome {
    interrupt.hold();
    let outcome = attended(line, tool, arguments, timeout, interrupt);
    if let Some(interrupted) = interrupt.release() {
        interrupted.obey();
    }
    outcome
}

fn attended(line: &str, tool: &str, arguments: &str, timeout: Duration, interrupt: &Interrupt) -> Outcome {
    let spawned = Command::new("/bin/sh")
        .arg("-c")
        .arg(line)
        .env("CONVO_TOOL", tool)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Outcome::failed(format!("it did not start: {error}")),
    };
    let (given, said) = attend(&mut child, arguments);
    let status = wait(&mut child, timeout, || interrupt.came().is_some());
    if interrupt.came().is_some() {
        end(&child, Signal::TERM);
        let _ = wait(&mut child, HASTE, || false);
        end(&child, Signal::KILL);
        return Outcome::failed("it was interrupted".to_string());
    }
    // What it left behind may hold its outputs open: all of it has had its time.
    end(&child, Signal::TERM);
    let given = given.recv_timeout(GRACE);
    let said = said.recv_timeout(GRACE).unwrap_or_default();
    end(&child, Signal::KILL);
    let late = status.is_none();
    let status = status.or_else(|| child.wait().ok());
    let given = match given {
        Ok(bytes) if bytes.len() as u64 > MOST => {
            return Outcome::failed(format!("its result is longer than {MOST} bytes"));
        }
        Ok(bytes) => text(bytes),
        Err(_) => String::new(),
    };
    let why = match status {
        _ if late => format!("it took longer than {} ms", timeout.as_millis()),
        Some(status) if status.success() => {
            return Outcome {
                text: given,
                failed: false,
            };
        }
        Some(status) => ended(status),
        None => "nothing is known of its end".to_string(),
    };
    let said = text(said);
    let parts = [given.trim_end(), &why, said.trim_end()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Outcome::failed(parts.join("\n"))
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with status {code}"),
        (None, signal) => format!("it was ended by signal {}", signal.unwrap_or_default()),
    }
}

/// Text without one last newline; bytes that are no UTF-8 become U+FFFD.
fn text(bytes: Vec<u8>) -> String {
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Gives it the arguments and listens to it, each on a thread of its own: whatever it does first, nobody waits for the other.
fn attend(child: &mut Child, arguments: &str) -> (Receiver<Vec<u8>>, Receiver<Vec<u8>>) {
    let (tell_given, given) = channel();
    let (tell_said, said) = channel();
    if let Some(mut input) = child.stdin.take() {
        let line = format!("{arguments}\n");
        // One that does not read them has a reason.
        std::thread::spawn(move || input.write_all(line.as_bytes()));
    }
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.take(MOST + 1).read_to_end(&mut bytes);
            tell_given.send(bytes)
        });
    }
    if let Some(output) = child.stderr.take() {
        std::thread::spawn(move || tell_said.send(tail(output)));
    }
    (given, said)
}

/// The last bytes of a stream, which is read to its end.
fn tail(mut stream: impl Read) -> Vec<u8> {
    let mut kept = VecDeque::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        kept.extend(&buffer[..read]);
        let surplus = kept.len().saturating_sub(TAIL);
        kept.drain(..surplus);
    }
    kept.into()
}

/// Waits until it has ended; none when it has not by then, or when waiting is to stop.
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

fn end(child: &Child, signal: Signal) {
    // Nobody is left to be told: then there is nothing to end.
    let _ = kill_process_group(Pid::from_child(child), signal);
}
