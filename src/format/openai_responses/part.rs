//! Converts between content parts and native parts.

use crate::format::report::Loss;
use crate::format::request::media::RequestMedia;
use crate::format::request::request_part::{WriteSettings, extra_members};
use crate::model::json::{self, Dialect, ObjectBuilder, array};

/// Members that a text part may have.
const TEXT: [&str; 2] = ["annotations", "logprobs"];

/// Converts the content of an item: texts and media become native, if the conversion is lossless.
pub fn read_content(content: &[u8]) -> Vec<u8> {
    match json::elements(content, Dialect::Strict) {
        Some(parts) => array(parts.into_iter().map(read)),
        None => content.to_vec(),
    }
}

fn read(part: &[u8]) -> Vec<u8> {
    let kind = json::member_text(part, "type");
    if let Some("input_text" | "output_text") = kind.as_deref()
        && let Ok(text) = json::with_members(part, &[("type", Some(b"\"text\""))])
    {
        return text;
    }
    let media = RequestMedia::of(part);
    match media.as_ref().and_then(RequestMedia::chat) {
        Some(chat)
            if RequestMedia::of(&chat)
                .and_then(|m| m.responses())
                .is_some_and(|back| json::same(&back, part)) =>
        {
            chat
        }
        _ => part.to_vec(),
    }
}

/// Converts a native part to one of an item, for a `model` or user message; otherwise reports a loss.
pub fn write(raw: &[u8], model: bool, writing: &mut WriteSettings<'_>) -> Option<Vec<u8>> {
    let text_kind = if model { "output_text" } else { "input_text" };
    if raw.starts_with(b"\"") {
        let mut built = ObjectBuilder::default();
        built.text("type", text_kind).raw("text", raw);
        return Some(built.finish());
    }
    let kind = json::member_text(raw, "type");
    match kind.as_deref() {
        Some("text") => {
            let mut built = ObjectBuilder::default();
            built
                .text("type", text_kind)
                .raw("text", json::member(raw, "text")?);
            for (name, value) in extra_members(raw, &["type", "text", "cache_control"]) {
                if TEXT.contains(&name.as_ref()) {
                    built.raw(&name, value);
                } else if name == "thoughtSignature" {
                    writing.report.count_loss(Loss::Signature, 1);
                } else if !matches!(value, b"null" | b"[]") {
                    writing.report.count_loss(Loss::Part, 1);
                }
            }
            Some(built.finish())
        }
        Some("refusal") if model => Some(raw.to_vec()),
        Some("input_image" | "input_file" | "output_text" | "input_text") => Some(raw.to_vec()),
        _ => {
            let media = RequestMedia::of(raw);
            // Model messages have no attachments.
            let made = media
                .as_ref()
                .filter(|_| !model)
                .and_then(RequestMedia::responses);
            writing.converted(raw, media.is_some(), made)
        }
    }
}
