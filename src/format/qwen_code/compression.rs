//! Converts compressions of the history.

use super::record::{NAME, of_content};
use crate::format::gemini::GeminiCallIds;
use crate::format::kit::{Decoded, SummaryDraft};
use crate::format::object::text;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};

/// The model message that Qwen Code inserts after a summary.
const ANSWER: &str = "Got it. Thanks for the additional context!";

/// Decodes a system record.
pub fn decode(record: &[u8], nth: usize) -> Decoded {
    if text(record, "subtype").as_deref() != Some("chat_compression") {
        return Decoded::Passthrough;
    }
    let history =
        json::member(record, "systemPayload").and_then(|payload| json::member(payload, "compressedHistory"));
    let Some(contents) = history.and_then(|raw| json::elements(raw, Dialect::Strict)) else {
        return Decoded::Unrecognized;
    };
    let summary = contents.first().and_then(|content| user_text(content));
    let kept = &contents[usize::from(summary.is_some())..];
    let mut calls = GeminiCallIds::default();
    Decoded::Summary(SummaryDraft {
        text: summary.unwrap_or_default(),
        kept: Some(nth),
        members: vec![("by", quoted(NAME))],
        inserted: kept
            .iter()
            .flat_map(|content| of_content(content, &mut calls))
            .collect(),
        ..SummaryDraft::default()
    })
}

/// The text of a user content, if it only has text.
fn user_text(content: &[u8]) -> Option<String> {
    let parts = json::elements(json::member(content, "parts")?, Dialect::Strict)?;
    let texts: Option<Vec<_>> = parts
        .into_iter()
        .map(|part| json::member_text(part, "text"))
        .collect();
    let is_user = json::member(content, "role") == Some(b"\"user\"");
    Some(texts?.join("\n\n")).filter(|text| is_user && !text.is_empty())
}

/// The payload of a new compression with this summary; `is_answered` adds the model message.
pub fn payload(summary: &str, is_answered: bool) -> Vec<u8> {
    let content = |role: &str, text: &str| {
        let mut content = ObjectBuilder::default();
        let part = wrapped("text", quoted(text));
        content.text("role", role).raw("parts", array([part]));
        content.finish()
    };
    let answer = is_answered.then(|| content("model", ANSWER));
    let mut payload = ObjectBuilder::default();
    payload.raw("info", wrapped("compressionStatus", b"1")).raw(
        "compressedHistory",
        array([content("user", summary)].into_iter().chain(answer)),
    );
    payload.finish()
}
