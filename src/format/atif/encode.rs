//! Encodes messages as steps.

use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts};
use crate::format::request::draft;
use crate::format::request::media::RequestMedia;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::request::token_figures::Figures;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;

/// Whether a message belongs to the observation of a step.
fn is_result(annotated: &AnnotatedMessage<'_>) -> bool {
    annotated.message.role() == Role::Tool || annotated.noted("observation") == Some(b"true")
}

/// Encodes a message and the results after it as a step, without its number.
pub fn step(messages: &[AnnotatedMessage<'_>], is_new: bool, report: &mut Report) -> Option<Vec<u8>> {
    let (lead, results) = match messages.split_first()? {
        (first, results) if !is_result(first) => (Some(first), results),
        _ => (None, messages),
    };
    let mut step = ObjectBuilder::default();
    let source = match lead.map(|annotated| annotated.message.role()) {
        Some(Role::Assistant) => "agent",
        Some(Role::System | Role::Developer) | None => "system",
        Some(_) => "user",
    };
    step.text("source", source);
    let timed = lead.unwrap_or(&messages[0]);
    step.optional("timestamp", json::member(timed.body, "timestamp"));
    match lead {
        Some(annotated) => {
            step.raw("message", content(annotated, is_new, report));
            if source == "agent" {
                add_reply(&mut step, annotated, is_new, report);
            }
            for name in ["is_copied_context", "llm_call_count"] {
                step.optional(name, annotated.noted(name));
            }
        }
        None => drop(step.text("message", "")),
    }
    // Only agent steps have calls.
    let has_calls = source == "agent";
    let results = results.iter().map(|annotated| {
        let mut result = ObjectBuilder::default();
        let call = annotated
            .message
            .tool_call_id
            .filter(|_| annotated.message.role() == Role::Tool);
        report.count_loss(Loss::Orphan, u64::from(is_new && call.is_some() && !has_calls));
        result.optional("source_call_id", call.filter(|_| has_calls || !is_new));
        result.raw("content", content(annotated, is_new, report));
        result.finish()
    });
    let results: Vec<Vec<u8>> = results.collect();
    if !results.is_empty() {
        step.raw("observation", wrapped("results", array(results)));
    }
    Some(step.finish())
}

fn add_reply(step: &mut ObjectBuilder, annotated: &AnnotatedMessage<'_>, is_new: bool, report: &mut Report) {
    step.optional("model_name", json::member(annotated.body, "model"));
    let reasoning_parts: Vec<_> = { annotated.reasoning().into_iter() }
        .filter_map(|part| {
            let signs = ["signature", "encrypted_content", "thoughtSignature", "data"];
            let is_signed = signs.iter().any(|name| json::member(part, name).is_some());
            report.count_loss(Loss::Signature, u64::from(is_signed));
            let text = json::member_text(part, "text").or_else(|| json::member_text(part, "thinking"));
            let text = text.filter(|text| !text.is_empty());
            report.count_loss(Loss::Reasoning, u64::from(text.is_none()));
            text
        })
        .collect();
    if !reasoning_parts.is_empty() {
        step.text("reasoning_content", &reasoning_parts.join("\n\n"));
    }
    let calls: Vec<Vec<u8>> = { annotated.calls().into_iter() }
        .map(|raw| call(raw, report))
        .collect();
    step.list("tool_calls", &calls);
    if let Some(usage) = json::member(annotated.body, "usage") {
        match is_new {
            false => step.raw("metrics", usage),
            true => match Figures::of(usage) {
                Some(figures) => step.raw("metrics", metrics(&figures)),
                None => {
                    report.count_loss(Loss::Usage, 1);
                    step
                }
            },
        };
    }
}

/// The metrics for usage: cached tokens are part of the prompt.
fn metrics(figures: &Figures) -> Vec<u8> {
    let mut extra = ObjectBuilder::default();
    for (name, count) in [
        ("cache_creation_input_tokens", figures.written),
        ("reasoning_tokens", figures.reasoning),
    ] {
        if count > 0 {
            extra.raw(name, count.to_string());
        }
    }
    let mut metrics = ObjectBuilder::default();
    metrics
        .raw("prompt_tokens", figures.sent().to_string())
        .raw("completion_tokens", figures.output.to_string());
    if figures.read > 0 {
        metrics.raw("cached_tokens", figures.read.to_string());
    }
    metrics.members("extra", extra);
    metrics.finish()
}

/// A call, whose arguments must be an object.
fn call(call: &[u8], report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of(call);
    let text = call.arguments.and_then(json::text).unwrap_or_default();
    let bytes = text.as_bytes();
    let is_whole = json::is_value(bytes);
    let arguments = match is_whole {
        true if bytes.starts_with(b"{") => bytes.to_vec(),
        true => wrapped("value", bytes),
        false => wrapped("raw", quoted(&text)),
    };
    report.count_loss(Loss::Arguments, u64::from(!bytes.starts_with(b"{") || !is_whole));
    let mut built = ObjectBuilder::default();
    built
        .raw("tool_call_id", call.id)
        .raw("function_name", call.name)
        .raw("arguments", arguments);
    built.finish()
}

/// Encodes content: a string, or parts if it has images. New content has no images.
fn content(annotated: &AnnotatedMessage<'_>, is_new: bool, report: &mut Report) -> Vec<u8> {
    let Some(raw) = annotated.message.content.filter(|raw| *raw != b"null") else {
        return b"\"\"".to_vec();
    };
    if raw.starts_with(b"\"") {
        return raw.to_vec();
    }
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for piece in content_parts(Some(raw)) {
        match piece {
            RequestContent::Text(text) => {
                texts.extend(json::text(text).map(String::from));
                parts.push(draft::text_part(text));
            }
            RequestContent::Other(part) => match image(part).filter(|_| !is_new) {
                Some(image) => parts.push(image),
                None if !is_new
                    && json::member(part, "type").is_some()
                    && RequestMedia::of(part).is_none() =>
                {
                    parts.push(part.to_vec());
                }
                None => {
                    let is_media = RequestMedia::of(part).is_some() || image(part).is_some();
                    report.count_loss(if is_media { Loss::Attachment } else { Loss::Part }, 1);
                }
            },
        }
    }
    match is_new {
        true => quoted(&texts.join("\n\n")),
        false => array(parts),
    }
}

/// An image that is a file.
fn image(part: &[u8]) -> Option<Vec<u8>> {
    let file = json::member(part, "file")?;
    let kind = json::member(file, "media_type")?;
    let mut source = ObjectBuilder::default();
    source
        .raw("media_type", kind)
        .raw("path", json::member(file, "filename")?);
    let mut image = ObjectBuilder::default();
    image.text("type", "image").raw("source", source.finish());
    Some(image.finish())
}
