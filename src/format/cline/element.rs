//! Converts messages: Anthropic blocks, some of which have other member names.

use crate::format::blocks;
use crate::format::report::{Loss, Report};
use crate::format::request::draft::AnnotatedDraft;
use crate::format::request::request_part::{AnnotatedMessage, extra_members};
use crate::format::request::token_figures::Figures;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::time;

/// The text of a compaction message, which replaces earlier messages.
pub fn compaction(message: &[u8]) -> Option<String> {
    let metadata = json::member(message, "metadata")?;
    if json::member(metadata, "kind") != Some(b"\"compaction\"") {
        return None;
    }
    let content = json::member(message, "content")?;
    let Some(blocks) = json::elements(content, Dialect::Strict) else {
        return json::text(content).map(String::from);
    };
    let texts: Option<Vec<_>> = blocks
        .into_iter()
        .map(|block| json::member_text(block, "text"))
        .collect();
    Some(texts?.join("\n\n"))
}

pub fn model(message: &[u8]) -> Option<&[u8]> {
    let model = json::member(json::member(message, "modelInfo")?, "id")?;
    model.starts_with(b"\"").then_some(model)
}

/// The time of a message, which is in milliseconds.
pub fn time_of(message: &[u8]) -> Option<String> {
    time::from_milliseconds(json::number(json::member(message, "ts")?)?)
}

/// Whether a time has a precision of at most milliseconds.
pub fn is_exact(time: &str) -> bool {
    let written = time::milliseconds(time).and_then(time::from_milliseconds);
    written.is_some_and(|written| time::moment(&written) == time::moment(time))
}

/// The native messages of an element; `None` if it has another role or no content.
pub fn drafts(message: &[u8]) -> Option<Vec<AnnotatedDraft>> {
    let role =
        json::member(message, "role").filter(|role| matches!(*role, b"\"user\"" | b"\"assistant\""))?;
    let content = json::member(message, "content").filter(|raw| matches!(raw.first(), Some(b'"' | b'[')))?;
    let content = with_blocks(content, anthropic);
    let mut built = ObjectBuilder::default();
    built.raw("role", role).raw("content", content);
    let mut drafts = blocks::drafts(&built.finish());
    let time = time_of(message).map(|time| quoted(&time));
    for draft in &mut drafts {
        if let Some(time) = &time {
            draft.set("timestamp", time.clone());
        }
    }
    if let Some(first) = drafts.first_mut() {
        let usage = json::member(message, "metrics").filter(|raw| Figures::of(raw).is_some());
        for (name, value) in [("model", model(message)), ("usage", usage)] {
            first.optional(name, value);
        }
    }
    Some(drafts)
}

/// The content with each block converted.
fn with_blocks(content: &[u8], change: fn(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let Some(blocks) = json::elements(content, Dialect::Strict) else {
        return content.to_vec();
    };
    let changed = |block: &[u8]| {
        // A result's content has blocks, too.
        let inner = json::member(block, "content").filter(|raw| raw.starts_with(b"["));
        let inner = inner.map(|inner| with_blocks(inner, change));
        let inner = inner.and_then(|inner| json::with_members(block, &[("content", Some(&inner))]).ok());
        change(block).or(inner).unwrap_or_else(|| block.to_vec())
    };
    array(blocks.into_iter().map(changed))
}

/// Converts a block to the API's member names, if different.
fn anthropic(block: &[u8]) -> Option<Vec<u8>> {
    let member = |name| json::member(block, name);
    match member("type")? {
        b"\"thinking\"" if member("thinking").is_none() => {
            let text = member("text")?;
            json::with_members(block, &[("text", None), ("thinking", Some(text))]).ok()
        }
        b"\"image\"" => {
            let (data, kind) = (member("data")?, member("mediaType")?);
            let mut source = ObjectBuilder::default();
            source
                .text("type", "base64")
                .raw("media_type", kind)
                .raw("data", data);
            let changes = [
                ("data", None),
                ("mediaType", None),
                ("source", Some(&source.finish()[..])),
            ];
            json::with_members(block, &changes).ok()
        }
        _ => None,
    }
}

/// Converts a block to the format's member names, if different.
fn converted_block(block: &[u8]) -> Option<Vec<u8>> {
    let source =
        json::member(block, "source").filter(|_| json::member(block, "type") == Some(b"\"image\""))?;
    let (data, kind) = (json::member(source, "data")?, json::member(source, "media_type")?);
    let changes = [("source", None), ("data", Some(data)), ("mediaType", Some(kind))];
    json::with_members(block, &changes).ok()
}

/// Encodes messages as an element.
pub fn element(messages: &[AnnotatedMessage<'_>], is_new: bool, report: &mut Report) -> Option<Vec<u8>> {
    let first = messages.first()?;
    let bodies: Vec<_> = messages.iter().map(blocks::with_known_role).collect();
    let built = blocks::encoded(&bodies, is_new, report).into_iter().next()?;
    let mut content = with_blocks(json::member(&built, "content").unwrap_or(b"[]"), converted_block);
    // The format requires blocks.
    if is_new && content.starts_with(b"\"") {
        content = array([[&b"{\"type\":\"text\","[..], &wrapped("text", &content)[1..]].concat()]);
    }
    let member = |name| json::member(first.body, name);
    let mut element = ObjectBuilder::default();
    match is_new {
        true => element.optional("id", member("id")),
        false => element.optional("id", first.element_id()),
    };
    element
        .raw("role", json::member(&built, "role").unwrap_or(b"\"user\""))
        .raw("content", content);
    let time = member("timestamp").and_then(json::text);
    if let Some(milliseconds) = time.and_then(|time| time::milliseconds(&time)) {
        element.raw("ts", milliseconds.to_string());
    }
    if let Some(model) = member("model") {
        element.raw("modelInfo", wrapped("id", model));
    }
    if let Some(usage) = member("usage") {
        match metrics(usage) {
            Some(metrics) => drop(element.raw("metrics", metrics)),
            None => report.count_loss(Loss::Usage, 1),
        }
    }
    Some(element.finish())
}

/// Converts usage to the format's metrics; cached tokens are part of the input.
fn metrics(usage: &[u8]) -> Option<Vec<u8>> {
    if json::member(usage, "inputTokens").is_some() {
        return Some(usage.to_vec());
    }
    let figures = Figures::of(usage)?;
    let mut metrics = ObjectBuilder::default();
    for (name, figure) in [
        ("inputTokens", figures.sent()),
        ("outputTokens", figures.output),
        ("cacheReadTokens", figures.read),
        ("cacheWriteTokens", figures.written),
    ] {
        metrics.raw(name, figure.to_string());
    }
    for (name, cost) in extra_members(usage, &[]).filter(|(name, _)| name == "cost") {
        metrics.raw(&name, cost);
    }
    Some(metrics.finish())
}
