//! Parses a message of a document: its info and its parts.

use crate::model::json::{self, Dialect};
use crate::model::time;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    User,
    /// The model.
    Assistant,
}

/// A message of a document.
#[derive(Clone, Debug)]
pub struct OpencodeMessage<'a> {
    /// Its `info` member.
    pub info: &'a [u8],
    pub parts: Vec<&'a [u8]>,
    pub speaker: Sender,
}

impl<'a> OpencodeMessage<'a> {
    /// Parses an element; `None` if it is not a message.
    pub fn of(raw: &'a [u8]) -> Option<OpencodeMessage<'a>> {
        json::members(raw, Dialect::Strict)?;
        let info = json::member(raw, "info")?;
        let speaker = match json::member_text(info, "role")?.as_ref() {
            "user" => Sender::User,
            "assistant" => Sender::Assistant,
            _ => return None,
        };
        let parts = json::elements(json::member(raw, "parts")?, Dialect::Strict)?;
        Some(OpencodeMessage { info, parts, speaker })
    }

    /// A string member of `info`.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        json::member_text(self.info, name).filter(|text| !text.is_empty())
    }

    /// Its creation time.
    pub fn created(&self) -> Option<i64> {
        milliseconds(json::member(self.info, "time")?, "created")
    }

    /// Whether it is a compaction request.
    pub fn asks(&self) -> bool {
        self.speaker == Sender::User && self.parts.iter().any(|part| kind(part) == "compaction")
    }

    /// For an answer to a compaction request: whether it is finished. `None` for other messages.
    pub fn answers(&self) -> Option<bool> {
        let is = self.speaker == Sender::Assistant && json::member(self.info, "summary") == Some(b"true");
        is.then(|| self.has("finish") && !self.has("error"))
    }

    fn has(&self, name: &str) -> bool {
        json::member(self.info, name).is_some_and(|raw| raw != b"null")
    }

    /// Whether a model receives it: failed messages are excluded, unless aborted after some output.
    pub fn is_sent(&self) -> bool {
        let Some(error) = json::member(self.info, "error").filter(|raw| *raw != b"null") else {
            return true;
        };
        let aborted = json::member(error, "name") == Some(b"\"MessageAbortedError\"");
        let silent = |part: &&[u8]| matches!(kind(part).as_ref(), "step-start" | "reasoning");
        aborted && !self.parts.iter().all(silent)
    }

    pub fn full_text(&self) -> String {
        let texts = self.parts.iter().filter(|part| kind(part) == "text");
        let texts = texts.filter_map(|part| json::member_text(part, "text"));
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// The type of a part.
pub fn kind(part: &[u8]) -> Cow<'_, str> {
    json::member_text(part, "type").unwrap_or_default()
}

/// A time from an object of times.
pub fn milliseconds(times: &[u8], name: &str) -> Option<i64> {
    json::number(json::member(times, name)?)
}

/// A time in RFC 3339.
pub fn rfc3339(milliseconds: i64) -> Option<String> {
    time::from_epoch(milliseconds as f64 / 1000.0)
}
