//! Imitates openai-agents: `get_items(limit)` of a session, its compaction candidates, and `ToolOutputTrimmer`.
//!
//! Its sessions contain items, not messages: each reasoning part, text and call of an assistant message is an item.
//! Instructions are not items, so system messages are kept and not counted.
//!
//! Deliberate differences under [`Precedence::Convo`]:
//!
//! - a cut between a call and its output moves inward because the limit forbids more items;
//! - a message is cut only between its reasoning and the rest, and only if a user message follows;
//! - a call without an output is not a candidate.

use super::super::compact::placeholders;
use super::choice::{Precedence, ViewChanges};
use super::history::CompatHistory;
use crate::error::{Error, Result};
use crate::model::json::{self, Dialect, quoted};
use crate::model::message::{Message, Role};
use std::collections::{BTreeMap, HashMap};

/// The number of candidates from which a compaction is due.
pub const DUE: usize = 10;

struct MessageItems<'m> {
    reasoning: Vec<&'m [u8]>,
    text: usize,
    calls: Vec<&'m [u8]>,
}

impl<'m> MessageItems<'m> {
    fn of(message: &Message<'m>) -> Self {
        let list = |raw: Option<&'m [u8]>| raw.and_then(|raw| json::elements(raw, Dialect::Strict));
        let nothing: [&[u8]; 3] = [b"null", br#""""#, b"[]"];
        let has_content = message.content.is_some_and(|content| !nothing.contains(&content));
        MessageItems {
            reasoning: list(message.reasoning).unwrap_or_default(),
            text: usize::from(has_content || message.role() != Role::Assistant),
            calls: list(message.tool_calls).unwrap_or_default(),
        }
    }

    /// At least 1: an empty message counts as an item.
    fn count(&self) -> usize {
        (self.reasoning.len() + self.text + self.calls.len()).max(1)
    }
}

fn items(history: &CompatHistory<'_>, message: usize) -> usize {
    let items = history
        .message(message)
        .map(|message| MessageItems::of(&message).count());
    items.unwrap_or(1)
}

/// Keeps the newest items, as `get_items(limit)` does; all items without a limit.
///
/// # Errors
///
/// A negative limit is wrong usage.
pub fn last_items(history: &CompatHistory<'_>, limit: Option<i64>, rules: Precedence) -> Result<ViewChanges> {
    let Some(limit) = limit else {
        return Ok(ViewChanges::unchanged(history));
    };
    let mut room = usize::try_from(limit).map_err(|_| Error::usage("expected a limit of at least 0"))?;
    let mut start = history.len();
    let mut short = None;
    for message in (0..history.len())
        .rev()
        .filter(|message| !history.is_system(*message))
    {
        let Some(rest) = room.checked_sub(items(history, message)) else {
            let is_earlier = history.newest_user().is_some_and(|user| user > message);
            let line = end_of(history, message, room, rules == Precedence::Convo);
            let may = rules == Precedence::Theirs || (is_earlier && history.is_whole(message));
            short = line.filter(|_| may && room > 0).map(|line| (message, line));
            break;
        };
        (start, room) = (message, rest);
    }
    match &short {
        Some((message, _)) => start = *message,
        None if rules == Precedence::Convo => start = history.inward(start),
        None => {}
    }
    let mut choice = ViewChanges::keeping(history, |message| message >= start || history.is_system(message));
    if let Some((message, line)) = short {
        choice.rewrite(history, message, line);
    }
    Ok(choice)
}

/// Returns the message with only its last `kept` items; none if that drops more than reasoning with `only_reasoning`.
fn end_of(history: &CompatHistory<'_>, message: usize, kept: usize, only_reasoning: bool) -> Option<Vec<u8>> {
    let read = history.message(message)?;
    let items = MessageItems::of(&read);
    let rest = items.text + items.calls.len();
    if kept < rest && only_reasoning {
        return None;
    }
    let last = |all: &[&[u8]], count: usize| match all.get(all.len() - count.min(all.len())..) {
        Some(some @ [_, ..]) => Some([b"[", some.join(&b","[..]).as_slice(), b"]"].concat()),
        _ => None,
    };
    let reasoning = last(&items.reasoning, kept.saturating_sub(rest));
    let calls = last(&items.calls, kept);
    let content = if kept > items.calls.len() {
        read.content
    } else {
        Some(&b"null"[..])
    };
    let changes = [
        ("reasoning", reasoning.as_deref()),
        ("content", content),
        ("tool_calls", calls.as_deref()),
        ("tokens", None),
    ];
    json::with_members(history.body(message), &changes).ok()
}

/// Selects the messages to compact: all except user messages, instructions and summaries. Returns a choice that
/// replaces them with a summary, and the number of items; a compaction is due from [`DUE`] items.
pub fn candidates(history: &CompatHistory<'_>, rules: Precedence) -> (ViewChanges, usize) {
    let pending = history.pending();
    let stays = |message: usize| {
        history.role(message) == Role::User
            || history.is_system(message)
            || (rules == Precedence::Convo && pending[message])
    };
    let taken = (0..history.len()).filter(|message| !stays(*message));
    let items = taken.map(|message| items(history, message)).sum();
    (ViewChanges::keeping(history, stays).summarising(), items)
}

/// The options of `ToolOutputTrimmer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrimOutputs {
    /// `recent_turns`: outputs after the Nth user message from the end are kept; at least 1.
    pub recent_turns: usize,
    /// `max_output_chars`: longer outputs are shortened; at least 1.
    pub most: usize,
    /// `preview_chars`: length of the beginning that is kept.
    pub preview: usize,
    /// `trimmable_tools`: tools whose outputs are shortened; none means all tools.
    pub tools: Option<Vec<String>>,
}

