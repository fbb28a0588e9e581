//! Finds facts that one side of a comparison contains and the other lacks: rules, decisions, paths, commands, errors,
//! figures, dates, addresses, identifiers and open questions. Recognizes them by their form, without a model.

mod kind;
mod scan;
#[cfg(test)]
mod tests;

use super::compact::facts::outcome::CallOutcome;
use super::compact::facts::{near, tool, working_directory};
use super::diff::{DiffEntry, SUMMARY};
use super::phrase::contains_words;
use super::summarize::{
    InstructionSource, detected, own_message_text, replaced_instructions, sentence_ranges, without_list_mark,
};
use crate::model::message::Role;
use crate::model::session::Session;
use aho_corasick::{AhoCorasick, MatchKind};
pub use kind::FactKind;
use std::collections::HashMap;
use tool::CallSubject;
use unicode_normalization::UnicodeNormalization;

/// A fact on the first side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The kind of the fact.
    pub kind: FactKind,
    /// The text of the fact.
    pub text: String,
    /// Index of the first message that contains it.
    pub at: usize,
    /// Whether the second side contains it, too.
    pub kept: bool,
}

impl Fact {
    /// The text to search for on the other side: of an error, only the line, because its code has many forms; of a path
    /// below `~`, the rest, because messages have whole paths.
    fn searched(&self) -> &str {
        match self.kind {
            FactKind::Error => self.text.split_once(": ").map_or(&self.text, |(_, line)| line),
            FactKind::Path => self.text.strip_prefix("~/").unwrap_or(&self.text),
            _ => &self.text,
        }
    }
}

/// Phrases that mark a decision.
const DECIDING: [&str; 24] = [
    "decided", "decision", "decide to", "we'll use", "we will use", "i'll use", "let's use", "let's go with",
    "going with", "we go with", "agreed", "chose", "chosen", "opted for", "settled on", "instead of",
    "rather than", "switch to", "switched to", "the plan is", "stick with", "won't use", "must not",
    "no longer",
];

/// Length of a sentence that counts as a fact, in characters.
const SENTENCE: std::ops::RangeInclusive<usize> = 12..=400;

/// Maximum characters of a command or an error line: summaries quote no more.
const QUOTED: usize = 120;

/// Maximum bytes of a tool result that is searched. A longer one lists files, or quotes one, which can be read again.
const SHORT: usize = 500;

/// Returns the facts of `a`, sorted by kind and then by message, and whether `b` contains them.
pub fn facts(session: &Session, a: &[DiffEntry<'_>], b: &[DiffEntry<'_>]) -> Vec<Fact> {
    let mut found = FoundFacts::new(working_directory(session));
    for (at, entry) in a.iter().enumerate() {
        found.take(at, entry, a);
    }
    let mut facts = found.facts;
    let replaced = replaced_instructions(&found.instructions);
    facts.retain(|fact| fact.kind != FactKind::Rule || !replaced.contains(&fact.text));
    let patterns: Vec<String> = facts.iter().map(|fact| folded(fact.searched())).collect();
    let mut kept = vec![false; facts.len()];
    // Building fails if the patterns exceed memory limits; then no fact counts as kept.
    if let Ok(searcher) = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(&patterns)
    {
        for entry in b {
            let text = folded(&full_text(entry));
            for hit in searcher.find_overlapping_iter(&text) {
                kept[hit.pattern().as_usize()] = true;
            }
        }
    }
    for (fact, kept) in facts.iter_mut().zip(kept) {
        fact.kept = kept;
    }
    facts.sort_by_key(|fact| fact.kind);
    facts
}

/// The full text of a message, including names and strings of its tool calls.
fn full_text(entry: &DiffEntry<'_>) -> String {
    let mut text = entry.text().into_owned();
    for call in entry
        .message()
        .map(|message| message.tool_calls())
        .unwrap_or_default()
    {
        text.push('\n');
        text.push_str(&call.name);
        text.push('\n');
        match serde_json::from_str::<serde_json::Value>(&call.arguments) {
            Ok(value) => push_strings(&value, &mut text),
            Err(_) => text.push_str(&call.arguments),
        }
    }
    text
}

fn push_strings(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| push_strings(value, out)),
        serde_json::Value::Object(members) => members.values().for_each(|value| push_strings(value, out)),
        other => {
            out.push_str(&other.to_string());
            out.push('\n');
        }
    }
}

