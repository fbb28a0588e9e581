//! SIGKILL at every system call that has to do with files, one run each: what a reboot, an impatient user or a
//! container's end does. The signal comes at a call's entry, so "after" a call is "before" the next one.

use super::check::Ending;
use super::report::Tally;
use super::{Faults, in_parallel, trace};

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = &faults.untraced {
        return tally.skip(why);
    }
    let mut jobs = Vec::new();
    for golden in &faults.goldens {
        let (_, calls) = trace::run_with(&golden.before.copy(), golden.operation, &[]);
        assert!(calls.len() > 3, "{}: no calls are seen", golden.operation.name);
        jobs.extend(calls.into_iter().map(|call| (golden, call)));
    }
    in_parallel(&jobs, |(golden, call)| {
        let place = golden.before.copy();
        let injection = format!("{}:signal=KILL:when={}", call.name, call.nth);
        let (outcome, _) = trace::run_with(&place, golden.operation, std::slice::from_ref(&injection));
        let verdict = if outcome.status == -9 {
            golden.judge(&place, Some(&outcome), Ending::Killed, true)
        } else {
            Err(format!("it was not killed\n{}", super::check::shown(&outcome)))
        };
        tally.count(verdict, || {
            format!("{}: inject={injection} at {}", golden.command(), call.text)
        });
    });
}
