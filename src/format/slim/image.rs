//! Extracts images from the messages of a line, in the encodings of all formats, and replaces each by a text with a
//! file name.

use super::placeholder::Placeholder;
use crate::error::Result;
use crate::format::base64;
use crate::model::json::{self, ArrayElements, Dialect, JsonError, Members, ObjectBuilder};

/// Name in the table of kinds.
pub const NAME: &str = "image";

/// What is lost without them.
pub const LOSS: &str = "images; files keep them";

/// Minimum size of images to extract, in bytes.
const MINIMUM: usize = 4096;

/// Members that are not content: arguments of calls, and data for a user interface.
const OTHER_MEMBERS: [&[u8]; 4] = [b"input", b"args", b"arguments", b"toolUseResult"];

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its media type.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Stores an image before it is removed.
pub type StoreImage<'k> = &'k mut dyn FnMut(&Image) -> Result<()>;

/// The line without its images, which are passed to `keep`; `None` if it has none.
///
/// # Errors
/// Those of `keep`.
pub fn without(line: &[u8], keep: StoreImage<'_>) -> Result<Option<Vec<u8>>> {
    // Most lines are too short, or contain no data.
    if line.len() < MINIMUM || !has_hint(line) {
        return Ok(None);
    }
    let mut found = Vec::new();
    if find(line, line, &mut found).is_err() || found.is_empty() {
        return Ok(None);
    }
    let mut changed = Vec::with_capacity(line.len());
    let mut done = 0;
    for FoundImage {
        start,
        end,
        image,
        shape,
    } in found
    {
        keep(&image)?;
        changed.extend_from_slice(&line[done..start]);
        changed.extend_from_slice(&shape.part(&Placeholder::of(&image.media_type, &image.bytes).text()));
        done = end;
    }
    changed.extend_from_slice(&line[done..]);
    Ok(Some(changed))
}

fn has_hint(line: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
    has(b"base64") || has(b"inlineData") || has(b"mimeType")
}

