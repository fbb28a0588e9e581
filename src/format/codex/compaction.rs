//! Compactions in a log, which replace the history before them by items or by a summary.

use super::line::ItemRole;
use super::steps::OpenMessage;
use super::{NAME, message};
use crate::format::request::{Api, request_part};
use crate::model::event::{self, EPOCH};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::key;

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
    let text = json::member(payload, "message").filter(|raw| raw.starts_with(b"\""));
    let text = text.unwrap_or(b"\"\"");
    let covers = before.ends.as_ref().map(json::texts);
    let is_summary = items.is_none() && before.inserted.is_empty();
    let inserted = std::mem::take(&mut before.inserted);
    let had_summary = std::mem::replace(&mut before.summary, items.is_none());
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
    match &items {
        Some(items) => {
            let inserts = messages(items, |nth| id("msg_", nth + 1)).into_iter();
            let inserts = inserts.map(|(id, body)| {
                before.inserted.push(id);
                wrapped("message", body)
            });
            event.raw("insert", array(inserts));
            event.optional("summary", had_summary.then_some("null"));
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
