//! Needle recall: a fact in a long conversation, by its depth.

use super::BUDGETS;
use super::dialogue::Dialogue;
use super::generated::{self, Chance};
use super::methods::Method;

/// Conversations per depth.
const SEEDS: u64 = 20;

/// Turns per conversation.
const TURNS: usize = 300;

/// The planted fact; half of them contain neither a number nor a name.
fn needle(seed: u64) -> String {
    let mut chance = Chance::new(seed ^ 0xfeed);
    let (one, other) = (generated::word(&mut chance, 6), generated::word(&mut chance, 6));
    match seed % 4 {
        0 => format!(
            "The password of the archive is {one}-{other}-{}.",
            10 + chance.below(90)
        ),
        1 => format!("The spare key lies under the {one} beside the {other}."),
        2 => format!(
            "My doctor is Dr. {}{} in the old town.",
            one[..1].to_uppercase(),
            &one[1..]
        ),
        _ => format!("The boat is painted in {one} and {other}."),
    }
}

pub fn print(methods: &[Box<dyn Method>]) {
    println!(
        "Needle recall, %, by depth (0 is the oldest): {SEEDS} conversations of {TURNS} turns a depth\n"
    );
    let plain: Vec<Dialogue> = (0..SEEDS)
        .map(|seed| generated::dialogue(1000 + seed, TURNS))
        .collect();
    for budget in BUDGETS {
        print!("{:32}", format!("{budget} %"));
        for depth in (0..=100).step_by(10) {
            print!("{depth:>6}");
        }
        println!();
        for method in methods {
            print!("{:32}", method.name());
            for depth in (0..=100).step_by(10) {
                let found = (0..SEEDS)
                    .filter(|seed| finds(method.as_ref(), &plain[*seed as usize], *seed, depth, budget))
                    .count();
                print!("{:>6}", 100 * found as u64 / SEEDS);
            }
            println!();
        }
        println!();
    }
}

fn finds(method: &dyn Method, plain: &Dialogue, seed: u64, depth: usize, budget: u64) -> bool {
    let needle = needle(seed);
    let dialogue = plain.with(TURNS * depth / 100, std::slice::from_ref(&needle));
    method
        .keep(&dialogue, dialogue.budget(budget))
        .text
        .contains(&needle)
}
