//! Readers during a stalled change: the lock is held, the writer is stopped at a system call, or half of its lines
//! are written. Readers must answer at once with the state before or after the change, and report no damage.

use super::chance::spread;
use super::check::shown;
use super::golden::Golden;
use super::place::{CONVO, HUNG, Outcome, Place, run as run_command};
use super::report::Tally;
use super::scenario::Between;
use super::trace::Call;
use super::{Faults, in_parallel};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Reading commands, with the session in place of the empty argument.
const READERS: [&[&str]; 5] = [
    &["cat", ""],
    &["show", ""],
    &["context", ""],
    &["count", ""],
    &["list"],
];

/// Longer than any reader takes, and shorter than the lock timeout.
const AT_ONCE: Duration = Duration::from_secs(8);

/// Calls at which a change visible to others may be half done.
const CHANGING: [&str; 9] = [
    "write", "pwrite64", "fdatasync", "fsync", "renameat", "renameat2", "linkat", "unlinkat", "ftruncate",
];

/// `trap` ignores the signal for exceeding the file size, so that the rest of the write fails.
const LIMITED: &str = "trap '' 25; exec prlimit --core=0 --fsize=\"$0\" \"$@\"";

/// Where the change stalls.
enum Stop {
    /// After taking the lock.
    Locked,
    /// With the lock of a program without marks, and half of a line written.
    Half,
    /// At this call.
    At(Call),
    /// After writing its lines up to this byte.
    Written(usize),
}

struct Job<'g> {
    golden: &'g Golden,
    id: &'g str,
    /// The expected output of the readers before and after the change.
    expected: [Vec<Outcome>; 2],
    stops: Vec<Stop>,
}

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = &faults.untraced {
        tally.skip(format!("writers that are stopped: {why}"));
    }
    let read = faults.goldens.iter().filter_map(|golden| {
        let id = golden.operation.session?;
        golden.before.log(id).exists().then_some((golden, id))
    });
    let jobs = in_parallel(&read.collect::<Vec<_>>(), |(golden, id)| {
        let after = golden.before.copy();
        after.fed(golden.operation.arguments, golden.operation.input.as_bytes());
        Job {
            golden,
            id,
            expected: [&golden.before, &after].map(|place| read_all(place, id)),
            stops: stops(faults, golden, id),
        }
    });
    in_parallel(&jobs, |job| {
        for stop in &job.stops {
            let place = job.golden.before.copy();
            let verdict = judge(job, stop, &place);
            tally.count(verdict, || {
                let how = match stop {
                    Stop::Locked => "its lock is held".to_string(),
                    Stop::Half => "half of a line is written".to_string(),
                    Stop::At(call) => format!("stopped at {} {}: {}", call.name, call.nth, call.text),
                    Stop::Written(length) => format!("stopped with {length} bytes in the log"),
                };
                format!("{}: {how}", job.golden.command())
            });
        }
    });
}

fn stops(faults: &Faults, golden: &Golden, id: &str) -> Vec<Stop> {
    let log = format!("store/sessions/{id}.jsonl");
    let old = &golden.old.files[&log];
    let mut stops = Vec::new();
    // Under the lock of a program without marks, a last line that was already incomplete is ignored.
    if old.ends_with(b"\n") {
        stops.extend([Stop::Locked, Stop::Half]);
    }
    if faults.untraced.is_some() {
        return stops;
    }
    let calls: Vec<Call> = golden
        .calls()
        .iter()
        .filter(|call| CHANGING.contains(&call.name.as_str()))
        .cloned()
        .collect();
    let most = if faults.long { usize::MAX } else { 3 };
    stops.extend(spread(&calls, most).into_iter().map(Stop::At));
    if let Some(new) = golden.new.files.get(&log).filter(|new| new.starts_with(old))
        && golden.operation.between == Between::Appended
    {
        let lengths: Vec<usize> = (old.len() + 1..new.len()).collect();
        let most = if faults.long { 16 } else { 2 };
        stops.extend(spread(&lengths, most).into_iter().map(Stop::Written));
    }
    stops
}

fn read_all(place: &Place, id: &str) -> Vec<Outcome> {
    let read = |reader: &&[&str]| {
        let mut command = place.program(CONVO);
        command.args(["--lock-timeout", "60s"]);
        command.args(reader.iter().map(|word| if word.is_empty() { id } else { word }));
        run_command(command, b"", AT_ONCE)
    };
    READERS.iter().map(read).collect()
}