/// The encoding of text in an API.
#[derive(Clone, Copy)]
enum ImageEncoding {
    /// `{"type": NAME, "text": ...}`.
    Typed(&'static str),
    /// `{"text": ...}`.
    Plain,
}

impl ImageEncoding {
    fn part(self, text: &str) -> Vec<u8> {
        let mut part = ObjectBuilder::default();
        if let ImageEncoding::Typed(name) = self {
            part.text("type", name);
        }
        part.text("text", text);
        part.finish()
    }
}

/// An image with its position in the line.
struct FoundImage {
    start: usize,
    end: usize,
    image: Image,
    shape: ImageEncoding,
}

/// Finds the images among the array elements in a value.
fn find(line: &[u8], value: &[u8], found: &mut Vec<FoundImage>) -> std::result::Result<(), JsonError> {
    match value.first() {
        Some(b'{') => {
            let mut members = Members::new(value, Dialect::Python)?;
            while let Some(member) = members.next()? {
                if !OTHER_MEMBERS.contains(&member.key) {
                    find(line, member.value, found)?;
                }
            }
        }
        Some(b'[') => {
            let mut elements = ArrayElements::new(value, Dialect::Python)?;
            while let Some((_, element)) = elements.next()? {
                match image(element) {
                    Some((image, shape)) => {
                        let start = element.as_ptr().addr() - line.as_ptr().addr();
                        found.push(FoundImage {
                            start,
                            end: start + element.len(),
                            image,
                            shape,
                        });
                    }
                    None => find(line, element, found)?,
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Decodes an element that is an image: a block of Anthropic or pi, an item of OpenAI, a part of Gemini.
fn image(element: &[u8]) -> Option<(Image, ImageEncoding)> {
    if element.first() != Some(&b'{') || element.len() < MINIMUM {
        return None;
    }
    let member = |name| json::member(element, name);
    if let Some(inline) = member("inlineData") {
        let image = decoded(json::member(inline, "mimeType")?, json::member(inline, "data")?)?;
        return Some((image, ImageEncoding::Plain));
    }
    match json::member_text(element, "type")?.as_ref() {
        "image" => {
            let image = match member("source") {
                Some(source) => decoded(json::member(source, "media_type")?, json::member(source, "data")?)?,
                None => decoded(member("mimeType")?, member("data")?)?,
            };
            Some((image, ImageEncoding::Typed("text")))
        }
        "input_image" => {
            let address = json::text(member("image_url")?)?;
            let (media_type, data) = address.strip_prefix("data:")?.split_once(";base64,")?;
            Some((Image::of(media_type, data)?, ImageEncoding::Typed("input_text")))
        }
        _ => None,
    }
}

fn decoded(media_type: &[u8], data: &[u8]) -> Option<Image> {
    Image::of(&json::text(media_type)?, &json::text(data)?)
}

impl Image {
    /// An image from Base64 data; `None` if it is small or invalid.
    fn of(media_type: &str, data: &str) -> Option<Image> {
        let (_, bytes) = base64::decode(data.as_bytes())?;
        (media_type.starts_with("image/") && bytes.len() >= MINIMUM).then(|| Image {
            media_type: media_type.to_string(),
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::key;

    fn data(byte: u8) -> String {
        let style = base64::decode(b"AAAA").unwrap().0;
        String::from_utf8(base64::encode(&[byte; 5000], &style)).unwrap()
    }

    #[test]
    fn images_of_every_api_become_text_and_nothing_else_changes() {
        let (one, two) = (data(1), data(2));
        let name = |byte: u8| key::sha256(&[byte; 5000]);
        for (line, expected) in [
            (
                format!(
                    r#"{{"message":{{"content":[{{"type":"text","text":"a"}}, {{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{one}"}}}} ,{{"type":"tool_result","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/jpeg","data":"{two}"}}}}]}}]}},"x":1.0}}"#
                ),
                format!(
                    r#"{{"message":{{"content":[{{"type":"text","text":"a"}}, {{"type":"text","text":"[image: {}.png, image/png, 5000 bytes]"}} ,{{"type":"tool_result","content":[{{"type":"text","text":"[image: {}.jpg, image/jpeg, 5000 bytes]"}}]}}]}},"x":1.0}}"#,
                    name(1),
                    name(2)
                ),
            ),
            (
                format!(
                    r#"{{"payload":{{"content":[{{"type":"input_image","image_url":"data:image/gif;base64,{one}"}}]}}}}"#
                ),
                format!(
                    r#"{{"payload":{{"content":[{{"type":"input_text","text":"[image: {}.gif, image/gif, 5000 bytes]"}}]}}}}"#,
                    name(1)
                ),
            ),
            (
                format!(r#"{{"content":[{{"inlineData":{{"mimeType":"image/webp","data":"{one}"}}}}]}}"#),
                format!(
                    r#"{{"content":[{{"text":"[image: {}.webp, image/webp, 5000 bytes]"}}]}}"#,
                    name(1)
                ),
            ),
            (
                format!(
                    r#"{{"message":{{"content":[{{"type":"image","data":"{one}","mimeType":"image/x-y"}}]}}}}"#
                ),
                format!(
                    r#"{{"message":{{"content":[{{"type":"text","text":"[image: {}.bin, image/x-y, 5000 bytes]"}}]}}}}"#,
                    name(1)
                ),
            ),
        ] {
            let mut kept = Vec::new();
            let changed = without(line.as_bytes(), &mut |image| {
                kept.push(image.bytes[0]);
                Ok(())
            });
            let changed = changed.unwrap().unwrap();
            assert_eq!(String::from_utf8(changed.clone()).unwrap(), expected);
            assert!(kept == [1] || kept == [1, 2], "{kept:?}");
            assert_eq!(without(&changed, &mut |_| panic!("twice")).unwrap(), None);
        }
    }

    #[test]
    fn images_outside_of_content_are_not_replaced() {
        let one = data(1);
        let block = format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{one}"}}}}"#
        );
        for line in [
            format!(r#"{{"content":[{{"type":"tool_use","input":{{"files":[{block}]}}}}]}}"#),
            format!(r#"{{"toolUseResult":[{block}]}}"#),
            format!(r#"{{"content":{block}}}"#),
            format!(
                r#"{{"content":[{}]}}"#,
                block.replace("image/png", "application/pdf")
            ),
            format!(
                r#"{{"content":[{}]}}"#,
                block.replace(&one, &format!("not base64 {}", "é".repeat(3000)))
            ),
            format!(r#"{{"content":[{block}"#),
        ] {
            assert_eq!(without(line.as_bytes(), &mut |_| panic!("{line}")).unwrap(), None);
        }
    }
}
