//! Processes in a group of their own, which includes their children: pipes, time limits, signals and exit statuses.

use super::interrupt::{Interrupt, Interrupted};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Read size in bytes.
const BLOCK: usize = 64 * 1024;

/// How long a program may take to exit after a signal, and how long its output may stay open after its exit.
const GRACE: Duration = Duration::from_millis(500);

/// The limits of a run.
pub struct RunLimits<'l> {
    /// The time limit.
    pub timeout: Duration,
    /// Maximum size of the output in bytes.
    pub most: usize,
    /// How many trailing bytes of standard error are kept.
    pub tail: usize,
    /// Whether to end what the program leaves running, even if it does not hold the outputs.
    pub ends_children: bool,
    /// Called with each part of the output as it arrives.
    pub listen: &'l mut dyn FnMut(&[u8]),
}

/// How a program ended.
pub struct ProgramEnd {
    /// Its status; none if it is unknown.
    pub status: Option<ExitStatus>,
    /// Whether it was killed because of the time limit.
    pub is_late: bool,
    /// The signal that ended it and must end this program too.
    pub interrupted: Option<Interrupted>,
    /// Its output; longer than the maximum if it was killed for that.
    pub output: Vec<u8>,
    /// How its output ended; none if something still holds it open.
    pub closed: Option<io::Result<()>>,
    /// The end of its standard error.
    pub stderr: Vec<u8>,
}

/// Runs a program with this input. The program and its children are killed on timeout, when their output is too long, and
/// when this program is interrupted.
///
/// # Errors
/// The error of starting it.
pub fn run<'l>(
    command: &mut Command,
    input: Vec<u8>,
    interrupt: &'l Interrupt,
    limits: RunLimits<'l>,
) -> io::Result<ProgramEnd> {
    interrupt.hold();
    let mut child = match piped(command).spawn() {
        Ok(child) => child,
        Err(error) => {
            if let Some(interrupted) = interrupt.release() {
                interrupted.end_program();
            }
            return Err(error);
        }
    };
    let mut running = ProgramProcess {
        receiver: start_io(&mut child, input, limits.tail),
        child,
        interrupt,
        open: 2,
        end: ProgramEnd {
            status: None,
            is_late: false,
            interrupted: None,
            output: Vec::new(),
            closed: None,
            stderr: Vec::new(),
        },
        limits,
    };
    running.watch(running.limits.timeout);
    let is_too_long = running.end.output.len() > running.limits.most;
    let is_running = running.end.status.is_none();
    running.kill();
    running.end.interrupted = interrupt.release();
    running.end.is_late = is_running && !is_too_long && running.end.interrupted.is_none();
    Ok(running.end)
}

/// A part of the outputs.
enum OutputEvent {
    Part(Vec<u8>),
    End(io::Result<()>),
    Stderr(Vec<u8>),
}

/// Writes the input and reads both outputs in separate threads, so that no order or amount of output blocks.
fn start_io(child: &mut Child, bytes: Vec<u8>, most: usize) -> Receiver<OutputEvent> {
    let (sender, receiver) = channel();
    if let Some(mut input) = child.stdin.take() {
        // A program need not read its whole input; only its output counts.
        std::thread::spawn(move || input.write_all(&bytes));
    }
    if let Some(output) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let end = forward_output(output, &sender);
            sender.send(OutputEvent::End(end))
        });
    }
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || sender.send(OutputEvent::Stderr(tail(stderr, most))));
    }
    receiver
}

/// Passes on a stream in blocks until the receiver is gone.
fn forward_output(mut stream: impl Read, sender: &Sender<OutputEvent>) -> io::Result<()> {
    let mut buffer = vec![0; BLOCK];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                if sender.send(OutputEvent::Part(buffer[..read].to_vec())).is_err() {
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
    receiver: Receiver<OutputEvent>,
    interrupt: &'l Interrupt,
    /// Number of open outputs.
    open: u8,
    end: ProgramEnd,
    limits: RunLimits<'l>,
}

impl ProgramProcess<'_> {
    /// Waits until the program exited and its outputs are closed, or until the time is over. After its exit, open outputs
    /// get only a short grace period, because background processes may hold them.
    fn watch(&mut self, time: Duration) {
        let mut until = Instant::now() + time;
        let mut pause = Duration::from_millis(1);
        loop {
            if self.end.status.is_none()
                && let Ok(Some(status)) = self.child.try_wait()
            {
                self.end.status = Some(status);
                until = until.min(Instant::now() + GRACE);
                if self.limits.ends_children {
                    signal_group(&self.child, Signal::TERM);
                }
            }
            if self.end.interrupted.is_none() {
                self.end.interrupted = self.interrupt.received();
                if self.end.interrupted.is_some() {
                    return;
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            let over = self.end.output.len() > self.limits.most;
            if left.is_zero() || over || self.end.status.is_some() && self.open == 0 {
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

    fn handle(&mut self, event: OutputEvent) {
        match event {
            OutputEvent::Part(part) => {
                if self.end.output.len() <= self.limits.most {
                    self.end.output.extend_from_slice(&part);
                    (self.limits.listen)(&part);
                }
                return;
            }
            OutputEvent::End(closed) => self.end.closed = Some(closed),
            OutputEvent::Stderr(stderr) => self.end.stderr = stderr,
        }
        self.open -= 1;
    }

    /// Kills the program and its remaining children.
    fn kill(&mut self) {
        if self.end.status.is_none() {
            signal_group(&self.child, Signal::TERM);
            self.watch(GRACE);
        }
        if self.end.status.is_none() || self.open > 0 || self.limits.ends_children {
            signal_group(&self.child, Signal::KILL);
            self.watch(GRACE);
        }
        if self.end.status.is_none() {
            self.end.status = self.child.wait().ok();
        }
    }
}

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
