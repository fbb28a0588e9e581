//! Texts in place of images that are in files, and the way back.

use crate::error::{Error, Result};
use crate::format::request::media;
use crate::model::json::{self, Dialect};
use crate::model::key;

/// The beginning of every placeholder.
const BEGINNING: &str = "[image: ";

/// The text in place of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The name of its file: the SHA-256 of its bytes, and the extension of its type.
    pub file_name: String,
    /// Its media type.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
}

/// Returns a part in place of a placeholder, or `None` to keep the placeholder.
pub type Find<'f> = &'f mut dyn FnMut(&Placeholder) -> Result<Option<Vec<u8>>>;

impl Placeholder {
    /// The placeholder of an image.
    pub fn of(media_type: &str, bytes: &[u8]) -> Placeholder {
        Placeholder {
            file_name: format!("{}.{}", key::sha256(bytes), ending(media_type)),
            media_type: media_type.to_string(),
            bytes: bytes.len() as u64,
        }
    }

    /// The text of the placeholder.
    pub fn text(&self) -> String {
        let Placeholder {
            file_name,
            media_type,
            bytes,
        } = self;
        format!("{BEGINNING}{file_name}, {media_type}, {bytes} bytes]")
    }

    /// Parses a text that consists of one placeholder.
    pub fn read(text: &str) -> Option<Placeholder> {
        let facts = text.strip_prefix(BEGINNING)?.strip_suffix(" bytes]")?;
        let (file_name, facts) = facts.split_once(", ")?;
        let (media_type, bytes) = facts.rsplit_once(", ")?;
        let read = Placeholder {
            file_name: file_name.to_string(),
            media_type: media_type.to_string(),
            bytes: bytes.parse().ok()?,
        };
        let is_own = is_name(file_name) && file_name.ends_with(&format!(".{}", ending(media_type)));
        (is_own && read.text() == text).then_some(read)
    }

    /// The content part of the image, which is in these bytes of its file.
    ///
    /// # Errors
    /// A data error if the bytes are not those of the image.
    pub fn part(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.check(bytes)?;
        let unknown = || Error::data(format!("not an image: {}", self.media_type));
        media::attached(&self.media_type, bytes).ok_or_else(unknown)
    }

    /// Checks the bytes of the file.
    ///
    /// # Errors
    /// A data error if they are not those of the image.
    pub fn check(&self, bytes: &[u8]) -> Result<()> {
        let (sum, _) = self.file_name.split_once('.').unwrap_or_default();
        match key::sha256(bytes) == sum {
            true => Ok(()),
            false => {
                let error = Error::data("changed: its SHA-256 differs from its name");
                Err(error.hint("slim the original session again, or restore the file from a backup"))
            }
        }
    }
}

/// Whether a text is the name of the file of an image.
pub fn is_name(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let parts = text.split_once('.');
    parts.is_some_and(|(sum, end)| {
        sum.len() == 64
            && sum.bytes().all(is_digit)
            && (ENDINGS.iter().any(|(_, known)| *known == end) || end == OTHER)
    })
}

/// Media types and the extensions of their files.
const ENDINGS: [(&str, &str); 5] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
];

/// The extension for other types.
const OTHER: &str = "bin";

fn ending(media_type: &str) -> &'static str {
    let known = ENDINGS.iter().find(|(name, _)| *name == media_type);
    known.map_or(OTHER, |(_, ending)| ending)
}

/// The record of a message with the parts that `find` returns in place of placeholders; `None` if it is unchanged.
///
/// # Errors
/// Those of `find`.
pub fn restored(record: &[u8], find: Find<'_>) -> Result<Option<Vec<u8>>> {
    if memchr::memmem::find(record, BEGINNING.as_bytes()).is_none() {
        return Ok(None);
    }
    let Some(content) = json::member(record, "content") else {
        return Ok(None);
    };
    let mut is_changed = false;
    let mut one = |text: Option<&[u8]>| -> Result<Option<Vec<u8>>> {
        let text = text.and_then(json::text);
        let found = match text.and_then(|text| Placeholder::read(&text)) {
            Some(placeholder) => find(&placeholder)?,
            None => None,
        };
        is_changed |= found.is_some();
        Ok(found)
    };
    let mut parts = Vec::new();
    match json::elements(content, Dialect::Python) {
        Some(elements) => {
            for element in elements {
                parts.push(one(json::member(element, "text"))?.unwrap_or_else(|| element.to_vec()));
            }
        }
        // Some formats have a text in place of a single part.
        None => parts.extend(one(Some(content))?),
    }
    let content = json::array(parts);
    Ok(match is_changed {
        true => json::with_members(record, &[("content", Some(&content))]).ok(),
        false => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    const BYTES: [u8; 5000] = [7; 5000];

    fn placeholder() -> Placeholder {
        Placeholder::of("image/png", &BYTES)
    }

    #[test]
    fn only_exact_texts_are_placeholders() {
        let text = placeholder().text();
        assert_eq!(Placeholder::read(&text), Some(placeholder()));
        let name = placeholder().file_name;
        for other in [
            text.replace(&name, "screenshot.png"),
            text.replace(&name, &format!("../{name}")),
            text.replace(".png", ".jpg"),
            text.replace("5000", "05000"),
            text.to_uppercase(),
            format!("{text} "),
            format!("see {text}"),
        ] {
            assert_eq!(Placeholder::read(&other), None, "{other}");
        }
        assert!(is_name(&name) && !is_name(&name[1..]) && !is_name(&format!("{name}x")));
    }

    #[test]
    fn placeholders_become_images_and_nothing_else_changes() {
        let text = placeholder().text();
        let part = String::from_utf8(placeholder().part(&BYTES).unwrap()).unwrap();
        assert!(part.starts_with(r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,Bwc"#));
        let restored = |record: &str| {
            let built = restored(record.as_bytes(), &mut |found| found.part(&BYTES).map(Some));
            built.unwrap().map(|built| String::from_utf8(built).unwrap())
        };
        let of = |content: &str| format!(r#"{{"role":"user","content":{content},"id":"m","x":1.0}}"#);
        assert_eq!(
            restored(&of(&format!(
                r#"[{{"type":"text","text":"a"}}, {{"type":"text","text":"{text}"}}]"#
            ))),
            Some(of(&format!(r#"[{{"type":"text","text":"a"}},{part}]"#)))
        );
        assert_eq!(
            restored(&of(&format!(r#""{text}""#))),
            Some(of(&format!("[{part}]")))
        );
        assert_eq!(restored(&of(&format!(r#""a {text}""#))), None);
        let changed = placeholder().part(&[7; 4999]).unwrap_err();
        assert_eq!(changed.kind, ErrorKind::Data);
    }
}
