//! Imitates Penguin's image limit: replaces all images of a message, oldest message first, until few enough are left.

use super::choice::Precedence;
use super::history::CompatHistory;
use crate::model::json::{self, ObjectBuilder, wrapped};
use crate::model::key;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// The text that replaces an image.
const PLACEHOLDER: &str = "[Image removed to save tokens]";

/// The messages whose images are replaced, with their new lines.
pub(super) fn replaced(
    history: &CompatHistory<'_>,
    oldest: &[usize],
    most: usize,
    rules: Precedence,
) -> Vec<(usize, Vec<u8>)> {
    let images = |at: usize| parts(history, at).iter().filter(|part| is_image(part)).count();
    let with: Vec<(usize, usize)> = oldest
        .iter()
        .map(|at| (*at, images(*at)))
        .filter(|(_, images)| *images > 0)
        .collect();
    let mut left: usize = with.iter().map(|(_, images)| images).sum();
    let mut lines = Vec::new();
    for (at, images) in with {
        if left <= most {
            break;
        }
        left -= images;
        lines.extend(without_images(history, at, rules).map(|line| (at, line)));
    }
    lines
}

fn parts<'h>(history: &'h CompatHistory<'_>, at: usize) -> Vec<&'h [u8]> {
    json::items(history.message(at).and_then(|message| message.content))
}

fn is_image(part: &[u8]) -> bool {
    let kind = json::member_text(part, "type");
    matches!(kind.as_deref(), Some("image" | "image_url")) || json::member(part, "image_path").is_some()
}

fn without_images(history: &CompatHistory<'_>, at: usize, rules: Precedence) -> Option<Vec<u8>> {
    let part = |raw: &&[u8]| {
        if is_image(raw) {
            placeholder(raw, rules)
        } else {
            raw.to_vec()
        }
    };
    let parts: Vec<Vec<u8>> = parts(history, at).iter().map(part).collect();
    let content = [b"[", parts.join(&b","[..]).as_slice(), b"]"].concat();
    let metadata = history.message(at)?.metadata;
    let metadata = with_nested(metadata, &["penguin", "metadata", "image_replaced"])?;
    let changes = [
        ("content", Some(content.as_slice())),
        ("metadata", Some(&metadata)),
        ("tokens", None),
    ];
    json::with_members(history.body(at), &changes).ok()
}

fn placeholder(part: &[u8], rules: Precedence) -> Vec<u8> {
    let mut text = ObjectBuilder::default();
    text.text("type", "text").text("text", PLACEHOLDER);
    let given = |name| json::member(part, name).filter(|raw| !matches!(*raw, b"null" | br#""""# | b"{}"));
    if let Some(reference) = given("image_url").or_else(|| given("image_path")) {
        let url = json::text(reference).or_else(|| json::member_text(reference, "url"));
        let inline = url.filter(|url| rules == Precedence::Convo && url.starts_with("data:"));
        let reference = match inline {
            // The log keeps the image; storing its bytes here would save nothing.
            Some(url) => {
                Cow::Owned(format!("\"sha256:{}\"", key::hex(&Sha256::digest(url.as_bytes()))).into_bytes())
            }
            None => Cow::Borrowed(reference),
        };
        text.raw("metadata", wrapped("original_image_reference", reference));
    }
    text.finish()
}

/// Returns the object with the member at this path set to true, creating missing objects.
fn with_nested(object: Option<&[u8]>, path: &[&str]) -> Option<Vec<u8>> {
    let [name, rest @ ..] = path else {
        return Some(b"true".to_vec());
    };
    let object = object.filter(|raw| raw.first() == Some(&b'{')).unwrap_or(b"{}");
    let value = with_nested(json::member(object, name), rest)?;
    json::with_members(object, &[(name, Some(&value))]).ok()
}
