//! Short writes. A file size limit makes the kernel stop at any byte: `write` writes up to the limit and returns the
//! count, and the next call fails with EFBIG, or its signal kills the process and leaves a partial line. Unlike a
//! preloaded library, this affects all calls of the program.

use super::Faults;
use super::chance::spread;
use super::check::Ending;
use super::golden::Golden;
use super::place::{CONVO, LONGEST, run as run_command};
use super::report::Tally;
use std::process::{Command, Stdio};

/// `trap` ignores the signal, so that the write fails instead.
pub const FAILS: &str = "trap '' 25; exec prlimit --core=0 --fsize=\"$0\" \"$@\"";
pub const KILLS: &str = "exec prlimit --core=0 --fsize=\"$0\" \"$@\"";

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = missing() {
        return tally.skip(why);
    }
    let mut jobs = Vec::new();
    for golden in &faults.goldens {
        let limits: Vec<usize> = limits(golden);
        let limits = if faults.long { limits } else { spread(&limits, 16) };
        jobs.extend(
            limits
                .into_iter()
                .flat_map(|limit| [(golden, limit, true), (golden, limit, false)]),
        );
    }
    faults.inject(&jobs, 80, |(golden, limit, fails)| {
        let place = golden.before.copy();
        let mut command = place.program("sh");
        command
            .arg("-c")
            .arg(if *fails { FAILS } else { KILLS })
            .arg(limit.to_string());
        command.arg(CONVO).args(golden.operation.arguments);
        let outcome = run_command(command, golden.operation.input.as_bytes(), LONGEST);
        let ending = if *fails { Ending::Ended } else { Ending::Cut };
        let verdict = match outcome.status {
            -25 if *fails => Err("the signal was not kept off".to_string()),
            _ => golden.judge(&place, Some(&outcome), ending, false),
        };
        tally.count(verdict, || {
            let how = if *fails {
                "writing fails"
            } else {
                "the writer is killed"
            };
            format!("{}: {how} at byte {limit} of any file", golden.command())
        });
    });
}

/// Why file sizes cannot be limited here.
pub fn missing() -> Option<&'static str> {
    let found = Command::new("prlimit")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let works = found.is_ok_and(|status| status.success());
    (!works).then_some("no prlimit, which limits the length of files")
}

/// The limits for an operation: every length of a file of the store during the operation.
fn limits(golden: &Golden) -> Vec<usize> {
    let mut limits = Vec::new();
    for (path, new) in &golden.new.files {
        let old = golden.old.files.get(path).map_or(0, Vec::len);
        if golden.old.files.get(path) != Some(new) {
            limits.extend(old.min(new.len())..new.len());
        }
    }
    limits.sort_unstable();
    limits.dedup();
    limits
}
