//! Converts the lines of a history to messages and back.

use crate::format::blocks;
use crate::format::kit::{Decoded, Draft};
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts, joined};
use crate::format::request::media::RequestMedia;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::request::{draft, part_losses};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;

/// The type of a line.
pub fn kind(line: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    json::member_text(line, "type")
}

/// For each line, the first line of its message: reasoning belongs to the next reply, unless another message is in
/// between.
pub fn first_lines(lines: &[&[u8]]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..lines.len()).collect();
    let mut open = None;
    for (nth, line) in lines.iter().enumerate() {
        match kind(line).as_deref() {
            Some("reasoning") => first[nth] = *open.get_or_insert(nth),
            Some("assistant") => first[nth] = open.take().unwrap_or(nth),
            Some("user" | "system" | "tool_result") => open = None,
            _ => {}
        }
    }
    first
}

/// Decodes the lines of a message.
pub fn decode(lines: &[&[u8]]) -> Decoded {
    let line = lines[0];
    let string = |name| json::string_member(line, name);
    let draft = match kind(line).as_deref() {
        Some("system") => string("content").map(|content| message_draft("system", content)),
        Some("user") => user(line),
        Some("tool_result") => string("content")
            .zip(string("tool_call_id"))
            .map(|(content, id)| {
                let images = json::list(line, "images").into_iter().map(part);
                let text = (content != b"\"\"" || json::list(line, "images").is_empty()).then_some(content);
                let parts = text.map(draft::text_part).into_iter().chain(images);
                let mut draft = message_draft("tool", &joined(&parts.collect::<Vec<_>>(), b"\"\""));
                draft.raw("tool_call_id", id);
                draft
            }),
        Some("assistant" | "reasoning") => match assistant(lines) {
            Some(None) => return Decoded::Passthrough,
            draft => draft.flatten(),
        },
        Some(_) => return Decoded::Passthrough,
        None => None,
    };
    draft.map_or(Decoded::Unrecognized, |draft| {
        Decoded::Messages(vec![Draft::from(draft)])
    })
}

fn message_draft(role: &str, content: &[u8]) -> draft::AnnotatedDraft {
    draft::AnnotatedDraft::with_content(role, content)
}

/// A part of a content; a part of unknown type is unchanged.
fn part(part: &[u8]) -> Vec<u8> {
    let string = |name| json::string_member(part, name);
    match (kind(part).as_deref(), string("text"), string("url")) {
        (Some("text"), Some(text), _) => draft::text_part(text),
        (Some("image"), _, Some(url)) => {
            let mut image = ObjectBuilder::default();
            image
                .text("type", "image_url")
                .raw("image_url", wrapped("url", url));
            image.finish()
        }
        _ => part.to_vec(),
    }
}

fn user(line: &[u8]) -> Option<draft::AnnotatedDraft> {
    let parts = json::elements(json::member(line, "content")?, Dialect::Strict)?;
    let parts: Vec<Vec<u8>> = parts.into_iter().map(part).collect();
    let content = joined(&parts, b"[]");
    let reason = json::member_text(line, "synthetic_reason");
    let is_synthetic = reason.is_some_and(|reason| reason != "interjection");
    let mut draft = message_draft("user", &content);
    if is_synthetic || blocks::is_within(&content, "user_info") {
        draft.raw("category", "\"context\"");
    }
    Some(draft)
}

/// The reply of these lines; `None` if unsupported, `Some(None)` if it has no content.
fn assistant(lines: &[&[u8]]) -> Option<Option<draft::AnnotatedDraft>> {
    let is_reply = |line: &&&[u8]| kind(line).as_deref() == Some("assistant");
    let reply = lines.iter().find(is_reply);
    let reasoning_parts = lines.iter().filter(|line| !is_reply(line));
    let reasoning_parts: Vec<Vec<u8>> = reasoning_parts.filter_map(|line| reasoning_part(line)).collect();
    let calls: Vec<&[u8]> = reply.map_or_else(Vec::new, |reply| json::list(reply, "tool_calls"));
    let content = match reply.map(|reply| json::member(reply, "content")) {
        None if reasoning_parts.is_empty() => return Some(None),
        None => b"null",
        Some(Some(raw)) if raw.starts_with(b"\"") => raw,
        Some(None | Some(b"null")) if !calls.is_empty() => b"null",
        Some(_) => return None,
    };
    let mut draft = message_draft("assistant", content);
    draft.list("reasoning", &reasoning_parts);
    if !calls.is_empty() {
        draft.raw("tool_calls", array(calls.into_iter().map(call)));
    }
    let model = reply.and_then(|reply| json::member(reply, "model_id"));
    draft.optional("model", model.filter(|raw| raw.starts_with(b"\"")));
    Some(Some(draft))
}

