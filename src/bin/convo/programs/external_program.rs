//! Programs that are asked something: they take it on their standard input and answer on their standard output. One gets so
//! much time and no more; then it and all that it started is ended, and so it is when this program is interrupted.

use crate::context::Context;
use crate::output::in_line;
use crate::programs::interrupt::{Interrupt, Interrupted};
use crate::programs::plugin;
use crate::programs::program_name;
use convo::error::{Error, Kind};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A program, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A line for the shell.
    Shell(String),
    /// The plugin of this name.
    Plugin(String),
}

impl Named {
    /// Reads `cmd:PROGRAM ARGS` or the name of a plugin; `others` are what else the option takes.
    pub fn read(text: &str, others: &str) -> Result<Named, String> {
        if let Some(line) = text.strip_prefix("cmd:") {
            return match line.trim() {
                "" => Err("expected a command after 'cmd:'".to_string()),
                line => Ok(Named::Shell(line.to_string())),
            };
        }
        if plugin::is_name(text) {
            return Ok(Named::Plugin(text.to_string()));
        }
        Err(format!("expected {others}cmd:'COMMAND' or a plugin name"))
    }

    /// The program, with further arguments; `what` it is when it is not there.
    pub fn program(&self, context: &Context, what: &str, arguments: &[OsString]) -> convo::Result<Program> {
        let (by, line, mut command) = match self {
            Named::Shell(line) => {
                let mut command = Command::new("/bin/sh");
                // As if they stood behind it, where it does not say itself what becomes of them.
                let whole = match arguments {
                    [] => line.clone(),
                    _ if line.contains("$@") => line.clone(),
                    _ => format!("{line} \"$@\""),
                };
                command.arg("-c").arg(whole).arg("sh");
                (program_name::stored(line, DIGITS), Some(line.clone()), command)
            }
            Named::Plugin(name) => match plugin::find(name) {
                Some(path) => (name.clone(), None, Command::new(path)),
                None => {
                    let error = Error::new(Kind::Unavailable, format!("'{name}': no such {what}"));
                    let hint = format!("install convo-{name} on PATH, or use --with cmd:'COMMAND'");
                    return Err(error.hint(hint));
                }
            },
        };
        command.args(arguments);
        if let Ok(own) = std::env::current_exe() {
            command.env("CONVO", own);
        }
        if let Ok(store) = context.store_path() {
            command.env("CONVO_STORE", store);
        }
        let interrupt = Interrupt::new().map_err(|error| Error::io("cannot handle signals", error))?;
        Ok(Program {
            by,
            line,
            command,
            interrupt,
        })
    }
}

/// Digits of the hash of a command line.
const DIGITS: usize = 8;

/// A program that can be asked.
#[derive(Debug)]
pub struct Program {
    /// The name under which its answers are kept: nothing of its command line but the program and a hash.
    pub by: String,
    /// Its command line, of which nothing is told or kept.
    line: Option<String>,
    command: Command,
    interrupt: Interrupt,
}

/// How it is asked.
pub struct Asked<'l> {
    /// How long it may take.
    pub timeout: Duration,
    /// Most bytes of its answer.
    pub most: usize,
    /// Is shown the answer as it comes.
    pub listen: &'l mut dyn FnMut(&[u8]),
}

/// What it answered.
#[derive(Debug)]
pub struct Answered {
    pub answer: Vec<u8>,
    /// The last of what it said on standard error.
    pub said: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Failure {
    /// In a few words.
    pub why: String,
    /// The last of what it said on standard error.
    pub said: String,
    /// What ended it and is to end this program too.
    pub interrupted: Option<Interrupted>,
}

/// How many of the last bytes that it says on standard error are kept.
const TAIL: usize = 4096;

/// How much of an answer is read at once.
const BLOCK: usize = 64 * 1024;

/// How long a program that is told to end may take for it, and how long its output may stay open when it has ended.
const GRACE: Duration = Duration::from_millis(500);

/// What a reader of the program's output found.
enum Heard {
    Part(Vec<u8>),
    End(io::Result<()>),
    Said(Vec<u8>),
}

impl Program {
    /// Its name in messages.
    pub fn name(&self) -> String {
        self.line.as_deref().map_or(self.by.clone(), program_name::name)
    }

    /// Sets a variable of its environment.
    pub fn env(&mut self, name: &str, value: &str) {
        self.command.env(name, value);
    }

    /// Leaves a variable out of its environment.
    pub fn without(&mut self, name: &str) {
        self.command.env_remove(name);
    }

