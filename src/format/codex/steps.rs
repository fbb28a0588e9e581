//! Groups the lines of a log into messages and other records.

use super::line::{CodexLine, CodexLineKind, ItemRole};
use crate::model::json::{self, Dialect};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordSource {
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

impl RecordSource {
    pub fn lines(&self) -> &[usize] {
        match self {
            RecordSource::Message(lines) => lines,
            RecordSource::Event(line)
            | RecordSource::Compacted(line)
            | RecordSource::Foreign(line)
            | RecordSource::Unreadable(line) => std::slice::from_ref(line),
        }
    }

    pub fn is_message(&self) -> bool {
        matches!(self, RecordSource::Message(_) | RecordSource::Event(_))
    }
}

/// A model message to which further items may belong.
#[derive(Clone, Copy, Default)]
pub struct OpenMessage {
    /// Whether it has text or calls; then reasoning or further text starts another message.
    full: bool,
}

impl OpenMessage {
    /// Whether the next item starts another message; otherwise adds it to this one.
    pub fn starts_other_message(&mut self, item: ItemRole) -> bool {
        match item {
            ItemRole::Reasoning | ItemRole::Reply if self.full => return true,
            ItemRole::Alone | ItemRole::Other => return true,
            ItemRole::Reply | ItemRole::Call => self.full = true,
            ItemRole::Reasoning | ItemRole::Server => {}
        }
        false
    }

    /// Starts a message with its first item; `None` if the item is a separate message.
    pub fn begin(item: ItemRole) -> Option<OpenMessage> {
        let mut open = OpenMessage::default();
        (!open.starts_other_message(item)).then_some(open)
    }
}

/// Prefixes of texts that Codex itself sends as user messages.
const CONTEXT: [&str; 4] = [
    "<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "<permissions instructions>",
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
            let text = |part: &&[u8]| own(json::member_text(part, "text"));
            !parts.is_empty() && parts.iter().all(text)
        }
        None => own(json::text(content)),
    }
}

/// Whether a line is an item that the user wrote.
pub fn is_user_item(line: &CodexLine<'_>) -> bool {
    match line.kind {
        CodexLineKind::Item(ItemRole::Alone, item) => {
            json::member(item, "role") == Some(b"\"user\"") && !is_context(item)
        }
        _ => false,
    }
}

/// The steps of a log; `meta` is the session line.
pub fn steps(lines: &[CodexLine<'_>], meta: Option<usize>) -> Vec<RecordSource> {
    // Whether user messages are only in display events.
    let events = !lines.iter().any(is_user_item);
    let mut steps = Vec::new();
    let mut open: Option<(usize, OpenMessage)> = None;
    let mut model = None;
    for (nth, line) in lines.iter().enumerate() {
        match &line.kind {
            CodexLineKind::Blank => {}
            CodexLineKind::Unreadable(_) => steps.push(RecordSource::Unreadable(nth)),
            CodexLineKind::Meta(_) if Some(nth) == meta => {}
            CodexLineKind::Item(item, _) => {
                if let Some((step, state)) = &mut open
                    && !state.starts_other_message(*item)
                    && let RecordSource::Message(lines) = &mut steps[*step]
                {
                    lines.push(nth);
                    continue;
                }
                open = OpenMessage::begin(*item).map(|state| (steps.len(), state));
                steps.push(match item {
                    ItemRole::Other => RecordSource::Foreign(nth),
                    _ => RecordSource::Message(vec![nth]),
                });
            }
            CodexLineKind::Event(..) if events && is_user_event(line) => {
                open = None;
                steps.push(RecordSource::Event(nth));
            }
            CodexLineKind::Turn(payload) => {
                // Another model writes another message.
                let next = json::member(payload, "model");
                let is_other = model.is_some() && next.is_some() && model != next;
                model = next.or(model);
                open = open.filter(|_| !is_other);
                steps.push(RecordSource::Foreign(nth));
            }
            CodexLineKind::Compacted(_) => {
                open = None;
                steps.push(RecordSource::Compacted(nth));
            }
            _ => steps.push(RecordSource::Foreign(nth)),
        }
    }
    steps
}

/// Whether a line is the display event of a user message.
pub fn is_user_event(line: &CodexLine<'_>) -> bool {
    let is_text = |event| json::string_member(event, "message").is_some();
    matches!(&line.kind, CodexLineKind::Event(name, event) if name == "user_message" && is_text(event))
}
