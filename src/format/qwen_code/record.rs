//! Parses records, and converts the records of a message.

use crate::format::gemini::{self, GeminiCallIds};
use crate::format::object::{text, timestamp};
use crate::format::request::Api;
use crate::format::request::draft::AnnotatedDraft;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};

/// The name of the format, and of its annotations.
pub const NAME: &str = "qwen-code";

/// Types of user records that the program generates.
const GENERATED_TYPES: [&str; 3] = ["notification", "cron", "background_task_completed"];

pub fn message(record: &[u8]) -> Option<&[u8]> {
    let kinds: [&[u8]; 3] = [b"\"user\"", b"\"assistant\"", b"\"tool_result\""];
    let is_message = json::member(record, "type").is_some_and(|kind| kinds.contains(&kind));
    json::member(record, "message").filter(|raw| is_message && raw.starts_with(b"{"))
}

/// Whether a record is about a file that the session generated; such a record never determines the end of a session.
pub fn is_artifact(record: &[u8]) -> bool {
    text(record, "subtype").is_some_and(|kind| kind.starts_with("session_artifact_"))
}

fn parts(record: &[u8]) -> Option<Vec<&[u8]>> {
    json::elements(json::member(message(record)?, "parts")?, Dialect::Strict)
}

/// The native messages of records with the same id; `None` if they are not messages.
pub fn drafts(records: &[&[u8]], calls: &mut GeminiCallIds) -> Option<Vec<AnnotatedDraft>> {
    let first = records.first()?;
    let parts: Option<Vec<Vec<&[u8]>>> = records.iter().map(|record| parts(record)).collect();
    let parts = parts?;
    let is_model = json::member(first, "type") == Some(b"\"assistant\"");
    let mut drafts = of_parts(if is_model { "model" } else { "user" }, &parts.concat(), calls);
    let status = json::member(first, "toolCallResult").and_then(|result| text(result, "status"));
    let is_failed = status.is_some_and(|status| status != "success");
    let is_made = text(first, "subtype").is_some_and(|kind| GENERATED_TYPES.contains(&kind.as_str()));
    for draft in &mut drafts {
        if let Some(time) = timestamp(first) {
            draft.set("timestamp", time);
        }
        if draft.role() == "user" && is_made {
            draft.set("category", "\"context\"");
        }
        let body = draft.body_of(NAME);
        let metadata = json::member(&body, "metadata").unwrap_or(b"{}");
        if draft.role() == "tool" && is_failed && json::member(metadata, "is_error").is_none() {
            draft.metadata("is_error", Some(b"true".to_vec()));
        }
    }
    let last = |name, begin: u8| {
        let mut values = records
            .iter()
            .rev()
            .filter_map(|record| json::member(record, name));
        values.find(|raw| raw.first() == Some(&begin))
    };
    let draft = drafts.first_mut()?;
    for (own, name, begin) in [("model", "model", b'"'), ("usageMetadata", "usage", b'{')] {
        draft.optional(name, last(own, begin));
    }
    if parts.len() > 1 {
        let counts = parts.iter().map(|parts| parts.len().to_string().into_bytes());
        draft.note("lines", Some(array(counts)));
    }
    Some(drafts)
}

/// Converts parts to native messages.
fn of_parts(role: &str, parts: &[&[u8]], calls: &mut GeminiCallIds) -> Vec<AnnotatedDraft> {
    let mut content = ObjectBuilder::default();
    content.raw("role", quoted(role)).raw("parts", array(parts));
    of_content(&content.finish(), calls)
}

/// Converts a Gemini content to native messages.
pub fn of_content(content: &[u8], calls: &mut GeminiCallIds) -> Vec<AnnotatedDraft> {
    let mut drafts = gemini::element(content, calls);
    for draft in &mut drafts {
        draft.move_notes(Api::Gemini);
    }
    drafts
}
