//! Encodes messages as elements, without ids and times that only new ones need.

use super::element::kind;
use super::{content, new_messages};
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{self, RequestContent};
use crate::format::request::media::RequestMedia;
use crate::format::request::part_losses;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, wrapped};
use crate::model::message::{Message, Role};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// Tool results by call id.
pub struct Results<'r>(HashMap<String, VecDeque<AnnotatedMessage<'r>>>);

impl<'r> Results<'r> {
    /// The results among messages.
    pub fn of(messages: &[AnnotatedMessage<'r>]) -> Results<'r> {
        let mut results: HashMap<String, VecDeque<AnnotatedMessage<'r>>> = HashMap::new();
        for annotated in messages
            .iter()
            .filter(|annotated| annotated.message.role() == Role::Tool)
        {
            let id = annotated.message.tool_call_id().unwrap_or_default().into_owned();
            results.entry(id).or_default().push_back(*annotated);
        }
        Results(results)
    }

    /// Reports results without calls.
    pub fn finish(self, report: &mut Report) {
        let orphans: usize = self.0.values().map(VecDeque::len).sum();
        report.count_missing(Loss::Orphan, orphans as u64);
    }
}

/// Encodes a user message, or steps of the model with their results, as an element; `None` for results alone.
pub fn element(messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
    let mut results = Results::of(messages);
    let steps = messages
        .iter()
        .filter(|annotated| annotated.message.role() != Role::Tool);
    let parts: Vec<_> = steps
        .clone()
        .flat_map(|step| parts(step, &mut results, report))
        .collect();
    results.finish(report);
    let first = &steps.clone().next()?.message;
    let mut info = ObjectBuilder::default();
    info.raw("id", first.id.unwrap_or(b"null"));
    info.text(
        "role",
        if first.role() == Role::User {
            "user"
        } else {
            "assistant"
        },
    );
    if let Some(time) = new_messages::native_time(first.timestamp) {
        info.raw("time", new_messages::times(&[("created", time)]));
    }
    let mut models = steps.filter_map(|step| json::member(step.body, "model"));
    info.optional("modelID", models.next());
    Some(new_messages::message(&info.finish(), &parts))
}

/// The parts of a message, including the results of its calls.
pub fn parts(
    annotated: &AnnotatedMessage<'_>,
    results: &mut Results<'_>,
    report: &mut Report,
) -> Vec<Vec<u8>> {
    let message = &annotated.message;
    let mut parts: Vec<_> = annotated
        .reasoning()
        .iter()
        .map(|raw| reasoning_part(raw, report))
        .collect();
    for piece in contents::content_parts(message.content) {
        match piece {
            RequestContent::Text(b"\"\"") => {}
            RequestContent::Text(text) => {
                let mut part = ObjectBuilder::default();
                part.text("type", "text").raw("text", text);
                if message.role() == Role::User && message.category == Some(b"\"context\"") {
                    part.raw("synthetic", "true");
                }
                parts.push(part.finish());
            }
            RequestContent::Other(raw) => parts.extend(file(raw, report)),
        }
    }
    parts.extend(annotated.calls().iter().map(|raw| tool(raw, results, report)));
    parts
}

fn reasoning_part(raw: &[u8], report: &mut Report) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    part.text("type", "reasoning").raw("text", reasoning_text(raw));
    let sign = |name| json::member(raw, name).filter(|raw| raw.starts_with(b"\"") && raw.len() > 2);
    let anthropic = match kind(raw).as_ref() {
        "thinking" => sign("signature").map(|sign| ("signature", sign)),
        "redacted_thinking" => sign("data").map(|sign| ("redactedData", sign)),
        _ => None,
    };
    match anthropic {
        Some((name, sign)) => drop(part.raw("metadata", wrapped("anthropic", wrapped(name, sign)))),
        None => {
            let signs = ["signature", "data", "encrypted_content", "thoughtSignature"];
            let signed = signs.iter().any(|name| sign(name).is_some());
            report.count_loss(Loss::Signature, u64::from(signed));
        }
    }
    part.finish()
}

/// Encodes a file; otherwise reports a loss.
fn file(raw: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    if content::is_own_file(raw) {
        return Some(raw.to_vec());
    }
    let Some((url, mime)) = content::address(raw) else {
        part_losses::content(raw, report);
        return None;
    };
    let mut part = ObjectBuilder::default();
    part.text("type", "file");
    if let Some(name) = RequestMedia::of(raw).and_then(|media| media.name) {
        part.text("filename", &name);
    }
    part.text("mime", &mime).text("url", &url);
    Some(part.finish())
}

fn tool(call: &[u8], results: &mut Results<'_>, report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of(call);
    let open = json::text(call.id).and_then(|id| results.0.get_mut(id.as_ref()));
    let result = open.and_then(VecDeque::pop_front);
    let failed = result.and_then(|result| result.metadata("is_error")) == Some(b"true");
    let mut state = ObjectBuilder::default();
    state.text(
        "status",
        match (&result, failed) {
            (Some(_), true) => "error",
            (Some(_), false) => "completed",
            (None, _) => "running",
        },
    );
    state.raw("input", call.original_object(report));
    if let Some(result) = &result {
        let output = output(&result.message, report);
        state.raw(if failed { "error" } else { "output" }, output);
    }
    let mut part = ObjectBuilder::default();
    part.text("type", "tool")
        .raw("callID", call.id)
        .raw("tool", call.name)
        .raw("state", state.finish());
    part.finish()
}

/// The text of a result; reports other parts as losses.
fn output(result: &Message<'_>, report: &mut Report) -> Vec<u8> {
    if let Some(raw) = result.content.filter(|raw| raw.starts_with(b"\"")) {
        return raw.to_vec();
    }
    let mut texts = Vec::new();
    for piece in contents::content_parts(result.content) {
        match piece {
            RequestContent::Text(text) => texts.extend(json::text(text).map(Cow::into_owned)),
            RequestContent::Other(raw) => part_losses::content(raw, report),
        }
    }
    contents::texts(texts.into_iter().map(Cow::Owned))
}

/// The text of reasoning of any provider.
fn reasoning_text(reasoning: &[u8]) -> Vec<u8> {
    let own = ["text", "thinking"];
    let mut own = own.iter().filter_map(|name| json::member(reasoning, name));
    if let Some(text) = own.find(|raw| raw.starts_with(b"\"")) {
        return text.to_vec();
    }
    let texts = json::list(reasoning, "summary").into_iter();
    contents::texts(texts.filter_map(|part| json::member_text(part, "text")))
}
