//! Parses one line of a log: its kind, content, and references to other lines.

use super::attachment::Attachment;
use crate::format::request::draft;
use crate::model::json::{self, Dialect, Members};
use crate::model::key;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// The name of the format, and of its annotations.
pub const NAME: &str = "claude-code";

/// A compact id of a line, message, call or agent: the bits of a UUID, or the digest of any other string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineId(u128);

impl LineId {
    /// From a raw JSON string; `None` for an empty string and any other value.
    pub fn of(raw: &[u8]) -> Option<LineId> {
        let text = json::text(raw).filter(|text| !text.is_empty())?;
        Some(LineId(uuid(&text).unwrap_or_else(|| {
            let digest = Sha256::digest(text.as_bytes());
            u128::from_be_bytes(std::array::from_fn(|at| digest[at]))
        })))
    }
}

/// Whether this raw JSON string is a UUID.
pub fn is_uuid(raw: &[u8]) -> bool {
    json::text(raw).is_some_and(|text| uuid(&text).is_some())
}

/// The bits of a UUID. One with upper-case digits is another id.
fn uuid(text: &str) -> Option<u128> {
    let is_canonical = key::is_uuid(text) && !text.bytes().any(|byte| byte.is_ascii_uppercase());
    u128::from_str_radix(&text.replace('-', ""), 16)
        .ok()
        .filter(|_| is_canonical)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClaudeLineKind {
    /// A user message or tool results.
    User,
    /// A model message, usually one block of it.
    Assistant,
    /// A user message with the summary of earlier messages.
    Summary,
    /// The position of a compaction.
    Boundary,
    /// An attachment that is sent to the model.
    Attachment,
    /// Not a message, but possibly a parent: another attachment, or a notice of the program.
    Chain,
    /// Progress of a running tool; possibly a parent.
    Progress,
    /// Any other JSON object.
    #[default]
    Other,
    /// White space only.
    Blank,
    /// Not a JSON object.
    Unreadable,
}

/// The members of a line that are read, the most frequent ones first, because they are found by linear search.
const MEMBERS: [&str; 26] = [
    "parentUuid", "isSidechain", "uuid", "type", "message", "sessionId", "timestamp", "cwd", "version",
    "gitBranch", "slug", "agentId", "isMeta", "subtype", "attachment", "isCompactSummary",
    "isApiErrorMessage", "logicalParentUuid", "leafUuid", "summary", "compactMetadata", "customTitle",
    "agentName", "aiTitle", "role", "payload",
];

/// A line with its members as raw JSON.
#[derive(Clone, Debug, Default)]
pub struct LineMembers<'a> {
    pub kind: ClaudeLineKind,
    /// `type`, decoded.
    pub name: Cow<'a, str>,
    members: [Option<&'a [u8]>; MEMBERS.len()],
    /// The attachment, if it is sent to the model.
    pub attachment: Option<Attachment<'a>>,
    /// The message, if any.
    pub message: Option<LineMessage<'a>>,
    /// The fault in its content, if any.
    pub fault: Option<&'static str>,
}

/// The `message` of a line.
#[derive(Clone, Debug, Default)]
pub struct LineMessage<'a> {
    pub id: Option<&'a [u8]>,
    /// By default the line's type.
    pub role: Cow<'a, str>,
    pub content: Option<&'a [u8]>,
    pub model: Option<&'a [u8]>,
    pub usage: Option<&'a [u8]>,
}

