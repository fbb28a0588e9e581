//! Encodes messages as elements, with all members that the libraries write.

use super::block;
use super::read::class_of;
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::request::token_figures::Figures;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;

/// Encodes a message.
pub fn element(annotated: &AnnotatedMessage<'_>, is_constructor: bool, report: &mut Report) -> Vec<u8> {
    let role = annotated.message.role_name();
    let kind = match annotated.message.role() {
        Role::User => "human",
        Role::Assistant => "ai",
        Role::System | Role::Developer => "system",
        Role::Tool => "tool",
        Role::Other => "chat",
    };
    let is_full = !is_constructor;
    let (valid, invalid) = calls(annotated, report);
    let mut members = ObjectBuilder::default();
    members.raw("content", content(annotated, &valid));
    let mut kwargs = ObjectBuilder::default();
    if annotated.message.role() == Role::Developer {
        kwargs.text("__openai_role__", "developer");
    }
    kwargs.optional(
        "refusal",
        json::member(annotated.body, "refusal").filter(|raw| *raw != b"null"),
    );
    if is_full || !kwargs.is_empty() {
        members.raw("additional_kwargs", kwargs.finish());
    }
    let mut response = ObjectBuilder::default();
    response.optional("model_name", json::member(annotated.body, "model"));
    if is_full || !response.is_empty() {
        members.raw("response_metadata", response.finish());
    }
    members.text("type", kind);
    for name in ["name", "id"] {
        match json::member(annotated.body, name) {
            Some(value) => drop(members.raw(name, value)),
            None if is_full => drop(members.raw(name, "null")),
            None => {}
        }
    }
    match kind {
        "chat" => drop(members.text("role", &role)),
        "ai" => {
            members
                .raw("tool_calls", array(&valid))
                .raw("invalid_tool_calls", array(invalid));
            let reported = json::member(annotated.body, "usage");
            let usage = reported.and_then(usage);
            report.count_loss(Loss::Usage, u64::from(reported.is_some() && usage.is_none()));
            match usage {
                Some(usage) => drop(members.raw("usage_metadata", usage)),
                None if is_full => drop(members.raw("usage_metadata", "null")),
                None => {}
            }
        }
        "tool" => {
            members.raw("tool_call_id", annotated.message.tool_call_id.unwrap_or(b"\"\""));
            let failed = annotated.metadata("is_error") == Some(b"true");
            if is_full {
                members.raw("artifact", "null");
            }
            members.text("status", if failed { "error" } else { "success" });
        }
        _ => {}
    }
    let mut element = ObjectBuilder::default();
    if is_full {
        element.text("type", kind).raw("data", members.finish());
    } else {
        let path = ["langchain", "schema", "messages", class_of(kind)].map(quoted);
        element
            .raw("lc", "1")
            .text("type", "constructor")
            .raw("id", array(path))
            .raw("kwargs", members.finish());
    }
    element.finish()
}

/// The content: a string, or a list of blocks, with reasoning first, and calls last if the content had calls.
fn content(annotated: &AnnotatedMessage<'_>, calls: &[Vec<u8>]) -> Vec<u8> {
    let mut blocks: Vec<_> = annotated
        .reasoning()
        .into_iter()
        .map(block::reasoning_block)
        .collect();
    let kind = annotated.noted("blocks").and_then(json::text);
    let calls = calls.iter().filter(|_| kind.is_some());
    let calls = calls.map(|call| block::call(call, kind.as_deref().unwrap_or_default()));
    let calls: Vec<_> = calls.collect();
    match annotated.message.content {
        Some(raw) if raw.starts_with(b"[") => {
            blocks.extend(annotated.parts().into_iter().map(<[u8]>::to_vec));
        }
        Some(raw) if raw.starts_with(b"\"") => match blocks.is_empty() && calls.is_empty() {
            true => return raw.to_vec(),
            false if raw == b"\"\"" => {}
            false => blocks.push(draft::text_part(raw)),
        },
        _ if blocks.is_empty() && calls.is_empty() => return b"\"\"".to_vec(),
        _ => {}
    }
    array(blocks.into_iter().chain(calls))
}

/// The calls whose arguments are an object, and all others.
fn calls(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut valid, mut invalid) = (Vec::new(), Vec::new());
    for call in annotated.calls() {
        let own = CallMembers::of_function(call, report);
        let text = own.arguments.and_then(json::text);
        let object = text
            .as_deref()
            .map(|text| text.trim().as_bytes())
            .filter(|text| json::is_object(text));
        let mut built = ObjectBuilder::default();
        built.raw("name", own.name);
        match object {
            // On one line, otherwise unchanged.
            Some(object) if memchr::memchr2(b'\n', b'\r', object).is_some() => {
                built.raw("args", json::compact(object).0)
            }
            Some(object) => built.raw("args", object),
            None => built.raw("args", own.arguments.unwrap_or(b"\"\"")),
        };
        built.raw("id", json::member(call, "id").unwrap_or(b"null"));
        if object.is_none() {
            built.raw("error", "null");
        }
        built.text(
            "type",
            if object.is_some() {
                "tool_call"
            } else {
                "invalid_tool_call"
            },
        );
        match object {
            Some(_) => valid.push(built.finish()),
            None => invalid.push(built.finish()),
        }
    }
    (valid, invalid)
}

/// Converts usage to LangChain's members: cached tokens are included in the input.
fn usage(reported: &[u8]) -> Option<Vec<u8>> {
    if ["input_tokens", "output_tokens", "total_tokens"]
        .iter()
        .all(|name| json::member(reported, name).is_some())
        && json::member(reported, "input_tokens_details").is_none()
    {
        return Some(reported.to_vec());
    }
    let figures = Figures::of(reported)?;
    let mut usage = ObjectBuilder::default();
    usage
        .raw("input_tokens", figures.sent().to_string())
        .raw("output_tokens", figures.output.to_string())
        .raw("total_tokens", (figures.sent() + figures.output).to_string());
    if figures.read + figures.written > 0 {
        let mut details = ObjectBuilder::default();
        details
            .raw("cache_read", figures.read.to_string())
            .raw("cache_creation", figures.written.to_string());
        usage.raw("input_token_details", details.finish());
    }
    if figures.reasoning > 0 {
        usage.raw(
            "output_token_details",
            wrapped("reasoning", figures.reasoning.to_string()),
        );
    }
    Some(usage.finish())
}
