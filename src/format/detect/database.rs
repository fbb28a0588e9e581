//! SQLite databases: the tables that the head of one shows tell whose it is.

use super::Detection;

const PLUGIN: &str = "read it with: convo sqlite FILE | convo ...";

/// The verdict on a database.
pub(super) fn verdict(head: &[u8]) -> Detection {
    let tables = Tables::of(head);
    if let Some((name, whose)) = tables.read() {
        let what = format!("SQLite database of {whose}");
        return Detection {
            name: Some(name),
            ..Detection::unknown(what)
        }
        .hint(PLUGIN);
    }
    match tables.unread() {
        Some((name, what)) => Detection::unread(name, what),
        None => Detection::unknown("SQLite database").hint(PLUGIN),
    }
}

/// The tables that the head of a database shows.
struct Tables<'a> {
    head: &'a [u8],
    names: Vec<&'a [u8]>,
}

impl<'a> Tables<'a> {
    fn of(head: &'a [u8]) -> Tables<'a> {
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
        Tables { head, names }
    }

    fn all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.names.contains(&name.as_bytes()))
    }

    /// The format that the plugin reads, and the system.
    fn read(&self) -> Option<(&'static str, &'static str)> {
        let (head, all) = (self.head, |names: &[&str]| self.all(names));
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

    /// The name of a format that is not read, and what it is.
    fn unread(&self) -> Option<(&'static str, &'static str)> {
        match () {
            () if self.all(&["cursorDiskKV", "ItemTable"]) => {
                Some(("cursor", "the database of the Cursor editor"))
            }
            () if self.all(&["blobs", "meta"]) => Some(("cursor-store", "a chat store of the Cursor CLI")),
            () if self.all(&["threads"]) && mentions(self.head, "data_type") => {
                Some(("zed", "the agent threads of Zed"))
            }
            () => None,
        }
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
