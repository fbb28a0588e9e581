//! Runs operations under strace: lists their system calls, and makes one of them fail.

use super::place::{CONVO, LONGEST, Outcome, Place, run};
use super::scenario::Operation;
use std::process::{Command, Stdio};

/// The traced calls, all that concern files. A question mark: not available on every machine.
const TRACED: &str = "trace=openat,?open,flock,?fstat,?newfstatat,?stat,?lstat,?statx,read,pread64,write,pwrite64,\
    writev,fdatasync,fsync,syncfs,linkat,?link,?renameat2,?renameat,?rename,unlinkat,?unlink,ftruncate,mkdirat,\
    ?mkdir,fchmod,fchown,fcntl,dup,lseek,close,exit_group";

/// One system call of a run.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    /// The number of this call among those with its name in the whole run, from 1, as strace counts.
    pub nth: usize,
    /// The text printed by strace.
    pub text: String,
}

/// Why tracing is not available here.
pub fn missing() -> Option<String> {
    let works = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "-e", "trace=?exit_group", "-e"])
        .args(["inject=exit_group:signal=KILL:when=999", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match works {
        Ok(status) if status.success() => None,
        Ok(_) => Some("strace may not trace here".to_string()),
        Err(_) => Some("no strace".to_string()),
    }
}

/// Runs an operation with these injections; returns its calls after it read its configuration (earlier calls belong
/// to the loader).
pub fn run_with(place: &Place, operation: &Operation, injections: &[String]) -> (Outcome, Vec<Call>) {
    let input = operation.input.as_bytes();
    traced(
        place,
        operation.arguments,
        input,
        (operation.runs, false),
        injections,
    )
}

/// The same with all written bytes in hexadecimal.
pub fn recorded(place: &Place, operation: &Operation, injections: &[String]) -> (Outcome, Vec<Call>) {
    let input = operation.input.as_bytes();
    traced(
        place,
        operation.arguments,
        input,
        (operation.runs, true),
        injections,
    )
}

/// The same for arguments that run no other program.
pub fn recorded_run(place: &Place, arguments: &[&str]) -> (Outcome, Vec<Call>) {
    traced(place, arguments, b"", (false, true), &[])
}

fn traced(
    place: &Place,
    arguments: &[&str],
    input: &[u8],
    (runs, bytes): (bool, bool),
    injections: &[String],
) -> (Outcome, Vec<Call>) {
    let file = place.root().join("trace");
    let mut command = place.program("strace");
    command
        .args(["-qq", "-f", "-e", "signal=none", "-o"])
        .arg(&file)
        .args(["-e", TRACED]);
    if runs {
        // A fault in another program is not a fault of this one.
        command.args(["-b", "execve"]);
    } else if !injections.iter().any(|injection| injection.contains("signal=")) {
        // Twice as fast, but strace cannot send signals in this mode.
        command.arg("--seccomp-bpf");
    }
    if bytes {
        command.args(["-xx", "-s", "1000000"]);
    }
    for injection in injections {
        command.args(["-e", &format!("inject={injection}")]);
    }
    command.arg(CONVO).args(arguments);
    let outcome = run(command, input, LONGEST);
    if runs {
        place.wait_for_others();
    }
    let text = String::from_utf8(std::fs::read(&file).unwrap_or_default());
    let text = text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    (outcome, calls(&text))
}

/// The calls of the first thread, numbered by name from the start, without those of the startup.
fn calls(text: &str) -> Vec<Call> {
    let mut counts = std::collections::HashMap::new();
    let mut all = Vec::new();
    let mut start = 0;
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    let mut unfinished = String::new();
    for line in text.lines() {
        let Some((_, call)) = line.split_once(' ').filter(|(thread, _)| *thread == first) else {
            continue;
        };
        // A call of another thread interrupted the output of this one.
        let mut call = call.trim_start().to_string();
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            unfinished = start.to_string();
            continue;
        }
        if call.starts_with("<... ") {
            let end = call.split_once(" resumed>").map_or("", |(_, end)| end);
            call = format!("{}{end}", std::mem::take(&mut unfinished));
        }
        let Some((name, _)) = call.split_once('(') else {
            continue;
        };
        if !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            continue;
        }
        let nth: &mut usize = counts.entry(name.to_string()).or_default();
        *nth += 1;
        all.push(Call {
            name: name.to_string(),
            nth: *nth,
            text: call.clone(),
        });
        if call.contains("config.toml") || call.contains(r"\x63\x6f\x6e\x66\x69\x67\x2e\x74\x6f\x6d\x6c") {
            start = all.len();
        }
    }
    all.split_off(start)
}
