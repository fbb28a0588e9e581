//! Encodes messages for version 4: text is in `content`, and all data in `parts`.

use super::encode_new::{WaitingCalls, first, result_text, role};
use super::part;
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::draft::text_part;
use crate::format::request::media::RequestMedia;
use crate::format::request::part_losses;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::Role;

/// A message under construction.
#[derive(Default)]
struct UiMessageDraft {
    role: &'static str,
    texts: Vec<String>,
    thoughts: Vec<String>,
    parts: Vec<NewPart>,
    attachments: Vec<Vec<u8>>,
}

/// A part, or a call that may get a result.
enum NewPart {
    Part(Vec<u8>),
    Call(Vec<u8>),
}

/// Encodes an exchange, or a single message of any other role, as an element.
pub fn element(annotated: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
    let mut open = UiMessageDraft {
        role: first(annotated).map_or("assistant", role),
        ..UiMessageDraft::default()
    };
    let mut waiting = WaitingCalls::default();
    let mut step = 0;
    for annotated in annotated {
        match annotated.message.role() {
            Role::Tool => {
                if let Some(at) = waiting.take(annotated, report)
                    && let NewPart::Call(call) = &mut open.parts[at]
                {
                    *call = answered(call, annotated, report);
                }
            }
            Role::Assistant => {
                open.parts
                    .push(NewPart::Part(br#"{"type":"step-start"}"#.to_vec()));
                encode_message_parts(annotated, &mut open, report);
                for raw in annotated.calls() {
                    waiting.add(raw, open.parts.len());
                    open.parts.push(NewPart::Call(call(raw, step, report)));
                }
                step += 1;
            }
            _ => encode_message_parts(annotated, &mut open, report),
        }
    }
    Some(finished(first(annotated)?, open))
}

fn finished(first: &AnnotatedMessage<'_>, open: UiMessageDraft) -> Vec<u8> {
    let mut invocations = Vec::new();
    let mut parts = Vec::new();
    for part in open.parts {
        match part {
            NewPart::Part(raw) => parts.push(raw),
            NewPart::Call(raw) => {
                let mut part = ObjectBuilder::default();
                part.text("type", "tool-invocation").raw("toolInvocation", &raw);
                parts.push(part.finish());
                invocations.push(raw);
            }
        }
    }
    let mut built = ObjectBuilder::default();
    for (name, own) in [("id", "id"), ("createdAt", "timestamp")] {
        built.optional(name, json::member(first.body, own));
    }
    built
        .text("role", open.role)
        .text("content", &open.texts.join("\n"));
    if first.noted("reasoning").is_some() && !open.thoughts.is_empty() {
        built.text("reasoning", &open.thoughts.join("\n"));
    }
    built.list("experimental_attachments", &open.attachments);
    built.list("toolInvocations", &invocations);
    built.raw("parts", array(parts));
    built.finish()
}

/// Encodes reasoning and content.
fn encode_message_parts(annotated: &AnnotatedMessage<'_>, open: &mut UiMessageDraft, report: &mut Report) {
    for part in annotated.reasoning() {
        let text = part::reasoning_text(part);
        if text.is_empty() {
            part_losses::reasoning(part, report);
            continue;
        }
        let claude = json::member(part, "type") == Some(b"\"thinking\"");
        let signature = json::member(part, "signature").filter(|_| claude);
        if signature.is_none() {
            part_losses::signature(part, report);
        }
        let mut detail = ObjectBuilder::default();
        detail.text("type", "text").text("text", &text);
        detail.optional("signature", signature);
        let mut built = ObjectBuilder::default();
        built
            .text("type", "reasoning")
            .text("reasoning", &text)
            .raw("details", array([detail.finish()]));
        open.parts.push(NewPart::Part(built.finish()));
        open.thoughts.push(text);
    }
    let texts = match annotated.string() {
        Some(text) => vec![text_part(text)],
        None => annotated.parts().into_iter().map(<[u8]>::to_vec).collect(),
    };
    for raw in texts {
        let text = match json::text(&raw) {
            Some(text) => Some(text),
            None if json::member(&raw, "type") == Some(b"\"text\"") => part::text(&raw, "text"),
            None => None,
        };
        match text {
            Some(text) if text.is_empty() => {}
            Some(text) => {
                let mut built = ObjectBuilder::default();
                built.text("type", "text").text("text", &text);
                open.parts.push(NewPart::Part(built.finish()));
                open.texts.push(text.into_owned());
            }
            None => attach(&raw, open, report),
        }
    }
}

/// Encodes an attachment; for a model message, as a part.
fn attach(raw: &[u8], open: &mut UiMessageDraft, report: &mut Report) {
    let Some(media) = RequestMedia::of(raw) else {
        report.count_loss(Loss::Part, 1);
        return;
    };
    let Some(file) = part::attachment(media) else {
        report.count_loss(Loss::Attachment, 1);
        return;
    };
    let mut built = ObjectBuilder::default();
    let data = file.url.split_once(";base64,").map(|(_, data)| data);
    match (open.role, data) {
        ("assistant", Some(data)) => {
            built
                .text("type", "file")
                .text("mimeType", &file.mime)
                .text("data", data);
            open.parts.push(NewPart::Part(built.finish()));
        }
        ("assistant", None) => report.count_loss(Loss::Attachment, 1),
        _ => {
            if let Some(name) = &file.name {
                built.text("name", name);
            }
            built.text("contentType", &file.mime).text("url", &file.url);
            open.attachments.push(built.finish());
        }
    }
}

fn call(raw: &[u8], step: u64, report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of_function(raw, report);
    let text = call.arguments.and_then(json::text);
    let args = match text.is_some_and(|text| text.contains(['\n', '\r'])) {
        true => call.object(report),
        false => call.original_object(report),
    };
    let mut built = ObjectBuilder::default();
    built
        .text("state", "call")
        .raw("step", step.to_string())
        .raw("toolCallId", call.id)
        .raw("toolName", call.name)
        .raw("args", args);
    built.finish()
}

/// A call with its result; the format cannot represent a failure.
fn answered(call: &[u8], annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let failed = ["is_error", "denied"]
        .iter()
        .any(|name| annotated.metadata(name).is_some());
    report.count_loss(Loss::Metadata, u64::from(failed));
    let text = result_text(annotated, report);
    let string = json::quoted(&text);
    let result = part::value(&text).map_or(string, <[u8]>::to_vec);
    json::with_members(call, &[("state", Some(b"\"result\"")), ("result", Some(&result))])
        .unwrap_or_else(|_| call.to_vec())
}
