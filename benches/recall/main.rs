//! Measures what methods keep of a conversation within a budget: evidence for questions, planted facts by depth, and
//! rules.
//!
//! ```text
//! cargo bench --bench recall -- [--data locomo10.json] [--compint FILE] [--sample FILE]
//! ```
//!
//! `--data` names the LoCoMo file, which is not included because of its license, CC BY-NC 4.0. Source:
//! <https://github.com/snap-research/locomo>, `data/locomo10.json`. `--compint` names a JSON file with a list of
//! rules under `compint`, to be inserted into the conversations in addition to the built-in rules. `--sample` writes
//! a small invented file in LoCoMo's format, to test the reader, and exits.
//!
//! Nothing is tuned with LoCoMo's data, and none of it is stored.
#![allow(missing_docs)]

mod agents;
#[path = "../chance/mod.rs"]
mod chance;
mod compacted;
mod dialogue;
mod evidence;
mod generated;
mod locomo;
mod methods;
mod needles;
mod rules;
mod work;
mod written;

use std::path::PathBuf;
use std::process::ExitCode;

/// The budgets, in percent of a conversation's tokens.
const BUDGETS: [u64; 4] = [5, 10, 25, 50];

#[derive(Default)]
struct Arguments {
    data: Option<PathBuf>,
    compint: Option<PathBuf>,
    sample: Option<PathBuf>,
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("recall: {message}");
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let place = match word.as_str() {
            // Passed by Cargo.
            "--bench" => continue,
            "--data" => &mut found.data,
            "--compint" => &mut found.compint,
            "--sample" => &mut found.sample,
            other => {
                return Err(format!(
                    "unknown argument {other}; there are --data, --compint and --sample"
                ));
            }
        };
        *place = Some(words.next().ok_or(format!("{word} wants a path"))?.into());
    }
    Ok(found)
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if let Some(path) = &arguments.sample {
        return std::fs::write(path, locomo::sample()).map_err(|e| format!("{}: {e}", path.display()));
    }
    let methods = methods::methods();
    for (title, folder) in [("written", ""), ("written, held out", "held_out")] {
        println!("{title}:");
        evidence::print(&written::read(folder)?, &methods);
    }
    let generated: Vec<_> = (0..10).map(|seed| generated::dialogue(seed, 500)).collect();
    let dialogues = match &arguments.data {
        Some(path) => {
            let dialogues = locomo::read(path)?;
            evidence::print(&dialogues, &methods);
            dialogues
        }
        None => {
            println!(
                "no --data (the file: snap-research/locomo on GitHub): evidence is that of invented conversations\n"
            );
            evidence::print(&generated, &methods);
            generated
        }
    };
    rules::print("own rules", &rules::OWN.map(str::to_string), &dialogues, &methods);
    if let Some(path) = &arguments.compint {
        rules::print("rules of --compint", &rules::read(path)?, &dialogues, &methods);
    }
    needles::print(&methods);
    work::print();
    Ok(())
}
