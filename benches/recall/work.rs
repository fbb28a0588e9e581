//! What `compact` keeps of agent sessions: facts by speaker and by depth, rules, and the used share of the budget.

use super::agents::{Agent, Kind, agent};
use super::compacted::{Left, STRATEGIES, Strategy, compacted, tokens};
use super::{BUDGETS, rules};
use std::collections::BTreeMap;

/// Sessions per kind.
const SEEDS: u64 = 10;

pub fn print() {
    println!(
        "Agents' sessions: {SEEDS} of a kind; facts kept to the word, %, said by users, by the model, in results; \
         budget used, %\n"
    );
    for kind in Kind::ALL {
        let agents: Vec<(Agent, u64)> = (0..SEEDS)
            .map(|seed| {
                let agent = agent(kind, seed, None);
                let size = tokens(&agent.lines);
                (agent, size)
            })
            .collect();
        let size: u64 = agents.iter().map(|(_, size)| size).sum::<u64>() / SEEDS;
        let facts: usize = agents.iter().map(|(agent, _)| agent.facts.len()).sum();
        println!("{}: {size} tokens each, {facts} facts", kind.name());
        print!("{:24}", "");
        for budget in BUDGETS {
            print!("{:>38}", format!("{budget} %: user, model, result; used"));
        }
        println!();
        let mut depths = Vec::new();
        for strategy in STRATEGIES {
            print!("{:24}", strategy.name());
            let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
            for budget in BUDGETS {
                let left: Vec<(Left, u64)> = agents
                    .iter()
                    .map(|(agent, size)| {
                        let budget = size * budget / 100;
                        (compacted(&agent.lines, strategy, budget), budget)
                    })
                    .collect();
                print!("{:>38}", row(&agents, &left));
                if budget == 10 {
                    for (left, _) in &left {
                        for (name, atoms) in &left.levels {
                            *levels.entry(name).or_default() += atoms;
                        }
                    }
                    depths.push((strategy, by_depth(&agents, &left)));
                }
            }
            println!("   {levels:?}");
        }
        println!("by depth at 10 %, what users and the model said (0 the oldest)");
        for (strategy, depths) in depths {
            print!("{:24}", strategy.name());
            depths.iter().for_each(|share| print!("{share:>6.0}"));
            println!();
        }
        println!();
    }
    retention();
}

fn row(agents: &[(Agent, u64)], left: &[(Left, u64)]) -> String {
    let mut text = String::new();
    for role in ["user", "assistant", "tool"] {
        let (mut found, mut all) = (0usize, 0usize);
        for ((agent, _), (left, _)) in agents.iter().zip(left) {
            for fact in agent.facts.iter().filter(|fact| fact.role == role) {
                all += 1;
                found += usize::from(has(agent, left, fact));
            }
        }
        text.push_str(&format!("{:.1} ", 100.0 * found as f64 / all.max(1) as f64));
    }
    let missed = left.iter().filter(|(left, _)| !left.fits).count();
    let used: f64 = left
        .iter()
        .map(|(left, budget)| left.tokens as f64 / *budget as f64)
        .sum();
    let summary: f64 = left
        .iter()
        .map(|(left, budget)| left.summary_tokens as f64 / *budget as f64)
        .sum();
    let mean = |sum: f64| 100.0 * sum / left.len() as f64;
    text.push_str(&format!("; {:.0} (summary {:.0})", mean(used), mean(summary)));
    if missed > 0 {
        text.push_str(&format!(" {missed} over"));
    }
    text
}

/// Whether a fact is kept in its message, in another one with the same content, or in the summary.
fn has(_: &Agent, left: &Left, fact: &super::agents::Fact) -> bool {
    let id = format!("m{}", fact.line);
    left.messages
        .get(&id)
        .is_some_and(|text| text.contains(&fact.text))
        || left.says(&fact.text)
}

/// The share of facts that is kept, by tenths of the session.
fn by_depth(agents: &[(Agent, u64)], left: &[(Left, u64)]) -> Vec<f64> {
    let (mut found, mut all) = ([0usize; 10], [0usize; 10]);
    for ((agent, _), (left, _)) in agents.iter().zip(left) {
        for fact in agent.facts.iter().filter(|fact| fact.role != "tool") {
            let depth = fact.line * 10 / agent.lines.len();
            all[depth] += 1;
            found[depth] += usize::from(has(agent, left, fact));
        }
    }
    let share = |(found, all): (usize, usize)| 100.0 * found as f64 / all.max(1) as f64;
    found.into_iter().zip(all).map(share).collect()
}

/// Rules at the end of a question: at the beginning, in the middle, near the end.
fn retention() {
    println!("Constraint retention in agents' sessions, %: top, middle, end\n");
    for kind in [Kind::Questions, Kind::Busy, Kind::Rereads, Kind::Reasoning] {
        for strategy in [Strategy::Tiered, Strategy::Optimize] {
            print!("{:24}{:24}", kind.name(), strategy.name());
            for budget in [10, 25] {
                for question in [0, 12, 22] {
                    let mut retained = 0;
                    for (seed, rule) in rules::OWN.iter().enumerate() {
                        let agent = agent(kind, seed as u64, Some((rule, question)));
                        let budget = tokens(&agent.lines) * budget / 100;
                        retained += usize::from(compacted(&agent.lines, strategy, budget).says(rule));
                    }
                    print!(
                        "{:>8.1}",
                        100.0 * f64::from(retained as u32) / rules::OWN.len() as f64
                    );
                }
                print!("{:>8}", "");
            }
            println!();
        }
    }
    println!();
}
