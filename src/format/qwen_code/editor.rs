//! Writes logs with the kit.

use super::codec::QwenCode;
use super::compression;
use super::encode::{add_figures, content, kind};
use super::record::NAME;
use crate::format::gemini;
use crate::format::kit::{Editor, NewIds, SourceElements, Writer, lines_of, losses, records};
use crate::format::object::{text, timestamp};
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::Workspace;
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use std::borrow::Cow;
use std::collections::HashMap;

/// State for creating new records.
#[derive(Default)]
pub struct QwenRecordFactory {
    /// Members that all records of a session have.
    session: Vec<(&'static str, Vec<u8>)>,
    /// The time of the last record with one.
    clock: Vec<u8>,
    ids: NewIds,
    /// Tool names by call id.
    names: HashMap<String, Vec<u8>>,
    /// The title of a new session, until it is written.
    title: Option<String>,
    /// The model of a new session.
    model: Option<Vec<u8>>,
    is_new: bool,
}

impl QwenRecordFactory {
    /// A record without its content.
    fn record(&mut self, kind: &str, body: &[u8]) -> ObjectBuilder {
        if let Some(time) = timestamp(body) {
            self.clock = time.to_vec();
        }
        let mut record = ObjectBuilder::default();
        record.raw("uuid", self.ids.id(body)).raw("parentUuid", "null");
        for (name, value) in &self.session {
            record.raw(name, value);
        }
        record.raw("timestamp", &self.clock).text("type", kind);
        record
    }

    /// A system record.
    fn event(&mut self, kind: &str, payload: &[u8], body: &[u8]) -> Vec<u8> {
        let mut record = self.record("system", body);
        record.text("subtype", kind).raw("systemPayload", payload);
        record.finish()
    }
}

impl Editor for QwenCode {
    type EditContext = QwenRecordFactory;

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> QwenRecordFactory {
        let lines = source.raws.iter().flat_map(|raw| lines_of(raw));
        let lines: Vec<&[u8]> = lines.filter(|line| line.starts_with(b"{")).collect();
        let last = |name| lines.iter().rev().find_map(|line| json::member(line, name));
        let members = ["sessionId", "cwd", "version", "gitBranch"].into_iter();
        let clock = lines.iter().rev().find_map(|line| timestamp(line));
        let parts = lines
            .iter()
            .flat_map(|line| json::list(json::member(line, "message").unwrap_or_default(), "parts"));
        let calls = parts.filter_map(|part| json::member(part, "functionCall"));
        QwenRecordFactory {
            session: members
                .filter_map(|name| Some((name, last(name)?.to_vec())))
                .collect(),
            clock: clock.unwrap_or(EPOCH_MILLIS).to_vec(),
            names: calls
                .filter_map(|call| Some((text(call, "id")?, json::member(call, "name")?.to_vec())))
                .collect(),
            ids: lines.iter().filter_map(|line| text(line, "uuid")).collect(),
            title: None,
            model: None,
            is_new: false,
        }
    }

    fn new_context(&self, session: &Session, view: &View) -> QwenRecordFactory {
        let workspace = Workspace::of(session);
        let id = session.header_text("id").unwrap_or_else(|| "session".to_string());
        let mut members = vec![
            ("sessionId", quoted(&id)),
            ("cwd", workspace.directory().to_vec()),
            ("version", b"\"0.0.0\"".to_vec()),
        ];
        members.extend(workspace.branch.clone().map(|branch| ("gitBranch", branch)));
        let times = view
            .items
            .iter()
            .find_map(|item| timestamp(item.body(session)).map(<[u8]>::to_vec));
        let begun = session.header_text("created_at").map(|time| quoted(&time));
        QwenRecordFactory {
            session: members,
            clock: times.or(begun).unwrap_or_else(|| EPOCH_MILLIS.to_vec()),
            ids: NewIds::default(),
            names: HashMap::new(),
            title: session.header_text("title"),
            model: workspace.model,
            is_new: true,
        }
    }

    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        let mut built = Vec::new();
        for annotated in messages {
            built.extend(new_record(annotated, out.context, out.report));
            if let Some(title) = out.context.title.take_if(|_| !built.is_empty()) {
                let mut payload = ObjectBuilder::default();
                payload.text("customTitle", &title).text("titleSource", "manual");
                built.push(out.context.event("custom_title", &payload.finish(), b"{}"));
            }
        }
        built
    }

