//! Losses of writing messages to a record.

use crate::format::report::{Loss, Report};
use crate::model::json;

/// The loss for a content part of this type.
pub fn part(kind: &str) -> Loss {
    match kind {
        "image_url" | "input_audio" | "file" | "image" | "document" => Loss::Attachment,
        _ => Loss::Part,
    }
}

/// Reports the signature of a reasoning part.
pub fn reasoning(part: &[u8], report: &mut Report) {
    let signed = ["signature", "encrypted_content", "data"];
    let signed = signed.iter().any(|name| json::member(part, name).is_some());
    report.lose(Loss::Signature, u64::from(signed));
}
