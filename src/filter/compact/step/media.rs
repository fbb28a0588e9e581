//! Replaces images, sounds and files with placeholders.

use super::super::options::Media;
use super::super::placeholders;
use super::super::state::{AtomLevel, CompactionState};
use super::EnoughFn;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::{Category, Role};

/// Types of media parts in the supported APIs.
const KINDS: [&str; 10] = [
    "image_url", "input_image", "image", "input_audio", "audio", "input_file", "file", "document", "video",
    "media",
];

/// Replaces the media of all messages, or of all but the newest user message.
pub fn run(work: &mut CompactionState<'_>, media: Media, enough: EnoughFn<'_>) {
    let spared = match media {
        Media::Keep => return,
        Media::KeepLast => newest_user(work),
        Media::Drop => None,
    };
    for at in 0..work.items.len() {
        if Some(at) == spared || !work.items[at].has_parts || !work.may_change(at) {
            continue;
        }
        if enough(work) {
            return;
        }
        if let Some(content) = marked(work, at) {
            work.edit(at, &[("content", Some(&content))], AtomLevel::Masked, "media");
        }
    }
}

/// The newest user message, without context messages.
pub fn newest_user(work: &CompactionState<'_>) -> Option<usize> {
    work.items.iter().rposition(|entry| {
        entry
            .traits
            .is_some_and(|traits| traits.role == Role::User && traits.category != Category::Context)
    })
}

/// The content with placeholders for its media; none if there are no media.
fn marked(work: &CompactionState<'_>, at: usize) -> Option<Vec<u8>> {
    let message = work.message(at)?;
    let parts = message
        .content
        .and_then(|raw| json::elements(raw, Dialect::Strict))?;
    let mut changed = false;
    let mut out = vec![b'['];
    for part in parts {
        if out.len() > 1 {
            out.push(b',');
        }
        let kind = json::member_text(part, "type").unwrap_or_default();
        if !KINDS.contains(&kind.as_ref()) {
            out.extend_from_slice(part);
            continue;
        }
        changed = true;
        let mut text = ObjectBuilder::default();
        text.text("type", "text")
            .text("text", &placeholders::media(&kind, part, &work.id(at)));
        out.extend_from_slice(&text.finish());
    }
    out.push(b']');
    changed.then_some(out)
}
