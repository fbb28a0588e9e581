//! Who writes summaries: the built-in summarizer, or a program that takes a request on its standard input and gives a
//! text on its standard output. A program gets so much time and no more; then it and all that it started is ended.

use crate::context::Context;
use crate::output::in_line;
use crate::plugin;
use convo::error::{Error, Kind};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Who writes the summary, as the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum With {
    /// The built-in summarizer.
    #[default]
    Extract,
    /// A line for the shell.
    Shell(String),
    /// The plugin of this name.
    Plugin(String),
}

impl With {
    /// Reads `extract`, `cmd:PROGRAM ARGS` or the name of a plugin.
    pub fn read(text: &str) -> Result<With, String> {
        if text == "extract" {
            return Ok(With::Extract);
        }
        if let Some(line) = text.strip_prefix("cmd:") {
            return match line.trim() {
                "" => Err("behind cmd: there must be a program".to_string()),
                line => Ok(With::Shell(line.to_string())),
            };
        }
        if plugin::is_name(text) {
            return Ok(With::Plugin(text.to_string()));
        }
        Err("this must be extract, cmd:'PROGRAM ARGS' or the name of a plugin".to_string())
    }

    /// The program to ask; none for the built-in summarizer.
    pub fn program(&self, context: &Context) -> convo::Result<Option<Program>> {
        let (by, mut command) = match self {
            With::Extract => return Ok(None),
            With::Shell(line) => {
                let mut command = Command::new("/bin/sh");
                command.arg("-c").arg(line);
                (format!("cmd:{line}"), command)
            }
            With::Plugin(name) => match plugin::find(name) {
                Some(path) => (name.clone(), Command::new(path)),
                None => {
                    let error = Error::new(Kind::Unavailable, format!("no summarizer {name:?}"));
                    let hint =
                        format!("a program convo-{name} on PATH would be one; cmd:'PROGRAM ARGS' runs any");
                    return Err(error.hint(hint));
                }
            },
        };
        if let Ok(own) = std::env::current_exe() {
            command.env("CONVO", own);
        }
        command.env("CONVO_STORE", context.store_path());
        Ok(Some(Program { by, command }))
    }
}

/// A program that writes summaries.
#[derive(Debug)]
pub struct Program {
    /// The name under which its summaries are kept.
    pub by: String,
    command: Command,
}

/// Most bytes of an answer: no summary is as long.
const MOST: u64 = 4 << 20;

/// How many of the last bytes that it says on standard error are kept.
const TAIL: usize = 4096;

/// How long a program that is told to end may take for it, and how long its output may stay open when it has ended.
const GRACE: Duration = Duration::from_millis(500);

/// What a reader of the program's output found.
enum Heard {
    Answer(io::Result<Vec<u8>>),
    Said(Vec<u8>),
}

impl Program {
    /// The program's answer to a request, or why there is none: in a few words, and what it said on standard error.
    pub fn ask(&mut self, request: &[u8], timeout: Duration) -> Result<Vec<u8>, (String, String)> {
        let failed = |why: String| (why, String::new());
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Whatever it starts is ended with it.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(format!("it did not start: {error}")))?;
        let heard = attend(&mut child, request);
        let mut running = Running {
            child,
            heard,
            status: None,
            answer: None,
            said: Vec::new(),
            open: 2,
        };
        running.watch(Instant::now() + timeout);
        let late = running.status.is_none();
        running.end();
        let said = String::from_utf8_lossy(&running.said).into_owned();
        let why = match (running.answer, running.status) {
            _ if late => format!("it took longer than {}", span(timeout)),
            (Some(Ok(answer)), _) if answer.len() as u64 > MOST => {
                return Err((format!("its answer is longer than {MOST} bytes"), said));
            }
            (Some(Ok(answer)), Some(status)) if status.success() => return Ok(answer),
            (_, Some(status)) if !status.success() => match (status.code(), status.signal()) {
                (Some(code), _) => format!("it ended with status {code}"),
                (None, signal) => format!("it was ended by signal {}", signal.unwrap_or_default()),
            },
            (Some(Err(error)), _) => format!("its answer cannot be read: {error}"),
            _ => "its answer has no end".to_string(),
        };
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        Err(match last {
            Some(last) => (format!("{why}: {}", beginning(&in_line(last.trim()))), said),
            None => (why, said),
        })
    }
}

/// Gives the request to the program and listens to it, each on a thread of its own: whatever it does first, and however much
/// it says, nobody waits for the other.
fn attend(child: &mut Child, request: &[u8]) -> Receiver<Heard> {
    let (tell, heard) = channel();
    if let Some(mut input) = child.stdin.take() {
        let request = request.to_vec();
        // One that does not read all of it has a reason: what it answers is what counts.
        std::thread::spawn(move || input.write_all(&request).and_then(|()| input.write_all(b"\n")));
    }
    if let Some(output) = child.stdout.take() {
        let tell = tell.clone();
        std::thread::spawn(move || {
            let mut answer = Vec::new();
            let read = output.take(MOST + 1).read_to_end(&mut answer);
            tell.send(Heard::Answer(read.map(|_| answer)))
        });
    }
    if let Some(said) = child.stderr.take() {
        std::thread::spawn(move || tell.send(Heard::Said(tail(said))));
    }
    heard
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
struct Running {
    child: Child,
    heard: Receiver<Heard>,
    status: Option<ExitStatus>,
    answer: Option<io::Result<Vec<u8>>>,
    said: Vec<u8>,
    /// How many of its outputs are open.
    open: u8,
}

impl Running {
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
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.status.is_some() && self.open == 0 {
                return;
            }
            if self.open == 0 {
                std::thread::sleep(pause.min(left));
            } else if let Ok(heard) = self.heard.recv_timeout(pause.min(left)) {
                self.open -= 1;
                match heard {
                    Heard::Answer(answer) => self.answer = Some(answer),
                    Heard::Said(said) => self.said = said,
                }
                continue;
            }
            pause = (pause * 2).min(Duration::from_millis(20));
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
