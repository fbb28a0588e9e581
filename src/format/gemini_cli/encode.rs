//! Encodes messages as records; a model message includes its tool results.

use super::usage;
use crate::format::gemini::parts;
use crate::format::object::timestamp;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::call::CallMembers;
use crate::format::request::request_part::{AnnotatedMessage, extra_members};
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::Role;

/// The name of the format, and of its annotations.
pub const NAME: &str = "gemini-cli";

/// Members of a new record.
#[derive(Clone, Copy)]
pub struct NewMembers<'a> {
    pub id: &'a [u8],
    pub time: &'a [u8],
}

/// Encodes messages as a record.
pub fn record(
    messages: &[AnnotatedMessage<'_>],
    new: Option<NewMembers<'_>>,
    report: &mut Report,
) -> Option<Vec<u8>> {
    let first = messages.first()?;
    let is_model = first.message.role() == Role::Assistant;
    let own = |name| json::member(first.body, name);
    let mut built = ObjectBuilder::default();
    for (name, value) in [
        ("id", new.map_or(own("id"), |new| Some(new.id))),
        ("timestamp", new.map_or(own("timestamp"), |new| Some(new.time))),
    ] {
        built.optional(name, value);
    }
    built.text("type", if is_model { "gemini" } else { "user" });
    if !is_model {
        built.raw(
            "content",
            match messages {
                [annotated] if annotated.message.role() != Role::Tool => {
                    content_of(annotated, false, new.is_none(), report)
                }
                _ => array(
                    messages
                        .iter()
                        .flat_map(|annotated| parts(annotated, false, new.is_none(), report)),
                ),
            },
        );
        return Some(built.finish());
    }
    let is_inline = match new {
        None => first.noted("inline").is_some(),
        Some(_) => has_signatures(first),
    };
    built.raw("content", content_of(first, is_inline, new.is_none(), report));
    if !is_inline && let Some(reasoning_parts) = reasoning_member(first, new, report) {
        built.raw("thoughts", reasoning_parts);
    }
    if let Some(figures) = own("usage") {
        match usage::tokens(figures).or_else(|| new.is_none().then(|| figures.to_vec())) {
            Some(tokens) => drop(built.raw("tokens", tokens)),
            None => report.count_loss(Loss::Usage, 1),
        }
    }
    built.optional("model", own("model"));
    let tools = tools(first, &messages[1..], is_inline, new, report);
    built.list("toolCalls", &tools);
    Some(built.finish())
}

/// Whether a message of another format has signatures, which require calls and reasoning in the content.
fn has_signatures(annotated: &AnnotatedMessage<'_>) -> bool {
    let is_signed = |part: &&[u8]| json::member(part, "type") == Some(b"\"thought\"");
    let notes = annotated
        .metadata(Api::Gemini.name())
        .and_then(|raw| json::member(raw, "calls"));
    let notes = json::items(notes);
    annotated.reasoning().iter().any(is_signed)
        || notes.iter().any(|note| json::member(note, "part").is_some())
}

/// The content: a string, or parts.
fn content_of(annotated: &AnnotatedMessage<'_>, inline: bool, own: bool, report: &mut Report) -> Vec<u8> {
    let is_listed = inline || annotated.noted("parts").is_some();
    match annotated.message.content {
        Some(text) if text.starts_with(b"\"") && !is_listed => text.to_vec(),
        Some(list) if list.starts_with(b"[") || is_listed => array(parts(annotated, inline, own, report)),
        None if is_listed => array(parts(annotated, inline, own, report)),
        _ => b"\"\"".to_vec(),
    }
}

/// The reasoning, if any.
fn reasoning_member(
    annotated: &AnnotatedMessage<'_>,
    new: Option<NewMembers<'_>>,
    report: &mut Report,
) -> Option<Vec<u8>> {
    let signed = ["signature", "encrypted_content", "data", "thoughtSignature"];
    let mut reasoning_parts = Vec::new();
    for part in annotated.reasoning() {
        let signs = signed.iter().any(|name| json::member(part, name).is_some());
        report.count_loss(Loss::Signature, u64::from(signs));
        let text = ["text", "thinking"]
            .iter()
            .find_map(|name| json::member(part, name));
        let Some(text) = text.filter(|text| text.starts_with(b"\"")) else {
            report.count_loss(Loss::Reasoning, 1);
            continue;
        };
        let mut reasoning = ObjectBuilder::default();
        match new {
            None => {
                reasoning.raw("description", text);
                for (name, value) in extra_members(part, &["type", "text"]) {
                    reasoning.raw(&name, value);
                }
            }
            Some(new) => {
                reasoning
                    .raw("subject", json::member(part, "subject").unwrap_or(b"\"\""))
                    .raw("description", text)
                    .raw("timestamp", new.time);
            }
        }
        reasoning_parts.push(reasoning.finish());
    }
    (!reasoning_parts.is_empty()).then(|| array(reasoning_parts))
}

/// The results, each with the call that it answers; results without a call are at the end.
pub fn answers<'s, 'a>(
    annotated: &AnnotatedMessage<'_>,
    results: &'s [AnnotatedMessage<'a>],
) -> (
    Vec<Option<&'s AnnotatedMessage<'a>>>,
    Vec<&'s AnnotatedMessage<'a>>,
) {
    let calls = annotated.message.tool_calls();
    let mut answers: Vec<Option<&AnnotatedMessage<'_>>> = vec![None; calls.len()];
    let mut others = Vec::new();
    for result in results {
        let id = result.message.tool_call_id().unwrap_or_default();
        let name = result.message.name.and_then(json::text).unwrap_or_default();
        let is_answer = |nth: &usize| match id.is_empty() {
            false => calls[*nth].id == id,
            true => name.is_empty() || calls[*nth].name == name,
        };
        let mut open = (0..calls.len()).filter(|nth| answers[*nth].is_none());
        match open.find(is_answer) {
            Some(nth) => answers[nth] = Some(result),
            None => others.push(result),
        }
    }
    (answers, others)
}

