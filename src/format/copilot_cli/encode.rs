//! Encodes messages as events.

use crate::format::object::text;
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts};
use crate::format::request::part_losses;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;

/// The type and data of a message's event; for a message in chunks, of each chunk's event.
pub fn events(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<(&'static str, Vec<u8>)> {
    match annotated.message.role() {
        Role::Assistant if annotated.noted("made").is_some() => {
            let call = annotated
                .calls()
                .into_iter()
                .next()
                .map(|call| request(call, report));
            vec![("tool.execution_start", renamed(call.unwrap_or_default()))]
        }
        Role::Assistant => assistant(annotated, report)
            .into_iter()
            .map(|data| ("assistant.message", data))
            .collect(),
        Role::Tool => vec![("tool.execution_complete", result(annotated, report))],
        role => {
            let is_rule = matches!(role, Role::System | Role::Developer);
            let (content, files) = content(annotated, report);
            let mut data = ObjectBuilder::default();
            data.raw("content", content);
            data.list("attachments", &files);
            let kind = if is_rule { "system.message" } else { "user.message" };
            vec![(kind, data.finish())]
        }
    }
}

/// A call in the form of its start event.
fn renamed(call: Vec<u8>) -> Vec<u8> {
    let name = json::member(&call, "name").map(<[u8]>::to_vec);
    let changes = [("name", None), ("type", None), ("toolName", name.as_deref())];
    json::with_members(&call, &changes).unwrap_or(call)
}

/// The text of a message, and its attachments.
fn content(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for piece in content_parts(annotated.message.content) {
        match piece {
            RequestContent::Text(text) => texts.extend(json::text(text).map(String::from)),
            RequestContent::Other(part) => {
                let file = json::member(part, "file").and_then(|file| json::member(file, "filename"));
                match file.filter(|_| json::member(part, "type") == Some(b"\"file\"")) {
                    Some(path) => {
                        let mut file = ObjectBuilder::default();
                        file.text("type", "file").raw("path", path);
                        files.push(file.finish());
                    }
                    None => part_losses::content(part, report),
                }
            }
        }
    }
    (quoted(&texts.join("\n\n")), files)
}

fn request(call: &[u8], report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of_function(call, report);
    let arguments = call.arguments.unwrap_or(b"\"{}\"");
    let object =
        json::text(arguments).filter(|text| json::members(text.as_bytes(), Dialect::Strict).is_some());
    let mut request = ObjectBuilder::default();
    request
        .raw("toolCallId", call.id)
        .raw("name", call.name)
        .raw("arguments", object.as_deref().map_or(arguments, str::as_bytes))
        .text("type", "function");
    request.finish()
}

fn assistant(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let (content, files) = content(annotated, report);
    report.count_loss(Loss::Attachment, files.len() as u64);
    let content = json::text(&content).unwrap_or_default().into_owned();
    let calls: Vec<Vec<u8>> = annotated
        .calls()
        .into_iter()
        .map(|call| request(call, report))
        .collect();
    let sizes = json::items(annotated.noted("chunks"));
    let sizes = sizes.into_iter().map(|raw| {
        let pair = json::items(raw);
        let number = |nth: usize| json::number::<usize>(pair.get(nth)?);
        (number(0).unwrap_or(0), number(1).unwrap_or(0))
    });
    let sizes: Vec<(usize, usize)> = sizes.collect();
    let (mut text, mut calls) = (content.as_str(), calls.as_slice());
    let mut events = Vec::new();
    for nth in 0..sizes.len().max(1) {
        let is_last = nth + 1 >= sizes.len();
        let (letters, requests) = sizes.get(nth).copied().unwrap_or_default();
        let letters = if is_last || !text.is_char_boundary(letters.min(text.len())) {
            text.len()
        } else {
            letters
        };
        let requests = if is_last {
            calls.len()
        } else {
            requests.min(calls.len())
        };
        let (own, rest) = text.split_at(letters.min(text.len()));
        let (own_calls, rest_calls) = calls.split_at(requests);
        (text, calls) = (rest, rest_calls);
        let mut data = ObjectBuilder::default();
        data.text("content", own).raw("toolRequests", array(own_calls));
        if is_last {
            add_reasoning(&mut data, annotated, report);
            data.optional("model", json::member(annotated.body, "model"));
            let usage = json::member(annotated.body, "usage");
            match usage.and_then(|usage| json::member(usage, "outputTokens")) {
                Some(tokens) => drop(data.raw("outputTokens", tokens)),
                None => report.count_loss(Loss::Usage, u64::from(usage.is_some())),
            }
        }
        events.push(data.finish());
    }
    events
}

fn add_reasoning(data: &mut ObjectBuilder, annotated: &AnnotatedMessage<'_>, report: &mut Report) {
    let parts = annotated.reasoning();
    let texts: Vec<String> = parts.iter().filter_map(|part| text(part, "text")).collect();
    let find = |name| parts.iter().find_map(|part| json::member(part, name));
    let (signature, encrypted) = (find("signature"), find("encrypted_content"));
    let is_lost = texts.is_empty() && signature.is_none() && encrypted.is_none() && !parts.is_empty();
    report.count_loss(Loss::Reasoning, u64::from(is_lost));
    if !texts.is_empty() {
        data.text("reasoningText", &texts.join("\n\n"));
    }
    for (name, value) in [("reasoningOpaque", signature), ("encryptedContent", encrypted)] {
        data.optional(name, value);
    }
}

fn result(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    let (content, files) = content(annotated, report);
    report.count_loss(Loss::Attachment, files.len() as u64);
    let is_failed = annotated.metadata("is_error") == Some(b"true");
    let mut data = ObjectBuilder::default();
    data.raw("toolCallId", annotated.message.tool_call_id.unwrap_or(b"\"\""))
        .raw("success", if is_failed { "false" } else { "true" });
    match is_failed {
        true => drop(data.raw("error", wrapped("message", &content))),
        // The call had no result, and still has none.
        false if annotated.noted("no_result").is_some() && content == b"\"\"" => {}
        false => drop(data.raw("result", wrapped("content", &content))),
    }
    data.finish()
}
