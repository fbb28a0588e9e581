//! What a foreign format looks like. A format says it in its own file; `order.rs` says which is asked first.

use super::shape::Shape;
use crate::format::content;
use std::borrow::Cow;

/// The evidence of one format. What is asked sees whole lines, and of documents as much as the head of an input shows.
pub struct Signature {
    /// The format's name; it is read when there is a format of that name, and else refused by what it is.
    pub name: &'static str,
    /// What it is, for people: "a Codex log".
    pub what: &'static str,
    /// Whether a first line settles it, unless `content` says of the lines that it cannot be.
    pub header: fn(&Shape<'_>) -> bool,
    /// What a line says about the content of a file whose envelope fits: a message that the format understands, one
    /// that it does not, or nothing. A file that has messages and none that is understood is not of this format.
    pub content: fn(&Shape<'_>) -> Content,
    /// Whether a document, or a record of a list, is of this format by its own members.
    pub document: fn(&Shape<'_>) -> bool,
    /// Whether a line of a log, or an element of a list, that is no message with a role is of it.
    pub line: fn(&Shape<'_>) -> bool,
    /// Whether a message with a role is of it.
    pub message: fn(&Said<'_>) -> bool,
    /// Whether the elements of a list say it together.
    pub list: fn(&[Shape<'_>]) -> bool,
    /// Whether text that is no JSON is of it.
    pub text: fn(&[u8]) -> bool,
    /// Whether the messages around one of it may be plain ones, as those of every other format.
    pub takes_plain: bool,
    /// Whether one line of it settles the file, although the other lines look like another format's.
    pub decisive: bool,
}

/// What one line of a file says about the format of its envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Not a message.
    None,
    /// A message that the format understands.
    Known,
    /// A message, or a line, that the format does not have.
    Unknown,
}

impl Content {
    /// Of a message.
    pub fn known(known: bool) -> Content {
        if known { Content::Known } else { Content::Unknown }
    }
}

impl Signature {
    /// What looks like nothing.
    pub const BLANK: Signature = Signature {
        name: "",
        what: "",
        header: |_| false,
        content: |_| Content::None,
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
pub struct Said<'a> {
    /// The message's members.
    pub message: &'a Shape<'a>,
    /// The parts that can be seen.
    pub parts: Vec<Shape<'a>>,
    kinds: Vec<Cow<'a, str>>,
}

impl<'a> Said<'a> {
    /// Looks at a message.
    pub fn of(message: &'a Shape<'a>) -> Said<'a> {
        let parts = message.list("content");
        let kinds = parts.iter().filter_map(|part| part.text("type")).collect();
        Said {
            message,
            parts,
            kinds,
        }
    }

    /// Whether its content has parts that say their type.
    pub fn is_typed(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether a part has one of these types.
    pub fn has_part(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_ref()))
    }

    /// Whether it has what only OpenAI's chats and this program's own messages have.
    pub fn is_own(&self) -> bool {
        is_own(self.message)
    }
}

/// Whether a message has what only OpenAI's chats and this program's own messages have.
pub fn is_own(message: &Shape<'_>) -> bool {
    let own = [
        "tool_calls",
        "tool_call_id",
        "function_call",
        "category",
        "metadata",
    ];
    message.any(&own) || message.says("role", "tool") || message.says("role", "function")
}

/// Roles of a conversation, in the words of all formats.
const ROLES: [&str; 12] = [
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
    "function",
    "model",
    "human",
    "ai",
    "bot",
    "context",
    "toolResult",
];

/// Whether a message has a role of a conversation.
pub fn has_role(message: &Shape<'_>) -> bool {
    message
        .text("role")
        .is_some_and(|role| ROLES.contains(&role.as_ref()))
}

/// Whether a message has a content that somebody can have written: text, or a list of parts of which one is known.
pub fn has_content(message: &Shape<'_>, member: &str) -> bool {
    let Some(content) = message.get(member) else {
        return false;
    };
    matches!(content.first(), Some(b'"' | b'[')) && content::unknown_kind(content).is_none()
}

/// Whether one of these begins a line of a text.
pub fn has_line(text: &[u8], mark: &str) -> bool {
    memchr::memmem::find_iter(text, mark).any(|at| at == 0 || text[at - 1] == b'\n')
}
