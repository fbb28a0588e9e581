//! Splits the blocks of a message into several messages, at each tool result.

use crate::format::object::Object;
use crate::format::request::contents;
use crate::format::request::draft::{self, AnnotatedDraft, MemberSlot};
use crate::model::json::{self, ObjectBuilder, quoted};
use std::collections::VecDeque;

/// Known types of blocks.
const KNOWN: [&str; 5] = ["text", "thinking", "tool_use", "tool_result", "voice_note"];

/// A native message built from blocks.
#[derive(Default)]
pub struct BlockMessage<'a> {
    /// Whether it is a tool result.
    pub is_result: bool,
    /// Members that only a result has.
    result: Vec<(&'static str, Vec<u8>)>,
    is_error: bool,
    reasoning: Vec<Vec<u8>>,
    /// Texts as JSON strings, and other parts.
    parts: Vec<&'a [u8]>,
    calls: Vec<Vec<u8>>,
    order: Vec<MemberSlot>,
    notes: Vec<Option<Vec<u8>>>,
}

/// Whether any of the blocks has a known type.
pub fn are_known(blocks: &[&[u8]]) -> bool {
    let mut kinds = blocks.iter().filter_map(|block| json::member_text(block, "type"));
    kinds.any(|kind| KNOWN.contains(&kind.as_ref()))
}

/// The messages of a list of blocks; calls without an id get one derived from the message id.
pub fn block_messages<'a>(blocks: &[&'a [u8]], uuid: &str) -> Vec<BlockMessage<'a>> {
    let mut messages = Vec::new();
    let mut message = BlockMessage::default();
    let mut open: VecDeque<Vec<u8>> = VecDeque::new();
    let mut calls = 0;
    for &raw in blocks {
        let block = Object::of(raw).unwrap_or_default();
        let id = |name| block.string(name).filter(|id| *id != b"\"\"").map(<[u8]>::to_vec);
        match block.text("type").as_deref() {
            Some("thinking") => message.add_reasoning(&block),
            Some("tool_use") => {
                calls += 1;
                let id = id("id").unwrap_or_else(|| quoted(&format!("{uuid}:{calls}")));
                message.add_call(&block, &id);
                open.push_back(id);
            }
            Some("tool_result") => {
                if !message.order.is_empty() {
                    messages.push(std::mem::take(&mut message));
                }
                let id = id("tool_use_id").inspect(|id| open.retain(|open| open != id));
                messages.push(result(&block, id.or_else(|| open.pop_front())));
            }
            kind => {
                let is_known = kind.is_some_and(|kind| KNOWN.contains(&kind));
                let text = text(&block).filter(|_| is_known);
                let (part, note) = text.unwrap_or((raw, None));
                message.parts.push(part);
                message.add(MemberSlot::Content, note);
            }
        }
    }
    if !message.order.is_empty() {
        messages.push(message);
    }
    messages
}

/// The text of a block, and its other members, which include its type unless that is `text`.
fn text<'a>(block: &Object<'a>) -> Option<(&'a [u8], Option<Vec<u8>>)> {
    let is_plain = block.text("type").is_some_and(|kind| kind == "text");
    let known = if is_plain {
        &["text", "type"][..]
    } else {
        &["text"]
    };
    Some((block.string("text")?, block.extra_members(known)))
}

/// A tool result.
fn result<'a>(block: &Object<'a>, id: Option<Vec<u8>>) -> BlockMessage<'a> {
    let mut message = BlockMessage {
        is_result: true,
        is_error: block.get("is_error") == Some(b"true"),
        ..BlockMessage::default()
    };
    let name = block.string("name").map(<[u8]>::to_vec);
    message.result.extend(id.map(|id| ("tool_call_id", id)));
    message.result.extend(name.map(|name| ("name", name)));
    let mut note = ObjectBuilder::default();
    block.add_extra_members(&mut note, &["type", "name", "content", "tool_use_id", "is_error"]);
    match block.list("content") {
        Some(elements) => {
            let parts = elements.into_iter().map(|element| {
                let text = Object::of(element).and_then(|part| text(&part));
                text.unwrap_or((element, None))
            });
            let (parts, notes): (_, Vec<_>) = parts.unzip();
            message.parts = parts;
            note.optional("parts", draft::part_notes(&notes));
        }
        None => message
            .parts
            .extend(block.get("content").filter(|raw| *raw != b"null")),
    }
    message.notes.push((!note.is_empty()).then(|| note.finish()));
    message
}

impl<'a> BlockMessage<'a> {
    /// From a single text.
    pub fn of_text(text: &'a [u8]) -> BlockMessage<'a> {
        BlockMessage {
            parts: vec![text],
            ..BlockMessage::default()
        }
    }

    fn add(&mut self, slot: MemberSlot, note: Option<Vec<u8>>) {
        self.order.push(slot);
        self.notes.push(note);
    }

    fn add_reasoning(&mut self, block: &Object<'_>) {
        let mut part = ObjectBuilder::default();
        part.text("type", "thinking")
            .raw("text", block.string("thinking").unwrap_or(b"\"\""));
        self.reasoning.push(part.finish());
        self.add(MemberSlot::Reasoning, block.extra_members(&["type", "thinking"]));
    }

    fn add_call(&mut self, block: &Object<'_>, id: &[u8]) {
        let input = block.get("input").filter(|raw| *raw != b"null").unwrap_or(b"{}");
        let arguments = quoted(&String::from_utf8_lossy(input));
        let name = block.string("name").unwrap_or(b"\"\"");
        self.calls.push(draft::call(id, name, &arguments));
        let known = ["type", "id", "name", "input"];
        self.add(MemberSlot::Call, block.extra_members(&known));
    }

    /// Appends the text of an attached file.
    pub fn append(&mut self, text: &'a [u8]) {
        // Without other text, an attached file is the message.
        if self.parts == [b"\"\""] {
            self.parts.clear();
        }
        self.parts.push(text);
    }

    /// The message, with the additional members of its blocks.
    pub fn draft(self, role: &str) -> AnnotatedDraft {
        let mut draft = AnnotatedDraft::new(if self.is_result { "tool" } else { role });
        // Reasoning and calls need no content.
        let silent: &[u8] = if self.order.is_empty() { b"\"\"" } else { b"null" };
        draft.raw("content", contents::of_texts(&self.parts, silent));
        for (name, value) in self.result {
            draft.raw(name, value);
        }
        draft
            .list("tool_calls", &self.calls)
            .list("reasoning", &self.reasoning)
            .metadata("is_error", self.is_error.then(|| b"true".to_vec()))
            .note("order", draft::order_note(&self.order))
            .note("blocks", draft::part_notes(&self.notes));
        draft
    }
}
