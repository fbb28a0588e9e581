//! Long results lose their middle.

use super::super::piece::Level;
use super::super::shorten::{Limit, shorten};
use super::super::work::Work;
use super::Enough;
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Message, Part};

/// Shortens results that are over the limit.
pub fn run(work: &mut Work<'_>, limit: Limit, enough: Enough<'_>) {
    for at in work.results() {
        if enough(work) {
            return;
        }
        one(work, at, limit);
    }
}

/// Shortens one result.
pub fn one(work: &mut Work<'_>, at: usize, limit: Limit) -> bool {
    let content = work.message(at).and_then(|message| content(&message, limit));
    content.is_some_and(|content| work.edit(at, &[("content", Some(&content))], Level::HeadTail, "head+tail"))
}

/// The content with its texts shortened; none when all are within the limit.
pub fn content(message: &Message<'_>, limit: Limit) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if let Some(text) = message.content.and_then(json::text) {
        json::push_text(&mut out, &shorten(&text, limit)?);
        return Some(out);
    }
    let mut changed = false;
    for part in message.parts() {
        out.push(if out.is_empty() { b'[' } else { b',' });
        match part {
            Part::Text(text) => {
                let short = shorten(&text, limit);
                changed |= short.is_some();
                let mut part = ObjectBuilder::default();
                part.text("type", "text")
                    .text("text", short.as_deref().unwrap_or(&text));
                out.extend_from_slice(&part.finish());
            }
            Part::Other(_, raw) => out.extend_from_slice(raw),
        }
    }
    out.push(b']');
    changed.then_some(out)
}
