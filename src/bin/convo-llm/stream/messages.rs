//! Assembles streamed events of the Anthropic API: content blocks that begin, grow and end.

use super::step::{StreamStep, StreamText};
use convo::model::json::{self, Dialect, Members, array};

/// The reply assembled so far.
#[derive(Debug, Default)]
pub struct MessagesAssembler {
    /// The initial message object.
    message: Option<Vec<u8>>,
    blocks: Vec<ContentBlock>,
    stop_reason: Option<Vec<u8>>,
    usage: Option<Vec<u8>>,
}

/// An unfinished content block.
#[derive(Debug, Default)]
struct ContentBlock {
    index: Vec<u8>,
    /// The initial block object.
    raw: Vec<u8>,
    text: StreamText,
    thinking: StreamText,
    signature: StreamText,
    input: StreamText,
    citations: Vec<Vec<u8>>,
}

impl MessagesAssembler {
    /// Adds an event.
    pub fn push(&mut self, data: &[u8]) -> StreamStep {
        let member = |name: &str| json::member(data, name);
        match member("type").and_then(json::text).unwrap_or_default().as_ref() {
            "message_start" => self.message = member("message").map(<[u8]>::to_vec),
            "content_block_start" => {
                let raw = member("content_block").unwrap_or(b"{}");
                self.blocks.push(ContentBlock {
                    index: member("index").unwrap_or_default().to_vec(),
                    raw: raw.to_vec(),
                    ..ContentBlock::default()
                });
                return StreamStep::of(json::member(raw, "text"));
            }
            "content_block_delta" => {
                let index = member("index").unwrap_or_default();
                let (Some(block), Some(delta)) = (
                    self.blocks.iter_mut().rfind(|block| block.index == index),
                    member("delta"),
                ) else {
                    return StreamStep::default();
                };
                block.grow(delta);
                return StreamStep::of(json::member(delta, "text"));
            }
            "message_delta" => {
                let delta = member("delta").unwrap_or(b"{}");
                if let Some(reason) = json::member(delta, "stop_reason").filter(|raw| *raw != b"null") {
                    self.stop_reason = Some(reason.to_vec());
                }
                if let Some(usage) = member("usage").filter(|raw| raw.starts_with(b"{")) {
                    self.usage = Some(usage.to_vec());
                }
            }
            "message_stop" => return StreamStep::done(),
            _ => {}
        }
        StreamStep::default()
    }

    /// Returns the assembled reply. Final usage overrides initial usage.
    pub fn body(self) -> Vec<u8> {
        let message = self.message.unwrap_or_else(|| b"{}".to_vec());
        let began = json::member(&message, "usage").filter(|raw| raw.starts_with(b"{"));
        let usage = match (began, &self.usage) {
            (Some(began), Some(ended)) => Some(over(began, ended)),
            (began, ended) => ended.clone().or(began.map(<[u8]>::to_vec)),
        };
        let content = array(self.blocks.iter().map(ContentBlock::raw));
        let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("content", Some(&content))];
        changes.extend(self.stop_reason.as_deref().map(|raw| ("stop_reason", Some(raw))));
        changes.extend(usage.as_deref().map(|raw| ("usage", Some(raw))));
        json::with_members(&message, &changes).unwrap_or_default()
    }
}

/// Merges the non-null members of `other` into an object.
fn over(object: &[u8], other: &[u8]) -> Vec<u8> {
    let mut out = object.to_vec();
    if let Ok(mut members) = Members::new(other, Dialect::Strict) {
        while let Ok(Some(member)) = members.next() {
            if member.value != b"null" {
                out = json::with_members(&out, &[(&member.name(), Some(member.value))]).unwrap_or(out);
            }
        }
    }
    out
}

impl ContentBlock {
    fn grow(&mut self, delta: &[u8]) {
        self.text.push(json::member(delta, "text"));
        self.thinking.push(json::member(delta, "thinking"));
        self.signature.push(json::member(delta, "signature"));
        self.input.push(json::member(delta, "partial_json"));
        self.citations
            .extend(json::member(delta, "citation").map(<[u8]>::to_vec));
    }

    /// The complete block: the initial object with all additions.
    fn raw(&self) -> Vec<u8> {
        let mut out = self.raw.clone();
        for (name, grown) in [
            ("text", &self.text),
            ("thinking", &self.thinking),
            ("signature", &self.signature),
        ] {
            if !grown.is_empty() {
                let mut whole = StreamText::default();
                whole.push(json::member(&out, name));
                whole.0.extend_from_slice(&grown.0);
                out = json::with_members(&out, &[(name, Some(&whole.raw()))]).unwrap_or(out);
            }
        }
        let input = self.input.decoded();
        let is_object = json::is_value(input.as_bytes());
        if !input.is_empty() {
            // Truncated arguments are not JSON; the stop reason reports the truncation.
            let raw = if is_object { input.as_bytes() } else { b"{}" };
            out = json::with_members(&out, &[("input", Some(raw))]).unwrap_or(out);
        }
        if !self.citations.is_empty() {
            let citations = array(self.citations.iter());
            out = json::with_members(&out, &[("citations", Some(&citations))]).unwrap_or(out);
        }
        out
    }
}
