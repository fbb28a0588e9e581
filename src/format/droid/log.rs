//! The lines of a log.

use super::NAME;
use super::line::{add_members, text, time_of};
use crate::format::blocks;
use crate::format::kit::{Decoded, Draft, Summary, Visible};
use crate::format::report::Report;
use crate::format::request::piece::{Said, quoted};
use crate::model::json::{self, ObjectBuilder};

/// The message of a line.
pub fn message(line: &[u8]) -> Option<&[u8]> {
    let message = json::member(line, "message")?;
    (json::member(line, "type") == Some(b"\"message\"") && message.starts_with(b"{")).then_some(message)
}

/// Whether the line is about a hook.
pub fn is_hook(line: &[u8]) -> bool {
    message(line).is_some_and(|message| json::member(message, "hookEventName").is_some())
}

/// The meaning of a line, which may be beside the way that the model receives.
pub fn decode(line: &[u8], nth: usize, is_beside: bool) -> Decoded {
    match (message(line), text(line, "type").as_deref()) {
        (Some(_), _) if is_hook(line) => Decoded::Passthrough,
        (Some(message), _) if text(message, "role").is_none() => Decoded::Unrecognized,
        (Some(message), _) => Decoded::Messages(drafts(line, message, is_beside)),
        (None, None | Some("message")) => Decoded::Unrecognized,
        (None, Some("compaction_state")) => summary(line, nth),
        (None, Some(_)) => Decoded::Passthrough,
    }
}

fn drafts(line: &[u8], message: &[u8], is_beside: bool) -> Vec<Draft> {
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
    let visible = if is_beside {
        Visible::Hidden
    } else {
        Visible::Whole
    };
    let with = |message| Draft {
        message,
        visible: visible.clone(),
    };
    drafts.into_iter().map(with).collect()
}

/// The summary of a compaction; one without a text changes nothing.
fn summary(line: &[u8], nth: usize) -> Decoded {
    let older = || text(json::member(line, "summary")?, "body");
    match text(line, "summaryText").or_else(older) {
        Some(text) => Decoded::Summary(Summary {
            text: text.into_owned(),
            kept: Some(nth),
            members: vec![("by", quoted(NAME))],
            ..Summary::default()
        }),
        None => Decoded::Passthrough,
    }
}

/// The line of messages.
pub fn encode(messages: &[Said<'_>], is_new: bool, report: &mut Report) -> Option<Vec<u8>> {
    let first = messages.first()?;
    let bodies: Vec<_> = messages.iter().map(blocks::placed).collect();
    let made = blocks::encoded(&bodies, is_new, report).into_iter().next()?;
    let model = json::member(first.body, "model");
    let made = json::with_members(&made, &[("model", model)]).unwrap_or(made);
    let mut line = ObjectBuilder::default();
    line.text("type", "message");
    add_members(&mut line, first.body);
    line.raw("message", made);
    Some(line.finish())
}
