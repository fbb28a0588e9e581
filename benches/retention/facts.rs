//! Measures how many facts are kept, by kind.

use crate::left::{Left, Way, left};
use crate::session::{Fact, Kind};
use crate::{BUDGETS, KINDS, SEEDS, TURNS};

/// Whether a fact is kept; one with a relative date requires the absolute day, or its message with the time.
fn is_left(fact: &Fact, left: &Left) -> bool {
    match &fact.dated {
        None => left.says(&fact.text),
        Some(dated) => {
            let in_view = left.messages.values().any(|message| message.contains(&fact.text));
            in_view || left.summary.contains(dated)
        }
    }
}

pub fn print() {
    println!(
        "Facts that are left, %, by kind: {} conversations of each sort, {} to {} turns\n",
        TURNS.len() as u64 * SEEDS,
        TURNS[0],
        TURNS[TURNS.len() - 1]
    );
    for (name, make) in KINDS {
        let all: Vec<_> = TURNS
            .iter()
            .flat_map(|turns| (0..SEEDS).map(move |seed| make(seed, *turns)))
            .collect();
        for budget in BUDGETS {
            print!("{:30}", format!("{name}, {budget} %"));
            for kind in Kind::ALL {
                print!("{:>11}", kind.name());
            }
            println!("{:>11}", "all");
            for way in Way::ALL {
                let mut found = [(0usize, 0usize); Kind::ALL.len()];
                for built in &all {
                    let session = built.session(usize::MAX, &[]);
                    let left = left(&session, way, budget);
                    for fact in &built.facts {
                        let of = &mut found[fact.kind as usize];
                        of.0 += usize::from(is_left(fact, &left));
                        of.1 += 1;
                    }
                }
                print!("{:30}", way.name());
                for (found, of) in found {
                    match of {
                        0 => print!("{:>11}", "-"),
                        of => print!("{:>11.1}", 100.0 * found as f64 / of as f64),
                    }
                }
                let (kept, of) = found
                    .iter()
                    .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                println!("{:>11.1}", 100.0 * kept as f64 / of.max(1) as f64);
            }
            println!();
        }
    }
}
