//! Implements the kit's codec for session traces; each message is an element.

use super::encode;
use crate::format::Format;
use crate::format::kit::{Codec, Decoded, DocumentLayout, Draft, Editor, SessionInfo, Visible};
use crate::format::report::{Loss, Report};
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use crate::model::{header, time};

pub struct Trace;

impl Codec for Trace {
    const FORMAT: Format = Format::Sts;
    const NAME: &'static str = "sts";
    const PHRASE: &'static str = "a session trace";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const IDS: bool = false;
    const QUOTES_SUMMARIES: bool = true;
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory];
    type ElementOutline = ();

    fn begins(&self, line: &[u8]) -> bool {
        json::member(line, "type") == Some(b"\"session\"") && json::member(line, "harness").is_some()
    }

    fn is_line(&self, line: &[u8]) -> bool {
        json::member(line, "type").is_some()
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let get = |name| json::member(about, name);
        let text = |name| get(name).and_then(json::text).map(String::from);
        let mut times = ["created_at", "timestamp"].into_iter().filter_map(text);
        SessionInfo {
            id: text("id").filter(|id| !id.is_empty()),
            title: text("name").filter(|name| !name.is_empty()),
            created: times.find(|time| time::is_rfc3339(time)),
            workspace: Workspace::new(get("cwd"), None, None),
            lineage: None,
        }
    }

    fn outline(&self, _: &[Vec<u8>]) {}

    fn decode(&self, (): &(), _: usize, raw: &[u8]) -> Decoded {
        match message(raw) {
            Some(message) => Decoded::Messages(vec![Draft {
                message,
                visible: Visible::Whole,
            }]),
            None if is_message(raw) => Decoded::Unrecognized,
            None => Decoded::Passthrough,
        }
    }

    fn fault(&self, raw: &[u8]) -> Option<String> {
        let content = json::member(json::member(raw, "message")?, "content")?;
        let is_fault = is_message(raw) && !content.starts_with(b"\"");
        is_fault.then(|| "the content of a message is not a string".to_string())
    }

    fn time(&self, raw: &[u8]) -> Option<String> {
        time_of(json::member(raw, "message")?)
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        messages
            .first()
            .map(|annotated| encode::element(annotated, report))
    }
}

impl Editor for Trace {
    type EditContext = ();
    const LOST: &'static [Loss] = &[Loss::Id, Loss::Usage, Loss::Category, Loss::Name];
    const REPRESENTED_METADATA: &'static [&'static str] = &[Self::NAME];

    fn has_role(&self, role: Role) -> bool {
        role != Role::Other
    }

    fn new_about(&self, session: &Session, _: &View, (): &(), _: DocumentLayout) -> ObjectBuilder {
        let header = session.header();
        let get = |name: &str| header::member(header, name);
        let harness = get("metadata").and_then(|raw| json::member(raw, "harness"));
        let format = get("source").and_then(|raw| json::member(raw, "format"));
        let mut about = ObjectBuilder::default();
        about
            .text("type", "session")
            .raw("harness", harness.or(format).unwrap_or(b"\"convo\""))
            .raw("id", get("id").unwrap_or(b"\"session\""));
        for (name, value) in [("name", get("title")), ("created_at", get("created_at"))] {
            about.optional(name, value);
        }
        about.optional("cwd", Workspace::of(session).cwd);
        about
    }
}

fn is_message(raw: &[u8]) -> bool {
    json::member(raw, "type") == Some(b"\"message\"")
}

/// The native message of a line; `None` if it is not a message of the format.
fn message(raw: &[u8]) -> Option<draft::AnnotatedDraft> {
    let message = json::member(raw, "message").filter(|_| is_message(raw))?;
    let string = |name| json::member(message, name).filter(|raw: &&[u8]| raw.starts_with(b"\""));
    let role = string("role").and_then(json::text)?;
    let content = match json::member(message, "content") {
        None => b"null",
        Some(content) => string("content").filter(|text| *text == content)?,
    };
    let mut draft = draft::AnnotatedDraft::with_content(&role, content);
    if let Some(reasoning) = string("reasoningContent").filter(|text| *text != b"\"\"") {
        draft.raw("reasoning", array([thinking(reasoning)]));
    }
    let calls = json::list(message, "toolCalls").into_iter();
    let calls: Vec<_> = calls.map(call).collect();
    draft.list("tool_calls", &calls);
    for (own, name) in [("toolCallId", "tool_call_id"), ("model", "model")] {
        draft.optional(name, string(own));
    }
    if let Some(time) = time_of(message) {
        draft.raw("timestamp", quoted(&time));
    }
    Some(draft)
}

fn thinking(text: &[u8]) -> Vec<u8> {
    let mut reasoning = ObjectBuilder::default();
    reasoning.text("type", "thinking").raw("text", text);
    reasoning.finish()
}

/// A call. An object as arguments, which the format does not allow, becomes its JSON text.
fn call(raw: &[u8]) -> Vec<u8> {
    let function = json::member(raw, "function").unwrap_or(b"{}");
    let arguments = json::member(function, "arguments").unwrap_or(b"\"\"");
    draft::call_of(
        json::member(raw, "id"),
        json::member(function, "name"),
        Some(arguments),
    )
}

/// The time of a message, which is in milliseconds.
fn time_of(message: &[u8]) -> Option<String> {
    time::from_milliseconds(json::number(json::member(message, "timestamp")?)?)
}
