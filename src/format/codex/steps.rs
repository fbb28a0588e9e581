//! Groups the lines of a log into messages and other records.

use super::line::{Item, Kind, Line};
use crate::model::json::{self, Dialect};
use std::borrow::Cow;

/// The source of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message of the items in these lines.
    Message(Vec<usize>),
    /// A user message that only has a display event.
    Event(usize),
    /// A compaction.
    Compacted(usize),
    /// A line that is not part of the history.
    Foreign(usize),
    /// A line that is not an object.
    Unreadable(usize),
}

impl Step {
    /// Its lines.
    pub fn lines(&self) -> &[usize] {
        match self {
            Step::Message(lines) => lines,
            Step::Event(line) | Step::Compacted(line) | Step::Foreign(line) | Step::Unreadable(line) => {
                std::slice::from_ref(line)
            }
        }
    }

    /// Whether it is a message.
    pub fn is_message(&self) -> bool {
        matches!(self, Step::Message(_) | Step::Event(_))
    }
}

/// A model message to which further items may belong.
#[derive(Clone, Copy, Default)]
pub struct Open {
    /// Whether it has text or calls; then reasoning or further text starts another message.
    full: bool,
}

impl Open {
    /// Whether the next item starts another message; otherwise adds it to this one.
    pub fn is_left(&mut self, item: Item) -> bool {
        match item {
            Item::Reasoning | Item::Said if self.full => return true,
            Item::Alone | Item::Other => return true,
            Item::Said | Item::Call => self.full = true,
            Item::Reasoning | Item::Server => {}
        }
        false
    }

    /// Starts a message with its first item; `None` if the item is a separate message.
    pub fn begin(item: Item) -> Option<Open> {
        let mut open = Open::default();
        (!open.is_left(item)).then_some(open)
    }
}

/// Prefixes of texts that Codex itself sends as user messages.
const CONTEXT: [&str; 4] = [
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<permissions instructions>",
];

/// Whether a user message only has context that Codex itself sends.
pub fn is_context(item: &[u8]) -> bool {
    let own = |text: Option<Cow<'_, str>>| {
        text.is_some_and(|text| CONTEXT.iter().any(|mark| text.trim_start().starts_with(mark)))
    };
    let Some(content) = json::member(item, "content") else {
        return false;
    };
    match json::elements(content, Dialect::Strict) {
        Some(parts) => {
            let text = |part: &&[u8]| own(json::member(part, "text").and_then(json::text));
            !parts.is_empty() && parts.iter().all(text)
        }
        None => own(json::text(content)),
    }
}

/// Whether a line is an item that the user wrote.
fn is_said_by_user(line: &Line<'_>) -> bool {
    match line.kind {
        Kind::Item(Item::Alone, item) => json::member(item, "role") == Some(b"\"user\"") && !is_context(item),
        _ => false,
    }
}

/// Whether user messages are only in display events.
pub fn is_told_by_events(lines: &[Line<'_>]) -> bool {
    !lines.iter().any(is_said_by_user)
}

/// The steps of a log; `meta` is the session line.
pub fn steps(lines: &[Line<'_>], meta: Option<usize>) -> Vec<Step> {
    let events = is_told_by_events(lines);
    let mut steps = Vec::new();
    let mut open: Option<(usize, Open)> = None;
    for (nth, line) in lines.iter().enumerate() {
        match &line.kind {
            Kind::Blank => {}
            Kind::Unreadable(_) => steps.push(Step::Unreadable(nth)),
            Kind::Meta(_) if Some(nth) == meta => {}
            Kind::Item(item, _) => {
                if let Some((step, state)) = &mut open
                    && !state.is_left(*item)
                    && let Step::Message(lines) = &mut steps[*step]
                {
                    lines.push(nth);
                    continue;
                }
                open = Open::begin(*item).map(|state| (steps.len(), state));
                steps.push(match item {
                    Item::Other => Step::Foreign(nth),
                    _ => Step::Message(vec![nth]),
                });
            }
            Kind::Event(name, payload) if events && name == "user_message" && is_text(payload) => {
                open = None;
                steps.push(Step::Event(nth));
            }
            Kind::Compacted(_) => {
                open = None;
                steps.push(Step::Compacted(nth));
            }
            _ => steps.push(Step::Foreign(nth)),
        }
    }
    steps
}

fn is_text(event: &[u8]) -> bool {
    json::member(event, "message").is_some_and(|raw| raw.starts_with(b"\""))
}