impl<'a> LineMembers<'a> {
    /// Parses a line without its ending; the fault if it is not an object.
    pub fn of(body: &'a [u8]) -> Result<LineMembers<'a>, json::JsonError> {
        if let Err(error) = std::str::from_utf8(body) {
            return Err(json::JsonError {
                offset: error.valid_up_to(),
                what: "not UTF-8",
            });
        }
        let mut facts = LineMembers::default();
        let mut members = Members::new(body, Dialect::Strict)?;
        while let Some(member) = members.next()? {
            let name = member.name();
            if let Some(nth) = MEMBERS.iter().position(|known| *known == name) {
                facts.members[nth] = Some(member.value);
            }
        }
        match facts.get("type").and_then(json::text) {
            Some(name) => facts.name = name,
            None => facts.fault = Some("object without type; kept unchanged"),
        }
        facts.kind = match (facts.name.as_ref(), facts.uuid().is_some()) {
            ("user" | "assistant", _) => facts.read_message(),
            ("attachment", true) => {
                facts.attachment = facts.get("attachment").and_then(Attachment::of);
                facts.message = facts.attachment.as_ref().map(LineMessage::attached);
                match facts.attachment {
                    Some(_) => ClaudeLineKind::Attachment,
                    None => ClaudeLineKind::Chain,
                }
            }
            ("progress", true) => ClaudeLineKind::Progress,
            ("system", _) if facts.get("subtype") == Some(b"\"compact_boundary\"") => {
                ClaudeLineKind::Boundary
            }
            (_, true) => ClaudeLineKind::Chain,
            (_, false) => {
                if facts.get("sessionId").is_none() && facts.is_unrecognized() {
                    facts.fault = Some("not a Claude Code record; kept unchanged");
                }
                ClaudeLineKind::Other
            }
        };
        Ok(facts)
    }

    /// Reads the message of the user or the model; returns the kind of the line.
    fn read_message(&mut self) -> ClaudeLineKind {
        let message = self.get("message");
        self.message = message.and_then(|raw| LineMessage::of(raw, &self.name));
        let Some(message) = &self.message else {
            self.fault = Some("the message is not an object; kept unchanged");
            return ClaudeLineKind::Other;
        };
        if message.content.is_none() {
            self.fault = Some("the message has no content");
        }
        match message.role.as_ref() {
            _ if self.name == "user" && self.is("isCompactSummary") => ClaudeLineKind::Summary,
            "assistant" => ClaudeLineKind::Assistant,
            _ => ClaudeLineKind::User,
        }
    }

    /// Whether it has content that logs of this format do not have.
    fn is_unrecognized(&self) -> bool {
        let message = self.get("message");
        self.get("role").is_some()
            || self.get("payload").is_some_and(|raw| raw.starts_with(b"{"))
            || message.is_some_and(|raw| json::member(raw, "role").is_some())
    }

    /// A member.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.members[MEMBERS.iter().position(|known| *known == name)?]
    }

    /// A string member that is not empty.
    fn filled(&self, name: &str) -> Option<&'a [u8]> {
        self.get(name).and_then(filled)
    }

    /// Whether a member is true.
    pub fn is(&self, name: &str) -> bool {
        self.get(name) == Some(b"true")
    }

    pub fn uuid(&self) -> Option<&'a [u8]> {
        self.filled("uuid")
    }

    pub fn parent(&self) -> Option<&'a [u8]> {
        self.filled("parentUuid").or(self.filled("logicalParentUuid"))
    }

    pub fn agent(&self) -> Option<&'a [u8]> {
        self.filled("agentId")
    }

    pub fn timestamp(&self) -> Option<&'a [u8]> {
        self.filled("timestamp")
    }

    pub fn is_sidechain(&self) -> bool {
        self.is("isSidechain")
    }
}

fn filled(value: &[u8]) -> Option<&[u8]> {
    (value.starts_with(b"\"") && value.len() > 2).then_some(value)
}

impl<'a> LineMessage<'a> {
    fn attached(attachment: &Attachment<'a>) -> LineMessage<'a> {
        LineMessage {
            role: Cow::Borrowed("user"),
            content: Some(attachment.content),
            ..LineMessage::default()
        }
    }

    fn of(raw: &'a [u8], name: &Cow<'a, str>) -> Option<LineMessage<'a>> {
        let members = ["id", "role", "content", "model", "usage"];
        let [id, role, content, model, usage] = json::several(raw, members);
        let role = role.and_then(json::text).filter(|role| !role.is_empty());
        raw.starts_with(b"{").then(|| LineMessage {
            id: id.and_then(filled),
            role: role.unwrap_or_else(|| name.clone()),
            content,
            model: model.and_then(filled),
            usage: usage.filter(|usage| usage.starts_with(b"{")),
        })
    }

    pub fn is_string(&self) -> bool {
        self.content.is_some_and(|raw| raw.starts_with(b"\""))
    }

    /// The blocks of the content; `None` if it is a string or missing.
    pub fn blocks(&self) -> Option<Vec<&'a [u8]>> {
        json::elements(self.content?, Dialect::Strict)
    }
}

/// The name of the member that refers to the parent of a line.
pub fn parent_member(line: &[u8]) -> &'static str {
    match json::string_member(line, "parentUuid").is_some() {
        true => "parentUuid",
        false => "logicalParentUuid",
    }
}

pub fn block_type(block: &[u8]) -> Cow<'_, str> {
    json::member_text(block, "type").unwrap_or_default()
}

/// The blocks of a content; a string is one text block, any other value a block of unknown type.
pub fn blocks(content: &[u8]) -> Vec<Cow<'_, [u8]>> {
    match json::elements(content, Dialect::Strict) {
        Some(blocks) => blocks.into_iter().map(Cow::Borrowed).collect(),
        None if content.starts_with(b"\"") => vec![Cow::Owned(draft::text_part(content))],
        None => vec![Cow::Borrowed(content)],
    }
}
