//! Converts text and file parts to native parts and back.

use super::element::kind;
use crate::format::request::draft;
use crate::format::request::media::{Bytes, MediaKind, RequestMedia};
use crate::model::json;

/// The native part; `None` if it is empty.
pub fn read(part: &[u8]) -> Option<Vec<u8>> {
    match kind(part).as_ref() {
        "text" => {
            let text = json::string_member(part, "text");
            Some(draft::text_part(text.unwrap_or(b"\"\"")))
        }
        "file" => Some(file(part)),
        _ => None,
    }
}

/// A file with inline data as a native part; any other file is unchanged.
fn file(part: &[u8]) -> Vec<u8> {
    let text = |name| json::member_text(part, name);
    let media = || {
        let (url, mime) = (text("url")?, text("mime")?);
        let data = url.strip_prefix("data:")?.strip_prefix(mime.as_ref())?;
        let data = data.strip_prefix(";base64,")?.to_string();
        let kind = match mime.as_ref() {
            "application/pdf" => MediaKind::File,
            mime if mime.starts_with("image/") => MediaKind::Image,
            _ => return None,
        };
        let name = text("filename").filter(|_| kind == MediaKind::File);
        let part = RequestMedia {
            kind,
            bytes: Bytes::Here(mime.clone(), data.into()),
            name,
            detail: None,
        };
        let part = part.chat()?;
        let same = address(&part).is_some_and(|(back, as_mime)| back == url && as_mime == mime);
        same.then_some(part)
    };
    media().unwrap_or_else(|| part.to_vec())
}

/// The URL and media type of a native part; `None` if either is unknown.
pub fn address(part: &[u8]) -> Option<(String, String)> {
    match RequestMedia::of(part)?.bytes {
        Bytes::Here(mime, data) => Some((format!("data:{mime};base64,{data}"), mime.into_owned())),
        Bytes::At(url, mime) => Some((url.into_owned(), mime?.into_owned())),
        Bytes::Kept(_) => None,
    }
}

/// Whether a part is already an opencode file.
pub fn is_own_file(part: &[u8]) -> bool {
    let text = |name| json::string_member(part, name).is_some();
    kind(part) == "file" && text("url") && text("mime")
}
