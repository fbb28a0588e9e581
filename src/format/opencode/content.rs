//! Texts and files of a message, as the content of a record and back.

use super::element::kind;
use crate::format::request::draft;
use crate::format::request::media::{Bytes, Kind, Media};
use crate::format::request::piece::{array, quoted};
use crate::model::json::{self, Dialect};
use std::borrow::Cow;
use std::collections::VecDeque;

/// The part of the record stream that a part is; none of one that says nothing.
pub fn read(part: &[u8]) -> Option<Vec<u8>> {
    match kind(part).as_ref() {
        "text" => {
            let text = json::member(part, "text").filter(|raw| raw.starts_with(b"\""));
            Some(draft::text_part(text.unwrap_or(b"\"\"")))
        }
        "file" => Some(file(part)),
        _ => None,
    }
}

/// A file whose bytes are here, in the words of the record stream; any other as it is.
fn file(part: &[u8]) -> Vec<u8> {
    let text = |name| json::member(part, name).and_then(json::text);
    let media = || {
        let (url, mime) = (text("url")?, text("mime")?);
        let data = url.strip_prefix("data:")?.strip_prefix(mime.as_ref())?;
        let data = data.strip_prefix(";base64,")?.to_string();
        let kind = match mime.as_ref() {
            "application/pdf" => Kind::File,
            mime if mime.starts_with("image/") => Kind::Image,
            _ => return None,
        };
        let name = text("filename").filter(|_| kind == Kind::File);
        let part = Media {
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

/// The address and the media type of what a part of the record stream holds; none where one of them is not told.
pub fn address(part: &[u8]) -> Option<(String, String)> {
    match Media::of(part)?.bytes {
        Bytes::Here(mime, data) => Some((format!("data:{mime};base64,{data}"), mime.into_owned())),
        Bytes::At(url, mime) => Some((url.into_owned(), mime?.into_owned())),
        Bytes::Kept(_) => None,
    }
}

/// Whether a part of the record stream is a file as opencode has it.
pub fn is_own_file(part: &[u8]) -> bool {
    let text = |name| json::member(part, name).is_some_and(|raw| raw.starts_with(b"\""));
    kind(part) == "file" && text("url") && text("mime")
}

/// The content of a record: the text where that is all.
pub fn joined(parts: &[Vec<u8>], silent: &[u8]) -> Vec<u8> {
    match parts {
        [] => silent.to_vec(),
        [one] if kind(one) == "text" => json::member(one, "text").unwrap_or(b"\"\"").to_vec(),
        several => array(several),
    }
}

/// A piece of content on its way back.
pub enum Piece<'a> {
    /// A text, as JSON.
    Text(Cow<'a, [u8]>),
    /// Anything else.
    Other(&'a [u8]),
}

/// The pieces of a content.
pub fn pieces(content: Option<&[u8]>) -> VecDeque<Piece<'_>> {
    match content {
        Some(raw) if raw.starts_with(b"\"") => VecDeque::from([Piece::Text(raw.into())]),
        Some(raw) => {
            let parts = json::elements(raw, Dialect::Strict).unwrap_or_default();
            parts.into_iter().map(piece).collect()
        }
        None => VecDeque::new(),
    }
}

fn piece(part: &[u8]) -> Piece<'_> {
    if part.starts_with(b"\"") {
        return Piece::Text(part.into());
    }
    let text = match kind(part).as_ref() {
        "text" | "input_text" | "output_text" => json::member(part, "text"),
        "refusal" => json::member(part, "refusal"),
        _ => None,
    };
    match text.filter(|raw| raw.starts_with(b"\"")) {
        Some(text) => Piece::Text(text.into()),
        None => Piece::Other(part),
    }
}

/// A text of JSON that these texts are, one under the other.
pub fn texts<'a>(texts: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    quoted(&texts.collect::<Vec<_>>().join("\n"))
}
