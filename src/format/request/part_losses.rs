//! Counts parts of messages that a format cannot represent.

use super::media::RequestMedia;
use crate::format::report::{Loss, Report};
use crate::model::json;
use crate::model::message::{Message, Role};

/// Counts lost reasoning and its signature.
pub fn reasoning(part: &[u8], report: &mut Report) {
    report.count_loss(Loss::Reasoning, 1);
    signature(part, report);
}

/// Counts lost reasoning of a message, and the lost name of its sender.
pub fn reasoning_and_name(message: &Message<'_>, report: &mut Report) {
    for part in json::items(message.reasoning) {
        reasoning(part, report);
    }
    let is_named = message.name.is_some() && message.role() != Role::Tool;
    report.count_loss(Loss::Name, u64::from(is_named));
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
