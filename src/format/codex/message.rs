//! Converts items to messages, annotated so that their lines can be restored.

use super::line::{CodexLine, CodexLineKind};
use super::steps;
use crate::format::object::is_time;
use crate::format::request::draft::AnnotatedDraft;
use crate::format::request::interface::Decoder;
use crate::format::request::{self, Api, request_part};
use crate::model::json::{self, ObjectBuilder, array};

/// The message of these items.
pub fn of_items(items: &[&[u8]], decoder: &mut dyn Decoder) -> AnnotatedDraft {
    let (mut drafts, _) = request::unit(Api::OpenaiResponses, items, decoder);
    let mut draft = match drafts.len() {
        1 => drafts.remove(0),
        _ => request::draft::raw_draft(items.first().copied().unwrap_or(b"{}")),
    };
    let context = |item: &[u8]| json::member(item, "role") == Some(b"\"user\"") && steps::is_context(item);
    if items.first().is_some_and(|item| context(item)) {
        draft.raw("category", b"\"context\"".as_slice());
    }
    draft
}

/// The message of a display event.
pub fn of_event(event: &[u8]) -> AnnotatedDraft {
    AnnotatedDraft::with_content("user", json::member(event, "message").unwrap_or(b"\"\""))
}

/// The time of a message: that of its first line.
pub fn timestamp<'a>(line: &CodexLine<'a>) -> Option<&'a [u8]> {
    line.timestamp().filter(|raw| is_time(raw))
}

/// The annotation for the lines of a message; `between` is the number of other lines between two of them.
pub fn note(lines: &[&CodexLine<'_>], between: impl Fn(usize) -> usize) -> Option<Vec<u8>> {
    let mut own = ObjectBuilder::default();
    let time = lines.first().and_then(|line| timestamp(line));
    let notes = lines.iter().enumerate().map(|(nth, line)| {
        let mut note = ObjectBuilder::default();
        note.optional("envelope", line.unusual_envelope(time));
        let skipped = if nth == 0 { 0 } else { between(nth) };
        note.optional("behind", (skipped > 0).then(|| skipped.to_string()));
        note.finish()
    });
    let notes: Vec<Vec<u8>> = notes.collect();
    if notes.iter().any(|note| note != b"{}") {
        own.raw("lines", array(notes));
    }
    if let [line] = lines
        && let CodexLineKind::Event(_, payload) = &line.kind
    {
        let rest = request_part::extra_object(payload, &["type", "message"]);
        own.raw("event", rest.unwrap_or_else(|| b"{}".to_vec()));
    }
    (!own.is_empty()).then(|| own.finish())
}
