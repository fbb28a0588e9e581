//! Runs `compact` on sessions built from conversations, and shows what a model would receive.

use super::dialogue::{Dialogue, Kept};
use super::methods::Method;
use convo::filter::compact::{AtomLevel, CompactOptions, LevelAlgorithm, Steps, plan};
use convo::filter::summarize::Instructions;
use convo::filter::{Plan, Stamp};
use convo::model::json;
use convo::model::session::Session;
use convo::model::view::View;
use convo::tokens::{Counter, Tokenizer};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

/// A strategy of `compact`.
#[derive(Clone, Copy)]
pub enum Strategy {
    Tiered,
    Optimize,
    /// Without a block of standing instructions.
    NoRules,
    /// `--keep-last` with a budget: drops exchanges without a summary.
    KeepLast,
}

pub const STRATEGIES: [Strategy; 4] = [
    Strategy::KeepLast,
    Strategy::Tiered,
    Strategy::NoRules,
    Strategy::Optimize,
];

impl Strategy {
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Tiered => "compact --tiered",
            Strategy::Optimize => "compact --optimize",
            Strategy::NoRules => "compact --optimize, no rules",
            Strategy::KeepLast => "compact --keep-last",
        }
    }

    fn options(self, budget: u64) -> CompactOptions {
        let mut options = CompactOptions {
            budget: Some(budget),
            best_effort: true,
            ..CompactOptions::default()
        };
        match self {
            Strategy::Tiered => options.choice = LevelAlgorithm::Tiered,
            Strategy::Optimize => options.choice = LevelAlgorithm::Optimize,
            Strategy::NoRules => {
                options.choice = LevelAlgorithm::Optimize;
                options.style.instructions = Instructions::Off;
            }
            Strategy::KeepLast => {
                options.choice = LevelAlgorithm::Tiered;
                options.steps = Steps {
                    drop: true,
                    ..Steps::NONE
                };
            }
        }
        options
    }
}

/// The result of a compaction.
pub struct Left {
    /// The text of each remaining message, by id.
    pub messages: HashMap<String, String>,
    /// The summary without added dates and indentation.
    pub summary: String,
    /// Tokens of the view.
    pub tokens: u64,
    /// Tokens of the summary message.
    pub summary_tokens: u64,
    /// Whether the budget was met.
    pub fits: bool,
    /// Number of message groups per level.
    pub levels: BTreeMap<&'static str, usize>,
}

impl Left {
    /// Whether a text occurs anywhere.
    pub fn says(&self, text: &str) -> bool {
        self.summary.contains(text) || self.messages.values().any(|left| left.contains(text))
    }
}

/// Compacts a session of these lines.
pub fn compacted(lines: &[Vec<u8>], strategy: Strategy, budget: u64) -> Left {
    let mut session = session(lines);
    let counter = Counter::of(Tokenizer::DEFAULT, &session);
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_0000000000000001".to_string(),
            at: "2026-06-01T00:00:00Z".to_string(),
        })
    };
    let outcome = plan(&session, counter, &strategy.options(budget), stamp);
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", strategy.name()));
    if let Plan::Lines(lines, _) = &outcome.plan {
        lines.iter().for_each(|line| session.push_new(line));
    }
    let mut levels = BTreeMap::new();
    for atom in &outcome.report.atoms {
        let quoted = atom.level == AtomLevel::Dropped && atom.reason == "summary";
        *levels
            .entry(if quoted { "summed up" } else { atom.level.name() })
            .or_default() += 1;
    }
    let view = View::replay(&session);
    let messages = view.messages(&session);
    let summary = view.items.iter().find_map(|item| item.summary(&session));
    let summary_tokens = view.items.iter().find_map(|item| {
        let body = item.summary_message(&session)?;
        Some(tokens(&[body]))
    });
    Left {
        messages: messages
            .map(|message| {
                (
                    message.id().unwrap_or_default().into_owned(),
                    message.text().into_owned(),
                )
            })
            .collect(),
        summary: summary.map(|text| unmarked(&text)).unwrap_or_default(),
        tokens: outcome.report.now.tokens,
        summary_tokens: summary_tokens.unwrap_or(0),
        fits: outcome.smallest.is_none(),
        levels,
    }
}

/// Tokens of the view of these lines.
pub fn tokens(lines: &[Vec<u8>]) -> u64 {
    let session = session(lines);
    let view = View::replay(&session);
    let counter = Counter::of(Tokenizer::DEFAULT, &session);
    view.messages(&session)
        .map(|message| counter.message(&message))
        .sum()
}

fn session(lines: &[Vec<u8>]) -> Session {
    let mut session = Session::default();
    session.push_new(br#"{"type":"session","version":1,"id":"bench"}"#);
    lines.iter().for_each(|line| session.push_new(line));
    session
}

/// Removes added dates and the indentation of further lines.
pub fn unmarked(summary: &str) -> String {
    let mut out = String::new();
    let mut rest = summary;
    while let Some((before, marked)) = rest.split_once(" [=") {
        out.push_str(before);
        rest = marked.split_once(']').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.replace("\n  ", "\n")
}

/// A strategy with the interface of the other methods.
pub struct Compacted(pub Strategy);

impl Method for Compacted {
    fn name(&self) -> String {
        self.0.name().to_string()
    }

    fn keep(&self, dialogue: &Dialogue, budget: u64) -> Kept {
        let lines: Vec<Vec<u8>> = dialogue
            .turns
            .iter()
            .map(|turn| {
                let mut line = json!({"role": turn.role.name(), "content": turn.text, "id": turn.id});
                if !turn.time.is_empty() {
                    line["timestamp"] = turn.time.as_str().into();
                }
                line.to_string().into_bytes()
            })
            .collect();
        let left = compacted(&lines, self.0, budget);
        let texts = left.messages.into_values().chain([left.summary]);
        Kept::quoted(dialogue, texts.collect::<Vec<_>>().join("\n"), left.tokens)
    }
}

/// Encodes a text as JSON.
pub fn raw(text: &str) -> String {
    let mut raw = Vec::new();
    json::push_text(&mut raw, text);
    String::from_utf8_lossy(&raw).into_owned()
}
