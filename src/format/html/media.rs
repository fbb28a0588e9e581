//! Writes images and files of messages.

use super::escape::escaped;
use super::{prose, verbatim};
use crate::format::base64;
use crate::format::request::media::{Bytes, MediaKind, RequestMedia};
use crate::model::key;
use crate::model::visible::thousands;

/// Maximum bytes of all images on a page.
const TOTAL: usize = 8 << 20;

/// The remaining limits for images on a page.
pub struct PageImages {
    /// Maximum bytes of an image; 0: no images.
    largest: usize,
    /// Remaining bytes for the page.
    room: usize,
}

impl PageImages {
    /// For a page with this maximum size per image.
    pub fn new(largest: usize) -> PageImages {
        PageImages { largest, room: TOTAL }
    }
}

/// Images that browsers render and that cannot contain scripts, by their first bytes; `?` is any byte.
const SIGNATURES: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"RIFF????WEBP", "webp"),
];

/// Writes a part that is not text.
pub fn push(out: &mut String, kind: &str, raw: &[u8], images: &mut PageImages) {
    let Some(media) = RequestMedia::of(raw) else {
        out.push_str(&format!("<details><summary>part {}</summary>\n", escaped(kind)));
        verbatim::push(out, "call", &String::from_utf8_lossy(raw), verbatim::LINES);
        return out.push_str("</details>\n");
    };
    let what = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::File => "file",
    };
    let name = media.name.as_deref().unwrap_or_default();
    let named = escaped(format!("{what} {name}").trim_end());
    match &media.bytes {
        Bytes::At(url, _) if prose::is_address(url) => {
            out.push_str(&format!(
                "<p class=\"mark\">{}{named}</a></p>\n",
                prose::anchor(url)
            ));
        }
        Bytes::At(url, _) => out.push_str(&format!("<p class=\"mark\">{named} {}</p>\n", escaped(url))),
        Bytes::Kept(id) => {
            let id = escaped(id);
            out.push_str(&format!(
                "<p class=\"mark\">{named} {id}, stored by the provider</p>\n"
            ));
        }
        Bytes::Here(mime, data) => {
            let decoded = base64::decode(data.as_bytes()).map(|(_, bytes)| bytes);
            let bytes = decoded.as_deref().unwrap_or_default();
            let drawn = Some(bytes)
                .filter(|bytes| bytes.len() <= images.largest.min(images.room))
                .and_then(drawn_as);
            if let (MediaKind::Image, Some(drawn)) = (media.kind, drawn) {
                images.room -= bytes.len();
                let data = base64::encode(bytes, &base64::Base64Style::PLAIN);
                let data = String::from_utf8_lossy(&data);
                out.push_str(&format!(
                    "<p><img alt=\"{named}\" src=\"data:image/{drawn};base64,{data}\"></p>\n"
                ));
                return;
            }
            out.push_str(&format!(
                "<p class=\"mark\">{named}: {}, {} bytes, SHA-256 {}</p>\n",
                escaped(mime),
                thousands(bytes.len() as u64),
                key::sha256(bytes)
            ));
        }
    }
}

fn drawn_as(bytes: &[u8]) -> Option<&'static str> {
    let fits = |signature: &[u8]| {
        let same = |(byte, wanted): (&u8, &u8)| *wanted == b'?' || byte == wanted;
        bytes.len() >= signature.len() && bytes.iter().zip(signature).all(same)
    };
    let found = SIGNATURES.iter().find(|(signature, _)| fits(signature));
    found.map(|(_, kind)| *kind)
}
