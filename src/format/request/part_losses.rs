//! Counts parts of messages that a format cannot represent.

use super::media::RequestMedia;
use crate::format::report::{Loss, Report};
use crate::model::json;

/// Counts lost reasoning and its signature.
pub fn reasoning(part: &[u8], report: &mut Report) {
    report.count_loss(Loss::Reasoning, 1);
    signature(part, report);
}

/// Counts the lost signature of reasoning, if it has one.
pub fn signature(part: &[u8], report: &mut Report) {
    let names = ["signature", "encrypted_content", "thoughtSignature", "data"];
    let is_signed = names.iter().any(|name| json::member(part, name).is_some());
    report.count_loss(Loss::Signature, u64::from(is_signed));
}

/// Counts a lost part of the content: an attachment, or another part.
pub fn content(part: &[u8], report: &mut Report) {
    let is_media = RequestMedia::of(part).is_some();
    report.count_loss(if is_media { Loss::Attachment } else { Loss::Part }, 1);
}
