//! Signatures of other programs' formats. Each format defines its own; `order.rs` defines the order of tests.

use super::shape::ObjectShape;
use crate::format::content;
use std::borrow::Cow;

/// The signature of a format. Tests receive complete lines, and documents as far as they are within the head of an
/// input.
pub struct Signature {
    /// Name of the format. If no supported format has this name, the input is rejected with the description.
    pub name: &'static str,
    /// A description: "a Codex log".
    pub what: &'static str,
    /// Whether a first line is decisive, unless `content` rules the format out.
    pub header: fn(&ObjectShape<'_>) -> bool,
    /// Whether a line of a file with this envelope is a message that the format supports, an unsupported message, or no
    /// message. A file whose messages are all unsupported is not of this format.
    pub content: fn(&ObjectShape<'_>) -> LineKind,
    /// Whether a document or list element has this format, by its own members.
    pub document: fn(&ObjectShape<'_>) -> bool,
    /// Whether a line or list element that is not a message with a role has this format.
    pub line: fn(&ObjectShape<'_>) -> bool,
    /// Whether a message with a role has this format.
    pub message: fn(&RoleMessage<'_>) -> bool,
    /// Whether the elements of a list have this format together.
    pub list: fn(&[ObjectShape<'_>]) -> bool,
    /// Whether text that is not JSON has this format.
    pub text: fn(&[u8]) -> bool,
    /// Whether the other messages of the file may be plain ones that fit any format.
    pub takes_plain: bool,
    /// Whether one line of this format decides, even if the other lines look like another format.
    pub decisive: bool,
}

/// The content of a line, given the envelope of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Not a message.
    None,
    /// A message that the format supports.
    Known,
    /// A message or line that the format does not support.
    Unknown,
}

impl LineKind {
    /// The content of a message, by whether it is supported.
    pub fn known(known: bool) -> LineKind {
        if known { LineKind::Known } else { LineKind::Unknown }
    }
}

impl Signature {
    /// A signature that matches nothing.
    pub const BLANK: Signature = Signature {
        name: "",
        what: "",
        header: |_| false,
        content: |_| LineKind::None,
        document: |_| false,
        line: |_| false,
        message: |_| false,
        list: |_| false,
        text: |_| false,
        takes_plain: false,
        decisive: false,
    };
}

/// A message with a role, and the parts of its content.
pub struct RoleMessage<'a> {
    /// The message's members.
    pub message: &'a ObjectShape<'a>,
    /// The visible parts.
    pub parts: Vec<ObjectShape<'a>>,
    kinds: Vec<Cow<'a, str>>,
}

impl<'a> RoleMessage<'a> {
    /// From the members of a message.
    pub fn of(message: &'a ObjectShape<'a>) -> RoleMessage<'a> {
        let parts = message.list("content");
        let kinds = parts.iter().filter_map(|part| part.text("type")).collect();
        RoleMessage {
            message,
            parts,
            kinds,
        }
    }

    /// Whether its content has parts with a type.
    pub fn is_typed(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether a part has one of these types.
    pub fn has_part(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_ref()))
    }

    /// Whether it has members that only OpenAI chats and native messages have.
    pub fn is_own(&self) -> bool {
        is_own(self.message)
    }
}

/// Whether a message has members that only OpenAI chats and native messages have.
pub fn is_own(message: &ObjectShape<'_>) -> bool {
    let own = [
        "tool_calls", "tool_call_id", "function_call", "category", "metadata",
    ];
    message.any(&own) || message.text_equals("role", "tool") || message.text_equals("role", "function")
}

/// Message roles of all formats.
const ROLES: [&str; 12] = [
    "system", "developer", "user", "assistant", "tool", "function", "model", "human", "ai", "bot", "context",
    "toolResult",
];

/// Whether a message has a known role.
pub fn has_role(message: &ObjectShape<'_>) -> bool {
    message
        .text("role")
        .is_some_and(|role| ROLES.contains(&role.as_ref()))
}

/// Whether a message has valid content: text, or a list with at least one known part.
pub fn has_content(message: &ObjectShape<'_>, member: &str) -> bool {
    let Some(content) = message.get(member) else {
        return false;
    };
    matches!(content.first(), Some(b'"' | b'[')) && content::unknown_kind(content).is_none()
}

/// Whether a line of a text starts with this mark.
pub fn has_line(text: &[u8], mark: &str) -> bool {
    memchr::memmem::find_iter(text, mark).any(|at| at == 0 || text[at - 1] == b'\n')
}
