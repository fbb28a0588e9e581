//! Splits messages of version 5 into pieces.

use super::part::{self, text};
use super::ui_part::{CallResult, UiCall, UiPart};
use crate::format::request::draft::{self, text_part};
use crate::model::json::{self, Dialect, quoted};

/// The pieces of a message; `None` if it has no parts.
pub fn ui_parts(raw: &[u8]) -> Option<Vec<UiPart>> {
    let parts = json::elements(json::member(raw, "parts")?, Dialect::Strict)?;
    Some(parts.into_iter().filter_map(ui_part).collect())
}

/// Converts a part; `None` if it is displayed but not sent.
fn ui_part(raw: &[u8]) -> Option<UiPart> {
    let kind = text(raw, "type").unwrap_or_default();
    let raw_text = json::string_member(raw, "text");
    Some(match (kind.as_ref(), raw_text) {
        ("step-start", _) => UiPart::Border,
        ("text", Some(text)) => UiPart::Part(text_part(text)),
        ("reasoning", Some(text)) => {
            UiPart::Thought(part::reasoning_part(text, json::member(raw, "providerMetadata")))
        }
        ("file", _) => {
            let url = text(raw, "url");
            let part = url.and_then(|url| part::file(text(raw, "mediaType"), url, text(raw, "filename")));
            UiPart::Part(part.unwrap_or_else(|| raw.to_vec()))
        }
        (kind, _) if kind == "dynamic-tool" || kind.starts_with("tool-") => {
            let ran = json::member(raw, "providerExecuted") == Some(b"true");
            match (ran, call(raw, kind)) {
                (false, Some(call)) => UiPart::Call(call),
                _ => UiPart::Part(raw.to_vec()),
            }
        }
        _ => return None,
    })
}

fn call(raw: &[u8], kind: &str) -> Option<UiCall> {
    let own = |name: &str| json::string_member(raw, name);
    let name = match kind.strip_prefix("tool-") {
        Some(name) => quoted(name),
        None => own("toolName")?.to_vec(),
    };
    let state = text(raw, "state").unwrap_or_default();
    let preliminary = json::member(raw, "preliminary") == Some(b"true");
    let content = match state.as_ref() {
        "output-available" if !preliminary => {
            Some(json::member(raw, "output").map_or_else(|| b"\"\"".to_vec(), draft::text_of))
        }
        "output-error" => Some(own("errorText").unwrap_or(b"\"\"").to_vec()),
        "output-denied" => {
            let approval = json::member(raw, "approval");
            let reason = approval.and_then(|raw| json::member(raw, "reason"));
            let reason = reason.filter(|raw| raw.starts_with(b"\""));
            Some(reason.unwrap_or(b"\"\"").to_vec())
        }
        _ => None,
    };
    Some(UiCall {
        id: own("toolCallId")?.to_vec(),
        name,
        arguments: json::member(raw, "input").map_or_else(|| b"\"\"".to_vec(), draft::text_of),
        result: content.map(|content| CallResult {
            content,
            failed: state == "output-error",
            denied: state == "output-denied",
        }),
    })
}
