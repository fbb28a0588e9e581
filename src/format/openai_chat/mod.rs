//! The OpenAI Chat Completions API, on which the native format is modeled: messages are unchanged, and unknown ones are
//! preserved in place. Reads an array of messages, an object with `messages` (a request) or `choices` (a response), and
//! an array or lines of such objects, which are several sessions.
//!
//! Differences from the native format are annotated in `metadata.openai-chat`, so that they can be written back:
//! `reasoning` names the member with the reasoning, `function` marks legacy calls, `own` lists the message's own
//! members whose names the native format uses for other data.

mod write;

pub(super) use write::{message, request};

use super::report::{Loss, LossSet, Report};
use super::request::Api;
use super::request::draft::AnnotatedDraft;
use super::request::element::ProviderRequest;
use super::request::interface::{ApiShape, Decoder, Interface, ResponseShape};
use super::request::request_part::{AMBIGUOUS_MEMBERS, RequestPart, WriteSettings};
use super::spec::WritePurpose;
use super::{Format, FormatSpec, content, document};
use crate::error::Position;
use crate::model::json::{self, ObjectBuilder};
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;

/// These messages, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "OpenAI Chat messages (array or request body)",
    unsupported: LossSet::USUAL
        .without(&[Loss::Arguments, Loss::Attachment, Loss::Name])
        .with(&[Loss::Model, Loss::Summary, Loss::Orphan]),
    note: "A file with one message per line is read as jsonl. An array of request bodies, or one body per line, holds many sessions and keeps this layout in place. Both hold for the other APIs too.",
    ..document::spec!(OpenaiChat)
};

/// Members of a message that may replace its content.
const SAYING: [&str; 7] = [
    "tool_calls", "tool_call_id", "function_call", "reasoning", "reasoning_content", "refusal", "audio",
];

/// The API.
pub(super) struct Chat;

const SHAPE: ApiShape = ApiShape {
    list: "messages",
    text_list: false,
    instructions: &[],
    instructions_begin: b"",
    element: &["role"],
    no_body: &[],
    response: Some(ResponseShape {
        list: "choices",
        element: Some("message"),
        requires: None,
        answer: &[],
    }),
    array: true,
};

impl Interface for Chat {
    fn shape(&self) -> &'static ApiShape {
        &SHAPE
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Functions::default())
    }

    fn write(&self, _: &[RequestPart<'_>], _: &mut WriteSettings<'_>) -> ProviderRequest {
        ProviderRequest::default()
    }

    fn request(
        &self,
        session: &Session,
        view: &View,
        purpose: WritePurpose,
        report: &mut Report,
    ) -> Option<ProviderRequest> {
        Some(write::request(session, view, purpose, report))
    }

    fn instructions(&self, raw: &[u8]) -> AnnotatedDraft {
        AnnotatedDraft::with_content("system", raw)
    }

    fn fault(&self, element: &[u8]) -> Option<String> {
        content::fault(element, &SAYING)
    }
}

impl Decoder for Functions {
    fn drafts(&mut self, _: &[&[u8]]) -> Vec<AnnotatedDraft> {
        Vec::new()
    }

    fn records(&mut self, element: &[u8]) -> Option<Vec<Vec<u8>>> {
        Some(records(self, element))
    }
}

/// Member names for reasoning, as used by providers.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// Records which of the ambiguous members the message has.
fn annotate_members(line: Vec<u8>) -> Vec<u8> {
    let own: Vec<String> = AMBIGUOUS_MEMBERS
        .iter()
        .filter(|name| json::member(&line, name).is_some())
        .map(|name| format!("{name:?}"))
        .collect();
    let object = json::member(&line, "metadata").is_none_or(|raw| raw.starts_with(b"{"));
    if own.is_empty() || !object {
        return line;
    }
    let metadata = noted(&line, "own", &format!("[{}]", own.join(",")));
    json::with_members(&line, &[("metadata", Some(&metadata))]).unwrap_or(line)
}

