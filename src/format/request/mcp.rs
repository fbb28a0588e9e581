//! Images as the Model Context Protocol has them, `{"type":"image","data","mimeType"}`, which programs took over.

use super::media::{Bytes, Kind, Media};
use crate::model::json::{self, ObjectBuilder};

/// A part of the record stream as such an image; none of anything else.
pub fn image(part: &[u8]) -> Option<Vec<u8>> {
    let media = Media::of(part)?;
    match (&media.kind, &media.bytes) {
        (Kind::Image, Bytes::Here(mime, data)) => {
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

/// A block as a part of the record stream: such an image where nothing is lost by it, anything else as it is.
pub fn part(raw: &[u8]) -> Vec<u8> {
    let text = |name| json::member(raw, name).and_then(json::text);
    if json::member(raw, "type") != Some(b"\"image\"") {
        return raw.to_vec();
    }
    let (Some(data), Some(mime)) = (text("data"), text("mimeType")) else {
        return raw.to_vec();
    };
    let media = Media {
        kind: Kind::Image,
        bytes: Bytes::Here(mime, data),
        name: None,
        detail: None,
    };
    match media.chat() {
        Some(part) if image(&part).is_some_and(|back| json::same(&back, raw)) => part,
        _ => raw.to_vec(),
    }
}
