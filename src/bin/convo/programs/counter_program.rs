//! Runs programs that count tokens: `--tokenizer cmd:PROGRAM`. One process serves the whole run: it reads a text per
//! line, as a JSON string, and prints a number per line in the same order.

use crate::programs::process::{piped, signal_group};
use crate::programs::program_name;
use convo::error::{Error, ErrorKind, Position, Result, reason};
use convo::model::json;
use convo::tokens::Tokenizer;
use rustix::process::Signal;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Default time limit of an answer; some programs take seconds to load.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum length of an answer in bytes.
const LONGEST: u64 = 64;

/// How many trailing bytes of standard error are kept.
const TAIL: usize = 4096;

/// How long a program may take to exit after its input is closed.
const GRACE: Duration = Duration::from_millis(200);

/// How long to wait, once, for surplus answers.
const SURPLUS_WAIT: Duration = Duration::from_millis(10);

/// The error for surplus answers.
const SURPLUS: &str = "printed more than one number for a text";

/// The programs of this run, one tokenizer per command line.
static PROGRAMS: Mutex<Vec<CounterProgram>> = Mutex::new(Vec::new());

/// A command line, its tokenizer, and its process.
type CounterProgram = (String, Tokenizer, Arc<Mutex<Process>>);

/// The configured time limit of an answer.
static CONFIGURED: OnceLock<Duration> = OnceLock::new();

/// Sets the time limit of an answer.
pub fn set_timeout(timeout: Duration) {
    let _ = CONFIGURED.set(timeout);
}

/// The tokenizer with this name: a program, an encoding, an estimate or a model. Starts no process.
pub fn tokenizer(name: &str) -> Result<Tokenizer> {
    let Some(line) = name.strip_prefix("cmd:") else {
        return Tokenizer::named(name);
    };
    let line = line.trim();
    if line.is_empty() {
        return Err(Error::usage("expected a program after 'cmd:'"));
    }
    let mut programs = lock(&PROGRAMS);
    if let Some((_, known, _)) = programs.iter().find(|(known, ..)| known == line) {
        return Ok(*known);
    }
    let process = Arc::new(Mutex::new(Process::Waits(line.to_string())));
    let requested = process.clone();
    let ask = move |texts: &[&str]| {
        let mut process = lock(&requested);
        process.ask(texts)
    };
    let tokenizer = Tokenizer::external(&stored_name(line), Box::new(ask));
    programs.push((line.to_string(), tokenizer, process));
    Ok(tokenizer)
}

/// Ends all started programs.
pub fn end() {
    let programs = std::mem::take(&mut *lock(&PROGRAMS));
    for (.., process) in programs {
        let mut process = lock(&process);
        if let Process::Runs(running) = std::mem::replace(&mut *process, Process::Ended(String::new())) {
            running.end();
        }
    }
}

/// Locks a value; a panic of another thread cannot have corrupted it.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    Mutex::lock(value).unwrap_or_else(PoisonError::into_inner)
}

/// The name under which counts are stored.
fn stored_name(line: &str) -> String {
    program_name::stored(line, 16)
}

/// A program and its state.
enum Process {
    /// Not started yet.
    Waits(String),
    Runs(CounterProcess),
    /// Ended, with the reason.
    Ended(String),
}

impl Process {
    fn ask(&mut self, texts: &[&str]) -> Result<Vec<u64>> {
        let done = self.answers(texts);
        done.map_err(|why| {
            let line = match std::mem::replace(self, Process::Ended(why.clone())) {
                Process::Runs(running) => {
                    let name = running.name.clone();
                    running.end();
                    name
                }
                Process::Waits(line) => stored_name(&line),
                Process::Ended(_) => "cmd".to_string(),
            };
            Error::new(ErrorKind::Unavailable, why)
                .at(format!("tokenizer {line}"), Position::default())
                .hint("the program must print one number for each line of input, immediately and in order")
        })
    }

    fn answers(&mut self, texts: &[&str]) -> std::result::Result<Vec<u64>, String> {
        if let Process::Waits(line) = self {
            let mut running = CounterProcess::start(line)?;
            // A program whose counts of the same text differ cannot be trusted.
            let counts = running.ask(&["convo", "", "convo"])?;
            if running.output.recv_timeout(SURPLUS_WAIT).is_ok() {
                return Err(SURPLUS.to_string());
            }
            *self = Process::Runs(running);
            if counts[0] != counts[2] || counts[0] == 0 {
                return Err(format!(
                    "counted 'convo' as {} tokens, then as {}",
                    counts[0], counts[2]
                ));
            }
        }
        match self {
            Process::Runs(running) => running.ask(texts),
            Process::Ended(why) => Err(why.clone()),
            Process::Waits(_) => Err("not started".to_string()),
        }
    }
}