impl Default for TrimOutputs {
    fn default() -> Self {
        TrimOutputs {
            recent_turns: 2,
            most: 500,
            preview: 200,
            tools: None,
        }
    }
}

/// Shortens tool outputs as `ToolOutputTrimmer` does; an output that would not get shorter is kept. Lengths are in
/// code points, as there, except those that the placeholder names.
///
/// # Errors
///
/// Zero recent turns or a zero length is wrong usage.
pub fn trim_outputs(history: &CompatHistory<'_>, options: &TrimOutputs) -> Result<ViewChanges> {
    if options.recent_turns == 0 || options.most == 0 {
        let what = "expected at least one recent exchange and outputs of at least one character";
        return Err(Error::usage(what));
    }
    let users = (0..history.len())
        .rev()
        .filter(|at| history.role(*at) == Role::User);
    let Some(boundary) = users.into_iter().nth(options.recent_turns - 1) else {
        return Ok(ViewChanges::unchanged(history));
    };
    let (mut lines, mut tools) = (BTreeMap::new(), HashMap::<String, String>::new());
    for index in 0..boundary {
        let Some(message) = history.message(index) else {
            continue;
        };
        for call in message.tool_calls() {
            tools.insert(call.id.into_owned(), call.name.into_owned());
        }
        if history.role(index) != Role::Tool {
            continue;
        }
        let id = message.tool_call_id().unwrap_or_default();
        let tool = tools.get(id.as_ref()).map_or("", String::as_str);
        let named = |named: &Vec<String>| named.iter().any(|name| name == tool);
        if options.tools.as_ref().is_some_and(|tools| !named(tools)) {
            continue;
        }
        let text = message.text();
        if let Some(preview) = preview(&text, options.most, options.preview) {
            let content = quoted(&preview);
            let changes = [("content", Some(content.as_slice())), ("tokens", None)];
            if let Ok(line) = json::with_members(history.body(index), &changes) {
                lines.insert(index, line);
            }
        }
    }
    Ok(ViewChanges::rewriting(history, lines))
}

/// Returns a placeholder and the beginning of the text; none when the text is short enough or would not get shorter.
fn preview(text: &str, most: usize, preview: usize) -> Option<String> {
    let length = text.chars().count();
    // A shortened output exceeds the limit by its placeholder; do not shorten it again.
    if length <= most || text.lines().next().is_some_and(placeholders::is_mark) {
        return None;
    }
    let end = text.char_indices().nth(preview).map_or(text.len(), |(at, _)| at);
    let mark = placeholders::middle(text.len() - end, text.len());
    let cut = if end == 0 {
        mark
    } else {
        format!("{mark}\n{}", &text[..end])
    };
    (cut.chars().count() < length).then_some(cut)
}
