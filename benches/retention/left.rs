//! The methods of shortening a session, and their results.

use convo::filter::compact::{self, AtomLevel, LevelAlgorithm};
use convo::filter::summarize_range::{self, SummaryRequest};
use convo::filter::{Plan, Stamp};
use convo::model::session::Session;
use convo::model::view::View;
use convo::tokens::{Counter, Tokenizer};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Keeps the newest turns that fit.
    KeepLast,
    /// `summarize --with extract`: keeps the newest exchange; a summary of limited size replaces everything else.
    Extract,
    /// `compact --tiered`: the whole view is limited.
    Tiered,
    /// `compact`: the same, with one selection over all candidates.
    Optimize,
}

impl Way {
    pub const ALL: [Way; 4] = [Way::KeepLast, Way::Extract, Way::Tiered, Way::Optimize];

    pub fn name(self) -> &'static str {
        match self {
            Way::KeepLast => "keep-last",
            Way::Extract => "summarize --with extract",
            Way::Tiered => "compact --tiered",
            Way::Optimize => "compact",
        }
    }
}

#[derive(Default)]
pub struct Left {
    /// The text of each remaining message, by id; for a tool call also its arguments.
    pub messages: HashMap<String, String>,
    /// The summary.
    pub summary: String,
    /// Ids of the messages that the summary or a digest replaces.
    pub covered: HashSet<String>,
    /// Ids of the messages that a digest replaces.
    pub digested: HashSet<String>,
    /// The digests.
    pub digests: String,
    /// Ids of shortened messages.
    pub shortened: HashSet<String>,
}

impl Left {
    /// Whether a text occurs in a message or in the summary.
    pub fn says(&self, text: &str) -> bool {
        self.summary.contains(text) || self.messages.values().any(|left| left.contains(text))
    }

    /// The sentences of the summary's block of standing instructions.
    pub fn instructions(&self) -> Vec<&str> {
        let block = self
            .summary
            .lines()
            .skip_while(|line| *line != "standing instructions:");
        block.skip(1).map_while(|line| line.strip_prefix("- ")).collect()
    }
}

fn stamp(_: &str) -> convo::Result<Stamp> {
    Ok(Stamp {
        id: "evt_0000000000000001".to_string(),
        at: "2026-06-01T00:00:00Z".to_string(),
    })
}

fn counter(session: &Session) -> Counter {
    Counter::of(Tokenizer::DEFAULT, session)
}

/// Tokens of a session's view.
pub fn tokens(session: &Session) -> u64 {
    let counter = counter(session);
    let view = View::replay(session);
    view.messages(session)
        .map(|message| counter.message(&message))
        .sum()
}

/// Shortens a session to a percentage of its tokens.
pub fn left(session: &Session, way: Way, percent: u64) -> Left {
    let budget = tokens(session) * percent / 100;
    match way {
        Way::KeepLast => newest(session, budget),
        Way::Extract => extracted(session, budget),
        Way::Tiered => compacted(session, LevelAlgorithm::Tiered, budget),
        Way::Optimize => compacted(session, LevelAlgorithm::Optimize, budget),
    }
}

fn newest(session: &Session, mut budget: u64) -> Left {
    let counter = counter(session);
    let view = View::replay(session);
    let mut left = Left::default();
    let messages: Vec<_> = view.messages(session).collect();
    for message in messages.iter().rev() {
        let Some(rest) = budget.checked_sub(counter.message(message)) else {
            break;
        };
        budget = rest;
        left.messages
            .insert(message.id().unwrap_or_default().into_owned(), text(message));
    }
    left
}

fn text(message: &convo::model::message::Message<'_>) -> String {
    let mut text = message.text().into_owned();
    for call in message.tool_calls() {
        text.push_str(&call.arguments);
    }
    text
}

fn extracted(session: &Session, budget: u64) -> Left {
    let options = summarize_range::SummaryOptions {
        keep_last: 1,
        summary_budget: Some(budget.max(1)),
        min_gain: 0,
        ..summarize_range::SummaryOptions::default()
    };
    let requested = summarize_range::build_request(session, counter(session), &options).expect("a span");
    let plan = summarize_range::extract(session, counter(session), &options, stamp).expect("a summary");
    let mut left = shown(session, &plan);
    if let (SummaryRequest::Request(request), Plan::Lines(..)) = (requested, plan) {
        left.covered.extend(request.ids);
    }
    left
}

fn compacted(session: &Session, choice: LevelAlgorithm, budget: u64) -> Left {
    let options = compact::CompactOptions {
        budget: Some(budget),
        best_effort: true,
        choice,
        ..compact::CompactOptions::default()
    };
    let outcome = compact::plan(session, counter(session), &options, stamp).expect("a compaction");
    let mut left = shown(session, &outcome.plan);
    left.covered.extend(outcome.report.summarized);
    for atom in &outcome.report.atoms {
        match atom.level {
            AtomLevel::Digest => left.digested.extend(atom.ids.clone()),
            AtomLevel::HeadTail | AtomLevel::Masked => left.shortened.extend(atom.ids.clone()),
            AtomLevel::Full | AtomLevel::Dropped => {}
        }
    }
    left
}

/// The view after a plan.
fn shown(session: &Session, plan: &Plan) -> Left {
    let mut session = session.clone();
    if let Plan::Lines(lines, _) = plan {
        lines.iter().for_each(|line| session.push_new(line));
    }
    let view = View::replay(&session);
    let mut left = Left::default();
    for item in &view.items {
        if let Some(summary) = item.summary(&session) {
            left.summary = summary.into_owned();
        } else if let Some(message) = item.message(&session) {
            let text = text(&message);
            if text.starts_with("[digest of ") {
                left.digests.push_str(&text);
            }
            left.messages
                .insert(message.id().unwrap_or_default().into_owned(), text);
        }
    }
    left
}
