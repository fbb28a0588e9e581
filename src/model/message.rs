//! A message whose members are borrowed from its line and parsed on demand.

use super::json;
use crate::model::named_enum::named_enum;
use std::borrow::Cow;

/// The sender's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Instructions.
    System,
    /// Instructions, under the newer role name.
    Developer,
    /// The user, or context for the model.
    User,
    /// The model.
    Assistant,
    /// A tool result.
    Tool,
    /// Any other role; its name is in the line.
    Other,
}

impl Role {
    /// The role with this name.
    pub fn from_name(name: &str) -> Role {
        match name {
            "system" => Role::System,
            "developer" => Role::Developer,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::Other,
        }
    }

    /// The role's name; empty for [`Role::Other`], whose name is in the line.
    pub const fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other => "",
        }
    }

    /// The default category of messages with this role.
    pub fn category(self) -> Category {
        match self {
            Role::System | Role::Developer => Category::System,
            Role::Tool => Category::SystemOutput,
            Role::User | Role::Assistant | Role::Other => Category::Dialog,
        }
    }
}

named_enum! {
    /// Drop priority of a message, from the last to be dropped to the first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Category {
        /// Instructions; never dropped automatically.
        System = "system",
        /// Background: documents, notes, context messages.
        Context = "context",
        /// Messages of the dialog.
        Dialog = "dialog",
        /// Tool output.
        SystemOutput = "system_output",
    }
}

/// One part of a message's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessagePart<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// Any other part: its `type` and its bytes.
    Other(Cow<'a, str>, &'a [u8]),
}

/// A model's request to run a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// Its id; empty if absent.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
    /// The arguments, decoded once: the string that the model wrote, not necessarily JSON.
    pub arguments: Cow<'a, str>,
}

impl<'a> ToolCall<'a> {
    /// Parses one element of `tool_calls`.
    pub fn read(call: &'a [u8]) -> ToolCall<'a> {
        let text = |raw: Option<&'a [u8]>| raw.and_then(json::text).unwrap_or_default();
        // Calls of `custom` tools have free text in `input`.
        let function = json::member(call, "function")
            .or_else(|| json::member(call, "custom"))
            .unwrap_or(b"{}");
        let arguments = json::member(function, "arguments").or_else(|| json::member(function, "input"));
        ToolCall {
            id: text(json::member(call, "id")),
            name: text(json::member(function, "name")),
            arguments: match arguments {
                Some(raw) => json::text(raw).unwrap_or_else(|| String::from_utf8_lossy(raw)),
                None => Cow::Borrowed(""),
            },
        }
    }
}

/// The members of a message as raw JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message<'a> {
    /// `role`, a string.
    pub role: &'a [u8],
    /// `content`.
    pub content: Option<&'a [u8]>,
    /// `tool_calls`.
    pub tool_calls: Option<&'a [u8]>,
    /// `tool_call_id`.
    pub tool_call_id: Option<&'a [u8]>,
    /// `name`.
    pub name: Option<&'a [u8]>,
    /// `reasoning`.
    pub reasoning: Option<&'a [u8]>,
    /// `refusal`.
    pub refusal: Option<&'a [u8]>,
    /// `id`.
    pub id: Option<&'a [u8]>,
    /// `timestamp`.
    pub timestamp: Option<&'a [u8]>,
    /// `category`.
    pub category: Option<&'a [u8]>,
    /// `tokens`.
    pub tokens: Option<&'a [u8]>,
    /// `metadata`.
    pub metadata: Option<&'a [u8]>,
}

impl<'a> Message<'a> {
    /// The role.
    pub fn role(&self) -> Role {
        match self.role {
            br#""user""# => Role::User,
            br#""assistant""# => Role::Assistant,
            br#""tool""# => Role::Tool,
            other => Role::from_name(&json::text(other).unwrap_or_default()),
        }
    }

    /// The role's name as written.
    pub fn role_name(&self) -> Cow<'a, str> {
        json::text(self.role).unwrap_or_default()
    }

    /// The category: that of the member, else that of the role.
    pub fn category(&self) -> Category {
        self.category
            .and_then(json::text)
            .and_then(|name| Category::from_name(&name))
            .unwrap_or_else(|| self.role().category())
    }

    /// The id in the line. A message without one has a derived id; see [`super::key::Derive`].
    pub fn id(&self) -> Option<Cow<'a, str>> {
        self.id.and_then(json::text).filter(|id| !id.is_empty())
    }

    /// The timestamp as written.
    pub fn timestamp(&self) -> Option<Cow<'a, str>> {
        self.timestamp.and_then(json::text)
    }

    /// Id of the call that a tool result answers.
    pub fn tool_call_id(&self) -> Option<Cow<'a, str>> {
        self.tool_call_id.and_then(json::text)
    }

    /// Whether the message has tool calls.
    pub fn calls_tools(&self) -> bool {
        self.tool_calls
            .is_some_and(|raw| raw.first() == Some(&b'[') && json::skip_space(raw, 1) + 1 < raw.len())
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> Vec<ToolCall<'a>> {
        let calls = json::items(self.tool_calls);
        calls.into_iter().map(ToolCall::read).collect()
    }

    /// The parts of the content, in order; a string is one text part, null and absent have no parts.
    pub fn parts(&self) -> Vec<MessagePart<'a>> {
        let Some(content) = self.content else {
            return Vec::new();
        };
        if let Some(text) = json::text(content) {
            return vec![MessagePart::Text(text)];
        }
        match json::elements(content, json::Dialect::Strict) {
            Some(parts) => parts.into_iter().map(part).collect(),
            None if content == b"null" => Vec::new(),
            None => vec![MessagePart::Other(Cow::Borrowed("unknown"), content)],
        }
    }

    /// The text of the member `refusal`, which an answer of the OpenAI Chat API has next to its content.
    pub fn refusal(&self) -> Option<Cow<'a, str>> {
        self.refusal.and_then(json::text).filter(|text| !text.is_empty())
    }

    /// The text of the content: its text parts, joined by newlines.
    pub fn text(&self) -> Cow<'a, str> {
        if let Some(text) = self.content.and_then(json::text) {
            return text;
        }
        Cow::Owned(self.texts().join("\n"))
    }

    /// The texts of the content, part by part.
    pub fn texts(&self) -> Vec<Cow<'a, str>> {
        let text = |part| match part {
            MessagePart::Text(text) => Some(text),
            MessagePart::Other(..) => None,
        };
        self.parts().into_iter().filter_map(text).collect()
    }
}

fn part(raw: &[u8]) -> MessagePart<'_> {
    if let Some(text) = json::text(raw) {
        return MessagePart::Text(text);
    }
    let kind = json::member_text(raw, "type").unwrap_or(Cow::Borrowed("unknown"));
    match json::member_text(raw, "text") {
        Some(text) if kind == "text" => MessagePart::Text(text),
        _ => MessagePart::Other(kind, raw),
    }
}
