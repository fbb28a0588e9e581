//! Converts content, reasoning and calls in the forms that all Kimi files share.

use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts, joined};
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, Dialect, ObjectBuilder};

/// A member that is not null.
pub fn member<'o>(object: &'o [u8], name: &str) -> Option<&'o [u8]> {
    json::member(object, name).filter(|raw| *raw != b"null")
}

/// Adds content to a message: a string or parts, including reasoning. `None` if it is unsupported.
pub fn add_content(draft: &mut AnnotatedDraft, content: &[u8], silent: &[u8]) -> Option<()> {
    if content.starts_with(b"\"") {
        draft.raw("content", content);
        return Some(());
    }
    let (mut parts, mut reasoning_parts) = (Vec::new(), Vec::new());
    for part in json::elements(content, Dialect::Strict)? {
        match json::member_text(part, "type")?.as_ref() {
            "think" => reasoning_parts.push(reasoning_part(part)),
            "text" => parts.push(draft::text_part(member(part, "text")?)),
            _ => parts.push(part.to_vec()),
        }
    }
    draft.raw("content", joined(&parts, silent));
    draft.list("reasoning", &reasoning_parts);
    Some(())
}

fn reasoning_part(part: &[u8]) -> Vec<u8> {
    let mut reasoning = ObjectBuilder::default();
    reasoning
        .text("type", "thinking")
        .raw("text", member(part, "think").unwrap_or(b"\"\""));
    reasoning.optional("encrypted_content", member(part, "encrypted"));
    reasoning.finish()
}

/// The parts of a message, reasoning first. String content is one part.
pub fn parts(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let mut parts = reasoning_parts(annotated, report);
    for piece in content_parts(annotated.message.content) {
        match piece {
            RequestContent::Text(text) => parts.push(draft::text_part(text)),
            RequestContent::Other(part) => parts.push(part.to_vec()),
        }
    }
    parts
}

/// The parts of a reply, without empty texts unless the reply has nothing else.
pub fn reply_parts(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let reasoning = reasoning_parts(annotated, &mut Report::default());
    let has_more = !annotated.calls().is_empty() || !reasoning.is_empty();
    let is_silent = |part: &Vec<u8>| has_more && json::member(part, "text") == Some(b"\"\"");
    let parts = parts(annotated, report).into_iter();
    parts.filter(|part| !is_silent(part)).collect()
}

fn reasoning_parts(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let thoughts = annotated.reasoning().into_iter().filter_map(|part| {
        let text = member(part, "text").or(member(part, "thinking"));
        let encrypted = member(part, "encrypted_content");
        report.count_loss(Loss::Signature, u64::from(member(part, "signature").is_some()));
        text.or(encrypted)?;
        let mut reasoning = ObjectBuilder::default();
        reasoning
            .text("type", "think")
            .raw("think", text.unwrap_or(b"\"\""));
        reasoning.optional("encrypted", encrypted);
        Some(reasoning.finish())
    });
    thoughts.collect()
}

/// A call in OpenAI form.
pub fn function_call(call: &[u8], report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of_function(call, report);
    let mut function = ObjectBuilder::default();
    function
        .raw("name", call.name)
        .raw("arguments", call.arguments.unwrap_or(b"\"{}\""));
    let mut built = ObjectBuilder::default();
    built
        .text("type", "function")
        .raw("id", call.id)
        .raw("function", function.finish());
    built.finish()
}
