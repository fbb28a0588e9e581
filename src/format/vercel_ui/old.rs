//! Messages of version 4, taken to pieces. What was said stands in `content`, and in newer ones in `parts` as well; calls
//! in `toolInvocations`, or in parts.

use super::part::{self, text};
use super::piece::{Answer, Call, Piece, Taken, left};
use crate::format::request::draft::text_part;
use crate::format::request::piece::{quoted, rest_object};
use crate::model::json::{self, Dialect};
use crate::model::time;

/// Members of a message that its pieces are made of.
const KNOWN: [&str; 8] = [
    "id",
    "role",
    "createdAt",
    "content",
    "reasoning",
    "toolInvocations",
    "experimental_attachments",
    "parts",
];

fn list<'a>(raw: &'a [u8], name: &str) -> Vec<&'a [u8]> {
    let found = json::member(raw, name).and_then(|raw| json::elements(raw, Dialect::Strict));
    found.unwrap_or_default()
}

fn string<'a>(raw: &'a [u8], name: &str) -> Option<&'a [u8]> {
    json::member(raw, name).filter(|raw| raw.starts_with(b"\"") && *raw != b"\"\"")
}

/// Takes a message to pieces.
pub fn take(raw: &[u8], role: &str) -> Taken {
    let mut pieces: Vec<Piece> = list(raw, "parts").into_iter().flat_map(piece).collect();
    let has = |pieces: &[Piece], is: fn(&Piece) -> bool| pieces.iter().any(is);
    if let Some(said) = string(raw, "reasoning")
        && !has(&pieces, |piece| matches!(piece, Piece::Thought(_)))
    {
        pieces.insert(0, Piece::Thought(part::thought(said, None)));
    }
    let known: Vec<Vec<u8>> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Call(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    let said = string(raw, "content").filter(|_| !has(&pieces, |piece| matches!(piece, Piece::Part(_))));
    let mut step = None;
    let mut answered = false;
    for invocation in list(raw, "toolInvocations") {
        let Some(call) = call(invocation) else {
            pieces.push(Piece::Shown(invocation.to_vec()));
            continue;
        };
        if known.contains(&call.id) {
            continue;
        }
        let own = json::member(invocation, "step");
        if step.is_some() && own.is_some() && step != own {
            pieces.push(Piece::Border);
        }
        step = own.or(step);
        answered |= call.result.is_some();
        pieces.push(Piece::Call(call));
    }
    if let Some(said) = said {
        // What was said last: it follows the results, as the SDK sends it.
        if answered {
            pieces.push(Piece::Border);
        }
        pieces.push(Piece::Part(text_part(said)));
    }
    if role != "assistant" {
        for attachment in list(raw, "experimental_attachments") {
            let url = text(attachment, "url");
            let made = url
                .and_then(|url| part::file(text(attachment, "contentType"), url, text(attachment, "name")));
            pieces.push(made.map_or_else(|| Piece::Shown(attachment.to_vec()), Piece::Part));
        }
    }
    let time = json::member(raw, "createdAt").and_then(|raw| match json::text(raw) {
        Some(text) => time::is_rfc3339(&text).then(|| raw.to_vec()),
        None => {
            let milliseconds: f64 = std::str::from_utf8(raw).ok()?.parse().ok()?;
            time::from_epoch(milliseconds / 1000.0).map(|time| quoted(&time))
        }
    });
    Taken {
        pieces,
        time,
        members: rest_object(raw, &KNOWN),
        metadata: None,
    }
}

/// Whether a message has a content other than the text of its parts: the parts are what was said, as the SDK sends it.
pub fn differs(raw: &[u8]) -> bool {
    let Some(said) = string(raw, "content").and_then(json::text) else {
        return false;
    };
    let parts = list(raw, "parts");
    let is_text = |part: &&&[u8]| text(part, "type").is_some_and(|kind| kind == "text");
    let texts: Vec<_> = parts
        .iter()
        .filter(is_text)
        .filter_map(|part| text(part, "text"))
        .collect();
    let said = said.trim();
    !texts.is_empty()
        && ["", "\n", "\n\n"]
            .iter()
            .all(|between| texts.join(between).trim() != said)
}

fn piece(raw: &[u8]) -> Option<Piece> {
    let kind = text(raw, "type").unwrap_or_default();
    Some(match kind.as_ref() {
        "step-start" => Piece::Border,
        "text" if string(raw, "text").is_some() => Piece::Part(text_part(string(raw, "text")?)),
        "reasoning" => {
            let details = list(raw, "details");
            let signature = details.iter().find_map(|detail| string(detail, "signature"));
            let told = signature
                .map(|signature| [b"{\"anthropic\":{\"signature\":".as_slice(), signature, b"}}"].concat());
            Piece::Thought(part::thought(
                string(raw, "reasoning").unwrap_or(b"\"\""),
                told.as_deref(),
            ))
        }
        "tool-invocation" => match json::member(raw, "toolInvocation").and_then(call) {
            Some(call) => Piece::Call(call),
            None => Piece::Shown(raw.to_vec()),
        },
        "file" => {
            let mime = text(raw, "mimeType");
            let url = format!(
                "data:{};base64,{}",
                mime.as_deref().unwrap_or_default(),
                text(raw, "data")?
            );
            let made = part::file(mime, url.into(), text(raw, "filename"));
            made.map_or_else(|| Piece::Shown(raw.to_vec()), Piece::Part)
        }
        _ => Piece::Shown(raw.to_vec()),
    })
}

fn call(raw: &[u8]) -> Option<Call> {
    let done = json::member(raw, "state") == Some(b"\"result\"");
    let mut known = vec!["toolCallId", "toolName", "args", "step"];
    if done {
        known.extend(["state", "result"]);
    } else if json::member(raw, "state") == Some(b"\"call\"") {
        known.push("state");
    }
    Some(Call {
        id: json::member(raw, "toolCallId")
            .filter(|raw| raw.starts_with(b"\""))?
            .to_vec(),
        name: json::member(raw, "toolName")
            .filter(|raw| raw.starts_with(b"\""))?
            .to_vec(),
        arguments: json::member(raw, "args").map_or_else(|| b"\"\"".to_vec(), part::text_of),
        note: left(raw, &known),
        result: done.then(|| Answer {
            content: json::member(raw, "result").map_or_else(|| b"\"\"".to_vec(), part::text_of),
            failed: false,
            denied: false,
        }),
    })
}
