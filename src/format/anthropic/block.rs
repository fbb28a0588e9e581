//! Converts between content blocks and native parts.

use crate::format::report::Loss;
use crate::format::request::media::RequestMedia;
use crate::format::request::request_part::{WriteSettings, extra_members};
use crate::model::json::{self, Dialect, ObjectBuilder, array};
use std::borrow::Cow;

/// Types of blocks, other than text, that are kept unchanged because they are specific to the API.
const NATIVE_BLOCKS: [&str; 8] = [
    "image", "document", "search_result", "server_tool_use", "container_upload", "compaction",
    "mcp_tool_use", "tool_reference",
];

/// Members that a text block may have.
const TEXT: [&str; 4] = ["type", "text", "cache_control", "citations"];

/// Members of a media block other than its source, which its part keeps.
const EXTRA_MEMBERS: [&str; 3] = ["cache_control", "citations", "context"];

fn kind(block: &[u8]) -> Cow<'_, str> {
    json::member_text(block, "type").unwrap_or_default()
}

/// Converts a block to a part: media become native if the conversion is lossless, anything else is unchanged.
pub fn read(block: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut part) = RequestMedia::of(block).and_then(|media| media.chat()) else {
        return Cow::Borrowed(block);
    };
    for (name, value) in extra_members(block, &["type", "source", "title"]) {
        part.pop();
        part.push(b',');
        json::push_text(&mut part, &name);
        part.push(b':');
        part.extend_from_slice(value);
        part.push(b'}');
    }
    match media(&part) {
        Some(back) if json::same(&back, block) => Cow::Owned(part),
        _ => Cow::Borrowed(block),
    }
}

/// Converts the content of a message or result; content other than blocks is unchanged.
pub fn read_content(content: &[u8]) -> Vec<u8> {
    match json::elements(content, Dialect::Strict) {
        Some(blocks) => array(blocks.into_iter().map(read)),
        None => content.to_vec(),
    }
}

/// Converts a media part to a block.
fn media(part: &[u8]) -> Option<Vec<u8>> {
    let mut block = RequestMedia::of(part)?.anthropic()?;
    for (name, value) in extra_members(part, &["type"]) {
        if EXTRA_MEMBERS.contains(&name.as_ref()) {
            block.pop();
            block.push(b',');
            json::push_text(&mut block, &name);
            block.push(b':');
            block.extend_from_slice(value);
            block.push(b'}');
        }
    }
    Some(block)
}

/// A text block; `None` if the text is blank, because the API rejects it.
pub fn text(text: &[u8]) -> Option<Vec<u8>> {
    let has_text = json::text(text).is_none_or(|text| !text.trim().is_empty());
    has_text.then(|| crate::format::request::draft::text_part(text))
}

/// Converts a part to a block; otherwise reports a loss.
pub fn write(part: &[u8], writing: &mut WriteSettings<'_>) -> Option<Vec<u8>> {
    if part.starts_with(b"\"") {
        return text(part);
    }
    let kind = kind(part);
    match kind.as_ref() {
        "text" | "input_text" | "output_text" => {
            let raw = json::member(part, "text")?;
            let mut block = ObjectBuilder::default();
            block.text("type", "text").raw("text", raw);
            for (name, value) in extra_members(part, &["type", "text"]) {
                if TEXT.contains(&name.as_ref()) {
                    block.raw(&name, value);
                } else if name == "thoughtSignature" {
                    writing.report.count_loss(Loss::Signature, 1);
                } else if !matches!(value, b"null" | b"[]") {
                    writing.report.count_loss(Loss::Part, 1);
                }
            }
            text(raw).map(|_| block.finish())
        }
        "refusal" => json::member(part, "refusal").and_then(text),
        own if NATIVE_BLOCKS.contains(&own) || own.ends_with("_tool_result") => Some(part.to_vec()),
        _ => {
            let is_media = RequestMedia::of(part).is_some();
            writing.converted(part, is_media, media(part))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::WritePurpose;
    use crate::format::report::Report;
    use crate::format::request::Api;
    use std::collections::HashMap;

    #[test]
    fn blocks_of_the_api_are_kept_whatever_the_session_was_read_from() {
        let mut writing = WriteSettings {
            api: Api::Anthropic,
            purpose: WritePurpose::Export,
            own: false,
            keeps_thoughts: false,
            calls: &HashMap::new(),
            report: &mut Report::default(),
        };
        let block = br#"{"type":"tool_reference","tool_name":"x"}"#;
        assert_eq!(write(block, &mut writing).as_deref(), Some(&block[..]));
        assert_eq!(
            write(br#"{"type":"mcp_list_tools","id":"m"}"#, &mut writing),
            None
        );
    }
}
