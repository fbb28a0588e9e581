//! Runs every writing command with every fault: kills, failing system calls, short writes, full disks, power
//! failures, damaged bytes, concurrency, hostile names and input. Checks the guarantees of docs/store.md.
//!
//! `cargo test --locked --test faults` runs a sample of every kind (CONTRIBUTING.md says how long), `FAULTS=all` every
//! injection, `FAULTS=long` ten times as many random ones, and `FAULTS=power` only one kind. `FAULTS_SEED` changes the
//! random numbers, and `FAULTS_OF=continue,join` selects operations by words. Kinds that need missing tools (strace, mounts)
//! are skipped with a notice.
#![allow(clippy::unwrap_used)]

mod bytes;
mod chain;
mod chance;
mod check;
mod crowd;
#[cfg(feature = "sqlite")]
mod databases;
mod disk;
mod ends;
mod errors;
mod foreign;
mod full;
mod golden;
mod homes;
mod hostile;
mod input;
mod kills;
mod log;
mod place;
mod power;
mod prepare;
mod readers;
mod report;
mod scenario;
mod short;
mod shutdown;
mod trace;

use convo::model::threads;
use golden::Golden;
use report::{Row, Tally};
use std::process::ExitCode;
use std::time::Instant;

/// The parameters of the tests.
pub struct Faults {
    /// Every operation with its states.
    pub goldens: Vec<Golden>,
    /// The random seed.
    pub seed: u64,
    /// Whether to run every injection rather than a sample.
    pub all: bool,
    /// Whether to run more random injections.
    pub long: bool,
    /// Why runs cannot be traced, if so.
    pub untraced: Option<String>,
}

type Kind = (&'static str, fn(&Faults, &Tally));

const KINDS: &[Kind] = &[
    ("kills", kills::run),
    ("errors", errors::run),
    ("power", power::run),
    ("power after a kill", power::after_a_kill),
    ("append after a kill", power::append_after_a_kill),
    ("file system shut down", shutdown::run),
    ("short writes", short::run),
    ("ends of appends", ends::run),
    ("disk full", full::run),
    ("bytes", bytes::run),
    ("readers", readers::run),
    ("crowd", crowd::run),
    ("random kills", crowd::killed),
    ("chain", chain::run),
    ("hostile", hostile::run),
    ("input", input::run),
];

/// The default seed; any value works.
const SEED: u64 = 20_261_120;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        // For nextest, which lists ignored tests too.
        if !arguments.iter().any(|argument| argument == "--ignored") {
            println!("faults: test");
        }
        return ExitCode::SUCCESS;
    }
    if !is_wanted(&arguments) {
        return ExitCode::SUCCESS;
    }
    let wanted = std::env::var("FAULTS").unwrap_or_default();
    let has = |wanted_word: &str| wanted.split(',').any(|word| word == wanted_word);
    let long = has("long");
    let names: Vec<&str> = wanted
        .split(',')
        .filter(|word| !["", "all", "long"].contains(word))
        .collect();
    if let Some(unknown) = names
        .iter()
        .find(|name| !KINDS.iter().any(|(kind, _)| kind == *name))
    {
        let all: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        println!("FAULTS={unknown}: there are all, long, {}", all.join(", "));
        return ExitCode::FAILURE;
    }
    let seed = std::env::var("FAULTS_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(SEED);
    println!("FAULTS_SEED={seed}");
    let began = Instant::now();
    let _base = place::base();
    let faults = Faults {
        goldens: Golden::all(),
        seed,
        all: long || has("all"),
        long,
        untraced: trace::missing(),
    };
    let mut rows: Vec<Row> = Vec::new();
    for (name, run) in KINDS {
        if names.is_empty() || names.contains(name) {
            let began = Instant::now();
            let tally = Tally::default();
            run(&faults, &tally);
            rows.push((name, tally, began.elapsed().as_secs_f64()));
        }
    }
    drop(faults);
    match report::print(&rows, began.elapsed().as_secs_f64()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Whether the names on the command line, in the form of usual test programs, select this test.
fn is_wanted(arguments: &[String]) -> bool {
    const WITH_VALUE: [&str; 5] = ["--test-threads", "--format", "--color", "--logfile", "-Z"];
    let (mut names, mut skipped) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--skip" => skipped.extend(rest.next()),
            option if WITH_VALUE.contains(&option) => drop(rest.next()),
            option if option.starts_with('-') => {}
            _ => names.push(argument),
        }
    }
    let ours = |name: &&String| "faults".contains(name.as_str());
    (names.is_empty() || names.iter().any(ours)) && !skipped.iter().any(ours)
}

impl Faults {
    /// Runs `each` for every job, or for an evenly spread sample.
    pub fn inject<T: Sync>(&self, jobs: &[T], sample: usize, each: impl Fn(&T) + Sync) {
        let most = if self.all { jobs.len() } else { sample };
        let chosen = chance::spread(&jobs.iter().collect::<Vec<_>>(), most);
        in_parallel(&chosen, |job| each(job));
    }
}

/// Runs `each` for every item, with two threads per core, because runs wait for files and tracers; results are in order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    threads::in_parallel(2 * threads::cores(), items, each)
}
