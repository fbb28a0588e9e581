//! What was injected and what came out wrong: counted while it runs, told in one table at the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// So many findings are told in full; more of the same help nobody.
const TOLD: usize = 20;

/// One kind of fault.
#[derive(Default)]
pub struct Tally {
    injections: AtomicUsize,
    bad: Mutex<Vec<String>>,
    skipped: Mutex<Vec<String>>,
}

impl Tally {
    /// One injection and its verdict. `what` is enough to repeat it by hand.
    pub fn count(&self, verdict: Result<(), String>, what: impl FnOnce() -> String) {
        self.injections.fetch_add(1, Ordering::Relaxed);
        if let Err(why) = verdict {
            self.bad(format!("{}\n    {}", what(), why.replace('\n', "\n    ")));
        }
    }

    /// Several injections that were judged together and are fine.
    pub fn fine(&self, injections: usize) {
        self.injections.fetch_add(injections, Ordering::Relaxed);
    }

    /// Something that is wrong, beside the injections that are counted.
    pub fn bad(&self, what: String) {
        self.bad.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// A part that cannot be run here.
    pub fn skip(&self, why: impl Into<String>) {
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.push(why.into());
    }

    fn injections(&self) -> usize {
        self.injections.load(Ordering::Relaxed)
    }
}

/// A row of the table: the name, what was counted, the seconds it took.
pub type Row = (&'static str, Tally, f64);

/// Prints the table, what was skipped and what is bad; whether all is well.
pub fn told(rows: &[Row], seconds: f64) -> bool {
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
