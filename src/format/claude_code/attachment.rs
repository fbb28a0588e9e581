//! Attachments that Claude Code sends to the model: prompts typed while the agent works, and memory files.

use crate::model::json::{self, quoted};
use std::borrow::Cow;

/// An attachment that is sent to the model.
#[derive(Clone, Debug)]
pub enum Attachment<'a> {
    /// A queued prompt: its text or blocks, and whether the user typed it.
    Prompt { content: &'a [u8], typed: bool },
    /// A memory file: its text and its path.
    Memory { content: &'a [u8], path: Cow<'a, str> },
}

impl<'a> Attachment<'a> {
    /// The attachment of a line; `None` if it is not sent as a message.
    pub fn of(raw: &'a [u8]) -> Option<Attachment<'a>> {
        let text = |name: &str| json::member_text(raw, name);
        match text("type")?.as_ref() {
            "queued_command" => Some(Attachment::Prompt {
                content: json::member(raw, "prompt")
                    .filter(|raw| matches!(raw.first(), Some(b'"' | b'[')))?,
                // The program also queues its own notices, e.g. of finished tasks.
                typed: text("commandMode").is_none_or(|mode| mode == "prompt")
                    && json::member(raw, "isMeta") != Some(b"true"),
            }),
            "nested_memory" => {
                let file = json::member(raw, "content")?;
                Some(Attachment::Memory {
                    content: json::member(file, "content").filter(|raw| raw.starts_with(b"\""))?,
                    path: text("path").or_else(|| json::member_text(file, "path"))?,
                })
            }
            _ => None,
        }
    }

    /// The raw content.
    pub fn content(&self) -> &'a [u8] {
        let (Attachment::Prompt { content, .. } | Attachment::Memory { content, .. }) = self;
        content
    }

    /// Whether the user typed it.
    pub fn is_typed(&self) -> bool {
        matches!(self, Attachment::Prompt { typed: true, .. })
    }

    /// The text that precedes the content of a memory file. Source: the requests of Claude Code.
    pub fn heading(&self) -> Option<String> {
        match self {
            Attachment::Memory { path, .. } => Some(format!("Contents of {path}:\n\n")),
            Attachment::Prompt { .. } => None,
        }
    }
}

/// A line with its attachment's content replaced.
pub fn with_content(line: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let raw = json::member(line, "attachment")?;
    let changed = match Attachment::of(raw)? {
        Attachment::Prompt { .. } => json::with_members(raw, &[("prompt", Some(content))]),
        memory @ Attachment::Memory { .. } => {
            let text = json::text(content)?;
            let text = text.strip_prefix(&*memory.heading()?).unwrap_or(&text);
            let quoted = quoted(text);
            let file =
                json::with_members(json::member(raw, "content")?, &[("content", Some(&quoted))]).ok()?;
            json::with_members(raw, &[("content", Some(&file))])
        }
    };
    json::with_members(line, &[("attachment", Some(&changed.ok()?))]).ok()
}
