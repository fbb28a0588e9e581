//! Parses one line of a log: its kind, content, and references to other lines.

use super::attachment::Attachment;
use crate::model::json::{self, Dialect, Members};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

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

/// The bits of a UUID in canonical form.
fn uuid(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut bits = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let digit = match byte {
            b'-' if matches!(at, 8 | 13 | 18 | 23) => continue,
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        if matches!(at, 8 | 13 | 18 | 23) {
            return None;
        }
        bits = bits << 4 | u128::from(digit);
    }
    Some(bits)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    Other,
    /// White space only.
    Blank,
    /// Not a JSON object.
    Unreadable,
}

/// The relevant members of a line, as raw JSON.
#[derive(Clone, Debug)]
pub struct LineMembers<'a> {
    pub kind: ClaudeLineKind,
    /// `type`, decoded.
    pub name: Cow<'a, str>,
    /// `uuid`.
    pub uuid: Option<&'a [u8]>,
    /// `parentUuid`, or `logicalParentUuid` if that is null.
    pub parent: Option<&'a [u8]>,
    pub sidechain: bool,
    /// `agentId`.
    pub agent: Option<&'a [u8]>,
    /// Whether it is not a turn: `isMeta`.
    pub meta: bool,
    /// Whether it reports a failed request, which is never sent to the model: `isApiErrorMessage`.
    pub api_error: bool,
    /// The attachment, if it is sent to the model.
    pub attachment: Option<Attachment<'a>>,
    /// `timestamp`.
    pub timestamp: Option<&'a [u8]>,
    /// Members for the header of a session, and those of lines that are not messages.
    pub others: [Option<&'a [u8]>; OTHERS.len()],
    /// The message, if any.
    pub message: Option<LineMessage<'a>>,
    /// The fault in its content, if any.
    pub fault: Option<&'static str>,
}

/// The `message` of a line.
#[derive(Clone, Debug)]
pub struct LineMessage<'a> {
    /// `id`.
    pub id: Option<&'a [u8]>,
    /// `role`, by default the line's type.
    pub role: Cow<'a, str>,
    /// `content`.
    pub content: Option<&'a [u8]>,
    /// `model`.
    pub model: Option<&'a [u8]>,
    /// `usage`.
    pub usage: Option<&'a [u8]>,
}

/// Members that are used in session headers, and references to other lines.
const OTHERS: [&str; 13] = [
    "sessionId", "cwd", "gitBranch", "version", "slug", "summary", "leafUuid", "customTitle", "agentName",
    "aiTitle", "compactMetadata", "subtype", "isCompactSummary",
];

