//! Recognizes images, audio and files in a session.

use super::kind::SecretKind;

/// Members that contain a Base64 file next to its type.
const DATA: [&str; 5] = ["data", "base64", "file_data", "bytes", "b64_json"];

/// Minimum length of Base64 that counts as a file.
const MINIMUM: usize = 64;

/// Types of parts that a text part can replace.
const PARTS: [&str; 9] = [
    "image", "image_url", "input_image", "audio", "input_audio", "file", "input_file", "document",
    "video_url",
];

/// Base64 prefixes of common file types.
const BEGINNINGS: [(&str, SecretKind); 7] = [
    ("iVBORw0KGgo", "image"),
    ("/9j/", "image"),
    ("R0lGOD", "image"),
    ("UklGR", "image"),
    ("SUQz", "audio"),
    ("T2dnUw", "audio"),
    ("ZkxhQw", "audio"),
];

/// The kind of media in a string: a Base64 `data:` URL, or Base64 in a member for media.
pub fn kind(raw: &str, name: Option<&str>) -> Option<SecretKind> {
    if let Some(rest) = raw.strip_prefix("data:") {
        let (about, _) = rest.split_once(',').filter(|(about, _)| about.len() < 128)?;
        return about.ends_with(";base64").then(|| of_type(about));
    }
    let is_data = name.is_some_and(|name| DATA.contains(&name)) && raw.len() >= MINIMUM;
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=\\".contains(&byte);
    if !is_data || !raw.bytes().all(is_digit) {
        return None;
    }
    let known = BEGINNINGS.iter().find(|(begins, _)| raw.starts_with(begins));
    Some(known.map_or("file", |(_, kind)| kind))
}

fn of_type(about: &str) -> SecretKind {
    match about.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        _ => "file",
    }
}

/// The text part that replaces a part of this type. None if only the string inside it is replaced, because the type
/// is unknown or other parts refer to the part's id.
pub fn text_part(kind: Option<&str>, has_id: bool, is_inline: bool, mark: &str) -> Option<String> {
    let part = match kind {
        None if is_inline => serde_json::json!({"text": mark}),
        Some(kind) if !has_id && PARTS.contains(&kind) => {
            let name = if matches!(kind, "input_image" | "input_file") {
                "input_text"
            } else {
                "text"
            };
            return Some(format!(
                "{{\"type\":\"{name}\",\"text\":{}}}",
                serde_json::json!(mark)
            ));
        }
        _ => return None,
    };
    Some(part.to_string())
}
