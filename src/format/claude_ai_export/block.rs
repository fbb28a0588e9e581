//! Splits the blocks of a message into several messages, at each tool result.

use crate::format::object::Object;
use crate::format::request::draft::{self, AnnotatedDraft, MemberSlot, text_part};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use std::collections::VecDeque;

/// Known types of blocks.
const KNOWN: [&str; 5] = ["text", "thinking", "tool_use", "tool_result", "voice_note"];

/// A native message built from blocks.
#[derive(Default)]
pub struct BlockMessage {
    /// Whether it is a tool result.
    pub is_result: bool,
    /// Members that only a result has.
    result: Vec<(&'static str, Vec<u8>)>,
    is_error: bool,
    reasoning: Vec<Vec<u8>>,
    parts: Vec<BlockPart>,
    calls: Vec<Vec<u8>>,
    order: Vec<MemberSlot>,
    notes: Vec<Vec<u8>>,
}

/// A part of the content.
enum BlockPart {
    /// A text as a JSON string.
    Text(Vec<u8>),
    /// Any other part.
    Other(Vec<u8>),
}

/// Whether the blocks have known types.
pub fn are_known(blocks: &[&[u8]]) -> bool {
    let known = |block: &&[u8]| kind(block).is_some_and(|kind| KNOWN.contains(&kind.as_str()));
    blocks.iter().any(known)
}

fn kind(block: &[u8]) -> Option<String> {
    let kind = json::member_text(block, "type");
    kind.map(|kind| kind.into_owned())
}

/// The messages of a list of blocks; calls without an id get one derived from the message id.
pub fn block_messages(blocks: &[&[u8]], uuid: &str) -> Vec<BlockMessage> {
    let mut pieces = Vec::new();
    let mut message = BlockMessage::default();
    let mut open: VecDeque<Vec<u8>> = VecDeque::new();
    let mut calls = 0;
    for &raw in blocks {
        let block = Object::of(raw).unwrap_or_default();
        match kind(raw).as_deref() {
            Some("thinking") => message.add_reasoning(&block),
            Some("tool_use") => {
                calls += 1;
                let own = block.string("id").filter(|id| *id != b"\"\"");
                let id = own.map_or_else(|| quoted(&format!("{uuid}:{calls}")), <[u8]>::to_vec);
                message.call(&block, &id);
                open.push_back(id);
            }
            Some("tool_result") => {
                if !message.is_empty() {
                    pieces.push(std::mem::take(&mut message));
                }
                let named = block.string("tool_use_id").filter(|id| *id != b"\"\"");
                let id = match named {
                    Some(id) => {
                        open.retain(|open| open != id);
                        Some(id.to_vec())
                    }
                    None => open.pop_front(),
                };
                pieces.push(result(&block, id));
            }
            kind => match block
                .string("text")
                .filter(|_| kind.is_some_and(|kind| KNOWN.contains(&kind)))
            {
                Some(text) => {
                    let known = ["text", "type"];
                    let known = &known[..if kind == Some("text") { 2 } else { 1 }];
                    message.add(MemberSlot::Content, block.extra_members(known));
                    message.parts.push(BlockPart::Text(text.to_vec()));
                }
                None => {
                    message.add(MemberSlot::Content, None);
                    message.parts.push(BlockPart::Other(raw.to_vec()));
                }
            },
        }
    }
    if !message.is_empty() {
        pieces.push(message);
    }
    pieces
}

impl BlockMessage {
    /// From a single text.
    pub fn of_text(text: &[u8]) -> BlockMessage {
        BlockMessage {
            parts: vec![BlockPart::Text(text.to_vec())],
            ..BlockMessage::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn add(&mut self, slot: MemberSlot, note: Option<Vec<u8>>) {
        self.order.push(slot);
        self.notes.push(note.unwrap_or_else(|| b"null".to_vec()));
    }

    fn add_reasoning(&mut self, block: &Object<'_>) {
        let mut part = ObjectBuilder::default();
        part.text("type", "thinking")
            .raw("text", block.string("thinking").unwrap_or(b"\"\""));
        self.reasoning.push(part.finish());
        self.add(MemberSlot::Reasoning, block.extra_members(&["type", "thinking"]));
    }

    fn call(&mut self, block: &Object<'_>, id: &[u8]) {
        let input = block.get("input").filter(|raw| *raw != b"null").unwrap_or(b"{}");
        let arguments = quoted(&String::from_utf8_lossy(input));
        let name = block.string("name").unwrap_or(b"\"\"");
        self.calls.push(draft::call(id, name, &arguments));
        self.add(
            MemberSlot::Call,
            block.extra_members(&["type", "id", "name", "input"]),
        );
    }

    pub fn append(&mut self, text: &[u8]) {
        // Without other text, an attached file is the message.
        if matches!(&self.parts[..], [BlockPart::Text(text)] if text == b"\"\"") {
            self.parts.clear();
        }
        self.parts.push(BlockPart::Text(text.to_vec()));
    }

    /// The message, and the additional members of its blocks.
    pub fn draft(self, role: &str) -> (AnnotatedDraft, ObjectBuilder) {
        let mut draft = AnnotatedDraft::new(if self.is_result { "tool" } else { role });
        let extra = self.order.len() > self.parts.len();
        draft.raw("content", content(&self.parts, extra));
        for (name, value) in self.result {
            draft.raw(name, value);
        }
        draft.metadata("is_error", self.is_error.then(|| b"true".to_vec()));
        draft.list("tool_calls", &self.calls);
        draft.list("reasoning", &self.reasoning);
        let mut own = ObjectBuilder::default();
        own.optional("order", draft::order_note(&self.order));
        if self.notes.iter().any(|note| note != b"null") {
            own.raw("blocks", array(self.notes));
        }
        (draft, own)
    }
}

/// The `content` of a message; `extra` if the message has further data.
fn content(parts: &[BlockPart], extra: bool) -> Vec<u8> {
    match parts {
        [] if extra => b"null".to_vec(),
        [] => b"\"\"".to_vec(),
        [BlockPart::Text(text)] => text.clone(),
        parts => array(parts.iter().map(|part| match part {
            BlockPart::Text(text) => text_part(text),
            BlockPart::Other(raw) => raw.clone(),
        })),
    }
}

/// A tool result.
fn result(block: &Object<'_>, id: Option<Vec<u8>>) -> BlockMessage {
    let mut piece = BlockMessage {
        is_result: true,
        is_error: block.get("is_error") == Some(b"true"),
        ..BlockMessage::default()
    };
    piece.result.extend(id.map(|id| ("tool_call_id", id)));
    let name = block.string("name").map(|name| ("name", name.to_vec()));
    piece.result.extend(name);
    let mut note = ObjectBuilder::default();
    let known = ["type", "name", "content", "tool_use_id", "is_error"];
    let rest = block.extra_members(&known);
    for (name, value) in rest.as_deref().and_then(Object::of).unwrap_or_default().members() {
        note.raw(name, value);
    }
    let raw = block.get("content").unwrap_or(b"null");
    match json::elements(raw, Dialect::Strict) {
        Some(elements) => {
            let mut notes = Vec::new();
            for element in elements {
                let part = Object::of(element).unwrap_or_default();
                let text = part.string("text");
                let known = ["text", "type"];
                let plain = part.get("type") == Some(b"\"text\"");
                let rest = text.and_then(|_| part.extra_members(&known[..if plain { 2 } else { 1 }]));
                notes.push(rest.unwrap_or_else(|| b"null".to_vec()));
                piece.parts.push(match text {
                    Some(text) => BlockPart::Text(text.to_vec()),
                    None => BlockPart::Other(element.to_vec()),
                });
            }
            if notes.iter().any(|note| note != b"null") {
                note.raw("parts", array(notes));
            }
        }
        None if raw.starts_with(b"\"") => piece.parts.push(BlockPart::Text(raw.to_vec())),
        None if raw == b"null" => {}
        None => piece.parts.push(BlockPart::Other(raw.to_vec())),
    }
    piece.notes.push(match note.is_empty() {
        true => b"null".to_vec(),
        false => note.finish(),
    });
    piece
}