/// Converts a reasoning line to a part; `None` if it is empty.
fn reasoning_part(line: &[u8]) -> Option<Vec<u8>> {
    let texts = json::list(line, "summary");
    let texts = texts
        .into_iter()
        .filter_map(|part| json::member_text(part, "text"));
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    let encrypted = json::member(line, "encrypted_content").filter(|raw| raw.len() > 2 && raw[0] == b'"');
    let mut part = ObjectBuilder::default();
    part.text("type", "thinking");
    if !texts.is_empty() {
        part.text("text", &texts.join("\n\n"));
    }
    for (name, value) in [("encrypted_content", encrypted), ("id", json::member(line, "id"))] {
        part.optional(name, value);
    }
    (!texts.is_empty() || encrypted.is_some()).then(|| part.finish())
}

fn call(call: &[u8]) -> Vec<u8> {
    let member = |name| json::member(call, name);
    let arguments = member("arguments").filter(|raw| *raw != b"null");
    draft::call_of(member("id"), member("name"), arguments)
}

/// Encodes a message as lines.
pub fn encode(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let mut line = ObjectBuilder::default();
    match annotated.message.role() {
        Role::Assistant => return reply(annotated, report),
        Role::Tool => {
            let (text, images) = content(annotated, report);
            line.text("type", "tool_result")
                .raw("tool_call_id", annotated.message.tool_call_id.unwrap_or(b"\"\""))
                .text("content", &text);
            line.list("images", &images);
        }
        Role::System | Role::Developer => {
            let (text, images) = content(annotated, report);
            report.count_loss(Loss::Attachment, images.len() as u64);
            line.text("type", "system").text("content", &text);
        }
        _ => {
            let parts = content_parts(annotated.message.content).into_iter();
            let parts = parts.filter_map(|piece| match piece {
                RequestContent::Text(text) => Some(draft::text_part(text)),
                RequestContent::Other(part) => image(part, report),
            });
            line.text("type", "user").raw("content", array(parts));
        }
    }
    vec![line.finish()]
}

/// Encodes an image; other parts are lost.
fn image(part: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let media = RequestMedia::of(part);
    let url = json::member(part, "image_url").and_then(|image| json::member(image, "url"));
    let url = url
        .map(<[u8]>::to_vec)
        .or_else(|| Some(quoted(&media?.url()?)).filter(|_| json::member(part, "image_url").is_none()));
    if url.is_none() {
        part_losses::content(part, report);
    }
    let mut built = ObjectBuilder::default();
    built.text("type", "image").raw("url", url?);
    Some(built.finish())
}

/// The text of a message, and its images.
fn content(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> (String, Vec<Vec<u8>>) {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for piece in content_parts(annotated.message.content) {
        match piece {
            RequestContent::Text(text) => texts.extend(json::text(text)),
            RequestContent::Other(part) => images.extend(image(part, report)),
        }
    }
    (texts.join("\n\n"), images)
}

fn reply(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let reasoning_parts = annotated.reasoning().into_iter();
    let mut lines: Vec<Vec<u8>> = reasoning_parts
        .filter_map(|part| reasoning(part, report))
        .collect();
    let calls = annotated.calls();
    let is_silent = matches!(annotated.message.content, None | Some(b"null")) && calls.is_empty();
    if is_silent && !lines.is_empty() {
        return lines;
    }
    let (text, images) = content(annotated, report);
    report.count_loss(Loss::Attachment, images.len() as u64);
    let mut line = ObjectBuilder::default();
    line.text("type", "assistant").text("content", &text);
    if !calls.is_empty() {
        line.raw(
            "tool_calls",
            array(calls.into_iter().map(|call| request(call, report))),
        );
    }
    line.optional("model_id", json::member(annotated.body, "model"));
    lines.push(line.finish());
    lines
}

fn reasoning(part: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    let member = |name| json::member(part, name);
    report.count_loss(Loss::Signature, u64::from(member("signature").is_some()));
    let text = member("text")
        .or(member("thinking"))
        .filter(|raw| raw.starts_with(b"\""));
    let summary = member("summary").filter(|raw| raw.starts_with(b"["));
    let encrypted = member("encrypted_content");
    if text.or(summary).or(encrypted).is_none() {
        report.count_loss(Loss::Part, 1);
        return None;
    }
    let texts = text.into_iter().map(|text| {
        let mut part = ObjectBuilder::default();
        part.text("type", "summary_text").raw("text", text);
        part.finish()
    });
    let mut line = ObjectBuilder::default();
    line.text("type", "reasoning");
    line.optional("id", member("id"));
    line.raw("summary", summary.map_or_else(|| array(texts), <[u8]>::to_vec));
    line.optional("encrypted_content", encrypted);
    Some(line.finish())
}

fn request(call: &[u8], report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of_function(call, report);
    let mut request = ObjectBuilder::default();
    request
        .raw("id", call.id)
        .raw("name", call.name)
        .raw("arguments", call.arguments.unwrap_or(b"\"{}\""));
    request.finish()
}
