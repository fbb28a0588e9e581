//! A message of a session.

use crate::format::kit::replaced;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::time;
use std::borrow::Cow;

/// A message as it stands in a session.
#[derive(Clone, Debug)]
pub struct Element<'a> {
    /// All of it.
    pub raw: &'a [u8],
    /// Whether the model speaks.
    pub is_model: bool,
    /// Its blocks.
    pub blocks: Vec<&'a [u8]>,
}

impl<'a> Element<'a> {
    /// Looks at an element; none when it is no message.
    pub fn of(raw: &'a [u8]) -> Option<Element<'a>> {
        json::members(raw, Dialect::Strict)?;
        let is_model = match json::member(raw, "role").and_then(json::text)?.as_ref() {
            "user" => false,
            "assistant" => true,
            _ => return None,
        };
        let blocks = json::elements(json::member(raw, "content")?, Dialect::Strict)?;
        Some(Element {
            raw,
            is_model,
            blocks,
        })
    }

    /// When it was made: RFC 3339.
    pub fn time(&self) -> Option<String> {
        let seconds = std::str::from_utf8(json::member(self.raw, "created")?).ok()?;
        time::from_epoch(seconds.parse().ok()?)
    }

    /// Whether the model is sent it.
    pub fn is_sent(&self) -> bool {
        self.flag("agentVisible")
    }

    /// Whether the user is shown it.
    pub fn is_shown(&self) -> bool {
        self.flag("userVisible")
    }

    fn flag(&self, name: &str) -> bool {
        let metadata = json::member(self.raw, "metadata");
        metadata.and_then(|metadata| json::member(metadata, name)) != Some(b"false")
    }

    /// Whether it only tells people something.
    pub fn is_notice(&self) -> bool {
        let notice = |block: &&[u8]| {
            matches!(
                kind(block).as_ref(),
                "systemNotification" | "conversationCompacted"
            )
        };
        !self.blocks.is_empty() && self.blocks.iter().all(notice)
    }

    /// The text that is all that it says.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        match self.blocks[..] {
            [block] if kind(block) == "text" => json::member(block, "text").and_then(json::text),
            _ => None,
        }
    }
}

/// What a block is.
pub fn kind(block: &[u8]) -> Cow<'_, str> {
    json::member(block, "type")
        .and_then(json::text)
        .unwrap_or_default()
}

/// The message marked as sent to the model, or not; everything else of it stays.
pub fn sent(raw: &[u8], is_sent: bool) -> Vec<u8> {
    let flag: &[u8] = if is_sent { b"true" } else { b"false" };
    let metadata = json::member(raw, "metadata").filter(|metadata| metadata.starts_with(b"{"));
    let Some(metadata) = metadata else {
        let made = visibility(true, is_sent);
        return json::with_members(raw, &[("metadata", Some(&made))]).unwrap_or_else(|_| raw.to_vec());
    };
    if let Some(now) = json::member(metadata, "agentVisible") {
        return replaced(raw, now, flag);
    }
    match json::with_members(metadata, &[("agentVisible", Some(flag))]) {
        Ok(made) => replaced(raw, metadata, &made),
        Err(_) => raw.to_vec(),
    }
}

/// What a message says of who sees it.
pub fn visibility(user: bool, agent: bool) -> Vec<u8> {
    let mut metadata = ObjectBuilder::default();
    metadata
        .raw("userVisible", if user { "true" } else { "false" })
        .raw("agentVisible", if agent { "true" } else { "false" });
    metadata.finish()
}
