//! Parses one line of a log: its kind and envelope.

use crate::error::Position;
use crate::format::lines::placed_lines;
use crate::format::object::Object;
use crate::format::openai_responses::is_unnamed;
use crate::model::json::{self, Dialect, JsonError};
use crate::model::record;
use std::borrow::Cow;

/// The name of the format, and of its annotations.
pub const NAME: &str = "codex";

/// The role of an item in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemRole {
    Reasoning,
    /// Text of the model.
    Reply,
    /// A tool call.
    Call,
    /// A call that the provider executes: neither call nor result.
    Server,
    /// A separate message: of another sender, or a tool result.
    Alone,
    /// Not a message: a snapshot, or an obsolete kind.
    Other,
}

/// Types of calls that the provider executes.
const SERVER: [&str; 6] = [
    "web_search_call", "image_generation_call", "mcp_call", "file_search_call", "code_interpreter_call",
    "computer_call",
];

impl ItemRole {
    /// The role of an item, from its members.
    pub fn of(item: &[u8]) -> ItemRole {
        let kind = json::member_text(item, "type").unwrap_or_default();
        let text = |name| json::string_member(item, name);
        match kind.as_ref() {
            "message" => match text("role").and_then(json::text).as_deref() {
                Some("assistant") => ItemRole::Reply,
                Some("user" | "developer" | "system") => ItemRole::Alone,
                _ => ItemRole::Other,
            },
            "reasoning" => ItemRole::Reasoning,
            kind if kind.ends_with("_call") && (text("call_id").is_some() || is_unnamed(item)) => {
                ItemRole::Call
            }
            kind if kind.ends_with("_output") && (text("call_id").is_some() || is_unnamed(item)) => {
                ItemRole::Alone
            }
            kind if SERVER.contains(&kind) => ItemRole::Server,
            _ => ItemRole::Other,
        }
    }

    /// Whether a line of this type may be an item without an envelope.
    fn is_bare(kind: &str) -> bool {
        matches!(kind, "message" | "reasoning") || kind.ends_with("_call") || kind.ends_with("_output")
    }
}

/// The kind of a line, with its payload.
#[derive(Clone, Debug)]
pub enum CodexLineKind<'a> {
    /// The session line.
    Meta(&'a [u8]),
    /// An item of the history that is sent to the model.
    Item(ItemRole, &'a [u8]),
    /// A display event, and its name.
    Event(Cow<'a, str>, &'a [u8]),
    /// The settings of a turn.
    Turn(&'a [u8]),
    /// A compaction, which replaces the history before it.
    Compacted(&'a [u8]),
    /// Any other object.
    Other,
    /// An empty line.
    Blank,
    /// Not an object.
    Unreadable(JsonError),
}

/// A line of a log.
#[derive(Clone, Debug)]
pub struct CodexLine<'a> {
    /// The line with its ending.
    pub full: &'a [u8],
    /// The line without byte order mark and ending.
    pub body: &'a [u8],
    pub place: Position,
    pub kind: CodexLineKind<'a>,
    /// The envelope members other than `type` and `payload`; `None` without an envelope.
    pub envelope: Option<Vec<(Cow<'a, str>, &'a [u8])>>,
}

impl<'a> CodexLine<'a> {
    /// A line that has no byte order mark, wherever it is.
    pub fn of(full: &'a [u8]) -> CodexLine<'a> {
        CodexLine::parse(full, Position { line: 1, offset: 1 })
    }

    pub fn parse(full: &'a [u8], place: Position) -> CodexLine<'a> {
        let body = record::body_of(full, place);
        let mut line = CodexLine {
            full,
            body,
            place,
            kind: CodexLineKind::Blank,
            envelope: None,
        };
        if body.trim_ascii().is_empty() {
            return line;
        }
        let members = json::members(body, Dialect::Strict);
        let Some(members) = members.filter(|_| std::str::from_utf8(body).is_ok()) else {
            let fault = Object::parse(body).err();
            line.kind = fault.map_or(CodexLineKind::Other, CodexLineKind::Unreadable);
            return line;
        };
        let get = |name: &str| {
            let found = members.iter().find(|(known, _)| known == name);
            found.map(|(_, raw)| *raw)
        };
        let kind = get("type").and_then(json::text);
        let payload = get("payload").filter(|raw| raw.starts_with(b"{"));
        line.kind = match (kind.as_deref(), payload) {
            (Some("session_meta"), Some(payload)) => CodexLineKind::Meta(payload),
            (Some("response_item"), Some(payload)) => CodexLineKind::Item(ItemRole::of(payload), payload),
            (Some("event_msg"), Some(payload)) => {
                let name = json::member_text(payload, "type");
                CodexLineKind::Event(name.unwrap_or_default(), payload)
            }
            (Some("turn_context"), Some(payload)) => CodexLineKind::Turn(payload),
            (Some("compacted"), Some(payload)) => CodexLineKind::Compacted(payload),
            (Some(kind), None) if ItemRole::is_bare(kind) => CodexLineKind::Item(ItemRole::of(body), body),
            (None, None)
                if ["id", "timestamp", "instructions"]
                    .iter()
                    .all(|name| get(name).is_some()) =>
            {
                CodexLineKind::Meta(body)
            }
            _ => CodexLineKind::Other,
        };
        if payload.is_some() {
            let extra = |(name, _): &(Cow<'_, str>, _)| !matches!(name.as_ref(), "type" | "payload");
            line.envelope = Some(members.into_iter().filter(extra).collect());
        }
        line
    }

    /// Whether it is an object that logs do not have: it has neither an envelope nor the form of older logs.
    pub fn is_unrecognized(&self) -> bool {
        matches!(self.kind, CodexLineKind::Other)
            && self.envelope.is_none()
            && json::member(self.body, "record_type").is_none()
    }

    /// Its payload, or an item or session line without an envelope.
    pub fn payload(&self) -> Option<&'a [u8]> {
        match self.kind {
            CodexLineKind::Meta(payload)
            | CodexLineKind::Item(_, payload)
            | CodexLineKind::Event(_, payload)
            | CodexLineKind::Turn(payload)
            | CodexLineKind::Compacted(payload) => Some(payload),
            CodexLineKind::Other | CodexLineKind::Blank | CodexLineKind::Unreadable(_) => None,
        }
    }

    /// The envelope members as an object; `None` without an envelope.
    pub fn envelope_object(&self) -> Option<Vec<u8>> {
        let members = self.envelope.as_ref()?.iter();
        Some(json::object(members.map(|(name, value)| (name, value))))
    }

    /// The annotation for an envelope that does not consist of this time: its members, or `null` without an envelope.
    pub fn unusual_envelope(&self, time: Option<&[u8]>) -> Option<Vec<u8>> {
        match self.envelope.as_deref() {
            Some([(_, raw)]) if Some(*raw) == time => None,
            _ => Some(self.envelope_object().unwrap_or_else(|| b"null".to_vec())),
        }
    }

    pub fn timestamp(&self) -> Option<&'a [u8]> {
        let own = self
            .envelope
            .iter()
            .flatten()
            .find(|(name, _)| name == "timestamp");
        own.map(|(_, raw)| *raw).filter(|raw| raw.starts_with(b"\""))
    }
}

/// The lines of a log that starts at `start`.
pub fn lines(bytes: &[u8], start: Position) -> Vec<CodexLine<'_>> {
    let lines = placed_lines(bytes, start);
    lines.map(|(full, place)| CodexLine::parse(full, place)).collect()
}
