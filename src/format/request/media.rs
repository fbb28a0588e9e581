//! Images, audio and files in the encodings of the APIs, and conversions between them.

use crate::format::base64;
use crate::model::json::{self, ObjectBuilder, quoted, wrapped};
use std::borrow::Cow;

/// The kind of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    Image,
    Audio,
    /// Anything else.
    File,
}

/// The location of an attachment's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bytes<'a> {
    /// Inline: media type and Base64 data.
    Here(Cow<'a, str>, Cow<'a, str>),
    /// A URL, and the media type if known.
    At(Cow<'a, str>, Option<Cow<'a, str>>),
    /// Stored at OpenAI under this id.
    Kept(Cow<'a, str>),
}

/// An attachment in a part of any API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestMedia<'a> {
    pub kind: MediaKind,
    /// The data.
    pub bytes: Bytes<'a>,
    /// The file name.
    pub name: Option<Cow<'a, str>>,
    /// The resolution at which an image is processed.
    pub detail: Option<&'a [u8]>,
}

fn text<'a>(object: &'a [u8], names: &[&str]) -> Option<Cow<'a, str>> {
    names.iter().find_map(|name| json::member_text(object, name))
}

fn sliced<'a>(text: &Cow<'a, str>, from: usize, to: usize) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[from..to]),
        Cow::Owned(text) => Cow::Owned(text[from..to].to_string()),
    }
}

/// Parses a URL; a Base64 `data:` URL contains the data.
pub fn address(url: Cow<'_, str>) -> Bytes<'_> {
    let data = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let Some((mime, data)) = data else {
        return Bytes::At(url, None);
    };
    let (end, start) = ("data:".len() + mime.len(), url.len() - data.len());
    let end = mime.find(';').map_or(end, |short| "data:".len() + short);
    Bytes::Here(sliced(&url, "data:".len(), end), sliced(&url, start, url.len()))
}

/// The kind for a media type.
pub fn kind_of(mime: &str) -> MediaKind {
    match mime.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        _ => MediaKind::File,
    }
}

impl<'a> RequestMedia<'a> {
    /// Decodes a part; `None` if it is not an attachment, or its encoding is unknown.
    pub fn of(part: &'a [u8]) -> Option<RequestMedia<'a>> {
        let inner = |name: &str| json::member(part, name);
        let mut media = RequestMedia {
            kind: MediaKind::File,
            bytes: Bytes::Kept(Cow::Borrowed("")),
            name: None,
            detail: None,
        };
        match text(part, &["type"]).as_deref() {
            Some("image_url" | "input_image") => {
                media.kind = MediaKind::Image;
                let image = inner("image_url");
                media.detail = image
                    .and_then(|image| json::member(image, "detail"))
                    .or_else(|| inner("detail"))
                    .filter(|detail| *detail != b"null");
                let url = image.and_then(|image| json::text(image).or_else(|| text(image, &["url"])));
                media.bytes = match url {
                    Some(url) => address(url),
                    None => Bytes::Kept(text(part, &["file_id"])?),
                };
            }
            Some("input_audio") => {
                let audio = inner("input_audio")?;
                let format = text(audio, &["format"])?;
                let mime = if format == "mp3" { "mpeg" } else { &format };
                media.kind = MediaKind::Audio;
                media.bytes = Bytes::Here(format!("audio/{mime}").into(), text(audio, &["data"])?);
            }
            Some("file" | "input_file") => {
                let file = inner("file").unwrap_or(part);
                media.name = text(file, &["filename"]);
                media.bytes = match (text(file, &["file_data"]), text(file, &["file_url"])) {
                    (Some(data), _) => address(data),
                    (None, Some(url)) => Bytes::At(url, None),
                    (None, None) => Bytes::Kept(text(file, &["file_id"])?),
                };
            }
            Some(kind @ ("image" | "document")) => {
                let source = inner("source")?;
                media.name = text(part, &["title"]);
                media.bytes = match text(source, &["type"]).as_deref() {
                    Some("base64") => Bytes::Here(text(source, &["media_type"])?, text(source, &["data"])?),
                    Some("url") => Bytes::At(text(source, &["url"])?, None),
                    // A file id is only valid at the provider that issued it.
                    _ => return None,
                };
                if kind == "image" {
                    media.kind = MediaKind::Image;
                }
            }
            None => {
                if let Some(data) = inner("inlineData").or_else(|| inner("inline_data")) {
                    let mime = text(data, &["mimeType", "mime_type"])?;
                    media.kind = kind_of(&mime);
                    media.name = text(data, &["displayName", "display_name"]);
                    media.bytes = Bytes::Here(mime, text(data, &["data"])?);
                } else {
                    let file = inner("fileData").or_else(|| inner("file_data"))?;
                    let mime = text(file, &["mimeType", "mime_type"]);
                    media.kind = mime.as_deref().map_or(MediaKind::File, kind_of);
                    media.bytes = Bytes::At(text(file, &["fileUri", "file_uri"])?, mime);
                }
            }
            Some(_) => return None,
        }
        Some(media)
    }

    /// The URL, a `data:` URL for inline data; `None` for data stored at a provider.
    pub fn url(&self) -> Option<String> {
        match &self.bytes {
            Bytes::Here(mime, data) => Some(format!("data:{mime};base64,{data}")),
            Bytes::At(url, _) => Some(url.to_string()),
            Bytes::Kept(_) => None,
        }
    }

    /// Encodes as a part of a Chat message, which is also the native encoding.
    pub fn chat(&self) -> Option<Vec<u8>> {
        let mut built = ObjectBuilder::default();
        match (self.kind, &self.bytes) {
            (MediaKind::Image, _) => {
                let mut image = ObjectBuilder::default();
                image.text("url", &self.url()?);
                image.optional("detail", self.detail);
                built.text("type", "image_url").raw("image_url", image.finish());
            }
            (MediaKind::Audio, Bytes::Here(mime, data)) if audio_format(mime).is_some() => {
                let mut audio = ObjectBuilder::default();
                audio
                    .text("data", data)
                    .text("format", audio_format(mime).unwrap_or_default());
                built
                    .text("type", "input_audio")
                    .raw("input_audio", audio.finish());
            }
            (_, Bytes::At(..)) => return None,
            (_, bytes) => {
                let mut file = ObjectBuilder::default();
                if let Some(name) = &self.name {
                    file.text("filename", name);
                }
                match bytes {
                    Bytes::Kept(id) => file.text("file_id", id),
                    _ => file.text("file_data", &self.url()?),
                };
                built.text("type", "file").raw("file", file.finish());
            }
        }
        Some(built.finish())
    }

    /// Encodes as a block of an Anthropic message.
    pub fn anthropic(&self) -> Option<Vec<u8>> {
        let mut source = ObjectBuilder::default();
        match &self.bytes {
            Bytes::Here(mime, data) => {
                let taken = match self.kind {
                    MediaKind::Image => {
                        ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&&**mime)
                    }
                    _ => mime == "application/pdf",
                };
                if !taken {
                    return None;
                }
                source
                    .text("type", "base64")
                    .text("media_type", mime)
                    .text("data", data);
            }
            Bytes::At(url, _) if url.starts_with("http") && self.kind != MediaKind::Audio => {
                source.text("type", "url").text("url", url);
            }
            _ => return None,
        }
        let mut built = ObjectBuilder::default();
        let kind = if self.kind == MediaKind::Image {
            "image"
        } else {
            "document"
        };
        built.text("type", kind).raw("source", source.finish());
        if let (Some(name), MediaKind::File) = (&self.name, self.kind) {
            built.text("title", name);
        }
        Some(built.finish())
    }

