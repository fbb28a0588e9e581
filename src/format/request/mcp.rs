//! Images in the encoding of the Model Context Protocol, `{"type":"image","data","mimeType"}`, which several programs
//! use.

use super::media::{Bytes, MediaKind, RequestMedia};
use crate::model::json::{self, ObjectBuilder};

/// Converts a native part to such an image; `None` for any other part.
pub fn image(part: &[u8]) -> Option<Vec<u8>> {
    let media = RequestMedia::of(part)?;
    match (&media.kind, &media.bytes) {
        (MediaKind::Image, Bytes::Here(mime, data)) => {
            let mut block = ObjectBuilder::default();
            block
                .text("type", "image")
                .text("data", data)
                .text("mimeType", mime);
            Some(block.finish())
        }
        _ => None,
    }
}

/// Converts a block to a native part: an image if the conversion is lossless, otherwise unchanged.
pub fn part(raw: &[u8]) -> Vec<u8> {
    let text = |name| json::member_text(raw, name);
    if json::member(raw, "type") != Some(b"\"image\"") {
        return raw.to_vec();
    }
    let (Some(data), Some(mime)) = (text("data"), text("mimeType")) else {
        return raw.to_vec();
    };
    let media = RequestMedia {
        kind: MediaKind::Image,
        bytes: Bytes::Here(mime, data),
        name: None,
        detail: None,
    };
    match media.chat() {
        Some(part) if image(&part).is_some_and(|back| json::same(&back, raw)) => part,
        _ => raw.to_vec(),
    }
}
