//! Converts reasoning and attachments between the SDK's form and the native one.

use crate::format::request::media::{Bytes, MediaKind, RequestMedia, address, kind_of};
pub use crate::model::json::member_text as text;
use crate::model::json::{self, ObjectBuilder, wrapped};
use std::borrow::Cow;

/// Reasoning with this text (a JSON string) and the provider's metadata.
pub fn reasoning_part(text: &[u8], reported: Option<&[u8]>) -> Vec<u8> {
    let reported = reported.unwrap_or(b"{}");
    let noted = |provider: &str, name: &str| {
        let value = json::member(json::member(reported, provider)?, name)?;
        value.starts_with(b"\"").then_some(value)
    };
    let mut part = ObjectBuilder::default();
    if let Some(signature) = noted("anthropic", "signature") {
        part.text("type", "thinking")
            .raw("text", text)
            .raw("signature", signature);
    } else if let Some(data) = noted("anthropic", "redactedData") {
        part.text("type", "redacted_thinking").raw("data", data);
    } else if let Some(content) = noted("openai", "reasoningEncryptedContent") {
        part.text("type", "reasoning").raw("text", text);
        part.optional("id", noted("openai", "itemId"));
        part.raw("encrypted_content", content);
    } else if let Some(signature) = noted("google", "thoughtSignature") {
        part.text("type", "thinking")
            .raw("text", text)
            .raw("thoughtSignature", signature);
    } else {
        part.text("type", "thinking").raw("text", text);
    }
    part.finish()
}

/// The provider's metadata of signed reasoning, if the provider is known.
pub fn signed(part: &[u8]) -> Option<Vec<u8>> {
    let kind = text(part, "type").unwrap_or_default();
    let filled = |name: &str| json::member(part, name).filter(|raw| raw.len() > 2 && raw.starts_with(b"\""));
    let mut inner = ObjectBuilder::default();
    let provider = if let Some(signature) = filled("thoughtSignature") {
        inner.raw("thoughtSignature", signature);
        "google"
    } else if let (Some(signature), "thinking") = (filled("signature"), kind.as_ref()) {
        inner.raw("signature", signature);
        "anthropic"
    } else if let (Some(data), "redacted_thinking") = (filled("data"), kind.as_ref()) {
        inner.raw("redactedData", data);
        "anthropic"
    } else if let (Some(content), "reasoning") = (filled("encrypted_content"), kind.as_ref()) {
        inner.optional("itemId", filled("id"));
        inner.raw("reasoningEncryptedContent", content);
        "openai"
    } else {
        return None;
    };
    Some(wrapped(provider, inner.finish()))
}

/// The text of reasoning; for an OpenAI item, that of its summary.
pub fn reasoning_text(part: &[u8]) -> String {
    if let Some(text) = text(part, "text") {
        return text.into_owned();
    }
    let texts = json::list(part, "summary")
        .into_iter()
        .filter_map(|part| text(part, "text"));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The native part for a file with this type and URL, if there is one.
pub fn file(mime: Option<Cow<'_, str>>, url: Cow<'_, str>, name: Option<Cow<'_, str>>) -> Option<Vec<u8>> {
    let kind = mime.as_deref().map_or(MediaKind::File, kind_of);
    let bytes = match address(url) {
        Bytes::At(url, _) => Bytes::At(url, mime),
        here => here,
    };
    let media = RequestMedia {
        kind,
        bytes,
        name,
        detail: None,
    };
    media.chat()
}

/// An attachment in the SDK's form.
pub struct UiFile<'a> {
    /// The media type, if known.
    pub mime: Cow<'a, str>,
    pub url: String,
    pub name: Option<Cow<'a, str>>,
}

/// The file of a part; `None` if only its provider has the data.
pub fn attachment<'a>(media: RequestMedia<'a>) -> Option<UiFile<'a>> {
    let url = media.url()?;
    let mime = match (media.bytes, media.kind) {
        (Bytes::Here(mime, _), _) | (Bytes::At(_, Some(mime)), _) => mime,
        (_, MediaKind::Image) => Cow::Borrowed("image/*"),
        (_, MediaKind::Audio) => Cow::Borrowed("audio/*"),
        (_, MediaKind::File) => Cow::Borrowed("application/octet-stream"),
    };
    Some(UiFile {
        mime,
        url,
        name: media.name,
    })
}

/// The JSON value in a text; `None` if it is a string or invalid.
pub fn value(text: &str) -> Option<&[u8]> {
    let bytes = text.as_bytes();
    let whole = json::is_value(bytes);
    let line = memchr::memchr2(b'\n', b'\r', bytes).is_none();
    (whole && line && !bytes.starts_with(b"\"")).then_some(bytes)
}
