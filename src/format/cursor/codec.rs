//! Implements the kit's codec for transcripts; each message is an element.

use super::pairs::{self, CallPairs, message};
use crate::format::kit::{Codec, Decoded, DocumentLayout, Draft, Editor, Writer};
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::{Format, blocks, content};
use crate::model::json::{self, ObjectBuilder};
use std::collections::HashMap;

pub struct CursorTranscript;

impl Codec for CursorTranscript {
    const FORMAT: Format = Format::Cursor;
    const NAME: &'static str = "cursor";
    const PHRASE: &'static str = "a Cursor transcript";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const IDS: bool = false;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "source"];
    type ElementOutline = HashMap<usize, CallPairs>;

    fn outline(&self, lines: &[Vec<u8>]) -> HashMap<usize, CallPairs> {
        pairs::pairs(lines)
    }

    fn decode(&self, pairs: &HashMap<usize, CallPairs>, nth: usize, raw: &[u8]) -> Decoded {
        let is_message = json::member(raw, "role").is_some() || json::member(raw, "message").is_some();
        match message(raw, pairs.get(&nth)) {
            Some(message) => Decoded::Messages(drafts(&message)),
            None if is_message => Decoded::Unrecognized,
            None => Decoded::Passthrough,
        }
    }

    fn fault(&self, raw: &[u8]) -> Option<String> {
        content::unknown_parts(json::member(json::member(raw, "message")?, "content")?)
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        element(messages, false, report)
    }
}

impl Editor for CursorTranscript {
    type EditContext = ();
    const REPRESENTED_METADATA: &'static [&'static str] = &[Self::NAME, "is_error", Api::Anthropic.name()];

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        element(messages, true, out.report)
    }
}

fn drafts(message: &[u8]) -> Vec<Draft> {
    let mut drafts = blocks::drafts(message);
    for draft in &mut drafts {
        let is_context = |content| blocks::is_within(content, "user_info");
        if draft.role() == "user" && draft.get("content").is_some_and(is_context) {
            draft.set("category", "\"context\"");
        }
    }
    drafts.into_iter().map(Draft::from).collect()
}

/// Encodes messages as a line.
fn element(messages: &[AnnotatedMessage<'_>], is_new: bool, report: &mut Report) -> Option<Vec<u8>> {
    let bodies: Vec<_> = messages.iter().map(blocks::with_known_role).collect();
    let built = blocks::encoded(&bodies, is_new, report);
    let built = built.first()?;
    let mut message = ObjectBuilder::default();
    message.raw("content", json::member(built, "content").unwrap_or(b"\"\""));
    let mut element = ObjectBuilder::default();
    element
        .raw("role", json::member(built, "role").unwrap_or(b"\"user\""))
        .raw("message", message.finish());
    Some(element.finish())
}
