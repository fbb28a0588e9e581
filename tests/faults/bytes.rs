//! Damage at rest: flips every bit of a log, truncates it at every byte, appends NULs, and removes, swaps or doubles
//! lines. Each damage must be reported with its line, and none may prevent the next append.

use super::chance::spread;
use super::check::{appends, shown};
use super::place::Place;
use super::report::Tally;
use super::{Faults, in_parallel, prepare};

/// Number of damaged logs read by one process.
const BATCH: usize = 200;

/// A damaged log: the kind of damage, its bytes, and the lines of which one must be reported.
#[derive(Clone)]
struct Damaged {
    what: String,
    log: Vec<u8>,
    lines: Vec<usize>,
}

pub fn run(faults: &Faults, tally: &Tally) {
    let place = Place::new();
    prepare::chat(&place);
    let log = std::fs::read(place.log("chat")).unwrap();
    let flips: Vec<Damaged> = (0..log.len() * 8).map(|bit| flip(&log, bit)).collect();
    let others = [torn(&log), moved(&log)].concat();
    let batches: Vec<&[Damaged]> = flips.chunks(BATCH).chain(others.chunks(BATCH)).collect();
    in_parallel(&batches, |batch| check_batch(batch, tally));
    let most = if faults.long { flips.len() } else { 150 };
    let some = spread(
        &flips.iter().chain(&others).collect::<Vec<_>>(),
        most + others.len(),
    );
    in_parallel(&some, |damaged| {
        let place = Place::new();
        place.write("store/sessions/chat.jsonl", &damaged.log);
        tally.count(check_append(&place, damaged), || {
            format!("{}, then an append", damaged.what)
        });
    });
}

/// The number of the line that contains this byte, from 1.
fn line_of(log: &[u8], at: usize) -> usize {
    1 + log[..at].iter().filter(|byte| **byte == b'\n').count()
}

fn flip(log: &[u8], bit: usize) -> Damaged {
    let at = bit / 8;
    let mut damaged = log.to_vec();
    damaged[at] ^= 1 << (bit % 8);
    let line = line_of(log, at);
    // If a newline is added or removed, the next line is the other half.
    let halves = [log[at], damaged[at]].contains(&b'\n');
    Damaged {
        what: format!("bit {} of byte {at} flipped", bit % 8),
        log: damaged,
        lines: if halves { vec![line, line + 1] } else { vec![line] },
    }
}

/// The last line truncated at every byte, with and without NULs after it.
fn torn(log: &[u8]) -> Vec<Damaged> {
    let start = log[..log.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    let line = line_of(log, start);
    let mut all = Vec::new();
    for end in start..log.len() {
        for nuls in [0, 1, 7] {
            let mut damaged = log[..end].to_vec();
            damaged.resize(end + nuls, 0);
            // Complete lines, or one that lacks only its newline, are not damage.
            let whole = nuls == 0 && (end == start || end == log.len() - 1);
            all.push(Damaged {
                what: format!("cut off at byte {end}, {nuls} NULs behind it"),
                log: damaged,
                lines: if whole { Vec::new() } else { vec![line] },
            });
        }
    }
    all
}

/// A line removed, doubled, or swapped with the next one.
fn moved(log: &[u8]) -> Vec<Damaged> {
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    let mut all = Vec::new();
    for at in 0..lines.len() {
        let mut add = |what: &str, lines: &[&[u8]], reported: Vec<usize>| {
            all.push(Damaged {
                what: format!("line {} {what}", at + 1),
                log: lines.concat(),
                lines: reported,
            });
        };
        if at + 1 < lines.len() {
            add(
                "removed",
                &[&lines[..at], &lines[at + 1..]].concat(),
                vec![at + 1],
            );
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            add("swapped with the next", &swapped, vec![at + 1, at + 2]);
        }
        add("doubled", &[&lines[..=at], &lines[at..]].concat(), vec![at + 2]);
    }
    all
}

/// Reads a batch of damaged logs and compares the reports.
fn check_batch(batch: &[Damaged], tally: &Tally) {
    let place = Place::new();
    let names: Vec<String> = (0..batch.len()).map(|nth| format!("damaged{nth}")).collect();
    for (name, damaged) in names.iter().zip(batch) {
        place.write(&format!("store/sessions/{name}.jsonl"), &damaged.log);
    }
    let arguments: Vec<&str> = ["count"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let outcome = place.convo(&arguments);
    if outcome.status != 65 {
        tally.bad(format!("{} damaged logs: {}", batch.len(), shown(&outcome)));
    }
    for (name, damaged) in names.iter().zip(batch) {
        let prefix = format!("convo: {name}:");
        let words = outcome
            .stderr
            .lines()
            .filter_map(|line| line.strip_prefix(&prefix));
        let found: Vec<usize> = words
            .filter_map(|word| word.split(':').next()?.parse().ok())
            .collect();
        let right = match damaged.lines.is_empty() {
            true => found.is_empty(),
            false => found.iter().any(|line| damaged.lines.contains(line)),
        };
        let verdict = if right {
            Ok(())
        } else {
            Err(format!("reported: {found:?}, and not {:?}", damaged.lines))
        };
        tally.count(verdict, || damaged.what.clone());
    }
}

/// Checks a single log: its status, and the next append.
fn check_append(place: &Place, damaged: &Damaged) -> Result<(), String> {
    let outcome = place.convo(&["cat", "chat"]);
    let expected = if damaged.lines.is_empty() { 0 } else { 65 };
    if outcome.status != expected {
        return Err(format!("not {expected}: {}", shown(&outcome)));
    }
    appends(place, "chat", &damaged.log, expected)
}
