//! Detects the program of a SQLite database from the table names in its first bytes.

use super::Detection;

const PLUGIN: &str = "read it with: convo sqlite FILE | convo ...";

/// The encoding of the messages in a chat store is not published.
const TRANSCRIPTS: &str =
    "read the transcript of the chat; list transcripts with: convo list --agents --program cursor";

/// Detects the format of a database.
pub(super) fn verdict(head: &[u8]) -> Detection {
    let tables = DatabaseTables::of(head);
    if let Some((name, whose)) = tables.read() {
        let what = format!("SQLite database of {whose}");
        return Detection {
            name: Some(name),
            ..Detection::unknown(what)
        }
        .hint(PLUGIN);
    }
    let unknown = || Detection::unknown("SQLite database").hint(PLUGIN);
    tables.unread().unwrap_or_else(unknown)
}

/// The result for a database with these tables that belongs to a known program but is not supported.
pub fn unread_database(tables: &[String]) -> Option<Detection> {
    let names = tables.iter().map(String::as_bytes).collect();
    DatabaseTables { head: b"", names }.unread()
}

/// The table names in the head of a database.
struct DatabaseTables<'a> {
    head: &'a [u8],
    names: Vec<&'a [u8]>,
}

impl<'a> DatabaseTables<'a> {
    fn of(head: &'a [u8]) -> DatabaseTables<'a> {
        let mark = b"CREATE TABLE ";
        let names = memchr::memmem::find_iter(head, mark)
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
        DatabaseTables { head, names }
    }

    fn all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.names.contains(&name.as_bytes()))
    }

    /// The format that the plugin reads, and the name of the program.
    fn read(&self) -> Option<(&'static str, &'static str)> {
        let (head, all) = (self.head, |names: &[&str]| self.all(names));
        // Many table definitions are beyond the head. The first table of llm contains the names of its migrations and
        // is near the start.
        let migrated = |name: &str| memchr::memmem::find(head, name.as_bytes()).is_some();
        match () {
            () if migrated("m001_initial") && migrated("m010_create_new_log_tables") => Some(("llm", "llm")),
            () if all(&["messages", "parts", "threads", "turns"]) => Some(("llm", "llm")),
            () if all(&["responses", "conversations"]) => Some(("llm", "llm")),
            () if all(&["agent_sessions", "agent_messages"]) => Some(("openai-agents", AGENTS)),
            // The application chooses the table names.
            () if mentions(head, "message_data") && mentions(head, "session_id") => {
                Some(("openai-agents", AGENTS))
            }
            () if all(&["session", "message", "part"]) => Some(("opencode", "opencode")),
            () if all(&["schema_version", "sessions", "messages"]) => Some(("goose", "goose")),
            () if all(&["cursorDiskKV", "ItemTable"]) => Some(("cursor", "the Cursor editor")),
            () => None,
        }
    }

    /// The result for an unsupported format.
    fn unread(&self) -> Option<Detection> {
        match () {
            // Other databases have such tables, too, among others.
            () if self.all(&["blobs", "meta"]) && self.names.len() == 2 => {
                let found = Detection::unread("cursor-store", "a chat store of the Cursor CLI");
                Some(found.hint(TRANSCRIPTS))
            }
            () if self.all(&["threads"]) && mentions(self.head, "data_type") => {
                Some(Detection::unread("zed", "the agent threads of Zed"))
            }
            () => None,
        }
    }
}

const AGENTS: &str = "the OpenAI Agents SDK";

/// Whether a table in the head has a column with this name.
fn mentions(head: &[u8], column: &str) -> bool {
    let of = |at: usize| {
        let line = &head[at.saturating_sub(2048)..at];
        memchr::memmem::rfind(line, b"CREATE TABLE ").is_some()
    };
    memchr::memmem::find_iter(head, column).any(of)
}
