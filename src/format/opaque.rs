//! Summaries that a provider encrypts. They are written back to that provider only.

use super::Format;
use super::report::{Loss, Report};
use super::request::Api;
use crate::model::json::{self, Dialect, array, quoted, wrapped};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::model::{event, key};

/// The member that holds the encrypted item in an event.
const ITEM_MEMBER: &str = Api::OpenaiResponses.name();

/// Whether an item or part is an encrypted OpenAI summary.
pub fn is_compaction(raw: &[u8]) -> bool {
    let kind = json::member_text(raw, "type");
    matches!(
        kind.as_deref(),
        Some("compaction" | "compaction_summary" | "context_compaction")
    ) && json::string_member(raw, "encrypted_content").is_some()
}

/// The encrypted summary in an event.
pub fn of_event(event: &[u8]) -> Option<&[u8]> {
    let own = json::member(json::member(event, "metadata")?, ITEM_MEMBER)?;
    json::member(own, "compaction")
}

/// An event for an encrypted summary: it covers the messages before it and has no text.
pub fn event(raw: &[u8], covered: Option<(&String, &String)>) -> Vec<u8> {
    let mut event = event::begin("summary", &key::id_from("evt_", raw));
    event.text("at", event::EPOCH).text("content", "");
    match covered {
        Some((first, last)) => event.raw("covers", array([quoted(first), quoted(last)])),
        None => event.raw("here", "true"),
    };
    event.text("by", ITEM_MEMBER);
    let own = wrapped("compaction", raw);
    event.raw("metadata", wrapped(ITEM_MEMBER, &own));
    event.finish()
}

/// The view including the messages that encrypted summaries cover, for writing back a history that contains both.
pub fn with_covered(session: &Session, view: &View) -> Option<View> {
    let is_own = |index: usize| of_event(session.record(index).body).is_some();
    let is_summary = |item: &Item| matches!(item, Item::Summary(index) if is_own(*index));
    if !view.items.iter().any(is_summary) {
        return None;
    }
    let moving = session.live_events().into_iter();
    let (own, others): (Vec<usize>, Vec<usize>) = moving
        .filter(|index| View::is_moved_by(session, *index))
        .partition(|index| is_own(*index));
    let mut items = View::after(session, others).items;
    for index in own {
        let after = |item: &Item| item.line().is_some_and(|line| line > index);
        let at = items.iter().position(after).unwrap_or(items.len());
        items.insert(at, Item::Summary(index));
    }
    Some(View {
        items,
        ..View::default()
    })
}

/// The view without encrypted summaries, for a format of another provider; `None` if there are none. Reports each as a
/// loss.
pub fn readable(format: Format, session: &Session, view: &View, report: &mut Report) -> Option<View> {
    if matches!(format, Format::OpenaiResponses | Format::Codex | Format::Jsonl) {
        return None;
    }
    let mut changed = false;
    let mut items = Vec::with_capacity(view.items.len());
    for item in &view.items {
        let body = item.body(session);
        if matches!(item, Item::Summary(_)) && of_event(body).is_some() {
            report.count_loss(Loss::Summary, 1);
            changed = true;
            continue;
        }
        let Some(left) = without(body) else {
            items.push(item.clone());
            continue;
        };
        report.count_loss(Loss::Part, 1);
        changed = true;
        items.extend(left.map(|body| match item.line() {
            Some(line) => Item::Edited(line, body),
            None => Item::Inserted(body),
        }));
    }
    changed.then(|| View {
        items,
        ..View::default()
    })
}

/// A message without encrypted summaries: `None` if it has none, `Some(None)` if nothing else remains.
fn without(body: &[u8]) -> Option<Option<Vec<u8>>> {
    memchr::memmem::find(body, b"encrypted_content")?;
    let parts = json::elements(json::member(body, "content")?, Dialect::Strict)?;
    let left: Vec<&[u8]> = parts
        .iter()
        .copied()
        .filter(|part| !is_compaction(part))
        .collect();
    if left.len() == parts.len() {
        return None;
    }
    let has_content = !left.is_empty() || json::member(body, "tool_calls").is_some();
    let built = has_content.then(|| json::with_members(body, &[("content", Some(&array(&left)))]).ok());
    Some(built.flatten())
}
