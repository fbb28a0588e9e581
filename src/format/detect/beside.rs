//! What lies beside sessions and is none: files that their systems write, and databases.

use super::shape::{Shape, seen_members};

/// Files that systems write beside their sessions.
pub(super) fn beside(shape: &Shape<'_>) -> Option<&'static str> {
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
            Some("what Cline or Roo show, not what they send")
        }
        () if has("instruction") && has("output") => Some("Alpaca records"),
        () if has("chosen") && has("rejected") => Some("pairs of a preferred and a rejected answer"),
        () => None,
    }
}

/// What an interrupted run of the OpenAI Agents SDK is kept in.
pub(super) const RUN_STATE: &str = "a run state of the OpenAI Agents SDK";

/// Whether the first row of an index has these members.
fn index(shape: &Shape<'_>, names: &[&str]) -> bool {
    let row = shape.0.first().filter(|(_, row)| row.first() == Some(&b'{'));
    row.is_some_and(|(_, row)| seen_members(row).0.all(names))
}

/// Whose database it is, by the tables that the head shows: name of the format, and of the system.
pub(super) fn database(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let mark = b"CREATE TABLE ";
    let tables: Vec<&[u8]> = memchr::memmem::find_iter(head, mark)
        .map(|at| {
            let name = &head[at + mark.len()..];
            let name = name.strip_prefix(b"IF NOT EXISTS ").unwrap_or(name);
            let name = name
                .strip_prefix(b"\"")
                .or(name.strip_prefix(b"["))
                .unwrap_or(name);
            let end = name
                .iter()
                .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            &name[..end.unwrap_or(name.len())]
        })
        .collect();
    let all = |names: &[&str]| names.iter().all(|name| tables.contains(&name.as_bytes()));
    // Many tables are told further behind. The first one of llm holds the names of its migrations, and stands in front.
    let migrated = |name: &str| memchr::memmem::find(head, name.as_bytes()).is_some();
    match () {
        () if migrated("m001_initial") && migrated("m010_create_new_log_tables") => Some(("llm", "llm")),
        () if all(&["messages", "parts", "threads", "turns"]) => Some(("llm", "llm")),
        () if all(&["responses", "conversations"]) => Some(("llm", "llm")),
        () if all(&["agent_sessions", "agent_messages"]) => Some(("openai-agents", AGENTS)),
        // Under names that an application chose.
        () if mentions(head, "message_data") && mentions(head, "session_id") => {
            Some(("openai-agents", AGENTS))
        }
        () if all(&["session", "message", "part"]) => Some(("opencode", "opencode")),
        () if all(&["schema_version", "sessions", "messages"]) => Some(("goose", "goose")),
        () => None,
    }
}

const AGENTS: &str = "the OpenAI Agents SDK";

/// Whether a table has a column of this name, as far as the head shows it.
fn mentions(head: &[u8], column: &str) -> bool {
    let of = |at: usize| {
        let line = &head[at.saturating_sub(2048)..at];
        memchr::memmem::rfind(line, b"CREATE TABLE ").is_some()
    };
    memchr::memmem::find_iter(head, column).any(of)
}
