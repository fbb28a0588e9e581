//! The formats that other programs write and this version does not read. They are known so that they are refused by
//! their name and never read as something that they are not; one that comes to be read takes its signature along.

use super::shape::Shape;
use super::signature::{Signature, has_line};

pub(super) const CHATGPT_EXPORT: Signature = Signature {
    name: "chatgpt-export",
    what: "a ChatGPT export",
    document: |shape| shape.is_object("mapping"),
    ..Signature::BLANK
};

pub(super) const CLAUDE_AI_EXPORT: Signature = Signature {
    name: "claude-ai-export",
    what: "a Claude.ai export",
    document: |shape| shape.is_array("chat_messages"),
    ..Signature::BLANK
};

pub(super) const OPENCODE_RECORD: Signature = Signature {
    name: "opencode-record",
    what: "a record of opencode's storage folder",
    document: |shape| {
        let part = shape.all(&["sessionID", "messageID", "type"]);
        part || (shape.is_object("time") && shape.any(&["projectID", "directory"]))
    },
    message: |said| said.message.has("sessionID") && said.message.is_object("time"),
    ..Signature::BLANK
};

pub(super) const SHAREGPT: Signature = Signature {
    name: "sharegpt",
    what: "ShareGPT records",
    document: |shape| shape.is_array("conversations"),
    message: |said| {
        let valued = |part: &Shape<'_>| part.is_text("type") && part.is_text("value");
        !said.message.has("parts") && said.parts.iter().any(valued)
    },
    ..Signature::BLANK
};

pub(super) const AICHAT: Signature = Signature {
    name: "aichat",
    what: "an aichat session",
    text: |text| {
        let messages = has_line(text, "messages:") || has_line(text, "compressed_messages:");
        has_line(text, "model:") && messages
    },
    ..Signature::BLANK
};