    fn new_summary(
        &self,
        text: &str,
        body: &[u8],
        _: &[Vec<u8>],
        making: &mut QwenRecordFactory,
    ) -> Option<Vec<Vec<u8>>> {
        let payload = compression::payload(text, making.is_new);
        let named = json::with_members(body, &[("id", None)]);
        Some(vec![making.event(
            "chat_compression",
            &payload,
            named.as_deref().unwrap_or(body),
        )])
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        let known = [NAME, "is_error", Api::Gemini.name()];
        losses::of(annotated, &[Loss::Name], &known, report);
        let is_turn = matches!(
            annotated.message.role(),
            Role::User | Role::Assistant | Role::Tool
        );
        let is_lost = !is_turn || annotated.message.category.is_some();
        report.count_loss(Loss::Category, u64::from(is_lost));
    }
}

/// The record of a new message.
fn new_record(
    annotated: &AnnotatedMessage<'_>,
    making: &mut QwenRecordFactory,
    report: &mut Report,
) -> Option<Vec<u8>> {
    let role = annotated.message.role();
    let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    let id = annotated.message.tool_call_id().unwrap_or_default();
    let name = making.names.get(id.as_ref()).cloned();
    match role {
        Role::Assistant => {
            let thoughts = reasoning_parts(annotated, report);
            changes.push(("reasoning", (!thoughts.is_empty()).then(|| array(thoughts))));
            if json::member(annotated.body, "model").is_none() {
                changes.extend(making.model.clone().map(|model| ("model", Some(model))));
            }
            for call in annotated.message.tool_calls() {
                making.names.insert(call.id.to_string(), quoted(&call.name));
            }
        }
        Role::Tool => changes.extend(name.map(|name| ("name", Some(name)))),
        _ => {}
    }
    let body =
        json::with_owned_members(annotated.body, &changes).map_or(Cow::Borrowed(annotated.body), Cow::Owned);
    let bodies = [body];
    let annotated = records::annotated_messages(&bodies, NAME).into_iter().next()?;
    let mut record = making.record(kind(role), annotated.body);
    record.raw(
        "message",
        content(role, &gemini::parts(&annotated, true, false, report)),
    );
    if role == Role::Assistant {
        add_figures(&mut record, &annotated, report);
    }
    if role == Role::Tool {
        let is_error = annotated.metadata("is_error") == Some(b"true");
        let mut result = ObjectBuilder::default();
        result
            .text("callId", &id)
            .text("status", if is_error { "error" } else { "success" });
        record.raw("toolCallResult", result.finish());
    }
    Some(record.finish())
}

/// The reasoning of a message as parts of the Gemini API.
fn reasoning_parts(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let signs = ["signature", "encrypted_content", "data"];
    let mut thoughts = Vec::new();
    for part in annotated.reasoning() {
        if json::member(part, "type") == Some(b"\"thought\"") {
            thoughts.push(part.to_vec());
            continue;
        }
        let is_signed = signs.iter().any(|name| json::member(part, name).is_some());
        report.count_loss(Loss::Signature, u64::from(is_signed));
        let text = json::member(part, "text").or(json::member(part, "thinking"));
        match text.filter(|text| text.starts_with(b"\"")) {
            Some(text) => {
                let reasoning = wrapped("text", text);
                let kind = Some(&b"\"thought\""[..]);
                thoughts.push(json::with_members(&reasoning, &[("type", kind)]).unwrap_or(reasoning));
            }
            None => report.count_loss(Loss::Reasoning, 1),
        }
    }
    thoughts
}
