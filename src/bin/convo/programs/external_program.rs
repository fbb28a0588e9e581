//! Runs an external program: passes a request on standard input and reads the answer from standard output. The
//! program and its children are killed on timeout and when this program is interrupted.

use crate::output::in_line;
use crate::programs::interrupt::{Interrupt, Interrupted};
use crate::programs::process::{describe_failure, piped, signal_group, tail};
use crate::programs::{plugin, program_name};
use convo::error::{Error, ErrorKind, reason};
use rustix::process::Signal;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A program as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramName {
    /// A shell command.
    Shell(String),
    Plugin(String),
}

impl ProgramName {
    /// Parses `cmd:PROGRAM ARGS` or the name of a plugin; `others` lists the other values of the option.
    pub fn read(text: &str, others: &str) -> Result<ProgramName, String> {
        if let Some(line) = text.strip_prefix("cmd:") {
            return match line.trim() {
                "" => Err("expected a command after 'cmd:'".to_string()),
                line => Ok(ProgramName::Shell(line.to_string())),
            };
        }
        if plugin::is_name(text) {
            return Ok(ProgramName::Plugin(text.to_string()));
        }
        Err(format!("expected {others}cmd:'COMMAND' or a plugin name"))
    }

    /// The program with further arguments and the path of the store in its environment; `what` describes it if it is not found.
    pub fn program(
        &self,
        store: Option<&Path>,
        what: &str,
        arguments: &[OsString],
    ) -> convo::Result<ExternalProgram> {
        let (by, line, mut command) = match self {
            ProgramName::Shell(line) => {
                let mut command = Command::new("/bin/sh");
                // Append the arguments, unless the command places them itself with `$@`.
                let whole = match arguments {
                    [] => line.clone(),
                    _ if line.contains("$@") => line.clone(),
                    _ => format!("{line} \"$@\""),
                };
                command.arg("-c").arg(whole).arg("sh");
                (program_name::stored(line, DIGITS), Some(line.clone()), command)
            }
            ProgramName::Plugin(name) => match plugin::find(name) {
                Some(path) => (name.clone(), None, Command::new(path)),
                None => {
                    let error = Error::new(ErrorKind::Unavailable, format!("'{name}': no such {what}"));
                    let hint = format!("install convo-{name} on PATH, or use --with cmd:'COMMAND'");
                    return Err(error.hint(hint));
                }
            },
        };
        command.args(arguments);
        if let Ok(own) = std::env::current_exe() {
            command.env("CONVO", own);
        }
        if let Some(store) = store {
            command.env("CONVO_STORE", store);
        }
        let interrupt = Interrupt::new().map_err(|error| Error::io("cannot handle signals", error))?;
        Ok(ExternalProgram {
            by,
            line,
            command,
            interrupt,
        })
    }
}

/// Number of hash digits of a command line.
const DIGITS: usize = 8;

/// A program that can be run.
#[derive(Debug)]
pub struct ExternalProgram {
    /// The name stored with its answers: only the program name and a hash of the command line.
    pub by: String,
    /// Its command line, which is never reported or stored.
    line: Option<String>,
    command: Command,
    interrupt: Interrupt,
}

pub struct RunOptions<'l> {
    /// The time limit.
    pub timeout: Duration,
    /// Maximum size of the answer in bytes.
    pub most: usize,
    /// Called with each part of the answer as it arrives.
    pub listen: &'l mut dyn FnMut(&[u8]),
}

#[derive(Debug)]
pub struct ProgramAnswer {
    pub answer: Vec<u8>,
    /// The end of its standard error.
    pub stderr: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub struct ProgramFailure {
    /// A short description.
    pub why: String,
    /// The end of its standard error.
    pub stderr: String,
    /// The signal that ended the program and must end this one too.
    pub interrupted: Option<Interrupted>,
}

/// How many trailing bytes of standard error are kept.
const TAIL: usize = 4096;

/// Read size in bytes.
const BLOCK: usize = 64 * 1024;

/// How long a program may take to exit after a signal, and how long its output may stay open after its exit.
const GRACE: Duration = Duration::from_millis(500);

/// An event of an output reader.
enum ReaderEvent {
    Part(Vec<u8>),
    End(io::Result<()>),
    Stderr(Vec<u8>),
}

impl ExternalProgram {
    /// The name in messages.
    pub fn name(&self) -> String {
        self.line.as_deref().map_or(self.by.clone(), program_name::name)
    }

    /// Sets an environment variable.
    pub fn env(&mut self, name: &str, value: &str) {
        self.command.env(name, value);
    }

    /// Removes an environment variable.
    pub fn without(&mut self, name: &str) {
        self.command.env_remove(name);
    }

