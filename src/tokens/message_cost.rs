//! Token costs of complete messages: visits all data of a message that is sent.

use super::image::{self, ImageRule};
use super::media::{self, FileCost};
use crate::model::json::{self, Dialect, Members};
use crate::model::message::{Message, MessagePart, ToolCall};

/// Framing tokens of a message. Source: OpenAI Cookbook, "How to count tokens with tiktoken": 3 per message plus the
/// role, for `<|start|>role<|message|>` and `<|end|>`.
pub const FRAME: u64 = 3;

/// Framing tokens of a `name`. Source: as above.
const NAME: u64 = 1;

/// Framing tokens of a call, which is sent as a message to the tool, with a channel and a recipient. Source: OpenAI,
/// "Harmony response format"; the framing of other providers is not public.
const CALL: u64 = 3;

/// Tokens of a message, with texts counted by `count`.
pub fn sent(message: &Message<'_>, rule: ImageRule, count: &dyn Fn(&str) -> u64) -> u64 {
    let mut tokens = FRAME;
    walk(message, rule, &mut |piece| {
        tokens += match piece {
            CountedPiece::Text(text) => count(text),
            CountedPiece::Tokens(tokens) => tokens,
            CountedPiece::Frame(tokens) => tokens,
        }
    });
    tokens
}

/// Tokens of a call, with texts counted by `count`.
pub fn call(call: &ToolCall<'_>, count: &dyn Fn(&str) -> u64) -> u64 {
    CALL + count(&call.id) + count(&call.name) + count(&call.arguments)
}

/// Size of the data of a message that is sent.
#[derive(Default)]
pub struct SentSize {
    /// Bytes of its texts.
    pub bytes: u64,
    /// Characters of them.
    pub characters: u64,
    /// Tokens of its media.
    pub tokens: u64,
}

/// Computes the size of a message.
pub fn spread(message: &Message<'_>, rule: ImageRule) -> SentSize {
    let mut spread = SentSize::default();
    walk(message, rule, &mut |piece| match piece {
        CountedPiece::Text(text) => {
            spread.bytes += text.len() as u64;
            spread.characters += characters(text);
        }
        CountedPiece::Tokens(tokens) => spread.tokens += tokens,
        CountedPiece::Frame(_) => {}
    });
    spread
}

/// Number of characters of a text.
pub fn characters(text: &str) -> u64 {
    // Count the bytes that are not continuation bytes.
    text.bytes().filter(|byte| byte & 0xc0 != 0x80).count() as u64
}

enum CountedPiece<'p> {
    Text(&'p str),
    /// Tokens of media.
    Tokens(u64),
    /// Framing tokens before the next text.
    Frame(u64),
}

