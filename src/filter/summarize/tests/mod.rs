//! What the summariser must do, held against vectors, a naive choice and sentences that it has not seen.

mod choice;
mod dated;
mod fixtures;
mod handed;
mod instructed;
mod properties;
mod rolling;
mod speakers;
mod written;

use super::*;

/// Words that white space separates: a tokenizer that a test can check by eye.
fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn source<'a>(id: &'a str, role: Role, timestamp: &'a str, text: &'a str) -> Source<'a> {
    Source {
        id: id.into(),
        role,
        tool: None,
        timestamp: Some(timestamp).filter(|time| !time.is_empty()),
        text: text.into(),
        tokens: None,
    }
}
