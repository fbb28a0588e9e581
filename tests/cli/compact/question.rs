//! `compact --for QUESTION`.

use crate::env::Env;
use serde_json::json;

const NOTES: [&str; 8] = [
    "The harbor office opens at nine and closes at noon on Fridays.",
    "We repaint the fence in May because the old paint peels.",
    "The harbor moved its database to PostgreSQL during the night of the storm.",
    "Our bakery order is twelve loaves every Tuesday morning.",
    "The ferry timetable changes in the last week of October.",
    "Two cranes need new cables before the winter storms arrive.",
    "The lighthouse keeper retires next year after thirty years.",
    "Parking at the pier costs four euros for each started hour.",
];

/// Eight notes, and sixteen remarks after them.
fn notes() -> String {
    let mut session = String::new();
    for nth in 0..24 {
        let remark = format!("Something else number {nth} about the weather over the bay and the gulls.");
        let text = NOTES.get(nth).map_or(remark, |note| note.to_string());
        let question = json!({"role": "user", "content": format!("Note {nth}. {text}")});
        let reply = json!({"role": "assistant", "content": format!("Noted as number {nth}.")});
        session.push_str(&format!("{question}\n{reply}\n"));
    }
    session
}

#[test]
fn the_question_selects_the_content_of_the_summary() {
    let env = Env::new();
    let compact = |question: &str| {
        let mut arguments = vec!["compact", "-q", "--budget", "340", "--with", "extract"];
        if !question.is_empty() {
            arguments.extend(["--for", question]);
        }
        env.pipe(&arguments, notes()).status(0)
    };
    let database = compact("Which database does the harbor use?");
    assert!(
        database.out().contains("PostgreSQL") && !database.out().contains("four euros"),
        "{database}"
    );
    let parking = compact("What does parking at the pier cost?");
    assert!(
        parking.out().contains("four euros") && !parking.out().contains("PostgreSQL"),
        "{parking}"
    );
    assert!(!compact("").out().contains("PostgreSQL"));
}
