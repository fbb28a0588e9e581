//! Power failures: replays a recorded run into a model of a disk, and judges possible disk states at each point. Also
//! after a killed run, because the acknowledgment of the next run must not depend on data that the killed one left
//! unsynced.

use super::chance::Chance;
use super::check::Ending;
use super::disk::luck::Luck;
use super::disk::{Disk, Files};
use super::golden::Golden;
use super::place::Place;
use super::report::Tally;
use super::scenario::Between;
use super::trace::{self, Call};
use super::{Faults, in_parallel};
use std::collections::HashSet;

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = &faults.untraced {
        return tally.skip(why);
    }
    let random = match (faults.long, faults.all) {
        (true, _) => 120,
        (_, true) => 24,
        _ => 6,
    };
    in_parallel(&faults.goldens, |golden| {
        let place = golden.before.copy();
        let mut disk = Disk::new(place.root());
        let (outcome, calls) = trace::recorded(&place, golden.operation, &[]);
        assert_eq!(
            outcome.status, golden.operation.status,
            "{}",
            golden.operation.name
        );
        let mut chance = Chance::new(faults.seed, golden.operation.name);
        let mut seen = HashSet::new();
        let mut acknowledged = false;
        let changes = calls.iter().filter(|call| changes(call)).count().max(1);
        for (nth, call) in calls.iter().enumerate() {
            let changed = disk.replay(call);
            let is_output = call.text.starts_with("write(1,") || call.text.starts_with("write(2,");
            let acknowledges = !acknowledged && (is_output || call.name == "exit_group");
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
        let mut model = disk.state(&mut Luck::Everything);
        model.retain(|path, _| !path.starts_with("store/cache/"));
        let right = model == flat(&place);
        assert!(
            right,
            "{}: the model is not what the disk has: {:?}",
            golden.operation.name,
            differing(&model, &flat(&place))
        );
    });
}

/// Kills a run, repeats it until it reports success, then cuts the power.
pub fn after_a_kill(faults: &Faults, tally: &Tally) {
    two_runs(faults, tally, |golden, place, disk, luck| {
        let operation = golden.operation;
        let (outcome, calls) = trace::recorded(place, operation, &[]);
        replay(disk, &calls);
        let done = place.state().files == golden.new.files;
        // A report without rows acknowledges nothing.
        let has_report = operation.between != Between::Each || !outcome.stdout.is_empty();
        if outcome.status != operation.status || !done || !has_report {
            return;
        }
        for mut luck in luck {
            let dark = materialised(&disk.state(&mut luck.luck()));
            let verdict = golden.judge(&dark, None, Ending::DarkAfter, true);
            tally.count(verdict, || {
                format!("{}, then the same, then a power cut", luck.what)
            });
        }
    });
}

/// Kills a run, appends a message, then cuts the power after the acknowledgment.
pub fn append_after_a_kill(faults: &Faults, tally: &Tally) {
    two_runs(faults, tally, |golden, place, disk, luck| {
        let Some(id) = golden.operation.session.filter(|id| place.log(id).exists()) else {
            return;
        };
        let (outcome, calls) = trace::recorded_run(place, &["append", id, "acknowledged"]);
        replay(disk, &calls);
        if outcome.status != 0 {
            return;
        }
        for mut luck in luck {
            let dark = materialised(&disk.state(&mut luck.luck()));
            let log = std::fs::read(dark.log(id)).unwrap_or_default();
            let there = String::from_utf8_lossy(&log).contains("\"acknowledged\"");
            let verdict = if there {
                Ok(())
            } else {
                Err("an acknowledged message is lost".to_string())
            };
            tally.count(verdict, || {
                format!("{}, then an append, then a power cut", luck.what)
            });
        }
    });
}

/// Which data is on the disk in the end: no unsynced data, or a random part.
struct Draw {
    what: String,
    chance: Option<Chance>,
}

impl Draw {
    fn luck(&mut self) -> Luck<'_> {
        self.chance.as_mut().map_or(Luck::Nothing, Luck::Some)
    }
}

/// Kills the first of two runs at every call that changes something, with the disk state at that point.
fn two_runs(faults: &Faults, tally: &Tally, second: impl Fn(&Golden, &Place, &mut Disk, Vec<Draw>) + Sync) {
    if let Some(why) = &faults.untraced {
        return tally.skip(why);
    }
    let mut jobs = Vec::new();
    for golden in &faults.goldens {
        let calls = golden.calls().iter();
        let calls = calls.filter(|call| changes(call) || call.name == "exit_group");
        jobs.extend(calls.map(|call| (golden, call)));
    }
    let random = if faults.long { 10 } else { 2 };
    faults.inject(&jobs, 40, |(golden, call)| {
        let injection = format!("{}:signal=KILL:when={}", call.name, call.nth);
        let place = golden.before.copy();
        let mut disk = Disk::new(place.root());
        let operation = golden.operation;
        let killed = std::slice::from_ref(&injection);
        let (_, calls) = trace::recorded(&place, operation, killed);
        replay(&mut disk, &calls);
        disk.next_process();
        let draw = |nth| Draw {
            what: format!("{}: inject={injection}, draw {nth}", golden.command()),
            chance: (nth > 0).then(|| Chance::new(faults.seed, &format!("{} {nth}", operation.name))),
        };
        second(golden, &place, &mut disk, (0..=random).map(draw).collect());
    });
}

fn replay(disk: &mut Disk, calls: &[Call]) {
    for call in calls {
        disk.replay(call);
    }
}

/// Whether a call changes disk content or makes it durable.
fn changes(call: &Call) -> bool {
    const CHANGING: [&str; 12] = [
        "write", "pwrite64", "ftruncate", "fsync", "fdatasync", "syncfs", "linkat", "renameat2", "renameat",
        "unlinkat", "mkdirat", "mkdir",
    ];
    let is_output = call.text.starts_with("write(1,") || call.text.starts_with("write(2,");
    CHANGING.contains(&call.name.as_str()) && !is_output
}

fn materialised(files: &Files) -> Place {
    let place = Place::new();
    for (path, bytes) in files {
        place.write(path, bytes);
    }
    place
}

/// The files of a place, including temporary ones.
fn flat(place: &Place) -> Files {
    let state = place.state();
    let hidden = state.leftovers.into_iter().map(|path| {
        let bytes = std::fs::read(place.root().join(&path)).unwrap();
        (path, bytes)
    });
    state.files.into_iter().chain(hidden).collect()
}

/// The paths whose bytes differ.
fn differing<'f>(one: &'f Files, other: &'f Files) -> Vec<&'f String> {
    let is_other = |path: &&String| one.get(*path) != other.get(*path);
    let mut paths: Vec<&String> = one.keys().chain(other.keys()).filter(is_other).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn shown(call: &Call) -> String {
    call.text.chars().take(80).collect()
}
