//! Detects message content that no known format has, so that it is reported as damage instead of being read as an empty
//! message.

use crate::model::json::{self, ArrayElements, Dialect, Members};

/// Part types of all formats.
const TYPES: [&str; 69] = [
    "text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal", "markdown", "json",
    "code", "image", "image_url", "input_image", "image_file", "imageUrl", "text-plain", "container_upload",
    "conversationCompacted", "actionRequired", "reasoning-file", "custom", "non_standard", "input_audio",
    "audio", "audio_url", "video", "video_url", "file", "file_url", "input_file", "document", "resource",
    "resource_link", "attachment", "media", "search_result", "thinking", "redacted_thinking", "reasoning",
    "redacted-reasoning", "redactedThinking", "think", "thought", "tool_use", "tool_result", "tool-call",
    "tool-result", "toolCall", "toolRequest", "toolResponse", "toolResult", "toolConfirmationRequest",
    "frontendToolRequest", "functionCall", "functionResponse", "function_call", "function_call_output",
    "tool", "tool-invocation", "dynamic-tool", "step-start", "step-finish", "snapshot", "patch", "agent",
    "subtask", "compaction", "retry", "fallback", "source",
];

/// Prefixes of further types.
const BEGINNINGS: [&str; 4] = ["tool-", "data-", "source-", "systemNotification"];
const ENDINGS: [&str; 8] = [
    "_use", "_tool_result", "_call", "_call_output", "_output", "_request", "_response", "_reference",
];

/// Members that identify a part without a type.
const MEMBERS: [&str; 12] = [
    "text", "value", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode",
    "codeExecutionResult", "function_call", "function_response", "inline_data", "file_data",
];

/// The type of the first part, if no part of the content is known.
pub fn unknown_kind(content: &[u8]) -> Option<String> {
    if content.first() != Some(&b'[') {
        return None;
    }
    let mut elements = ArrayElements::new(content, Dialect::Python).ok()?;
    let mut first = None;
    // A part that cannot be parsed may be anything.
    while let Some((_, part)) = elements.next().ok()? {
        let kind = kind(part)?;
        first.get_or_insert(kind);
    }
    first
}

/// The type of a part, if unknown.
fn kind(part: &[u8]) -> Option<String> {
    match part.first() {
        Some(b'{') => {}
        Some(b'"') | None => return None,
        Some(_) => return Some(String::from_utf8_lossy(&part[..part.len().min(20)]).into_owned()),
    }
    let mut members = Members::new(part, Dialect::Python).ok()?;
    let mut names = Vec::new();
    while let Some(member) = members.next().ok()? {
        let name = member.name();
        if name == "type"
            && let Some(kind) = json::text(member.value)
        {
            return (!is_known(&kind)).then(|| kind.into_owned());
        }
        if MEMBERS.contains(&name.as_ref()) {
            // A `type` may follow this member.
            return json::member_text(part, "type")
                .filter(|kind| !is_known(kind))
                .map(|kind| kind.into_owned());
        }
        names.push(name.into_owned());
    }
    Some(names.join(", "))
}

fn is_known(kind: &str) -> bool {
    TYPES.contains(&kind)
        || BEGINNINGS.iter().any(|known| kind.starts_with(known))
        || ENDINGS.iter().any(|known| kind.ends_with(known))
}

/// Members that are not content.
const ENVELOPE: [&str; 14] = [
    "role", "type", "id", "name", "model", "usage", "status", "stop_reason", "timestamp", "created",
    "created_at", "ts", "metadata", "category",
];

/// Describes the fault of a message whose content is in `content` or one of the members `others`: it has none of them
/// but other members, or no part of its content is known.
pub fn fault(message: &[u8], others: &[&str]) -> Option<String> {
    match json::member(message, "content") {
        Some(content) => unknown_parts(content).filter(|_| !has_any(message, others)),
        None if has_any(message, others) => None,
        None => {
            let members = json::members(message, Dialect::Python)?;
            let mut further = members
                .iter()
                .filter(|(name, _)| !ENVELOPE.contains(&name.as_ref()));
            further.next().map(|(name, _)| missing(name))
        }
    }
}

/// Describes the fault of a content without a known part.
pub fn unknown_parts(content: &[u8]) -> Option<String> {
    unknown_kind(content).map(|kind| format!("unknown content type '{kind}'"))
}

/// Describes the fault of a message without content that has this member.
pub fn missing(name: &str) -> String {
    format!("message without content, but with '{name}'")
}

fn has_any(message: &[u8], names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| json::member(message, name).is_some_and(|raw| raw != b"null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_known_part_makes_content_known() {
        let kind = |content: &str| unknown_kind(content.as_bytes());
        for known in [
            r#""text""#,
            "[]",
            "null",
            r#"["a"]"#,
            r#"[{"type":"hologram"},{"type":"text","text":"a"}]"#,
            r#"[{"text":"a"}]"#,
            r#"[{"text":"a","type":"text"}]"#,
            r#"[{"functionCall":{}}]"#,
            r#"[{"type":"imageUrl","imageUrl":{"url":"u"}}]"#,
            r#"[{"type":"web_search_tool_result"}]"#,
            r#"[{"id":"1","type":"tool-weather"}]"#,
            r#"[{"type":"hologram""#,
        ] {
            assert_eq!(kind(known), None, "{known}");
        }
        assert_eq!(
            kind(r#"[{"type":"hologram","x":1},{"type":"b"}]"#).as_deref(),
            Some("hologram")
        );
        assert_eq!(
            kind(r#"[{"text":"a","type":"hologram"}]"#).as_deref(),
            Some("hologram")
        );
        assert_eq!(kind(r#"[{"a":1,"b":2}]"#).as_deref(), Some("a, b"));
        assert_eq!(kind("[1]").as_deref(), Some("1"));
    }

    #[test]
    fn a_message_needs_one_of_its_members() {
        let fault = |message: &str| fault(message.as_bytes(), &["tool_calls"]);
        assert_eq!(fault(r#"{"role":"user","content":""}"#), None);
        assert_eq!(fault(r#"{"role":"assistant","tool_calls":[]}"#), None);
        let none = fault(r#"{"role":"user","body":"a"}"#);
        assert_eq!(none.as_deref(), Some("message without content, but with 'body'"));
        assert_eq!(fault(r#"{"role":"user","id":"a"}"#), None);
        let unknown = fault(r#"{"role":"user","content":[{"type":"x"}]}"#);
        assert_eq!(unknown.as_deref(), Some("unknown content type 'x'"));
    }
}