impl<'a> LineMembers<'a> {
    /// Parses a line without its ending; the fault if it is not an object.
    pub fn of(body: &'a [u8]) -> Result<LineMembers<'a>, json::JsonError> {
        if let Err(error) = std::str::from_utf8(body) {
            return Err(json::JsonError {
                offset: error.valid_up_to(),
                what: "not UTF-8",
            });
        }
        let mut facts = LineMembers {
            kind: ClaudeLineKind::Other,
            name: Cow::Borrowed(""),
            uuid: None,
            parent: None,
            sidechain: false,
            agent: None,
            meta: false,
            api_error: false,
            attachment: None,
            timestamp: None,
            others: [None; OTHERS.len()],
            message: None,
            fault: None,
        };
        let (mut kind, mut parent, mut logical, mut message) = (None, None, None, None);
        let mut attached = None;
        // Whether it has content that logs of this format do not have.
        let mut is_unrecognized = false;
        let mut members = Members::new(body, Dialect::Strict)?;
        while let Some(member) = members.next()? {
            let value = member.value;
            match member.name().as_ref() {
                "type" => kind = json::text(value),
                "uuid" => facts.uuid = filled(value),
                "parentUuid" => parent = filled(value),
                "logicalParentUuid" => logical = filled(value),
                "isSidechain" => facts.sidechain = value == b"true",
                "agentId" => facts.agent = filled(value),
                "isMeta" => facts.meta = value == b"true",
                "isApiErrorMessage" => facts.api_error = value == b"true",
                "attachment" => attached = Some(value),
                "timestamp" => facts.timestamp = filled(value),
                "message" => message = Some(value),
                "role" => is_unrecognized = true,
                "payload" => is_unrecognized |= value.starts_with(b"{"),
                name => {
                    if let Some(nth) = OTHERS.iter().position(|other| *other == name) {
                        facts.others[nth] = Some(value);
                    }
                }
            }
        }
        facts.parent = parent.or(logical);
        match kind {
            Some(name) => facts.name = name,
            None => facts.fault = Some("object without type; kept unchanged"),
        }
        facts.kind = match facts.name.as_ref() {
            "user" | "assistant" => {
                facts.message = message.and_then(|raw| LineMessage::of(raw, facts.name.clone()));
                if facts
                    .message
                    .as_ref()
                    .is_some_and(|message| message.content.is_none())
                {
                    facts.fault = Some("the message has no content");
                }
                match (&facts.message, facts.name.as_ref()) {
                    (None, _) => {
                        facts.fault = Some("the message is not an object; kept unchanged");
                        ClaudeLineKind::Other
                    }
                    (Some(_), "user") if facts.other("isCompactSummary") == Some(b"true") => {
                        ClaudeLineKind::Summary
                    }
                    (Some(message), _) if message.role == "assistant" => ClaudeLineKind::Assistant,
                    (Some(_), _) => ClaudeLineKind::User,
                }
            }
            "attachment" if facts.uuid.is_some() => {
                facts.attachment = attached.and_then(Attachment::of);
                facts.message = facts.attachment.as_ref().map(LineMessage::attached);
                match facts.attachment {
                    Some(_) => ClaudeLineKind::Attachment,
                    None => ClaudeLineKind::Chain,
                }
            }
            "progress" if facts.uuid.is_some() => ClaudeLineKind::Progress,
            "system" if facts.other("subtype") == Some(b"\"compact_boundary\"") => ClaudeLineKind::Boundary,
            _ if facts.uuid.is_some() => ClaudeLineKind::Chain,
            _ => {
                is_unrecognized |= message.is_some_and(|raw| json::member(raw, "role").is_some());
                if is_unrecognized && facts.other("sessionId").is_none() {
                    facts.fault = Some("not a Claude Code record; kept unchanged");
                }
                ClaudeLineKind::Other
            }
        };
        Ok(facts)
    }

    pub fn other(&self, name: &str) -> Option<&'a [u8]> {
        self.others[OTHERS.iter().position(|other| *other == name)?]
    }
}

fn filled(value: &[u8]) -> Option<&[u8]> {
    (value.starts_with(b"\"") && value.len() > 2).then_some(value)
}

impl<'a> LineMessage<'a> {
    fn attached(attachment: &Attachment<'a>) -> LineMessage<'a> {
        LineMessage {
            id: None,
            role: Cow::Borrowed("user"),
            content: Some(attachment.content()),
            model: None,
            usage: None,
        }
    }

    fn of(raw: &'a [u8], name: Cow<'a, str>) -> Option<LineMessage<'a>> {
        let mut message = LineMessage {
            id: None,
            role: name,
            content: None,
            model: None,
            usage: None,
        };
        let mut members = Members::new(raw, Dialect::Strict).ok()?;
        while let Some(member) = members.next().ok()? {
            let value = member.value;
            match member.name().as_ref() {
                "id" => message.id = filled(value),
                "role" => {
                    if let Some(role) = json::text(value).filter(|role| !role.is_empty()) {
                        message.role = role;
                    }
                }
                "content" => message.content = Some(value),
                "model" => message.model = filled(value),
                "usage" => message.usage = Some(value).filter(|usage| usage.starts_with(b"{")),
                _ => {}
            }
        }
        Some(message)
    }

    /// The blocks of the content; `None` if it is a string or missing.
    pub fn blocks(&self) -> Option<Vec<&'a [u8]>> {
        json::elements(self.content?, Dialect::Strict)
    }
}

pub fn block_type(block: &[u8]) -> Cow<'_, str> {
    json::member_text(block, "type").unwrap_or_default()
}
