//! The power goes: a recorded run is replayed into a model of a disk, and at each point of it states of the disk
//! are built and judged. And the same after a run that was killed, since what a dead run left unsynced must not be
//! what the next one's acknowledgement rests on.

use super::chance::Chance;
use super::check::{Ending, Golden};
use super::disk::{Disk, Files, Luck};
use super::place::Place;
use super::report::Tally;
use super::trace::{self, Call};
use super::{Faults, in_parallel};
use std::collections::HashSet;

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = &faults.untraced {
        return tally.skip(why);
    }
    let random = if faults.long { 100 } else { 12 };
    in_parallel(&faults.goldens, |golden| {
        let place = golden.before.copy();
        let mut disk = Disk::new(place.root());
        let input = golden.operation.input.as_bytes();
        let (outcome, calls) = trace::recorded(&place, golden.operation.arguments, input, &[]);
        assert_eq!(outcome.status, 0, "{}", golden.operation.name);
        let mut chance = Chance::new(faults.seed, golden.operation.name);
        let mut seen = HashSet::new();
        let mut acknowledged = false;
        let changes = calls.iter().filter(|call| changes(call)).count().max(1);
        for (nth, call) in calls.iter().enumerate() {
            let changed = disk.replay(call);
            let tells = call.text.starts_with("write(1,") || call.text.starts_with("write(2,");
            let acknowledges = !acknowledged && (tells || call.name == "exit_group");
            acknowledged |= acknowledges;
            if !changed && !acknowledges && nth > 0 {
                continue;
            }
            let ending = if acknowledged {
                Ending::DarkAfter
            } else {
                Ending::Dark
            };
            let mut judge = |files: Files, luck: &str| {
                if seen.insert((files.clone(), acknowledged)) {
                    let verdict = golden.judge(&materialised(&files), None, ending, true);
                    tally.count(verdict, || {
                        format!(
                            "{}: power cut after call {nth}, {luck} is on the disk: {}",
                            golden.command(),
                            shown(call)
                        )
                    });
                }
            };
            judge(disk.state(&mut Luck::Nothing), "nothing unsynced");
            judge(disk.state(&mut Luck::Everything), "everything");
            for draw in 0..(random * 2 / changes).max(2) {
                judge(
                    disk.state(&mut Luck::Some(&mut chance)),
                    &format!("draw {draw} of the seed"),
                );
            }
        }
        let right = disk.state(&mut Luck::Everything) == flat(&place);
        assert!(
            right,
            "{}: the model is not what the disk has",
            golden.operation.name
        );
    });
}

/// A run is killed, another one does the same or appends, tells success, and then the power goes.
pub fn after_a_kill(faults: &Faults, tally: &Tally) {
    if let Some(why) = &faults.untraced {
        return tally.skip(why);
    }
    let mut jobs = Vec::new();
    for golden in &faults.goldens {
        let (_, calls) = trace::run_with(&golden.before.copy(), golden.operation, &[]);
        let calls = calls
            .into_iter()
            .filter(|call| changes(call) || call.name == "exit_group");
        jobs.extend(calls.map(|call| (golden, call)));
    }
    let random = if faults.long { 10 } else { 2 };
    in_parallel(&jobs, |(golden, call)| {
        let injection = format!("{}:signal=KILL:when={}", call.name, call.nth);
        let place = golden.before.copy();
        let mut disk = Disk::new(place.root());
        let operation = golden.operation;
        let input = operation.input.as_bytes();
        let (_, calls) = trace::recorded(
            &place,
            operation.arguments,
            input,
            std::slice::from_ref(&injection),
        );
        calls.iter().for_each(|call| drop(disk.replay(call)));
        let told = |then: &str| {
            format!(
                "{}: inject={injection}, then {then}, then a power cut",
                golden.command()
            )
        };
        // The same folder, since the trace names it; kept for the other way to go on.
        let killed = place.state().files;
        for same in [true, false] {
            let append = ["append", operation.session.unwrap_or_default(), "acknowledged"];
            let arguments = if same { operation.arguments } else { &append };
            if !same && !operation.session.is_some_and(|id| place.log(id).exists()) {
                continue;
            }
            let mut disk = if same {
                disk.clone()
            } else {
                std::mem::replace(&mut disk, Disk::new(place.root()))
            };
            disk.next_process();
            let (outcome, calls) = trace::recorded(&place, arguments, if same { input } else { b"" }, &[]);
            calls.iter().for_each(|call| drop(disk.replay(call)));
            let new = place.state().files == golden.new.files;
            restore(&place, &killed);
            if outcome.status != 0 || same && !new {
                continue;
            }
            let mut chance = Chance::new(faults.seed, operation.name);
            for draw in 0..=random {
                let luck = if draw == 0 {
                    Luck::Nothing
                } else {
                    Luck::Some(&mut chance)
                };
                let dark = materialised(&disk.state(&mut { luck }));
                let verdict = if same {
                    golden.judge(&dark, None, Ending::DarkAfter, true)
                } else {
                    let log = std::fs::read(dark.log(append[1])).unwrap_or_default();
                    let there = String::from_utf8_lossy(&log).contains("\"acknowledged\"");
                    there
                        .then_some(())
                        .ok_or("an acknowledged message is lost".to_string())
                };
                tally.count(verdict, || told(if same { "the same" } else { "an append" }));
            }
        }
    });
}

/// Whether a call changes what is on the disk, or makes it durable.
fn changes(call: &Call) -> bool {
    const CHANGING: [&str; 12] = [
        "write",
        "pwrite64",
        "ftruncate",
        "fsync",
        "fdatasync",
        "syncfs",
        "linkat",
        "renameat2",
        "renameat",
        "unlinkat",
        "mkdirat",
        "mkdir",
    ];
    let tells = call.text.starts_with("write(1,") || call.text.starts_with("write(2,");
    CHANGING.contains(&call.name.as_str()) && !tells
}

fn materialised(files: &Files) -> Place {
    let place = Place::new();
    for (path, bytes) in files {
        place.write(path, bytes);
    }
    place
}

/// The files of a place, unfinished ones included.
fn flat(place: &Place) -> Files {
    let state = place.state();
    let hidden = state.leftovers.into_iter().map(|path| {
        let bytes = std::fs::read(place.root().join(&path)).unwrap();
        (path, bytes)
    });
    state.files.into_iter().chain(hidden).collect()
}

/// Puts a place back to these files.
fn restore(place: &Place, files: &Files) {
    for path in place
        .state()
        .files
        .keys()
        .filter(|path| !files.contains_key(*path))
    {
        std::fs::remove_file(place.root().join(path)).unwrap();
    }
    for (path, bytes) in files {
        place.write(path, bytes);
    }
}

fn shown(call: &Call) -> String {
    call.text.chars().take(80).collect()
}
