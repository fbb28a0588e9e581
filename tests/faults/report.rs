//! Counts injections and findings, and prints a table at the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Maximum number of findings printed in full.
const TOLD: usize = 20;

/// The counts of one kind of fault.
#[derive(Default)]
pub struct Tally {
    injections: AtomicUsize,
    bad: Mutex<Vec<String>>,
    skipped: Mutex<Vec<String>>,
}

impl Tally {
    /// Counts an injection with its verdict; `what` describes how to repeat it.
    pub fn count(&self, verdict: Result<(), String>, what: impl FnOnce() -> String) {
        self.injections.fetch_add(1, Ordering::Relaxed);
        if let Err(why) = verdict {
            self.bad(format!("{}\n    {}", what(), why.replace('\n', "\n    ")));
        }
    }

    /// Counts several injections that were judged together and passed.
    pub fn fine(&self, injections: usize) {
        self.injections.fetch_add(injections, Ordering::Relaxed);
    }

    /// Adds a finding that belongs to no counted injection.
    pub fn bad(&self, what: String) {
        self.bad.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// Records a part that cannot be run here.
    pub fn skip(&self, why: impl Into<String>) {
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.push(why.into());
    }

    fn injections(&self) -> usize {
        self.injections.load(Ordering::Relaxed)
    }
}

/// A row of the table: name, counts, duration in seconds.
pub type Row = (&'static str, Tally, f64);

/// Prints the table, skipped parts and findings; returns whether there are no findings.
pub fn print(rows: &[Row], seconds: f64) -> bool {
    let mut all = Vec::new();
    let mut notes = Vec::new();
    for (name, tally, _) in rows {
        let bad = tally.bad.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(bad.iter().map(|what| format!("{name}: {what}")));
        let skipped = tally.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        notes.extend(skipped.iter().map(|why| format!("skipped: {name}: {why}")));
    }
    for (nth, what) in all.iter().take(TOLD).enumerate() {
        println!("bad {}: {what}", nth + 1);
    }
    if all.len() > TOLD {
        println!("and {} more", all.len() - TOLD);
    }
    let line = |name: &str, injections: usize, bad: usize, seconds: f64| {
        println!("{name:<21} | {injections:>10} | {bad:>5} | {seconds:>7.1}");
    };
    println!(
        "{:<21} | {:>10} | {:>5} | {:>7}",
        "fault", "injections", "bad", "seconds"
    );
    let mut total = (0, 0);
    for (name, tally, took) in rows {
        let bad = tally.bad.lock().unwrap_or_else(PoisonError::into_inner).len();
        line(name, tally.injections(), bad, *took);
        total = (total.0 + tally.injections(), total.1 + bad);
    }
    line("total", total.0, total.1, seconds);
    notes.iter().for_each(|note| println!("{note}"));
    all.is_empty()
}