    /// Runs the program with a request and returns its answer.
    pub fn ask(
        &mut self,
        request: &[u8],
        requested: RunOptions<'_>,
    ) -> Result<ProgramAnswer, ProgramFailure> {
        let failed = |why: String| ProgramFailure {
            why,
            stderr: String::new(),
            interrupted: None,
        };
        self.interrupt.hold();
        let mut child = match piped(&mut self.command).spawn() {
            Ok(child) => child,
            Err(error) => {
                self.interrupt.release();
                return Err(failed(format!("cannot run: {}", reason(&error))));
            }
        };
        let receiver = start_io(&mut child, request.to_vec());
        let mut running = ProgramProcess {
            child,
            receiver,
            interrupt: &self.interrupt,
            interrupted: None,
            status: None,
            answer: Vec::new(),
            end: None,
            stderr: Vec::new(),
            open: 2,
            most: requested.most,
            listen: requested.listen,
        };
        running.watch(Instant::now() + requested.timeout);
        let late = running.status.is_none();
        running.end();
        running.interrupted = running.interrupt.release();
        let stderr = String::from_utf8_lossy(&running.stderr).into_owned();
        let why = match (running.end, running.status) {
            _ if running.interrupted.is_some() => "interrupted".to_string(),
            _ if running.answer.len() > running.most => {
                format!("output longer than {} bytes", running.most)
            }
            _ if late => format!("timed out after {}", span(requested.timeout)),
            (Some(Ok(())), Some(status)) if status.success() => {
                return Ok(ProgramAnswer {
                    answer: running.answer,
                    stderr,
                });
            }
            (_, Some(status)) if !status.success() => describe_failure(status),
            (Some(Err(error)), _) => format!("cannot read the output: {}", reason(&error)),
            _ => "the output is truncated".to_string(),
        };
        // A hint follows the error that it belongs to.
        let is_message = |line: &&str| !line.trim().is_empty() && !line.starts_with("hint: ");
        let last = stderr.lines().rev().find(is_message);
        let why = match last {
            Some(last) if running.interrupted.is_none() => {
                // A plugin reports errors in the same form as this program.
                let last = last.trim().trim_start_matches("convo: ");
                let last = match &self.line {
                    Some(line) => program_name::without_arguments(last, line),
                    None => last.to_string(),
                };
                format!("{why}: {}", beginning(&in_line(&last)))
            }
            _ => why,
        };
        Err(ProgramFailure {
            why,
            stderr,
            interrupted: running.interrupted,
        })
    }
}

/// Writes the request and reads both outputs in separate threads, so that no order or amount of output blocks.
fn start_io(child: &mut Child, request: Vec<u8>) -> Receiver<ReaderEvent> {
    let (sender, receiver) = channel();
    if let Some(mut input) = child.stdin.take() {
        // A program need not read the whole request; only its answer counts.
        std::thread::spawn(move || input.write_all(&request));
    }
    if let Some(output) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let end = forward_output(output, &sender);
            sender.send(ReaderEvent::End(end))
        });
    }
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || sender.send(ReaderEvent::Stderr(tail(stderr, TAIL))));
    }
    receiver
}

/// Passes on a stream in blocks until the receiver is gone.
fn forward_output(mut stream: impl Read, sender: &Sender<ReaderEvent>) -> io::Result<()> {
    let mut buffer = vec![0; BLOCK];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                if sender.send(ReaderEvent::Part(buffer[..read].to_vec())).is_err() {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A started program.
struct ProgramProcess<'l> {
    child: Child,
    receiver: Receiver<ReaderEvent>,
    interrupt: &'l Interrupt,
    interrupted: Option<Interrupted>,
    status: Option<ExitStatus>,
    answer: Vec<u8>,
    /// How its answer ended.
    end: Option<io::Result<()>>,
    stderr: Vec<u8>,
    /// Number of open outputs.
    open: u8,
    most: usize,
    listen: &'l mut dyn FnMut(&[u8]),
}

impl ProgramProcess<'_> {
    /// Waits until the program exited and its outputs are closed, or until the deadline. After its exit, open outputs
    /// get only a short grace period, because background processes may hold them.
    fn watch(&mut self, mut until: Instant) {
        let mut pause = Duration::from_millis(1);
        loop {
            if self.status.is_none()
                && let Ok(Some(status)) = self.child.try_wait()
            {
                self.status = Some(status);
                until = until.min(Instant::now() + GRACE);
            }
            if self.interrupted.is_none() {
                self.interrupted = self.interrupt.received();
                if self.interrupted.is_some() {
                    return;
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            let over = self.answer.len() > self.most;
            if left.is_zero() || over || self.status.is_some() && self.open == 0 {
                return;
            }
            if self.open == 0 {
                std::thread::sleep(pause.min(left));
            } else if let Ok(event) = self.receiver.recv_timeout(pause.min(left)) {
                self.handle(event);
                continue;
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn handle(&mut self, event: ReaderEvent) {
        match event {
            ReaderEvent::Part(part) => {
                if self.answer.len() <= self.most {
                    self.answer.extend_from_slice(&part);
                    (self.listen)(&part);
                }
            }
            ReaderEvent::End(end) => {
                self.open -= 1;
                self.end = Some(end);
            }
            ReaderEvent::Stderr(stderr) => {
                self.open -= 1;
                self.stderr = stderr;
            }
        }
    }

    /// Kills the program and its remaining children.
    fn end(&mut self) {
        if self.status.is_none() {
            signal_group(&self.child, Signal::TERM);
            self.watch(Instant::now() + GRACE);
        }
        if self.status.is_none() || self.open > 0 {
            signal_group(&self.child, Signal::KILL);
            self.watch(Instant::now() + GRACE);
        }
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }
}

/// Formats a duration.
fn span(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{} ms", time.as_millis()),
    }
}

/// Truncates a line.
fn beginning(line: &str) -> String {
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_string(),
    }
}