type PieceVisitor<'e> = &'e mut dyn FnMut(CountedPiece<'_>);

fn walk(message: &Message<'_>, rule: ImageRule, each: PieceVisitor<'_>) {
    each(CountedPiece::Text(&message.role_name()));
    if let Some(name) = message.name.and_then(json::text) {
        each(CountedPiece::Frame(NAME));
        each(CountedPiece::Text(&name));
    }
    if let Some(id) = message.tool_call_id() {
        each(CountedPiece::Text(&id));
    }
    content(message, rule, each);
    for call in message.tool_calls() {
        each(CountedPiece::Frame(CALL));
        each(CountedPiece::Text(&call.id));
        each(CountedPiece::Text(&call.name));
        each(CountedPiece::Text(&call.arguments));
    }
    for thought in json::items(message.reasoning) {
        reasoning(thought, each);
    }
}

fn content(message: &Message<'_>, rule: ImageRule, each: PieceVisitor<'_>) {
    for part in message.parts() {
        match part {
            MessagePart::Text(text) => each(CountedPiece::Text(&text)),
            MessagePart::Other(kind, raw) => other(&kind, raw, rule, each),
        }
    }
}

/// Reasoning: its text. A signature counts as nothing; for encrypted reasoning, the length of the text is estimated.
fn reasoning(raw: &[u8], each: PieceVisitor<'_>) {
    let sealed = ["encrypted_content", "data"]
        .iter()
        .find_map(|name| json::member(raw, name));
    if let Some(sealed) = sealed.and_then(json::text) {
        // Source: Codex, `estimate_reasoning_length`: Base64 of the text and about 650 bytes of overhead, four bytes
        // per token.
        let bytes = (sealed.len() as u64 * 3 / 4).saturating_sub(650);
        return each(CountedPiece::Tokens(bytes / 4));
    }
    for name in ["text", "thinking", "summary"] {
        let Some(value) = json::member(raw, name) else {
            continue;
        };
        if let Some(text) = json::text(value) {
            each(CountedPiece::Text(&text));
        }
        for part in json::items(value) {
            let text = json::member_text(part, "text");
            each(CountedPiece::Text(&text.unwrap_or_default()));
        }
    }
}

/// A part other than plain text, by its type. The names are those of OpenAI, Anthropic, Gemini and MCP.
fn other(kind: &str, raw: &[u8], rule: ImageRule, each: PieceVisitor<'_>) {
    match kind {
        "image_url" | "input_image" | "image" => each(CountedPiece::Tokens(image::tokens(raw, rule))),
        "input_audio" | "audio" => each(CountedPiece::Tokens(media::audio(raw, rule))),
        "file" | "input_file" | "document" | "video" | "input_video" => match media::file(kind, raw, rule) {
            FileCost::Text(text) => each(CountedPiece::Text(&text)),
            FileCost::Tokens(tokens) => each(CountedPiece::Tokens(tokens)),
        },
        "thinking" | "redacted_thinking" | "reasoning" => reasoning(raw, each),
        "input_text" | "output_text" | "refusal" => {
            let text = json::member(raw, "text")
                .or_else(|| json::member(raw, "refusal"))
                .and_then(json::text);
            each(CountedPiece::Text(&text.unwrap_or_default()));
        }
        "tool_result" => result(raw, rule, each),
        _ => unknown(raw, each),
    }
}

/// A result among the parts of a message: its own parts, but no nested results.
fn result(raw: &[u8], rule: ImageRule, each: PieceVisitor<'_>) {
    if let Some(id) = json::member_text(raw, "tool_use_id") {
        each(CountedPiece::Text(&id));
    }
    let inner = Message {
        content: json::member(raw, "content"),
        ..Message::default()
    };
    for part in inner.parts() {
        match part {
            MessagePart::Text(text) => each(CountedPiece::Text(&text)),
            MessagePart::Other(kind, raw) if kind == "tool_result" => unknown(raw, each),
            MessagePart::Other(kind, raw) => other(&kind, raw, rule, each),
        }
    }
}

/// A string of this length without a space counts as data, not text.
const DATA: usize = 1024;

/// A part of unknown type: its JSON, without strings that are data.
fn unknown(raw: &[u8], each: PieceVisitor<'_>) {
    let Ok(mut members) = Members::new(raw, Dialect::Strict) else {
        return each(CountedPiece::Text(&without_data(raw)));
    };
    while let Ok(Some(member)) = members.next() {
        each(CountedPiece::Text(&member.name()));
        match json::text(member.value) {
            Some(text) if is_data(&text) => {}
            Some(text) => each(CountedPiece::Text(&text)),
            None => each(CountedPiece::Text(&without_data(member.value))),
        }
    }
}

fn is_data(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.starts_with("data:")
        || (bytes.len() >= DATA
            && !bytes
                .iter()
                .any(|byte| byte.is_ascii_whitespace() || !byte.is_ascii()))
}

/// JSON without the strings in it that are data.
fn without_data(raw: &[u8]) -> String {
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &raw[at..]).map(|offset| at + offset) {
        kept.extend_from_slice(&raw[at..quote]);
        at = json::value_end(raw, quote, Dialect::Strict).unwrap_or(raw.len());
        let string = &raw[quote..at];
        if !json::text(string).is_some_and(|text| is_data(&text)) {
            kept.extend_from_slice(string);
        }
    }
    kept.extend_from_slice(&raw[at..]);
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests;
