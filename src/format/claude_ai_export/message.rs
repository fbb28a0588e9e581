//! Converts a message of an export to native messages.

use super::block::{self, BlockMessage};
use crate::error::Position;
use crate::format::content;
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::model::json::{array, quoted};
use crate::model::time;

/// The name of the format, and of its annotations.
pub const NAME: &str = "claude-ai-export";

/// The native messages, and the id of the last; `None` if the value has no sender.
pub fn records(
    message: &Object<'_>,
    place: Position,
    report: &mut Report,
) -> Option<(Vec<Vec<u8>>, Option<String>)> {
    let sender = message.filled("sender")?;
    let role = if sender == "human" { "user" } else { &sender };
    let uuid = message.filled("uuid");
    let blocks = message.list("content").unwrap_or_default();
    let is_known = block::are_known(&blocks);
    let text = message.string("text").unwrap_or(b"\"\"");
    let mut messages = match is_known {
        true => block::block_messages(&blocks, uuid.as_deref().unwrap_or_default()),
        false => vec![BlockMessage::of_text(text)],
    };
    if !is_known
        && text == b"\"\""
        && let Some(fault) = fault(message)
    {
        report.damage(place, fault);
    }
    let attachments = message.list("attachments").unwrap_or_default();
    let attachments: Vec<Object<'_>> = attachments.into_iter().filter_map(Object::of).collect();
    add_files(message, &attachments, &mut messages, report);
    let time = moment(message, "created_at", place, report);
    let mut last = None;
    let mut bodies = Vec::new();
    for message_of_blocks in messages {
        let mut draft = message_of_blocks.draft(role);
        if bodies.is_empty() {
            let mut known = vec!["sender", "text", "content", "attachments"];
            known.extend(time.as_ref().map(|_| "created_at"));
            known.extend(uuid.as_ref().map(|_| "uuid"));
            let unknown = message.get("content").filter(|_| !is_known && !blocks.is_empty());
            let files = attachments.iter().map(|file| {
                let rest = file.extra_members(&["extracted_content"]);
                rest.unwrap_or_else(|| b"null".to_vec())
            });
            draft
                .note("message", message.extra_members(&known))
                .note("content", unknown.map(<[u8]>::to_vec))
                .note("attachments", (!attachments.is_empty()).then(|| array(files)));
        }
        if let Some(uuid) = &uuid {
            let id = match bodies.len() {
                0 => uuid.to_string(),
                before => format!("{uuid}#{}", before + 1),
            };
            draft.raw("id", quoted(&id));
            last = Some(id);
        }
        draft.optional("timestamp", time.as_ref().map(|time| quoted(time)));
        bodies.push(draft.body_of(NAME));
    }
    Some((bodies, last))
}

/// The fault of a message without text and without a known block.
fn fault(message: &Object<'_>) -> Option<String> {
    let content = message.get("content");
    let is_missing = message.get("text").is_none() && content.is_none();
    let missing = is_missing.then(|| "message without content".to_string());
    content.and_then(content::unknown_parts).or(missing)
}

/// Appends the texts of attached files to the first message that is not a result; reports files without text.
fn add_files<'a>(
    message: &Object<'a>,
    attachments: &[Object<'a>],
    messages: &mut Vec<BlockMessage<'a>>,
    report: &mut Report,
) {
    let texts: Vec<&[u8]> = { attachments.iter() }
        .filter_map(|file| file.string("extracted_content"))
        .collect();
    let files = message.list("files").map_or(0, |files| files.len());
    let lost = attachments.len() - texts.len() + files;
    report.count_loss(Loss::Attachment, lost as u64);
    for text in texts {
        match messages.iter_mut().find(|message| !message.is_result) {
            Some(message) => message.append(text),
            None => messages.push(BlockMessage::of_text(text)),
        }
    }
}

/// A time with its digits unchanged; without a zone it is in UTC.
pub fn moment(object: &Object<'_>, name: &str, place: Position, report: &mut Report) -> Option<String> {
    let text = object.text(name)?.into_owned();
    if time::is_rfc3339(&text) {
        return Some(text);
    }
    let zoned = format!("{text}Z");
    time::is_rfc3339(&zoned).then(|| {
        report.note(place, "timestamps without time zone read as UTC");
        zoned
    })
}