/// Converts reasoning in a provider's own member to reasoning parts, and records the member's name.
pub(super) fn native_reasoning(line: Vec<u8>) -> Vec<u8> {
    for name in REASONING {
        let Some(value) = json::member(&line, name) else {
            continue;
        };
        // A message with two reasoning members keeps both unchanged.
        if name != "reasoning" && json::member(&line, "reasoning").is_some() {
            continue;
        }
        let parts = match (name, value.first()) {
            ("reasoning_content" | "reasoning", Some(b'"')) => {
                let mut part = ObjectBuilder::default();
                part.text("type", "text").raw("text", value);
                [b"[".as_slice(), &part.finish(), b"]"].concat()
            }
            ("reasoning_details", Some(b'[')) => value.to_vec(),
            _ => continue,
        };
        let metadata = noted(&line, "reasoning", &format!("{name:?}"));
        let removed: &[u8] = &parts;
        let mut changes = vec![
            ("reasoning", Some(removed)),
            ("metadata", Some(metadata.as_slice())),
        ];
        if name != "reasoning" {
            changes.push((name, None));
        }
        return json::with_members(&line, &changes).unwrap_or(line);
    }
    line
}

/// The line's metadata with an annotation of this format added.
fn noted(line: &[u8], name: &str, value: &str) -> Vec<u8> {
    let metadata = json::member(line, "metadata")
        .filter(|raw| raw.starts_with(b"{"))
        .unwrap_or(b"{}");
    let own = json::member(metadata, "openai-chat")
        .filter(|raw| raw.starts_with(b"{"))
        .unwrap_or(b"{}");
    let own = json::with_members(own, &[(name, Some(value.as_bytes()))]).unwrap_or_default();
    json::with_members(metadata, &[("openai-chat", Some(&own))]).unwrap_or_default()
}

/// The native messages of an element.
pub(super) fn records(functions: &mut Functions, element: &[u8]) -> Vec<Vec<u8>> {
    let line = functions.read(json::compact(element).0);
    let is_message = Record::parse(&line, Position { line: 1, offset: 1 })
        .message()
        .is_some();
    is_message.then_some(line).into_iter().collect()
}

/// Generates ids for legacy calls and their results.
#[derive(Debug, Default)]
pub(super) struct Functions {
    generated: u64,
    open: Option<String>,
}

impl Functions {
    /// Converts a message to a native one.
    fn read(&mut self, line: Vec<u8>) -> Vec<u8> {
        self.modern(native_reasoning(annotate_members(line)))
    }

    fn modern(&mut self, line: Vec<u8>) -> Vec<u8> {
        if let Some(call) = json::member(&line, "function_call").filter(|raw| raw.starts_with(b"{"))
            && json::member(&line, "tool_calls").is_none()
        {
            self.generated += 1;
            let id = format!("fn_{}", self.generated);
            let mut built = ObjectBuilder::default();
            built
                .text("id", &id)
                .text("type", "function")
                .raw("function", call);
            let calls = [b"[".as_slice(), &built.finish(), b"]"].concat();
            let metadata = noted(&line, "function", "true");
            self.open = Some(id);
            let changes: [(&str, Option<&[u8]>); 3] = [
                ("function_call", None),
                ("tool_calls", Some(&calls)),
                ("metadata", Some(&metadata)),
            ];
            return json::with_members(&line, &changes).unwrap_or(line);
        }
        if json::member(&line, "role") == Some(b"\"function\"")
            && let Some(id) = self.open.take()
        {
            let metadata = noted(&line, "function", "true");
            let id = format!("{id:?}");
            let changes: [(&str, Option<&[u8]>); 3] = [
                ("role", Some(b"\"tool\"")),
                ("tool_call_id", Some(id.as_bytes())),
                ("metadata", Some(&metadata)),
            ];
            return json::with_members(&line, &changes).unwrap_or(line);
        }
        line
    }
}
