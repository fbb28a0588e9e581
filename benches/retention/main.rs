//! Measures what a summary without a model keeps of a conversation: standing instructions, facts by kind, exchanges
//! with tools; compared with the newest turns within the same number of tokens.
//!
//! ```text
//! cargo bench --bench retention -- [--standing FILE]
//! ```
//!
//! All conversations are invented and identical on every machine. `--standing` names a JSON file with a list of rules
//! under `compint`; by default `$CONVO_FIXTURES/compaction/standing_instructions.json` is read, if present.
#![allow(missing_docs)]

#[path = "../chance/mod.rs"]
mod chance;
mod coding;
mod detected;
mod facts;
mod left;
mod planning;
mod rules;
mod session;
mod talk;
mod tools;

use session::Made;
use std::path::PathBuf;
use std::process::ExitCode;

/// The budgets, in percent of a conversation's tokens.
const BUDGETS: [u64; 4] = [5, 10, 25, 50];

/// Conversation lengths in turns.
const TURNS: [usize; 4] = [50, 100, 200, 400];

/// Conversations per kind and length.
const SEEDS: u64 = 3;

fn main() -> ExitCode {
    match standing() {
        Ok(compint) => {
            run(compint);
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("retention: {message}");
            ExitCode::from(2)
        }
    }
}

/// The rules of the given file, or of the fixtures if present.
fn standing() -> Result<Option<Vec<String>>, String> {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let path = match (words.next().as_deref(), words.next()) {
        (None, _) => {
            let fixtures = std::env::var_os("CONVO_FIXTURES").map(PathBuf::from);
            let path = fixtures.map(|root| root.join("compaction/standing_instructions.json"));
            match path.filter(|path| path.exists()) {
                Some(path) => path,
                None => return Ok(None),
            }
        }
        (Some("--standing"), Some(path)) => path.into(),
        _ => return Err("there is --standing FILE and nothing else".to_string()),
    };
    rules::read(&path).map(Some)
}

/// Generates conversations of one kind.
type Make = fn(u64, usize) -> Made;

const KINDS: [(&str, Make); 3] = [
    ("small talk", talk::session),
    ("coding with tools", coding::session),
    ("planning", planning::session),
];

fn run(compint: Option<Vec<String>>) {
    detected::print();
    rules::print(compint.as_deref());
    facts::print();
    tools::print();
}
