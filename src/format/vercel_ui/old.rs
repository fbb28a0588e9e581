//! Splits messages of version 4 into pieces. Text is in `content`, in newer messages also in `parts`; calls are in
//! `toolInvocations` or in parts.

use super::part::{self, text};
use super::ui_part::{CallResult, UiCall, UiPart};
use crate::format::request::draft::{self, text_part};
use crate::model::json::{self, quoted};
use crate::model::time;

fn list<'a>(raw: &'a [u8], name: &str) -> Vec<&'a [u8]> {
    json::list(raw, name)
}

fn string<'a>(raw: &'a [u8], name: &str) -> Option<&'a [u8]> {
    json::string_member(raw, name).filter(|raw| *raw != b"\"\"")
}

/// The pieces of a message.
pub fn ui_parts(raw: &[u8], role: &str) -> Vec<UiPart> {
    let mut pieces: Vec<UiPart> = list(raw, "parts").into_iter().flat_map(ui_part).collect();
    let has = |pieces: &[UiPart], is: fn(&UiPart) -> bool| pieces.iter().any(is);
    if let Some(reasoning) = reasoning(raw)
        && !has(&pieces, |piece| matches!(piece, UiPart::Thought(_)))
    {
        pieces.insert(0, UiPart::Thought(part::reasoning_part(reasoning, None)));
    }
    let known: Vec<Vec<u8>> = pieces
        .iter()
        .filter_map(|piece| match piece {
            UiPart::Call(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    let content = string(raw, "content").filter(|_| !has(&pieces, |piece| matches!(piece, UiPart::Part(_))));
    let mut step = None;
    let mut answered = false;
    for invocation in list(raw, "toolInvocations") {
        let Some(call) = call(invocation) else {
            continue;
        };
        if known.contains(&call.id) {
            continue;
        }
        let own = json::member(invocation, "step");
        if step.is_some() && own.is_some() && step != own {
            pieces.push(UiPart::Border);
        }
        step = own.or(step);
        answered |= call.result.is_some();
        pieces.push(UiPart::Call(call));
    }
    if let Some(content) = content {
        // The final text follows the results, as the SDK sends it.
        if answered {
            pieces.push(UiPart::Border);
        }
        pieces.push(UiPart::Part(text_part(content)));
    }
    if role != "assistant" {
        for attachment in list(raw, "experimental_attachments") {
            let url = text(attachment, "url");
            let built = url
                .and_then(|url| part::file(text(attachment, "contentType"), url, text(attachment, "name")));
            pieces.extend(built.map(UiPart::Part));
        }
    }
    pieces
}

/// The reasoning outside of the parts.
pub fn reasoning(raw: &[u8]) -> Option<&[u8]> {
    string(raw, "reasoning")
}

/// The creation time of a message, as JSON.
pub fn time(raw: &[u8]) -> Option<Vec<u8>> {
    json::member(raw, "createdAt").and_then(|raw| match json::text(raw) {
        Some(text) => time::is_rfc3339(&text).then(|| raw.to_vec()),
        None => {
            let milliseconds: f64 = json::number(raw)?;
            time::from_epoch(milliseconds / 1000.0).map(|time| quoted(&time))
        }
    })
}

/// Whether the content of a message differs from the text of its parts, which are what the SDK sends.
pub fn differs(raw: &[u8]) -> bool {
    let Some(content) = string(raw, "content").and_then(json::text) else {
        return false;
    };
    let parts = list(raw, "parts");
    let is_text = |part: &&&[u8]| text(part, "type").is_some_and(|kind| kind == "text");
    let texts: Vec<_> = parts
        .iter()
        .filter(is_text)
        .filter_map(|part| text(part, "text"))
        .collect();
    let content = content.trim();
    !texts.is_empty()
        && ["", "\n", "\n\n"]
            .iter()
            .all(|between| texts.join(between).trim() != content)
}

fn ui_part(raw: &[u8]) -> Option<UiPart> {
    let kind = text(raw, "type").unwrap_or_default();
    Some(match kind.as_ref() {
        "step-start" => UiPart::Border,
        "text" if string(raw, "text").is_some() => UiPart::Part(text_part(string(raw, "text")?)),
        "reasoning" => {
            let details = list(raw, "details");
            let signature = details.iter().find_map(|detail| string(detail, "signature"));
            let reported = signature
                .map(|signature| [b"{\"anthropic\":{\"signature\":".as_slice(), signature, b"}}"].concat());
            UiPart::Thought(part::reasoning_part(
                string(raw, "reasoning").unwrap_or(b"\"\""),
                reported.as_deref(),
            ))
        }
        "tool-invocation" => match json::member(raw, "toolInvocation").and_then(call) {
            Some(call) => UiPart::Call(call),
            None => return None,
        },
        "file" => {
            let mime = text(raw, "mimeType");
            let url = format!(
                "data:{};base64,{}",
                mime.as_deref().unwrap_or_default(),
                text(raw, "data")?
            );
            let built = part::file(mime, url.into(), text(raw, "filename"));
            UiPart::Part(built?)
        }
        _ => return None,
    })
}

fn call(raw: &[u8]) -> Option<UiCall> {
    let done = json::member(raw, "state") == Some(b"\"result\"");
    Some(UiCall {
        id: json::string_member(raw, "toolCallId")?.to_vec(),
        name: json::string_member(raw, "toolName")?.to_vec(),
        arguments: json::member(raw, "args").map_or_else(|| b"\"\"".to_vec(), draft::text_of),
        result: done.then(|| CallResult {
            content: json::member(raw, "result").map_or_else(|| b"\"\"".to_vec(), draft::text_of),
            failed: false,
            denied: false,
        }),
    })
}
