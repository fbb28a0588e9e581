//! Cursor's `state.vscdb`: a key-value table with one row per composer (a session) and one per bubble (a message).
//! Source of the keys and members: specstoryai/getspecstory, specstory-cli/pkg/providers/cursoride/types.go.

use super::database::{self, Database, number};
use super::session_lines::{self, NOWHERE, object};
use super::system::{DatabaseSystem, SystemRow};
use convo::error::{Error, ErrorKind, Result};
use convo::format::report::Report;
use convo::format::workspace::Workspace;
use convo::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use convo::model::session::Session;
use convo::model::time;
use std::collections::BTreeSet;

const NAME: &str = "cursor";

/// The definition of this system.
pub const SESSIONS: DatabaseSystem = DatabaseSystem {
    name: NAME,
    what: "chats of the Cursor editor",
    tables: &[("ItemTable", &["key"]), ("cursorDiskKV", &["key", "value"])],
    otherwise: |_| Ok(false),
    rows,
    bytes,
    sessions,
};

/// Prefix of the keys of composers.
const COMPOSER: &str = "composerData:";

/// Returns the range of keys with this prefix, which ends with a colon: from the first one, up to but excluding the
/// second.
fn range(beginning: &str) -> [String; 2] {
    let stem = beginning.strip_suffix(':').unwrap_or(beginning);
    [beginning.to_string(), format!("{stem};")]
}

/// Returns the prefix of the keys of a composer's bubbles.
fn bubbles(composer: &str) -> String {
    format!("bubbleId:{composer}:")
}

fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    let [from, to] = range(COMPOSER);
    let query =
        "SELECT key, value FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 AND value IS NOT NULL ORDER BY key";
    let found = database.all(query, &[&from, &to], |row| {
        let key = database::text(row, 0)?.unwrap_or_default();
        let value = database::bytes(row, 1)?.unwrap_or_default();
        let composer = object(&value);
        // A tab that was opened but never used.
        let is_unused = composer
            .as_deref()
            .is_some_and(|composer| listed(composer).is_empty());
        let member = |name| json::member(composer.as_deref()?, name);
        Ok((!is_unused).then(|| SystemRow {
            id: key.strip_prefix(COMPOSER).unwrap_or_default().to_string(),
            time: member("createdAt").and_then(moment),
            title: member("name").and_then(filled),
            updated: member("lastUpdatedAt").and_then(moment),
            directory: member("workspaceIdentifier").and_then(directory).and_then(filled),
            ..SystemRow::default()
        }))
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    let key = format!("{COMPOSER}{}", row.id);
    let [from, to] = range(&bubbles(&row.id));
    let query =
        "SELECT sum(octet_length(value)) FROM cursorDiskKV WHERE key = ?1 OR (key >= ?2 AND key < ?3)";
    let bytes = database.first(query, &[&key, &from, &to], |row| number(row, 0))?;
    Ok(bytes.flatten().map_or(0, i64::unsigned_abs))
}

fn value(database: &Database, key: &str) -> Result<Option<Vec<u8>>> {
    let query = "SELECT value FROM cursorDiskKV WHERE key = ?1";
    Ok(database
        .first(query, &[key], |row| database::bytes(row, 0))?
        .flatten())
}

/// Returns the elements of the list that orders the messages: ids in newer versions, bubbles in the first version.
fn listed(composer: &[u8]) -> Vec<&[u8]> {
    let list = |name| json::elements(json::member(composer, name)?, Dialect::Python);
    let list = |name| list(name).filter(|list| !list.is_empty());
    list("fullConversationHeadersOnly")
        .or_else(|| list("conversation"))
        .unwrap_or_default()
}

fn sessions(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Vec<Session>> {
    let stored = value(database, &format!("{COMPOSER}{}", row.id))?;
    let stored =
        stored.ok_or_else(|| Error::new(ErrorKind::Locked, "the session was deleted by another program"))?;
    let composer = object(&stored).ok_or_else(|| Error::data("not a JSON object"))?;
    let mut known = BTreeSet::new();
    let mut records = Vec::new();
    let mut missing = 0_u64;
    for (nth, element) in listed(&composer).into_iter().enumerate() {
        let id = json::member(element, "bubbleId").and_then(filled);
        let id = id.unwrap_or_else(|| format!("bubble_{}", nth + 1));
        let key = format!("{}{id}", bubbles(&row.id));
        let stored = match value(database, &key)? {
            Some(stored) => stored,
            None if is_bubble(element) => element.to_vec(),
            None => {
                missing += 1;
                continue;
            }
        };
        known.insert(key);
        match object(&stored) {
            Some(bubble) => records.extend(
                Bubble {
                    id: &id,
                    raw: &bubble,
                }
                .records(),
            ),
            None => {
                report.damage(NOWHERE, format!("message {id} is not a JSON object"));
                records.push(session_lines::passthrough(
                    NAME,
                    &quoted(&String::from_utf8_lossy(&stored)),
                ));
            }
        }
    }
    if missing > 0 {
        let messages = if missing == 1 {
            "message is"
        } else {
            "messages are"
        };
        report.damage(NOWHERE, format!("{missing} {messages} missing from the database"));
    }
    let [from, to] = range(&bubbles(&row.id));
    let query = "SELECT key FROM cursorDiskKV WHERE key >= ?1 AND key < ?2";
    let all = database.all(query, &[&from, &to], |row| database::text(row, 0))?;
    let discarded = all
        .into_iter()
        .flatten()
        .filter(|key| !known.contains(key))
        .count();
    let mut own = ObjectBuilder::default();
    if let Some(updated) = json::member(&composer, "lastUpdatedAt").and_then(moment) {
        own.text("updated_at", &updated);
    }
    if discarded > 0 {
        own.raw("discarded", discarded.to_string());
    }
    let inner = |outer, name| json::member(json::member(&composer, outer)?, name);
    let directory = json::member(&composer, "workspaceIdentifier").and_then(directory);
    let workspace = Workspace::new(directory, None, inner("modelConfig", "modelName"));
    let mut session = Session::default();
    session.push_new(&session_lines::header(
        database,
        (NAME, NAME),
        row,
        0,
        None,
        own,
        &workspace,
    ));
    records.iter().for_each(|record| session.push_new(record));
    Ok(vec![session])
}

fn directory(workspace: &[u8]) -> Option<&[u8]> {
    json::member(json::member(workspace, "uri")?, "fsPath")
}

/// Whether an element of the list is a bubble, not only its id.
fn is_bubble(element: &[u8]) -> bool {
    let has = |name| json::member(element, name).is_some();
    has("text") || has("thinking") || has("toolFormerData")
}

/// Returns a text unless it is empty.
fn filled(raw: &[u8]) -> Option<String> {
    let text = json::text(raw)?.into_owned();
    (!text.is_empty()).then_some(text)
}

/// Parses a time: RFC 3339, or milliseconds since 1970.
fn moment(raw: &[u8]) -> Option<String> {
    match json::text(raw) {
        Some(text) => time::is_rfc3339(&text).then(|| text.into_owned()),
        None => {
            let milliseconds: u64 = json::number(raw)?;
            time::from_digits(&format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000))
        }
    }
}

/// A row that contains a message.
struct Bubble<'b> {
    id: &'b str,
    raw: &'b [u8],
}

impl Bubble<'_> {
    fn member(&self, name: &str) -> Option<&[u8]> {
        json::member(self.raw, name)
    }

    /// Returns the message, and the result of its tool call.
    fn records(&self) -> Vec<Vec<u8>> {
        let role = match self.member("type") {
            Some(b"1") => "user",
            Some(b"2") => "assistant",
            _ => return vec![session_lines::passthrough(NAME, self.raw)],
        };
        let text = self.member("text").and_then(filled);
        let text = text.or_else(|| self.member("rawText").and_then(filled));
        let reasoning = self.member("thinking").and_then(reasoning_part);
        let tool = self
            .member("toolFormerData")
            .and_then(|raw| CursorTool::of(raw, self.id));
        if text.is_none() && reasoning.is_none() && tool.is_none() {
            return vec![session_lines::passthrough(NAME, self.raw)];
        }
        let mut message = ObjectBuilder::default();
        message.text("role", role);
        match &text {
            Some(text) => message.text("content", text),
            None if role == "assistant" => message.raw("content", "null"),
            None => message.text("content", ""),
        };
        message.text("id", self.id);
        if let Some(tool) = &tool {
            message.raw("tool_calls", array([&tool.call]));
        }
        if let Some(reasoning) = reasoning {
            message.raw("reasoning", array(&[reasoning]));
        }
        let time = self.member("createdAt").and_then(moment);
        if let Some(time) = &time {
            message.text("timestamp", time);
        }
        let model = self
            .member("modelInfo")
            .and_then(|info| json::member(info, "modelName"));
        if let Some(model) = model.and_then(filled) {
            message.text("model", &model);
        }
        if let Some(usage) = self.member("tokenCount").and_then(usage) {
            message.raw("usage", usage);
        }
        let about = tool.as_ref().map(|tool| tool.about.as_slice());
        if let Some(about) = about.filter(|about| *about != b"{}") {
            message.raw("metadata", wrapped(NAME, wrapped("tool", about)));
        }
        let result = tool.and_then(|tool| tool.result(self.id, time.as_deref()));
        std::iter::once(message.finish()).chain(result).collect()
    }
}