/// A started program. Separate threads write and read, so that neither blocks the other.
struct CounterProcess {
    name: String,
    child: Child,
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Vec<u8>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
}

impl CounterProcess {
    fn start(line: &str) -> std::result::Result<CounterProcess, String> {
        let child = piped(Command::new("/bin/sh").args(["-c", line])).spawn();
        let mut child = child.map_err(|error| format!("cannot run: {}", reason(&error)))?;
        let (input, texts) = channel::<Vec<u8>>();
        let (answers, output) = channel();
        let stderr: Arc<Mutex<VecDeque<u8>>> = Arc::default();
        if let Some(mut stdin) = child.stdin.take() {
            std::thread::spawn(move || {
                texts
                    .iter()
                    .try_for_each(|lines| stdin.write_all(&lines).and_then(|()| stdin.flush()))
            });
        }
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                loop {
                    let mut line = Vec::new();
                    let read = stdout.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                    if !matches!(read, Ok(1..)) || answers.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(mut pipe) = child.stderr.take() {
            let stderr = stderr.clone();
            std::thread::spawn(move || {
                let mut buffer = [0; 1024];
                while let Ok(read @ 1..) = pipe.read(&mut buffer) {
                    let mut stderr = lock(&stderr);
                    stderr.extend(&buffer[..read]);
                    let surplus = stderr.len().saturating_sub(TAIL);
                    stderr.drain(..surplus);
                }
            });
        }
        Ok(CounterProcess {
            name: stored_name(line),
            child,
            input: Some(input),
            output,
            stderr,
        })
    }

    fn ask(&mut self, texts: &[&str]) -> std::result::Result<Vec<u64>, String> {
        if !matches!(self.output.try_recv(), Err(TryRecvError::Empty)) {
            return Err(self.describe_exit(SURPLUS));
        }
        let mut lines = Vec::new();
        for text in texts {
            json::push_text(&mut lines, text);
            lines.push(b'\n');
        }
        let sent = self.input.as_ref().is_some_and(|input| input.send(lines).is_ok());
        if !sent {
            return Err(self.describe_exit("closed its input"));
        }
        let timeout = *CONFIGURED.get_or_init(|| TIMEOUT);
        let mut counts = Vec::with_capacity(texts.len());
        for text in texts {
            let answer = match self.output.recv_timeout(timeout) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("no answer within {} ms", timeout.as_millis()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.describe_exit("ended")),
            };
            counts.push(number(&answer, text)?);
        }
        Ok(counts)
    }

    /// Describes why the program gives no answers.
    fn describe_exit(&mut self, what: &str) -> String {
        let until = Instant::now() + GRACE;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                status => break status.ok().flatten(),
            }
        };
        // The thread that reads standard error may finish after the program exited.
        while Arc::strong_count(&self.stderr) > 1 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let stderr = lock(&self.stderr);
        let stderr: Vec<u8> = stderr.iter().copied().collect();
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
        let last: String = last.unwrap_or_default().trim().chars().take(200).collect();
        let what = match status.and_then(|status| status.code()) {
            Some(code) => format!("failed with status {code}"),
            None => what.to_string(),
        };
        match last.is_empty() {
            true => what,
            false => format!("{what}: {}", crate::output::in_line(&last)),
        }
    }

    /// Closes the input; kills the program and its children if it does not exit.
    fn end(mut self) {
        self.input = None;
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        signal_group(&self.child, Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Parses the number in an answer and checks that it is plausible for the text.
fn number(answer: &[u8], text: &str) -> std::result::Result<u64, String> {
    let shown = || crate::output::in_line(String::from_utf8_lossy(answer).trim_end());
    let line = answer.strip_suffix(b"\n");
    let digits = line
        .and_then(|line| std::str::from_utf8(line).ok())
        .map(str::trim);
    let count = digits
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u64>().ok())
        .ok_or_else(|| format!("expected a number, got '{}'", shown()))?;
    // A normalizing tokenizer may expand a text, but not without bound.
    let most = (text.len() as u64).saturating_mul(16).saturating_add(64);
    match count > most {
        true => Err(format!("{count} tokens for a text of {} bytes", text.len())),
        false => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_valid_number() {
        assert_eq!(number(b"3\n", "one"), Ok(3));
        assert_eq!(number(b" 3 \r\n", "one"), Ok(3));
        for bad in [
            &b"3"[..],
            b"\n",
            b"-3\n",
            b"3.0\n",
            b"three\n",
            b"3 4\n",
            b"1000\n",
            b"\xff\n",
        ] {
            assert!(number(bad, "one").is_err(), "{bad:?}");
        }
    }
}
