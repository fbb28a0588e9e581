//! Converts the lines of a log.

use super::line::time_of;
use crate::format::blocks;
use crate::format::kit::{Assembly, Decoded, Draft, SummaryDraft, Tree, Visible};
use crate::format::object::filled;
use crate::format::report::Report;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, quoted};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The name of the format, and of its annotations.
pub const NAME: &str = "droid";

pub fn message(line: &[u8]) -> Option<&[u8]> {
    let message = json::member(line, "message")?;
    (json::member(line, "type") == Some(b"\"message\"") && message.starts_with(b"{")).then_some(message)
}

/// Whether the line reports a hook.
pub fn is_hook(line: &[u8]) -> bool {
    message(line).is_some_and(|message| json::member(message, "hookEventName").is_some())
}

/// The branches of a log; none unless several messages name the same one before them. Droid sends the model the path
/// from the last message back to the first.
pub fn assemble(lines: &[&[u8]]) -> Option<Assembly> {
    let is_message = |line: &[u8]| message(line).is_some() && !is_hook(line);
    let mut named = HashSet::new();
    let mut messages = lines.iter().filter(|line| is_message(line));
    if messages.all(|line| filled(line, "parentId").is_none_or(|id| named.insert(id))) {
        return None;
    }
    let ids = lines.iter().map(|line| filled(line, "id").map(Cow::into_owned));
    let ids: Vec<Option<String>> = ids.collect();
    let by_id: HashMap<&str, usize> = { ids.iter().enumerate() }
        .filter_map(|(nth, id)| Some((id.as_deref()?, nth)))
        .collect();
    let parent = |line: &&[u8]| by_id.get(&*filled(line, "parentId")?).copied();
    let parents: Vec<Option<usize>> = lines.iter().map(parent).collect();
    let tree = Tree {
        is_message: lines.iter().map(|line| is_message(line)).collect(),
        ids,
        parents,
    };
    let mut path = HashSet::new();
    let mut at = tree.is_message.iter().rposition(|is_message| *is_message);
    while let Some(nth) = at.filter(|nth| path.insert(*nth)) {
        at = tree.parents[nth];
    }
    let mut assembly = Assembly {
        first: (0..lines.len()).collect(),
        session: vec![0; lines.len()],
        others: Vec::new(),
    };
    tree.add_branches(&mut assembly, |nth| {
        filled(lines[nth], "parentId").is_some() && !path.contains(&nth)
    });
    Some(assembly)
}

/// The meaning of a line.
pub fn decode(line: &[u8], nth: usize) -> Decoded {
    match (message(line), filled(line, "type").as_deref()) {
        (Some(_), _) if is_hook(line) => Decoded::Passthrough,
        (Some(message), _) if filled(message, "role").is_none() => Decoded::Unrecognized,
        (Some(message), _) => Decoded::Messages(drafts(line, message)),
        (None, None | Some("message")) => Decoded::Unrecognized,
        (None, Some("compaction_state")) => summary(line, nth),
        (None, Some(_)) => Decoded::Passthrough,
    }
}

fn drafts(line: &[u8], message: &[u8]) -> Vec<Draft> {
    let mut drafts = blocks::drafts(message);
    let time = time_of(line).map(|time| quoted(&time));
    for draft in &mut drafts {
        let is_context = |content| blocks::is_within(content, "system-reminder");
        if draft.role() == "user" && draft.get("content").is_some_and(is_context) {
            draft.set("category", "\"context\"");
        }
        if let Some(time) = &time {
            draft.set("timestamp", time.clone());
        }
    }
    let with = |message| Draft {
        message,
        visible: Visible::Whole,
    };
    drafts.into_iter().map(with).collect()
}

/// The summary of a compaction; a compaction without a text has no effect.
fn summary(line: &[u8], nth: usize) -> Decoded {
    let older = || filled(json::member(line, "summary")?, "body");
    match filled(line, "summaryText").or_else(older) {
        Some(text) => Decoded::Summary(SummaryDraft {
            text: text.into_owned(),
            kept: Some(nth),
            members: vec![("by", quoted(NAME))],
            ..SummaryDraft::default()
        }),
        None => Decoded::Passthrough,
    }
}

/// Encodes messages as a line.
pub fn encode(messages: &[AnnotatedMessage<'_>], is_new: bool, report: &mut Report) -> Option<Vec<u8>> {
    let first = messages.first()?;
    let bodies: Vec<_> = messages.iter().map(blocks::with_known_role).collect();
    let built = blocks::encoded(&bodies, is_new, report).into_iter().next()?;
    let model = json::member(first.body, "model");
    let built = json::with_members(&built, &[("model", model)]).unwrap_or(built);
    let mut line = ObjectBuilder::default();
    line.text("type", "message");
    match is_new {
        true => line.optional("id", json::member(first.body, "id")),
        false => line.optional("id", first.element_id()),
    };
    line.optional("timestamp", json::member(first.body, "timestamp"));
    line.raw("message", built);
    Some(line.finish())
}
