//! Appends truncated where nothing shows it: at the end of a line or of a memory page. A repetition, a complete gc,
//! its undo and fsck must work afterwards, and data acknowledged then must be recoverable.

use super::Faults;
use super::chance::spread;
use super::check::shown;
use super::golden::{Golden, lost};
use super::place::{CONVO, LONGEST, Place, run as run_command};
use super::prepare::{dangling, long_and_packed, pair_packed, repaired};
use super::report::Tally;
use super::scenario::{BASE, Between, Operation};
use super::short::{FAILS, KILLS, missing};

/// The minimum unit of a write by the kernel, in bytes.
const PAGE: usize = 4096;

/// Operations that append, one for each kind of file.
const APPENDING: &[Operation] = &[
    Operation {
        name: "gc behind a gc",
        prepare: long_and_packed,
        arguments: &["gc", "chat"],
        between: Between::Files,
        brings: ("store/archive/chat.jsonl", "five?"),
        ..BASE
    },
    Operation {
        name: "fsck --repair behind a repair",
        prepare: repaired,
        arguments: &["fsck", "--repair", "chat"],
        between: Between::Files,
        brings: ("store/quarantine/chat.jsonl", "by another hand"),
        ..BASE
    },
    Operation {
        name: "fsck --repair of a second alias",
        prepare: dangling,
        arguments: &["fsck", "--repair"],
        between: Between::Files,
        brings: ("store/quarantine/@aliases.jsonl", "second"),
        ..BASE
    },
    Operation {
        name: "gc -i of a pair behind one",
        prepare: pair_packed,
        arguments: &["gc", "-i", "pair/x.jsonl"],
        session: None,
        between: Between::View,
        brings: ("work/pair/.convo/archive/x.jsonl", "text 4"),
        ..BASE
    },
];

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = missing() {
        return tally.skip(why);
    }
    let own = Golden::those(APPENDING.iter());
    let mut jobs = Vec::new();
    for (golden, is_own) in own
        .iter()
        .map(|golden| (golden, true))
        .chain(faults.goldens.iter().map(|golden| (golden, false)))
        .filter(|(golden, _)| !golden.operation.destroys)
    {
        let ends = ends(golden);
        assert!(
            !is_own || !ends.is_empty(),
            "{} appends nothing",
            golden.operation.name
        );
        let ends = if faults.long || is_own {
            ends
        } else {
            spread(&ends, 4)
        };
        jobs.extend(
            ends.into_iter()
                .flat_map(|end| [(golden, end, true), (golden, end, false)]),
        );
    }
    faults.inject(&jobs, 60, |(golden, end, fails)| {
        tally.count(judge(golden, *end, *fails), || {
            let how = if *fails {
                "writing fails"
            } else {
                "the writer is killed"
            };
            format!("{}: {how} at byte {end} of any file", golden.command())
        });
    });
}

/// Ends of lines, with and without newline, and of pages in the appended data.
fn ends(golden: &Golden) -> Vec<usize> {
    let mut ends = Vec::new();
    for (path, new) in &golden.new.files {
        let old = golden.old.files.get(path).map_or(&[][..], Vec::as_slice);
        if old.is_empty() || !new.starts_with(old) {
            continue;
        }
        let newlines = (old.len()..new.len()).filter(|at| new[*at] == b'\n');
        ends.extend(newlines.flat_map(|at| [at, at + 1]));
        ends.extend((old.len()..new.len()).filter(|at| at % PAGE == 0));
        ends.retain(|end| *end != new.len());
    }
    ends.sort_unstable();
    ends.dedup();
    ends
}

fn judge(golden: &Golden, end: usize, fails: bool) -> Result<(), String> {
    let place = golden.before.copy();
    let operation = golden.operation;
    let mut command = place.program("sh");
    command
        .args(["-c", if fails { FAILS } else { KILLS }, &end.to_string(), CONVO])
        .args(operation.arguments)
        .env("CONVO_SEED", "another"); // ids differ in each run
    let outcome = run_command(command, operation.input.as_bytes(), LONGEST);
    let as_expected = match fails {
        true => outcome.status > 0 || outcome.status == operation.status,
        false => outcome.status == -25 || outcome.status == operation.status,
    };
    if !as_expected {
        return Err(shown(&outcome));
    }
    let convo = |arguments: &[&str], allowed: &[i32]| {
        let outcome = place.convo(arguments);
        match allowed.contains(&outcome.status) {
            true => Ok(outcome),
            false => Err(format!("then {}: {}", arguments.join(" "), shown(&outcome))),
        }
    };
    let id = operation.session.filter(|id| place.log(id).exists());
    // A last line without newline is completed by a repair or the next append; gc leaves it.
    if let Some(id) = id {
        let read = convo(&["cat", id], &[0, 65])?;
        if read.status == 65 || !std::fs::read(place.log(id)).unwrap().ends_with(b"\n") {
            convo(&["fsck", "--repair", id], &[0])?;
        }
    }
    // A repeated stream is a new stream that contains the ids of the first.
    if operation.between != Between::Lines {
        let again = place.fed(operation.arguments, operation.input.as_bytes());
        if ![&[0, operation.status], operation.again]
            .concat()
            .contains(&again.status)
        {
            return Err(format!("the same again: {}", shown(&again)));
        }
    }
    if let Some(id) = operation.session.filter(|id| place.log(id).exists()) {
        convo(&["gc", id], &[0])?;
        for event in gcs(&place, id) {
            let back = convo(&["restore", id, &event], &[0, 1])?;
            if back.status == 1 && !back.stderr.contains("would mean something else") {
                return Err(format!("the gc {event} cannot be undone: {}", shown(&back)));
            }
            if back.status == 1 {
                break;
            }
        }
    }
    if place.store().exists() {
        // A repair fixes an undone link, or a chain log with a partial last line.
        let steps = operation.between == Between::Steps;
        let check = if steps {
            &["fsck", "--repair"][..]
        } else {
            &["fsck"]
        };
        convo(check, &[0])?;
    }
    let now = place.state();
    if let Some(line) = lost(&golden.old, &now) {
        return Err(format!("lost: {}", String::from_utf8_lossy(line)));
    }
    match now.leftovers.is_empty() {
        true => Ok(()),
        false => Err(format!("there is still {:?}", now.leftovers)),
    }
}

/// The active gc events of a session, newest first.
fn gcs(place: &Place, id: &str) -> Vec<String> {
    let log = std::fs::read_to_string(place.log(id)).unwrap_or_default();
    let value = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap_or_default();
    let lines: Vec<_> = log.lines().map(value).collect();
    let undone = |event: &&str| {
        lines
            .iter()
            .any(|line| line["type"] == "restore" && line["of"] == *event)
    };
    let gcs = lines.iter().rev().filter(|line| line["type"] == "gc");
    let events = gcs.filter_map(|line| line["id"].as_str());
    events
        .filter(|event| !undone(event))
        .map(str::to_string)
        .collect()
}
