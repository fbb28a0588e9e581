//! Converts messages of a view to items, and items to lines.

use super::line::CodexLine;
use crate::format::WritePurpose;
use crate::format::report::Report;
use crate::format::request::{self, Api, request_part};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Message;
use crate::model::session::Session;
use crate::model::view::View;

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
        items[*item].push(typed(json::object([
            ("role", &b"\"developer\""[..]),
            ("content", &system),
        ])));
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
    let content = json::string_member(&item, "content");
    if has_type && content.is_none() {
        return item;
    }
    let kind = match json::member(&item, "role") {
        Some(b"\"assistant\"") => &b"\"output_text\""[..],
        _ => b"\"input_text\"",
    };
    let content = content.map(|text| json::array([json::object([("type", kind), ("text", text)])]));
    let mut typed = ObjectBuilder::default();
    if !has_type {
        typed.text("type", "message");
    }
    for (name, value) in request_part::extra_members(&item, &[]) {
        let content = content.as_deref().filter(|_| name == "content");
        typed.raw(&name, content.unwrap_or(value));
    }
    typed.finish()
}

/// A line of this type with a payload and a time.
pub fn enveloped(time: &[u8], kind: &str, payload: &[u8]) -> Vec<u8> {
    line(None, Some(time), kind, payload)
}

/// A line of this type with a payload. `envelope` is the annotation of an unusual envelope, see
/// [`CodexLine::unusual_envelope`].
pub fn line(envelope: Option<&[u8]>, time: Option<&[u8]>, kind: &str, payload: &[u8]) -> Vec<u8> {
    if envelope == Some(b"null") {
        return [payload, b"\n"].concat();
    }
    let mut line = ObjectBuilder::default();
    match envelope {
        None => line.optional("timestamp", time),
        Some(envelope) => line.optional("timestamp", json::member(envelope, "timestamp")),
    };
    request_part::add_extra_members(&mut line, envelope.unwrap_or(b"{}"), &["timestamp"]);
    line.text("type", kind).raw("payload", payload);
    [&line.finish()[..], b"\n"].concat()
}

/// A line with its payload replaced.
pub fn with_payload(old: &[u8], payload: &[u8]) -> Vec<u8> {
    let line = CodexLine::of(old);
    let changed = line.envelope.as_ref().and_then(|_| {
        let changed = json::with_members(line.body, &[("payload", Some(payload))]);
        changed.ok()
    });
    [changed.as_deref().unwrap_or(payload), b"\n"].concat()
}

/// The text of a message in its display event.
pub fn display_text(message: &Message<'_>) -> Vec<u8> {
    json::quoted(&message.text())
}

/// The display event of a user message.
pub fn user_event(text: &[u8], rest: Option<&[u8]>) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event.text("type", "user_message").raw("message", text);
    let usual = b"{\"images\":[],\"local_images\":[],\"text_elements\":[]}";
    request_part::add_members(&mut event, rest.or(Some(usual)));
    event.finish()
}

/// The display event of a model message.
pub fn agent_event(text: &[u8]) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event.text("type", "agent_message").raw("message", text);
    event.finish()
}

/// The items of these messages.
pub fn of_bodies(bodies: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut session = Session::default();
    bodies.iter().for_each(|body| session.push_new(body));
    let view = View::replay(&session);
    of_view(&session, &view, true, &mut Report::default()).concat()
}
