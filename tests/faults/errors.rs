//! Failing system calls: every error at every call, a call that fails from some point on, and consecutive failures.

use super::chance::Chance;
use super::check::{Ending, shown};
use super::golden::Golden;
use super::report::Tally;
use super::scenario::Between;
use super::trace::Call;
use super::{Faults, trace};

/// Calls that change something, or that everything depends on.
const WRITING: [&str; 17] = [
    "write", "pwrite64", "writev", "fdatasync", "fsync", "syncfs", "ftruncate", "linkat", "link",
    "renameat2", "renameat", "rename", "unlinkat", "mkdirat", "mkdir", "fchmod", "flock",
];

/// Calls that only read.
const LOOKING: [&str; 9] = [
    "openat", "read", "pread64", "fstat", "newfstatat", "statx", "stat", "lstat", "fchown",
];

/// Calls that a signal may interrupt before they had any effect, and that are then repeated.
const REPEATED: [&str; 6] = ["write", "pwrite64", "read", "pread64", "flock", "ftruncate"];

/// Errors to draw from, in addition to EIO and ENOSPC, which every call gets.
const OTHERS: [&str; 8] = [
    "EDQUOT", "EROFS", "EMFILE", "ENOLCK", "ENOMEM", "EACCES", "EPERM", "ENFILE",
];

struct Job<'g> {
    golden: &'g Golden,
    injections: Vec<String>,
    /// The call that fails first.
    call: Call,
    /// The expected status.
    status: Option<i32>,
}

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = &faults.untraced {
        return tally.skip(why);
    }
    let mut chance = Chance::new(faults.seed, "errors");
    let mut jobs = Vec::new();
    for golden in &faults.goldens {
        for call in golden.calls().iter().cloned() {
            of_call(faults.long, &mut chance, golden, call, &mut jobs);
        }
    }
    faults.inject(&jobs, 160, |job| {
        let place = job.golden.before.copy();
        let (outcome, _) = trace::run_with(&place, job.golden.operation, &job.injections);
        // If the message could not be written, it is not required.
        let mute = job.call.text.starts_with("write(2,")
            || job.injections[0].starts_with("write:") && job.injections[0].ends_with('+');
        let verdict = match job.status {
            Some(status) if outcome.status != status => Err(format!("not {status}: {}", shown(&outcome))),
            _ => job.golden.judge(&place, Some(&outcome), Ending::Ended, mute),
        };
        tally.count(verdict, || {
            format!(
                "{}: inject={} at {}",
                job.golden.command(),
                job.injections.join(" "),
                job.call.text
            )
        });
    });
}

fn of_call<'g>(long: bool, chance: &mut Chance, golden: &'g Golden, call: Call, jobs: &mut Vec<Job<'g>>) {
    let name = call.name.as_str();
    let writes = WRITING.contains(&name);
    if !writes && !LOOKING.contains(&name) {
        return;
    }
    let mut errors = vec!["EIO"];
    if writes || name == "openat" {
        errors.push("ENOSPC");
    }
    match long {
        true => errors.extend(OTHERS),
        false if writes => errors.push(OTHERS[chance.below(OTHERS.len())]),
        false => {}
    }
    // File systems without support for the first method, which require another one.
    if name == "renameat2" || call.text.contains("O_TMPFILE") || call.text.contains("/proc/self/fd") {
        let first = if name == "linkat" { "ENOENT" } else { "EINVAL" };
        errors.extend([first, "EOPNOTSUPP"]);
    }
    let mut add = |injections: Vec<String>, status| {
        jobs.push(Job {
            golden,
            injections,
            call: call.clone(),
            status,
        });
    };
    let nth = call.nth;
    for error in errors {
        add(vec![format!("{name}:error={error}:when={nth}")], None);
    }
    // Unlocking does not block, so no signal can interrupt it.
    if REPEATED.contains(&name) && !call.text.contains("LOCK_UN") {
        let status = Some(golden.operation.status);
        add(vec![format!("{name}:error=EINTR:when={nth}")], status);
    }
    if !writes || call.text.starts_with("write(2,") {
        return;
    }
    let undoes =
        name == "fdatasync" && matches!(golden.operation.between, Between::Appended | Between::Lines);
    // An append that cannot be rolled back either: its state after a power failure is unknown.
    add(
        vec![format!("{name}:error=EIO:when={nth}+")],
        undoes.then_some(76),
    );
    if undoes {
        let first = format!("{name}:error=EIO:when={nth}");
        add(vec![first, "ftruncate:error=EIO".to_string()], Some(76));
    }
}
