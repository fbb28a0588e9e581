//! Constraint retention: rules that were set once and must be kept verbatim.

use super::dialogue::Dialogue;
use super::methods::Method;
use serde_json::Value;
use std::path::Path;

/// Typical rules.
pub const OWN: [&str; 15] = [
    "Always give prices in Swiss francs.",
    "Never book anything on a Sunday.",
    "Please don't mention my brother to anybody.",
    "From now on, call the boat Petrel.",
    "Make sure every list is in alphabetical order.",
    "When you propose a date, give me two alternatives.",
    "Before you send a letter, read it to me in full.",
    "Keep every answer under a hundred words.",
    "Avoid the word synergy.",
    "I want every total rounded to the next five centimes.",
    "Do not open attachments from people you don't know.",
    "Write in British English.",
    "Each time you quote a price, name the shop.",
    "You must not share the cellar code with the plumbers.",
    "Only use recipes without nuts.",
];

pub fn read(path: &Path) -> Result<Vec<String>, String> {
    let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let bytes = std::fs::read(path).map_err(|e| wrong(&e))?;
    let file: Value = serde_json::from_slice(&bytes).map_err(|e| wrong(&e))?;
    let rules = file["compint"]
        .as_array()
        .ok_or_else(|| wrong(&"no list under compint"))?;
    Ok(rules
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_string)
        .collect())
}

pub fn print(title: &str, rules: &[String], dialogues: &[Dialogue], methods: &[Box<dyn Method>]) {
    println!(
        "Constraint retention, %, {title}: {} rules in each of {} conversations, by where they stand\n",
        rules.len(),
        dialogues.len()
    );
    let places = ["top", "middle", "end"];
    print!("{:32}", "method");
    for budget in [10, 25] {
        for place in places {
            print!("{:>14}", format!("{budget} % {place}"));
        }
    }
    println!();
    for method in methods {
        print!("{:32}", method.name());
        for budget in [10, 25] {
            for place in places {
                let mut retained = 0;
                for dialogue in dialogues {
                    let turns = dialogue.turns.len();
                    let at = match place {
                        "top" => 0,
                        "middle" => turns / 2,
                        _ => turns.saturating_sub(3),
                    };
                    let dialogue = dialogue.with(at, rules);
                    let text = method.keep(&dialogue, dialogue.budget(budget)).text;
                    retained += rules.iter().filter(|rule| text.contains(rule.as_str())).count();
                }
                let of = (rules.len() * dialogues.len()).max(1);
                print!("{:>14.1}", 100.0 * retained as f64 / of as f64);
            }
        }
        println!();
    }
    println!();
}