    /// The program's answer to what it is given on its standard input.
    pub fn ask(&mut self, request: &[u8], asked: Asked<'_>) -> Result<Answered, Failure> {
        let failed = |why: String| Failure {
            why,
            said: String::new(),
            interrupted: None,
        };
        self.interrupt.hold();
        let child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Whatever it starts is ended with it.
            .process_group(0)
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                self.interrupt.release();
                return Err(failed(format!("cannot run: {error}")));
            }
        };
        let heard = attend(&mut child, request.to_vec());
        let mut running = Running {
            child,
            heard,
            interrupt: &self.interrupt,
            interrupted: None,
            status: None,
            answer: Vec::new(),
            end: None,
            said: Vec::new(),
            open: 2,
            most: asked.most,
            listen: asked.listen,
        };
        running.watch(Instant::now() + asked.timeout);
        let late = running.status.is_none();
        running.end();
        running.interrupted = running.interrupt.release();
        let said = String::from_utf8_lossy(&running.said).into_owned();
        let why = match (running.end, running.status) {
            _ if running.interrupted.is_some() => "interrupted".to_string(),
            _ if running.answer.len() > running.most => {
                format!("output longer than {} bytes", running.most)
            }
            _ if late => format!("timed out after {}", span(asked.timeout)),
            (Some(Ok(())), Some(status)) if status.success() => {
                return Ok(Answered {
                    answer: running.answer,
                    said,
                });
            }
            (_, Some(status)) if !status.success() => match (status.code(), status.signal()) {
                (Some(code), _) => format!("failed with status {code}"),
                (None, signal) => format!("killed by signal {}", signal.unwrap_or_default()),
            },
            (Some(Err(error)), _) => format!("cannot read the output: {error}"),
            _ => "the output is truncated".to_string(),
        };
        // Advice stands behind the error that it is for.
        let tells = |line: &&str| !line.trim().is_empty() && !line.starts_with("hint: ");
        let last = said.lines().rev().find(tells);
        let why = match last {
            Some(last) if running.interrupted.is_none() => {
                // A plugin tells its errors as this program does.
                let last = last.trim().trim_start_matches("convo: ");
                let last = match &self.line {
                    Some(line) => program_name::without_arguments(last, line),
                    None => last.to_string(),
                };
                format!("{why}: {}", beginning(&in_line(&last)))
            }
            _ => why,
        };
        Err(Failure {
            why,
            said,
            interrupted: running.interrupted,
        })
    }
}

/// Gives the request to the program and listens to it, each on a thread of its own: whatever it does first, and however much
/// it says, nobody waits for the other.
fn attend(child: &mut Child, request: Vec<u8>) -> Receiver<Heard> {
    let (tell, heard) = channel();
    if let Some(mut input) = child.stdin.take() {
        // One that does not read all of it has a reason: what it answers is what counts.
        std::thread::spawn(move || input.write_all(&request));
    }
    if let Some(output) = child.stdout.take() {
        let tell = tell.clone();
        std::thread::spawn(move || {
            let end = hear(output, &tell);
            tell.send(Heard::End(end))
        });
    }
    if let Some(said) = child.stderr.take() {
        std::thread::spawn(move || tell.send(Heard::Said(tail(said))));
    }
    heard
}

/// Hands on a stream in pieces, until nobody wants more of it.
fn hear(mut stream: impl Read, tell: &Sender<Heard>) -> io::Result<()> {
    let mut buffer = vec![0; BLOCK];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                if tell.send(Heard::Part(buffer[..read].to_vec())).is_err() {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
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

/// A program that was started.
struct Running<'l> {
    child: Child,
    heard: Receiver<Heard>,
    interrupt: &'l Interrupt,
    interrupted: Option<Interrupted>,
    status: Option<ExitStatus>,
    answer: Vec<u8>,
    /// How its answer ended.
    end: Option<io::Result<()>>,
    said: Vec<u8>,
    /// How many of its outputs are open.
    open: u8,
    most: usize,
    listen: &'l mut dyn FnMut(&[u8]),
}

impl Running<'_> {
    /// Waits until it has ended and its outputs are closed, or until then. Once it has ended they are waited for a little
    /// while only: what it left behind may hold them open.
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
                self.interrupted = self.interrupt.came();
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
            } else if let Ok(heard) = self.heard.recv_timeout(pause.min(left)) {
                self.hear(heard);
                continue;
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Part(part) => {
                if self.answer.len() <= self.most {
                    self.answer.extend_from_slice(&part);
                    (self.listen)(&part);
                }
            }
            Heard::End(end) => {
                self.open -= 1;
                self.end = Some(end);
            }
            Heard::Said(said) => {
                self.open -= 1;
                self.said = said;
            }
        }
    }

    /// Ends it, and whatever it left behind.
    fn end(&mut self) {
        if self.status.is_none() {
            self.signal(Signal::TERM);
            self.watch(Instant::now() + GRACE);
        }
        if self.status.is_none() || self.open > 0 {
            self.signal(Signal::KILL);
            self.watch(Instant::now() + GRACE);
        }
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }

    fn signal(&self, signal: Signal) {
        // Nobody is left to be told: then there is nothing to end.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}

/// A time as it was given.
fn span(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{} ms", time.as_millis()),
    }
}

/// The beginning of a line.
fn beginning(line: &str) -> String {
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_string(),
    }
}
