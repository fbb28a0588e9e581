//! Sends SIGKILL at every file-related system call, one per run, as on a reboot or the end of a container. The signal
//! arrives at the entry of a call, so "after" a call means "before" the next one. Repeated on file systems without
//! support for the first method, so that the alternative is used.

use super::check::{Ending, Lacking, shown};
use super::golden::Golden;
use super::report::Tally;
use super::trace::Call;
use super::{Faults, trace};

struct Job<'g> {
    golden: &'g Golden,
    /// The injection for an unsupported call.
    without: Option<String>,
    call: Call,
}

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = &faults.untraced {
        return tally.skip(why);
    }
    let mut jobs = Vec::new();
    for golden in &faults.goldens {
        let calls = golden.calls();
        assert!(calls.len() > 3, "{}: no calls are seen", golden.operation.name);
        for without in calls.iter().filter_map(lacking) {
            add_alternative_calls(golden, without, &mut jobs);
        }
        jobs.extend(calls.iter().cloned().map(|call| Job {
            golden,
            without: None,
            call,
        }));
    }
    faults.inject(&jobs, 120, |job| {
        let Job { golden, call, .. } = job;
        let place = golden.before.copy();
        let kill = format!("{}:signal=KILL:when={}", call.name, call.nth);
        let injections: Vec<String> = job.without.iter().cloned().chain([kill]).collect();
        let (outcome, _) = trace::run_with(&place, golden.operation, &injections);
        // If a rename is implemented as link and unlink, both names may exist, as after a power failure.
        let ending = match &job.without {
            Some(without) if without.starts_with("rename") => Ending::Dark,
            _ => Ending::Killed,
        };
        let verdict = if outcome.status == -9 {
            golden.judge_there(
                &place,
                Some(&outcome),
                ending,
                true,
                job.without.as_ref().map(|_| lacking as Lacking),
            )
        } else {
            Err(format!("it was not killed\n{}", shown(&outcome)))
        };
        tally.count(verdict, || {
            format!(
                "{}: inject={} at {}",
                golden.command(),
                injections.join(" "),
                call.text
            )
        });
    });
}

/// The strace option that makes a call unsupported.
fn lacking(call: &Call) -> Option<String> {
    let tries = call.text.contains("O_TMPFILE") || call.text.contains("RENAME_NOREPLACE");
    tries.then(|| format!("{}:error=EINVAL:when={}", call.name, call.nth))
}

/// Adds kills at the alternative calls. Each call name can have only one injection, so calls with the same name are
/// skipped.
fn add_alternative_calls<'g>(golden: &'g Golden, without: String, jobs: &mut Vec<Job<'g>>) {
    let (_, calls) = trace::run_with(
        &golden.before.copy(),
        golden.operation,
        std::slice::from_ref(&without),
    );
    let name = without.split(':').next().unwrap_or_default().to_string();
    let instead = calls
        .into_iter()
        .skip_while(|call| !call.text.contains("(INJECTED)"));
    jobs.extend(instead.filter(|call| call.name != name).map(|call| Job {
        golden,
        without: Some(without.clone()),
        call,
    }));
}