/// Converts reasoning with its signature.
fn reasoning_part(raw: &[u8]) -> Option<Vec<u8>> {
    let text = json::member(raw, "text").and_then(filled);
    let signature = json::member(raw, "signature").filter(|raw| filled(raw).is_some());
    if text.is_none() && signature.is_none() {
        return None;
    }
    let mut part = ObjectBuilder::default();
    part.text("type", "thinking")
        .text("thinking", &text.unwrap_or_default());
    if let Some(signature) = signature {
        part.raw("signature", signature);
    }
    Some(part.finish())
}

/// Returns the known token counts; zero means unknown.
fn usage(raw: &[u8]) -> Option<Vec<u8>> {
    let mut usage = ObjectBuilder::default();
    for (own, name) in [("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")] {
        if let Some(tokens) = json::member(raw, own).filter(|tokens| *tokens != b"0") {
            usage.raw(name, tokens);
        }
    }
    (!usage.is_empty()).then(|| usage.finish())
}

/// A tool call.
struct CursorTool<'b> {
    raw: &'b [u8],
    id: String,
    call: Vec<u8>,
    /// Its other metadata.
    about: Vec<u8>,
}

impl CursorTool<'_> {
    fn of<'b>(raw: &'b [u8], bubble: &str) -> Option<CursorTool<'b>> {
        let text = |name| json::member(raw, name).and_then(filled);
        let name = text("name")?;
        let id = text("toolCallId").unwrap_or_else(|| format!("call_{bubble}"));
        let arguments = ["rawArgs", "params"]
            .into_iter()
            .find_map(|name| text_member(raw, name));
        let mut function = ObjectBuilder::default();
        function
            .text("name", &name)
            .text("arguments", &arguments.unwrap_or_else(|| "{}".to_string()));
        let mut call = ObjectBuilder::default();
        call.text("id", &id)
            .text("type", "function")
            .raw("function", function.finish());
        let mut about = ObjectBuilder::default();
        for name in ["tool", "status", "userDecision"] {
            if let Some(value) = json::member(raw, name) {
                about.raw(name, value);
            }
        }
        Some(CursorTool {
            raw,
            id,
            call: call.finish(),
            about: about.finish(),
        })
    }

    /// Returns the message with the result; `None` if the call was rejected or is still running.
    fn result(&self, bubble: &str, time: Option<&str>) -> Option<Vec<u8>> {
        let (result, error) = (text_member(self.raw, "result"), text_member(self.raw, "error"));
        let is_error = error.is_some();
        let text = result.or(error)?;
        let mut message = ObjectBuilder::default();
        message
            .text("role", "tool")
            .text("tool_call_id", &self.id)
            .text("content", &text)
            .text("id", &format!("{bubble}.result"));
        if let Some(time) = time {
            message.text("timestamp", time);
        }
        if is_error {
            message.raw("metadata", r#"{"is_error":true}"#);
        }
        Some(message.finish())
    }
}

/// Returns a member as text. Its value is JSON or a string that contains JSON.
fn text_member(raw: &[u8], name: &str) -> Option<String> {
    let value = json::member(raw, name)?;
    match value {
        b"null" => None,
        [b'"', ..] => filled(value),
        _ => Some(String::from_utf8_lossy(value).into_owned()),
    }
}
