//! Converts a message of an export to native messages.

use super::NAME;
use super::block::{self, BlockMessage};
use crate::error::Position;
use crate::format::content;
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::time;

/// Members of a message that are converted.
const MESSAGE: [&str; 5] = ["sender", "text", "content", "attachments", "created_at"];

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
    let known = block::are_known(&blocks);
    let mut pieces = match known {
        true => block::block_messages(&blocks, uuid.as_deref().unwrap_or_default()),
        false => vec![BlockMessage::of_text(message.string("text").unwrap_or(b"\"\""))],
    };
    let text = message.string("text").filter(|text| *text != b"\"\"");
    if !known && text.is_none() {
        let unknown = content::unknown_parts(message.get("content").unwrap_or_default());
        let missing = || {
            (message.get("text").is_none() && message.get("content").is_none())
                .then(|| "message without content".to_string())
        };
        if let Some(fault) = unknown.or_else(missing) {
            report.damage(place, fault);
        }
    }
    let attachments = message.list("attachments").unwrap_or_default();
    let attachments: Vec<Object<'_>> = attachments.into_iter().filter_map(Object::of).collect();
    let texts = attachments
        .iter()
        .filter_map(|file| file.string("extracted_content"));
    for text in texts {
        match pieces.iter_mut().find(|piece| !piece.is_result) {
            Some(piece) => piece.append(text),
            None => pieces.push(BlockMessage::of_text(text)),
        }
    }
    let without = attachments
        .iter()
        .filter(|file| file.string("extracted_content").is_none());
    let files = message.list("files").map_or(0, |files| files.len());
    report.count_loss(Loss::Attachment, (without.count() + files) as u64);
    let time = moment(message, "created_at", place, report);
    let mut extra = ObjectBuilder::default();
    let mut names = MESSAGE.to_vec();
    names.truncate(if time.is_some() { 5 } else { 4 });
    names.extend(uuid.as_ref().map(|_| "uuid"));
    extra.optional("message", message.extra_members(&names));
    if !known && !blocks.is_empty() {
        extra.optional("content", message.get("content"));
    }
    let files = attachments
        .iter()
        .map(|file| file.extra_members(&["extracted_content"]));
    let files: Vec<_> = files
        .map(|file| file.unwrap_or_else(|| b"null".to_vec()))
        .collect();
    extra.list("attachments", &files);
    let mut extra = Some(extra.finish());
    let mut last = None;
    let mut bodies = Vec::new();
    for piece in pieces {
        let (mut draft, mut own) = piece.draft(role);
        let first = extra.take();
        for (name, value) in first
            .as_deref()
            .and_then(Object::of)
            .unwrap_or_default()
            .members()
        {
            own.raw(name, value);
        }
        if let Some(uuid) = &uuid {
            let id = match bodies.len() {
                0 => uuid.to_string(),
                before => format!("{uuid}#{}", before + 1),
            };
            draft.raw("id", quoted(&id));
            last = Some(id);
        }
        if let Some(time) = &time {
            draft.raw("timestamp", quoted(time));
        }
        draft.metadata(NAME, (!own.is_empty()).then(|| own.finish()));
        bodies.push(draft.body(Api::OpenaiChat));
    }
    Some((bodies, last))
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

/// Whether a member is a list.
pub fn is_list(object: &Object<'_>, name: &str) -> bool {
    let list = object.get(name);
    list.is_some_and(|raw| json::elements(raw, Dialect::Strict).is_some())
}
