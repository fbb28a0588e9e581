//! Recognizes files that programs store next to their sessions and that are not sessions.

use super::shape::{ObjectShape, seen_members};

/// Describes a file that is not a session.
pub(super) fn describe_other_file(shape: &ObjectShape<'_>) -> Option<&'static str> {
    let has = |name: &str| shape.has(name);
    let kind = shape.get("type").unwrap_or_default();
    match () {
        () if has("role") || has("messages") || has("conversations") => None,
        () if has("etag") && has("schema_version") => Some("a key-value record of PenguiFlow"),
        () if index(shape, &["session_id", "message_id"]) => Some("Penguin's index of checkpoints"),
        () if index(shape, &["message_count", "token_count"]) => Some("Penguin's index of sessions"),
        () if has("$schemaVersion") => Some(RUN_STATE),
        () if has("sessionId") && has("dateCreated") => Some("the index of Continue's sessions"),
        () if has("sessionId") && has("messageId") && shape.is_text("message") => {
            Some("the log of prompts of the Gemini CLI")
        }
        () if has("ts") && (kind == b"\"say\"" || kind == b"\"ask\"") => {
            Some("the messages that Cline or Roo display")
        }
        () if has("instruction") && has("output") => Some("Alpaca records"),
        () if has("chosen") && has("rejected") => Some("pairs of a preferred and a rejected answer"),
        () if has("session_id") && has("messages_path") => Some("the manifest of a Cline session"),
        () if shape.is_object("info") && has("chat_format_version") => Some("the summary of a Grok session"),
        () if shape.is_object("agents") && has("workDir") => Some("the state of a Kimi Code session"),
        () => None,
    }
}

/// Description of a file with an interrupted run of the OpenAI Agents SDK.
pub(super) const RUN_STATE: &str = "a run state of the OpenAI Agents SDK";

/// Whether the first row of an index has these members.
fn index(shape: &ObjectShape<'_>, names: &[&str]) -> bool {
    let row = shape.0.first().filter(|(_, row)| row.first() == Some(&b'{'));
    row.is_some_and(|(_, row)| seen_members(row).0.all(names))
}
