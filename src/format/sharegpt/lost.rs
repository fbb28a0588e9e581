//! What is lost of a message in a record.

use crate::format::report::{Loss, Report};
use crate::model::json;

/// What is lost with a part of content of this kind.
pub fn part(kind: &str) -> Loss {
    match kind {
        "image_url" | "input_audio" | "file" | "image" | "document" => Loss::Attachment,
        _ => Loss::Part,
    }
}

/// Tells of the signature that a part of reasoning has.
pub fn reasoning(part: &[u8], report: &mut Report) {
    let signed = ["signature", "encrypted_content", "data"];
    let signed = signed.iter().any(|name| json::member(part, name).is_some());
    report.lose(Loss::Signature, u64::from(signed));
}
