//! Constraint retention: standing instructions kept verbatim, by position.

use crate::chance::Chance;
use crate::detected::{SETS, sentences};
use crate::left::{Way, left};
use crate::session::Made;
use crate::{KINDS, SEEDS};
use serde_json::Value;
use std::path::Path;

/// Number of instructions inserted into a conversation, and of other sentences.
const RULES: usize = 15;

/// Conversation lengths in turns. In shorter ones the budget share for rules holds only few of them.
const LENGTHS: [usize; 2] = [400, 200];

pub fn read(path: &Path) -> Result<Vec<String>, String> {
    let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let bytes = std::fs::read(path).map_err(|error| wrong(&error))?;
    let file: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
    let rules = file["compint"].as_array();
    let rules = rules.ok_or_else(|| wrong(&"no list under compint"))?;
    Ok(rules
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_string)
        .collect())
}

/// Selects distinct sentences at random.
fn some(mut of: Vec<String>, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed);
    let mut some = Vec::new();
    while some.len() < RULES && !of.is_empty() {
        some.push(of.swap_remove(chance.below(of.len())));
    }
    some
}

#[derive(Default)]
struct Sums {
    /// Kept and inserted rules by position; the last entry is for the shorter conversations.
    kept: [(usize, usize); 4],
    /// Sentences in the block, and those of them that are not rules.
    taken: usize,
    wrongly: usize,
}

pub fn print(compint: Option<&[String]>) {
    let mut sets: Vec<(String, Option<Vec<String>>, Vec<String>)> = Vec::new();
    let others = sentences(SETS[SETS.len() - 1].1, false);
    if let Some(rules) = compint {
        sets.push(("COMPINT's".to_string(), Some(rules.to_vec()), others.clone()));
    }
    for (name, set) in SETS {
        sets.push((name.to_string(), None, sentences(set, false)));
    }
    println!(
        "Constraint retention, %: {RULES} rules as messages of a user at the top, in the middle, near the end, and as many \
sentences that are none;\n{} conversations of {} turns by place, and as many of {} turns",
        KINDS.len() as u64 * SEEDS,
        LENGTHS[0],
        LENGTHS[1]
    );
    for (nth, (name, given, others)) in sets.iter().enumerate() {
        println!(
            "\n{:34}{:>9}{:>9}{:>9}{:>12}{:>18}",
            format!("rules: {name}"),
            "top",
            "middle",
            "end",
            format!("{} turns", LENGTHS[1]),
            "block: no rules"
        );
        for budget in crate::BUDGETS {
            for way in [Way::KeepLast, Way::Extract, Way::Optimize] {
                let mut sums = Sums::default();
                for (_, make) in KINDS {
                    for (turns, seed) in LENGTHS
                        .iter()
                        .flat_map(|turns| (0..SEEDS).map(move |seed| (*turns, seed)))
                    {
                        let rules = match given {
                            Some(given) => given.clone(),
                            None => {
                                let set = SETS[nth - usize::from(compint.is_some())].1;
                                some(sentences(set, true), seed)
                            }
                        };
                        one(
                            &make(seed, turns),
                            &rules,
                            &some(others.clone(), seed),
                            (way, budget),
                            &mut sums,
                        );
                    }
                }
                print!("{:34}", format!("  {budget} %, {}", way.name()));
                for (nth, (kept, of)) in sums.kept.into_iter().enumerate() {
                    let width = if nth == 3 { 12 } else { 9 };
                    print!("{:>width$.1}", 100.0 * kept as f64 / of.max(1) as f64);
                }
                match sums.taken {
                    0 => println!("{:>18}", "-"),
                    taken => println!("{:>18.1}", 100.0 * sums.wrongly as f64 / taken as f64),
                }
            }
        }
    }
    println!();
}

fn one(built: &Made, rules: &[String], others: &[String], (way, budget): (Way, u64), sums: &mut Sums) {
    // The other sentences are inserted throughout, independent of the rules.
    let turns = built.lines.len();
    for (place, at) in [0, turns / 2, turns.saturating_sub(8)].into_iter().enumerate() {
        let at = built.place(at);
        let planted: Vec<String> = rules.iter().chain(others).cloned().collect();
        let session = built.session(at, &planted);
        let left = left(&session, way, budget);
        let column = if turns < LENGTHS[0] { 3 } else { place };
        sums.kept[column].0 += rules.iter().filter(|rule| left.says(rule)).count();
        sums.kept[column].1 += rules.len();
        let block = left.instructions();
        sums.taken += block.len();
        sums.wrongly += block
            .iter()
            .filter(|line| !rules.iter().any(|rule| rule == *line))
            .count();
    }
}
