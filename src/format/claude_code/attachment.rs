//! Attachments that Claude Code sends to the model: prompts typed while the agent works, and memory files.

use crate::model::json::{self, quoted};

/// An attachment that is sent to the model.
#[derive(Clone, Debug)]
pub struct Attachment<'a> {
    /// The text of a memory file, or the text or blocks of a queued prompt.
    pub content: &'a [u8],
    /// Whether it is a prompt that the user typed.
    pub is_typed: bool,
    /// The text that precedes the content of a memory file. Source: the requests of Claude Code.
    pub heading: Option<String>,
}

impl<'a> Attachment<'a> {
    /// The attachment of a line; `None` if it is not sent as a message.
    pub fn of(raw: &'a [u8]) -> Option<Attachment<'a>> {
        let text = |name: &str| json::member_text(raw, name);
        match text("type")?.as_ref() {
            "queued_command" => Some(Attachment {
                content: json::member(raw, "prompt")
                    .filter(|raw| matches!(raw.first(), Some(b'"' | b'[')))?,
                // The program also queues its own notices, e.g. of finished tasks.
                is_typed: text("commandMode").is_none_or(|mode| mode == "prompt")
                    && json::member(raw, "isMeta") != Some(b"true"),
                heading: None,
            }),
            "nested_memory" => {
                let file = json::member(raw, "content")?;
                let path = text("path").or_else(|| json::member_text(file, "path"))?;
                Some(Attachment {
                    content: json::string_member(file, "content")?,
                    is_typed: false,
                    heading: Some(format!("Contents of {path}:\n\n")),
                })
            }
            _ => None,
        }
    }
}

/// A line with its attachment's content replaced.
pub fn with_content(line: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let raw = json::member(line, "attachment")?;
    let changed = match Attachment::of(raw)?.heading {
        None => json::with_members(raw, &[("prompt", Some(content))]),
        Some(heading) => {
            let text = json::text(content)?;
            let text = quoted(text.strip_prefix(&heading).unwrap_or(&text));
            let file = json::with_members(json::member(raw, "content")?, &[("content", Some(&text))]);
            json::with_members(raw, &[("content", Some(&file.ok()?))])
        }
    };
    json::with_members(line, &[("attachment", Some(&changed.ok()?))]).ok()
}