fn judge(job: &Job<'_>, stop: &Stop, place: &Place) -> Result<(), String> {
    let log = || OpenOptions::new().read(true).append(true).open(place.log(job.id));
    let (_lock, _writer): (Option<File>, Option<Writer>) = match stop {
        Stop::Locked | Stop::Half => {
            let mut log = log().unwrap();
            log.lock().unwrap();
            if let Stop::Half = stop {
                log.write_all(b"{\"role\":\"user\",\"content\":\"half a li")
                    .unwrap();
            }
            (Some(log), None)
        }
        Stop::At(call) => {
            let inject = format!("inject={}:signal=STOP:when={}", call.name, call.nth);
            (None, Some(Writer::stopped(job.golden, place, None, &inject)?))
        }
        // The written bytes are about to be rolled back.
        Stop::Written(length) => {
            let inject = "inject=ftruncate:error=EIO:signal=STOP:when=1";
            let writer = Writer::stopped(job.golden, place, Some(*length), inject)?;
            let there = log().unwrap().metadata().unwrap().len();
            if there != *length as u64 {
                return Err(format!("the log has {there} bytes"));
            }
            (None, Some(writer))
        }
    };
    let may_be_new = matches!(stop, Stop::At(_));
    // Some of several files or lines may exist.
    let exactly = !may_be_new || matches!(job.golden.operation.between, Between::Whole | Between::Appended);
    for (nth, now) in read_all(place, job.id).into_iter().enumerate() {
        let [old, new] = [0, 1].map(|which| &job.expected[which][nth]);
        let same = |expected: &Outcome| {
            let printed = now.stdout == expected.stdout || !exactly;
            now.status == expected.status && printed
        };
        let reader = READERS[nth][0];
        if now.status == HUNG {
            return Err(format!("{reader} waits"));
        }
        if !(same(old) || may_be_new && same(new)) {
            return Err(format!("{reader}: {}\nbefore: {}", shown(&now), shown(old)));
        }
    }
    Ok(())
}

/// A stopped run of an operation; killed on drop.
struct Writer {
    strace: Child,
    convo: Option<rustix::process::Pid>,
}

impl Writer {
    fn stopped(golden: &Golden, place: &Place, limit: Option<usize>, inject: &str) -> Result<Writer, String> {
        let trace = place.root().join("stops");
        let mut command = place.program(if limit.is_some() { "sh" } else { "strace" });
        if let Some(limit) = limit {
            command.args(["-c", LIMITED, &limit.to_string(), "strace"]);
        }
        let call = inject["inject=".len()..].split(':').next().unwrap_or_default();
        command
            .args(["-qq", "-e", &format!("trace={call}"), "-e", inject, "-o"])
            .arg(&trace);
        command.arg(CONVO).args(golden.operation.arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut strace = piped.stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = strace.stdin.take().unwrap();
        let _ = stdin.write_all(golden.operation.input.as_bytes()); // fits into the pipe
        drop(stdin);
        let mut writer = Writer { strace, convo: None };
        let began = Instant::now();
        while !std::fs::read_to_string(&trace).is_ok_and(|text| text.contains("stopped by SIGSTOP")) {
            if let Some(status) = writer.strace.try_wait().unwrap() {
                return Err(format!("it was not stopped: {status}"));
            }
            if began.elapsed() > AT_ONCE {
                return Err("it does not stop".to_string());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        writer.convo = child_of(writer.strace.id());
        match writer.convo {
            Some(_) => Ok(writer),
            None => Err("the stopped process is not found".to_string()),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(convo) = self.convo {
            let _ = rustix::process::kill_process(convo, rustix::process::Signal::KILL);
        } else {
            let _ = self.strace.kill();
        }
        let _ = self.strace.wait();
    }
}

/// The child of a process.
fn child_of(process: u32) -> Option<rustix::process::Pid> {
    let outcome = Command::new("ps")
        .args(["-o", "pid=", "--ppid", &process.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8(outcome.stdout).ok()?;
    rustix::process::Pid::from_raw(text.split_ascii_whitespace().next()?.parse().ok()?)
}
