//! Measures how exchanges with tools are kept: complete, shortened, as a digest, quoted, or only covered by a
//! summary. None may disappear silently.

use crate::coding;
use crate::left::{Left, Way, left};
use crate::session::Call;
use crate::{BUDGETS, SEEDS, TURNS};

const FATES: [&str; 6] = ["whole", "shortened", "digest", "quoted", "by id", "lost"];

fn outcome(call: &Call, left: &Left, results: &[String]) -> usize {
    let there = |id: &String| left.messages.contains_key(id);
    if there(&call.result) && there(&call.caller) {
        return usize::from(left.shortened.contains(&call.result));
    }
    if left.digested.contains(&call.result) && !left.digests.is_empty() {
        return 2;
    }
    // The summary contains a line of its result.
    if results.iter().any(|line| left.summary.contains(line.as_str())) {
        return 3;
    }
    match left.covered.contains(&call.result) && left.covered.contains(&call.caller) {
        true => 4,
        false => 5,
    }
}

pub fn print() {
    println!("Exchanges with tools, %, by what is left of them\n");
    for budget in BUDGETS {
        print!("{:30}", format!("{budget} %"));
        FATES.iter().for_each(|change| print!("{change:>11}"));
        println!();
        for way in Way::ALL {
            let mut changes = [0usize; FATES.len()];
            for (turns, seed) in TURNS
                .iter()
                .flat_map(|turns| (0..SEEDS).map(move |seed| (*turns, seed)))
            {
                let built = coding::session(seed, turns);
                let session = built.session(usize::MAX, &[]);
                let left = left(&session, way, budget);
                for call in &built.calls {
                    changes[outcome(call, &left, &built.result_lines(call))] += 1;
                }
            }
            let all: usize = changes.iter().sum();
            print!("{:30}", way.name());
            changes
                .iter()
                .for_each(|change| print!("{:>11.1}", 100.0 * *change as f64 / all.max(1) as f64));
            println!();
        }
        println!();
    }
}
