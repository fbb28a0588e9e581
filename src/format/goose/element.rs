//! Parses a message of a session.

use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::time;
use std::borrow::Cow;

/// A message of a session.
#[derive(Clone, Debug)]
pub struct GooseMessage<'a> {
    pub raw: &'a [u8],
    pub is_model: bool,
    pub blocks: Vec<&'a [u8]>,
}

impl<'a> GooseMessage<'a> {
    /// Parses an element; `None` if it is not a message.
    pub fn of(raw: &'a [u8]) -> Option<GooseMessage<'a>> {
        json::members(raw, Dialect::Strict)?;
        let is_model = match json::member_text(raw, "role")?.as_ref() {
            "user" => false,
            "assistant" => true,
            _ => return None,
        };
        let blocks = json::elements(json::member(raw, "content")?, Dialect::Strict)?;
        Some(GooseMessage {
            raw,
            is_model,
            blocks,
        })
    }

    /// Its time, in RFC 3339.
    pub fn time(&self) -> Option<String> {
        let seconds = std::str::from_utf8(json::member(self.raw, "created")?).ok()?;
        time::from_epoch(seconds.parse().ok()?)
    }

    /// Whether the model receives it.
    pub fn is_sent(&self) -> bool {
        self.flag("agentVisible")
    }

    /// Whether the user sees it.
    pub fn is_shown(&self) -> bool {
        self.flag("userVisible")
    }

    fn flag(&self, name: &str) -> bool {
        let metadata = json::member(self.raw, "metadata");
        metadata.and_then(|metadata| json::member(metadata, name)) != Some(b"false")
    }

    /// Whether it is only a notice for the user.
    pub fn is_notice(&self) -> bool {
        let notice = |block: &&[u8]| {
            matches!(
                kind(block).as_ref(),
                "systemNotification" | "conversationCompacted"
            )
        };
        !self.blocks.is_empty() && self.blocks.iter().all(notice)
    }

    /// Its text, if it has no other content.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        match self.blocks[..] {
            [block] if kind(block) == "text" => json::member_text(block, "text"),
            _ => None,
        }
    }
}

/// The type of a block.
pub fn kind(block: &[u8]) -> Cow<'_, str> {
    json::member_text(block, "type").unwrap_or_default()
}

/// Marks a message as sent to the model, or not; all else is unchanged.
pub fn sent(raw: &[u8], is_sent: bool) -> Vec<u8> {
    let flag: &[u8] = if is_sent { b"true" } else { b"false" };
    let metadata = json::member(raw, "metadata").filter(|metadata| metadata.starts_with(b"{"));
    let Some(metadata) = metadata else {
        let built = visibility(true, is_sent);
        return json::with_members(raw, &[("metadata", Some(&built))]).unwrap_or_else(|_| raw.to_vec());
    };
    if let Some(now) = json::member(metadata, "agentVisible") {
        return json::replaced(raw, now, flag);
    }
    match json::with_members(metadata, &[("agentVisible", Some(flag))]) {
        Ok(built) => json::replaced(raw, metadata, &built),
        Err(_) => raw.to_vec(),
    }
}

/// The visibility metadata of a message.
pub fn visibility(user: bool, agent: bool) -> Vec<u8> {
    let mut metadata = ObjectBuilder::default();
    metadata
        .raw("userVisible", user.to_string())
        .raw("agentVisible", agent.to_string());
    metadata.finish()
}
