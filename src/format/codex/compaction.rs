//! Compactions in a log, which replace the history before them by items or by a summary.

use super::line::{ItemRole, NAME};
use super::steps::OpenMessage;
use super::{items, message};
use crate::format::request::{Api, request_part};
use crate::model::event::{self, EPOCH};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::session::Session;
use crate::model::view::Item;
use crate::model::{key, summary};

/// The state before a compaction.
#[derive(Default)]
pub struct StateBeforeCompaction {
    /// Ids of the first and the last message of the log so far.
    pub ends: Option<[String; 2]>,
    /// Ids of the messages that the previous compaction inserted.
    pub inserted: Vec<String>,
    /// Whether a summary is active.
    pub summary: bool,
}

/// Whether the items of a summary are read back as one.
pub fn has_summary(items: &[Vec<u8>]) -> bool {
    let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
    let messages = messages(&items, |_| String::new());
    matches!(messages.as_slice(), [(_, body)] if quoted_summary(body).is_some())
}

/// The time of the event of a summary.
pub fn time<'s>(item: &Item, session: &'s Session) -> Option<&'s [u8]> {
    match item {
        Item::Summary(index) => json::string_member(session.record(*index).body, "at"),
        _ => None,
    }
}

/// A compaction that replaces the history by the items of each of these messages, one of which is the summary.
pub fn payload(summary: &str, items: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut payload = ObjectBuilder::default();
    payload
        .text("message", summary)
        .raw("replacement_history", array(items.concat()));
    payload.finish()
}

/// The event for a compaction; `name` makes its id unique.
pub fn event(
    payload: &[u8],
    name: &str,
    at: Option<&[u8]>,
    envelope: Option<Vec<u8>>,
    before: &mut StateBeforeCompaction,
) -> Vec<u8> {
    let id = |prefix: &str, nth: usize| key::id_from(prefix, format!("{nth}\n{name}"));
    let items =
        json::member(payload, "replacement_history").and_then(|raw| json::elements(raw, Dialect::Strict));
    let text = json::string_member(payload, "message");
    let text = text.unwrap_or(b"\"\"");
    let covers = before.ends.as_ref().map(json::texts);
    let is_summary = items.is_none() && before.inserted.is_empty();
    let inserted = std::mem::take(&mut before.inserted);
    let messages = items
        .as_ref()
        .map(|items| messages(items, |nth| id("msg_", nth + 1)));
    // Messages before a summary are inserted before the first message of the log, because they cannot refer to it.
    let first = before.ends.as_ref().map(|[first, _]| quoted(first));
    let quotation = messages.iter().flatten().enumerate();
    let mut quotation = quotation.filter(|(nth, _)| *nth == 0 || first.is_some());
    let quotation = quotation.find_map(|(nth, (_, body))| Some((nth, quoted_summary(body)?)));
    let has_summary = items.is_none() || quotation.is_some();
    let had_summary = std::mem::replace(&mut before.summary, has_summary);
    let mut event = event::begin(if is_summary { "summary" } else { "compact" }, &id("evt_", 0));
    event.raw("at", at.map_or_else(|| quoted(EPOCH), <[u8]>::to_vec));
    if is_summary {
        event.raw("content", text);
        match covers {
            Some(covers) => event.raw("covers", covers),
            None => event.raw("here", "true"),
        };
        event.text("by", NAME);
    } else {
        event.text("strategy", NAME);
        let inserted = inserted.iter().map(|id| quoted(id));
        event.raw("drop", array(covers.into_iter().chain(inserted)));
    }
    match messages {
        Some(messages) => {
            let at = quotation.as_ref().map_or(0, |(nth, _)| *nth);
            let is_message = |nth: &usize| *nth != at || quotation.is_none();
            let messages = messages.into_iter().enumerate();
            let inserts = messages
                .filter(|(nth, _)| is_message(nth))
                .map(|(nth, (id, body))| {
                    before.inserted.push(id);
                    let mut insert = ObjectBuilder::default();
                    insert.optional("before", first.as_ref().filter(|_| nth < at));
                    insert.raw("message", body);
                    insert.finish()
                });
            event.raw("insert", array(inserts));
            let summary = quotation.map(|(_, summary)| summary);
            event.optional("summary", summary.or(had_summary.then(|| b"null".to_vec())));
        }
        None if !is_summary => drop(event.raw("summary", wrapped("content", text))),
        None => {}
    }
    let known = [if items.is_some() {
        "replacement_history"
    } else {
        "message"
    }];
    let mut own = ObjectBuilder::default();
    own.optional("envelope", envelope);
    own.optional("payload", request_part::extra_object(payload, &known));
    event.raw("metadata", wrapped(NAME, own.finish()));
    event.finish()
}

/// The summary that a message of the history quotes, if it is written as the same item.
fn quoted_summary(body: &[u8]) -> Option<Vec<u8>> {
    let content = json::member(body, "content").filter(|content| summary::may_be_in(content))?;
    let (text, is_whole) = summary::at_the_start(content)?;
    let role = json::member_text(body, "role")?;
    let message = summary::message(&text, Some(&role));
    let item = |body: &[u8]| array(items::of_bodies(&[body]));
    let is_same = || json::same_text(&item(body), &item(&message));
    (is_whole && matches!(&*role, "system" | "developer" | "user") && is_same()).then(|| {
        let mut summary = ObjectBuilder::default();
        summary.text("content", &text).text("role", &role);
        summary.finish()
    })
}

/// The messages of items, with their ids.
fn messages(items: &[&[u8]], id: impl Fn(usize) -> String) -> Vec<(String, Vec<u8>)> {
    let mut groups: Vec<Vec<&[u8]>> = Vec::new();
    let mut open: Option<OpenMessage> = None;
    for item in items {
        let kind = ItemRole::of(item);
        if let (Some(state), Some(group)) = (&mut open, groups.last_mut())
            && !state.starts_other_message(kind)
        {
            group.push(item);
            continue;
        }
        open = OpenMessage::begin(kind);
        groups.push(vec![item]);
    }
    let mut decoder = Api::OpenaiResponses.interface().decoder();
    let built = groups.iter().enumerate().map(|(nth, group)| {
        let mut draft = message::of_items(group, &mut *decoder);
        draft.raw("id", quoted(&id(nth)));
        (id(nth), draft.body(Api::OpenaiResponses))
    });
    built.collect()
}
