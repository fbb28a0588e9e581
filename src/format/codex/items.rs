//! Converts messages of a view to items, and items to lines.

use super::line::{CodexLine, CodexLineKind};
use super::object;
use crate::format::WritePurpose;
use crate::format::report::Report;
use crate::format::request::{self, Api, request_part};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Message;
use crate::model::session::Session;
use crate::model::view::View;
use std::borrow::Cow;

/// The items for each item of a view. Losses go to the report; `own` if the session was read from a log, whose order is
/// kept.
pub fn of_view(session: &Session, view: &View, own: bool, report: &mut Report) -> Vec<Vec<Vec<u8>>> {
    let request = request::built_of(
        Api::OpenaiResponses,
        own,
        session,
        view,
        WritePurpose::Return,
        report,
    );
    let mut items = vec![Vec::new(); view.items.len()];
    if let (Some(system), Some(item)) = (request.system, request.system_items.first()) {
        let mut built = ObjectBuilder::default();
        built
            .text("type", "message")
            .text("role", "developer")
            .raw("content", input_text(&system));
        items[*item].push(built.finish());
    }
    for element in request.elements {
        if let Some(item) = element.items.first() {
            items[*item].push(typed(element.raw));
        }
    }
    items
}

/// Adds the types that items of a log and their parts always have.
fn typed(item: Vec<u8>) -> Vec<u8> {
    let has_type = json::member(&item, "type").is_some();
    let content = json::member(&item, "content").filter(|raw| raw.starts_with(b"\""));
    if has_type && content.is_none() {
        return item;
    }
    let role = json::member(&item, "role").unwrap_or_default();
    let content = content.map(|raw| match role {
        b"\"assistant\"" => part("output_text", raw),
        _ => part("input_text", raw),
    });
    let mut typed = ObjectBuilder::default();
    if !has_type {
        typed.text("type", "message");
    }
    for (name, value) in request_part::extra_members(&item, &[]) {
        match &content {
            Some(content) if name == "content" => typed.raw(&name, content),
            _ => typed.raw(&name, value),
        };
    }
    typed.finish()
}

fn part(kind: &str, text: &[u8]) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    part.text("type", kind).raw("text", text);
    json::array([part.finish()])
}

fn input_text(raw: &[u8]) -> Vec<u8> {
    match raw.first() {
        Some(b'"') => part("input_text", raw),
        _ => raw.to_vec(),
    }
}

/// A line of this type with a payload.
pub fn enveloped(timestamp: &[u8], kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut line = ObjectBuilder::default();
    line.raw("timestamp", timestamp)
        .text("type", kind)
        .raw("payload", payload);
    line.finish()
}

/// The line of an item with these envelope members; without an envelope, the item itself.
pub fn line(envelope: Option<&[(Cow<'_, str>, &[u8])]>, kind: &str, payload: &[u8]) -> Vec<u8> {
    let Some(members) = envelope else {
        return payload.to_vec();
    };
    let mut line = ObjectBuilder::default();
    let time = |(name, _): &&(Cow<'_, str>, &[u8])| name == "timestamp";
    for (name, value) in members.iter().filter(time) {
        line.raw(name, value);
    }
    for (name, value) in members.iter().filter(|member| !time(member)) {
        line.raw(name, value);
    }
    line.text("type", kind).raw("payload", payload);
    line.finish()
}

/// A line with its payload replaced.
pub fn with_payload(old: &[u8], payload: &[u8]) -> Vec<u8> {
    let line = CodexLine::parse(old, crate::error::Position { line: 1, offset: 1 });
    let mut new = match line.envelope {
        None => payload.to_vec(),
        Some(_) => {
            json::with_members(line.body, &[("payload", Some(payload))]).unwrap_or_else(|_| payload.to_vec())
        }
    };
    new.push(b'\n');
    new
}

/// The payload of a line with an item or event.
pub fn payload(line: &[u8]) -> Option<Vec<u8>> {
    match CodexLine::parse(line, crate::error::Position { line: 1, offset: 1 }).kind {
        CodexLineKind::Item(_, payload)
        | CodexLineKind::Event(_, payload)
        | CodexLineKind::Compacted(payload) => Some(payload.to_vec()),
        _ => None,
    }
}

/// The text of a message in its display event.
pub fn display_text(message: &Message<'_>) -> Vec<u8> {
    json::quoted(&message.text())
}

/// The display event of a user message.
pub fn user_event(text: &[u8], rest: Option<&[u8]>) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event.text("type", "user_message").raw("message", text);
    match rest {
        Some(rest) => {
            for (name, value) in request_part::extra_members(rest, &[]) {
                event.raw(&name, value);
            }
        }
        None => {
            for name in ["images", "local_images", "text_elements"] {
                event.raw(name, "[]");
            }
        }
    }
    event.finish()
}

/// The display event of a model message.
pub fn agent_event(text: &[u8]) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event.text("type", "agent_message").raw("message", text);
    event.finish()
}

/// The members of a stored object.
pub fn members(object: &[u8]) -> Vec<(Cow<'_, str>, &[u8])> {
    request_part::extra_members(object, &[]).collect()
}

/// Restores envelope members that [`object`] stored.
pub fn preserved_envelope(raw: Option<&[u8]>, timestamp: Option<&[u8]>) -> Option<Vec<u8>> {
    match (raw, timestamp) {
        (Some(b"null"), _) => None,
        (Some(raw), _) => Some(raw.to_vec()),
        (None, Some(time)) => Some(object(&[(Cow::Borrowed("timestamp"), time)])),
        (None, None) => Some(b"{}".to_vec()),
    }
}

/// The items of messages, as a replacement history.
pub fn history(bodies: &[&[u8]]) -> Vec<u8> {
    let mut session = Session::default();
    for body in bodies {
        session.push_new(body);
    }
    let view = View::replay(&session);
    let items = of_view(&session, &view, true, &mut Report::default());
    json::array(items.concat())
}