    /// Encodes as a part of a Gemini content.
    pub fn gemini(&self) -> Option<Vec<u8>> {
        let mut data = ObjectBuilder::default();
        let name = match &self.bytes {
            Bytes::Here(mime, bytes) => {
                data.text("mimeType", mime).text("data", bytes);
                "inlineData"
            }
            Bytes::At(uri, mime)
                if uri.starts_with("gs://") || uri.contains("generativelanguage.googleapis.com/") =>
            {
                if let Some(mime) = mime {
                    data.text("mimeType", mime);
                }
                data.text("fileUri", uri);
                "fileData"
            }
            _ => return None,
        };
        Some(wrapped(name, data.finish()))
    }

    /// Encodes as a part of a Responses item.
    pub fn responses(&self) -> Option<Vec<u8>> {
        let mut built = ObjectBuilder::default();
        match (self.kind, &self.bytes) {
            (MediaKind::Image, bytes) => {
                built.text("type", "input_image");
                match bytes {
                    Bytes::Kept(id) => built.text("file_id", id),
                    _ => built.text("image_url", &self.url()?),
                };
                built.optional("detail", self.detail);
            }
            (MediaKind::Audio, Bytes::Here(mime, data)) => {
                let mut audio = ObjectBuilder::default();
                audio.text("data", data).text("format", audio_format(mime)?);
                built
                    .text("type", "input_audio")
                    .raw("input_audio", audio.finish());
            }
            (MediaKind::Audio, _) => return None,
            (MediaKind::File, bytes) => {
                built.text("type", "input_file");
                if let Some(name) = &self.name {
                    built.text("filename", name);
                }
                match bytes {
                    Bytes::Kept(id) => built.text("file_id", id),
                    Bytes::At(url, _) => built.text("file_url", url),
                    Bytes::Here(..) => built.raw("file_data", quoted(&self.url()?)),
                };
            }
        }
        Some(built.finish())
    }
}

/// A content part for data at a URL.
pub fn linked(mime: Option<&str>, url: &str) -> Option<Vec<u8>> {
    let kind = mime.map_or(MediaKind::Image, kind_of);
    media(kind, Bytes::At(url.into(), mime.map(Cow::from))).chat()
}

/// A content part for inline data of this media type; `None` if there is no such part.
pub fn attached(mime: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let data = base64::encode(bytes, &base64::Base64Style::PLAIN);
    let data = String::from_utf8(data).ok()?;
    media(kind_of(mime), Bytes::Here(mime.into(), data.into())).chat()
}

fn media(kind: MediaKind, bytes: Bytes<'_>) -> RequestMedia<'_> {
    RequestMedia {
        kind,
        bytes,
        name: None,
        detail: None,
    }
}

fn audio_format(mime: &str) -> Option<&'static str> {
    match mime {
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}
