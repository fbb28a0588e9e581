//! Access to the blocks of a message under repair.

use crate::check::history::History;
use crate::check::raw::{elements, set, text_part};
use crate::model::json::{self, array};
use std::borrow::Cow;

/// The API.
pub(in crate::check) struct AnthropicRules;

/// The messages of a history.
pub(super) type AnthropicHistory<'a, 'o> = History<'a, 'o, AnthropicRules>;

/// The blocks of a message; string content is one block.
pub(super) fn blocks(raw: &[u8]) -> Vec<Cow<'_, [u8]>> {
    match json::member(raw, "content") {
        Some(b"\"\"") | None => Vec::new(),
        Some(text) if text.starts_with(b"\"") => vec![Cow::Owned(text_part("text", text))],
        Some(list) => elements(list).into_iter().map(Cow::Borrowed).collect(),
    }
}

/// Replaces the blocks of a message; removes the message if there are none.
pub(super) fn with_blocks<T: AsRef<[u8]>>(
    history: &mut AnthropicHistory<'_, '_>,
    index: usize,
    blocks: Vec<T>,
) {
    if blocks.is_empty() {
        history.remove(index);
        return;
    }
    let raw = set(&history.pieces[index].raw, &[("content", Some(&array(blocks)))]);
    history.replace(index, raw);
}
