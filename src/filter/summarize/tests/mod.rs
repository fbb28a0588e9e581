//! Tests the summarizer with test vectors, a naive selection and unseen sentences.

mod answered;
mod changed;
mod choice;
mod dated;
mod doubtful;
mod fixtures;
mod forms;
mod handed;
mod instructed;
mod pasted;
mod properties;
mod rolling;
mod said_once;
mod speakers;
mod things;
mod training;
mod written;

use super::*;

/// Counts words separated by white space: a tokenizer that is easy to verify by hand.
fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn source<'a>(id: &'a str, role: Role, timestamp: &'a str, text: &'a str) -> SummarySource<'a> {
    SummarySource {
        role,
        name: (role != Role::Tool).then(|| id.into()),
        day: super::day(timestamp),
        text: text.into(),
        is_escaped: false,
        tokens: None,
    }
}