/// Normalizes text for comparison: NFKC, lower case, single spaces.
fn folded(text: &str) -> String {
    let folded: String = match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => text.nfkc().collect::<String>().to_lowercase(),
    };
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

struct FoundFacts {
    facts: Vec<Fact>,
    known: HashMap<(FactKind, String), usize>,
    /// The directory of the session: summaries show paths relative to it.
    directory: Option<String>,
    /// The instructions of each message.
    instructions: Vec<InstructionSource<'static>>,
}

impl FoundFacts {
    fn new(directory: Option<String>) -> FoundFacts {
        FoundFacts {
            facts: Vec::new(),
            known: HashMap::new(),
            directory,
            instructions: Vec::new(),
        }
    }

    fn push(&mut self, kind: FactKind, text: &str, at: usize) {
        let text = text.trim();
        let next = self.facts.len();
        if text.is_empty() || *self.known.entry((kind, folded(text))).or_insert(next) != next {
            return;
        }
        let text = text.to_string();
        self.facts.push(Fact {
            kind,
            text,
            at,
            kept: false,
        });
    }

    fn take(&mut self, at: usize, entry: &DiffEntry<'_>, all: &[DiffEntry<'_>]) {
        let mut text = entry.text();
        match entry.role.as_ref() {
            "tool" => {
                if let Some(message) = entry.message() {
                    let outcome = CallOutcome::of(message);
                    if outcome.failed && outcome.explains_failure() {
                        self.push(FactKind::Error, &outcome.failure(QUOTED), at);
                    }
                }
                if text.len() <= SHORT {
                    self.scan(&text, at);
                }
                return;
            }
            "user" | "system" | "developer" => {
                if let Some(message) = entry.message() {
                    text = own_message_text(message);
                }
                if text.trim().is_empty() {
                    return;
                }
                let detected: Vec<_> = detected(&text, Role::User).collect();
                let standing = detected.iter().filter_map(|one| one.standing());
                standing.for_each(|rule| self.push(FactKind::Rule, rule, at));
                self.instructions
                    .push(InstructionSource::Detected(detected.into()));
            }
            _ => {}
        }
        for range in sentence_ranges(&text) {
            let sentence = without_list_mark(&text[range]);
            if !SENTENCE.contains(&sentence.chars().count()) {
                continue;
            }
            let lower = sentence.to_lowercase();
            if DECIDING.iter().any(|words| contains_words(&lower, words)) && !sentence.ends_with('?') {
                self.push(FactKind::Decision, sentence, at);
            }
            if sentence.ends_with('?') && is_open(at, entry, all) {
                self.push(FactKind::Question, sentence, at);
            }
        }
        self.scan(&text, at);
        for call in entry
            .message()
            .map(|message| message.tool_calls())
            .unwrap_or_default()
        {
            match tool::read(&call).1 {
                CallSubject::Files(files) => files.iter().for_each(|(_, path)| self.path(path, at)),
                CallSubject::Command(command) => {
                    let line = command.trim().lines().next().unwrap_or_default();
                    let short: String = line.chars().take(QUOTED).collect();
                    self.push(FactKind::Command, &short, at);
                }
                CallSubject::Plan(_) | CallSubject::Other => {}
            }
        }
    }

    /// Takes what the form of a word shows to be a fact.
    fn scan(&mut self, text: &str, at: usize) {
        scan::scan(text, &mut |kind, fact| match kind {
            FactKind::Path => self.path(fact, at),
            _ => self.push(kind, fact, at),
        });
    }

    fn path(&mut self, path: &str, at: usize) {
        let near = near(self.directory.as_deref(), path).into_owned();
        self.push(FactKind::Path, &near, at);
    }
}

/// Whether a question has no answer from the other side.
fn is_open(at: usize, entry: &DiffEntry<'_>, all: &[DiffEntry<'_>]) -> bool {
    let other = match entry.role.as_ref() {
        "user" => "assistant",
        "assistant" => "user",
        _ => return false,
    };
    let mut later = all[at + 1..].iter();
    let answered = later.find(|later| {
        (later.role == entry.role && !later.text().trim().is_empty())
            || (later.role == other && !later.text().trim().is_empty())
            || later.role == SUMMARY
    });
    answered.is_none_or(|later| later.role == entry.role && entry.role == "user")
}