/// The calls with their results; for calls in the content, only those with a result.
fn tools(
    annotated: &AnnotatedMessage<'_>,
    results: &[AnnotatedMessage<'_>],
    is_inline: bool,
    new: Option<NewMembers<'_>>,
    report: &mut Report,
) -> Vec<Vec<u8>> {
    let (answers, others) = answers(annotated, results);
    if new.is_none() {
        report.count_missing(Loss::Orphan, others.len() as u64);
    }
    let mut tools = Vec::new();
    for (call, answer) in annotated.calls().into_iter().zip(answers) {
        if is_inline && new.is_none() && answer.is_none() {
            continue;
        }
        let call = CallMembers::of(call);
        let (id, name) = (call.id, call.name);
        let mut tool = ObjectBuilder::default();
        tool.raw("id", id)
            .raw("name", name)
            .raw("args", call.object(report));
        if let Some(answer) = answer {
            let named = [("tool_call_id", Some(id)), ("name", Some(name))];
            let body = json::with_members(answer.body, &named).unwrap_or_else(|_| answer.body.to_vec());
            let result = crate::format::kit::records::annotated_messages(&[body], NAME)
                .first()
                .map(|annotated| array(parts(annotated, false, false, report)));
            tool.raw("result", result.unwrap_or_default());
        }
        if let Some(new) = new {
            let is_failed = answer.is_some_and(|answer| answer.metadata("is_error") == Some(b"true"));
            let status = match (answer, is_failed) {
                (None, _) => "cancelled",
                (_, true) => "error",
                (_, false) => "success",
            };
            let time = answer.and_then(|answer| timestamp(answer.body));
            tool.text("status", status)
                .raw("timestamp", time.unwrap_or(new.time));
        }
        tools.push(tool.finish());
    }
    tools
}
