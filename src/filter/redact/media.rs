//! Images, audio and files in a session.

use super::kind::Kind;

/// Members that hold Base64 of a file, beside its type.
const DATA: [&str; 5] = ["data", "base64", "file_data", "bytes", "b64_json"];

/// Shorter Base64 is not a file.
const LEAST: usize = 64;

/// Types of parts that a text part can replace.
const PARTS: [&str; 9] = [
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "file",
    "input_file",
    "document",
    "video_url",
];

/// How Base64 of well-known files begins.
const BEGINNINGS: [(&str, Kind); 7] = [
    ("iVBORw0KGgo", "image"),
    ("/9j/", "image"),
    ("R0lGOD", "image"),
    ("UklGR", "image"),
    ("SUQz", "audio"),
    ("T2dnUw", "audio"),
    ("ZkxhQw", "audio"),
];

/// The kind of a string that is a file: a `data:` URL with Base64, or Base64 in a member for it.
pub fn kind(raw: &str, name: Option<&str>) -> Option<Kind> {
    if let Some(rest) = raw.strip_prefix("data:") {
        let (about, _) = rest.split_once(',').filter(|(about, _)| about.len() < 128)?;
        return about.ends_with(";base64").then(|| of_type(about));
    }
    let is_data = name.is_some_and(|name| DATA.contains(&name)) && raw.len() >= LEAST;
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=\\".contains(&byte);
    if !is_data || !raw.bytes().all(is_digit) {
        return None;
    }
    let known = BEGINNINGS.iter().find(|(begins, _)| raw.starts_with(begins));
    Some(known.map_or("file", |(_, kind)| kind))
}

fn of_type(about: &str) -> Kind {
    match about.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        _ => "file",
    }
}

/// The text part that replaces a part of this type. None where only the string in it is replaced: the type is unknown, or
/// the part has an id, by which others refer to it.
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
