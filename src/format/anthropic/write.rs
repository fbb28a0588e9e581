//! Encodes a view as messages of the API: user and assistant alternate, and results are at the start of the user
//! message that follows their calls.

use super::block;
use crate::format::WritePurpose;
use crate::format::request::call::CallMembers;
use crate::format::request::request_part::{
    AnnotatedMessage, RequestPart, WriteSettings, add_members, extra_members,
};
use crate::format::request::turns::{RequestTurn, TurnEncoder};
use crate::format::request::{Api, ProviderRequest, draft, part_losses};
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::message::Role;
use std::collections::HashMap;

/// Valid call ids by item and call.
type CallIdCounts = HashMap<(usize, usize), String>;

/// Encodes the pieces as elements of a request.
pub fn write(pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
    MessageEncoder(call_ids(pieces, writing.own)).request(pieces, writing)
}

/// With the ids of calls.
struct MessageEncoder(CallIdCounts);

impl TurnEncoder for MessageEncoder {
    const MODEL: &'static str = "assistant";
    const RESULTS: &'static str = "user";

    // A text remains a string if it is the only content.
    fn add_text(text: &[u8], turn: &mut RequestTurn) {
        let Some(block) = block::text(text) else { return };
        let alone = turn.text.is_none() && turn.parts.is_empty() && turn.results.is_empty();
        if alone {
            turn.text = Some(text.to_vec());
        } else {
            push_parts(turn, [block]);
        }
    }

    fn add_content(
        annotated: &AnnotatedMessage<'_>,
        turn: &mut RequestTurn,
        writing: &mut WriteSettings<'_>,
    ) {
        if let Some(text) = annotated.string() {
            return Self::add_text(text, turn);
        }
        let parts = annotated.parts();
        let blocks: Vec<_> = parts
            .into_iter()
            .filter_map(|part| block::write(part, writing))
            .collect();
        push_parts(turn, blocks);
    }

    fn add_reply(
        &self,
        annotated: &AnnotatedMessage<'_>,
        turn: &mut RequestTurn,
        writing: &mut WriteSettings<'_>,
    ) {
        let mut reasoning = Vec::new();
        for part in annotated.reasoning() {
            // Programs keep unsigned reasoning in their files without sending it again. A message without metadata is new.
            let is_in_file = annotated.message.metadata.is_some();
            let is_kept = writing.keeps_thoughts
                || writing.own && writing.purpose == WritePurpose::Return && is_in_file;
            match thinking(part, is_kept) {
                Some(block) => reasoning.push(block),
                None => part_losses::reasoning(part, writing.report),
            }
        }
        let calls = annotated.calls();
        if let (true, true, Some(text)) = (reasoning.is_empty(), calls.is_empty(), annotated.string()) {
            return Self::add_text(text, turn);
        }
        let content: Vec<_> = match annotated.string() {
            Some(text) => block::text(text).into_iter().collect(),
            None => annotated
                .parts()
                .into_iter()
                .filter_map(|part| block::write(part, writing))
                .collect(),
        };
        let notes = annotated.call_notes(calls.len());
        let uses = calls.iter().enumerate().map(|(nth, call)| {
            let note = notes.get(nth).copied();
            tool_use(call, self.0.get(&(annotated.item, nth)), note, writing)
        });
        let uses = uses.collect();
        let blocks = draft::in_order(annotated.noted("blocks"), [reasoning, content, uses]);
        push_parts(turn, blocks);
    }

    fn result(&self, annotated: &AnnotatedMessage<'_>, writing: &mut WriteSettings<'_>) -> Vec<u8> {
        let owner = writing
            .calls
            .get(&annotated.item)
            .and_then(|call| self.0.get(call));
        let id = match owner {
            Some(id) => id.clone(),
            None => accepted_id(&annotated.message.tool_call_id().unwrap_or_default()),
        };
        let mut block = ObjectBuilder::default();
        block.text("type", "tool_result").text("tool_use_id", &id);
        match annotated.string() {
            Some(text) => {
                block.raw("content", text);
            }
            None if annotated.message.content.is_some_and(|raw| raw.starts_with(b"[")) => {
                let parts = annotated.parts();
                let blocks = parts.into_iter().filter_map(|part| block::write(part, writing));
                block.raw("content", array(blocks));
            }
            None => {}
        }
        block.optional("is_error", annotated.metadata("is_error"));
        add_members(&mut block, annotated.noted("part"));
        block.finish()
    }

    fn close(turn: &RequestTurn) -> Option<Vec<u8>> {
        let content = match (&turn.text, turn.parts.is_empty() && turn.results.is_empty()) {
            (Some(text), true) => text.clone(),
            (None, true) => return None,
            (text, false) => {
                let text = text.iter().map(|text| draft::text_part(text));
                let parts = turn.results.iter().cloned().chain(text);
                array(parts.chain(turn.parts.iter().cloned()))
            }
        };
        let mut message = ObjectBuilder::default();
        message.text("role", turn.role).raw("content", content);
        add_members(&mut message, turn.members.as_deref());
        Some(message.finish())
    }

    fn instructions(turn: RequestTurn) -> Option<Vec<u8>> {
        turn.text
            .or_else(|| (!turn.parts.is_empty()).then(|| array(&turn.parts)))
    }
}

/// Appends parts; a text that was the only content becomes the first of them.
fn push_parts(turn: &mut RequestTurn, parts: impl IntoIterator<Item = Vec<u8>>) {
    for part in parts {
        if let Some(text) = turn.text.take() {
            turn.parts.push(draft::text_part(&text));
        }
        turn.parts.push(part);
    }
}

/// Encodes reasoning with its signature; unsigned reasoning, which the API rejects, only if `is_kept`.
fn thinking(part: &[u8], is_kept: bool) -> Option<Vec<u8>> {
    let filled = |name: &str| {
        is_kept || json::member(part, name).is_some_and(|raw| raw.len() > 2 && raw.starts_with(b"\""))
    };
    match json::member_text(part, "type")?.as_ref() {
        "thinking" if filled("signature") => {
            let mut block = ObjectBuilder::default();
            for (name, value) in extra_members(part, &[]) {
                block.raw(if name == "text" { "thinking" } else { &name }, value);
            }
            Some(block.finish())
        }
        "redacted_thinking" if filled("data") => Some(part.to_vec()),
        _ => None,
    }
}

fn tool_use(
    call: &[u8],
    id: Option<&String>,
    note: Option<&[u8]>,
    writing: &mut WriteSettings<'_>,
) -> Vec<u8> {
    let call = CallMembers::of(call);
    let mut block = ObjectBuilder::default();
    block
        .text("type", "tool_use")
        .text("id", id.map_or("", String::as_str))
        .raw("name", call.name)
        .raw("input", call.object(writing.report));
    add_members(&mut block, note);
    block.finish()
}

/// An id reduced to the characters that the API accepts.
fn accepted_id(id: &str) -> String {
    let taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.chars().map(|c| if taken(c) { c } else { '_' }).collect()
}

/// The ids of all calls. Invalid or repeated ids are replaced; in the API's own history, every id is kept.
fn call_ids(pieces: &[RequestPart<'_>], own: bool) -> CallIdCounts {
    let mut ids = CallIdCounts::new();
    let mut used: HashMap<String, u64> = HashMap::new();
    for piece in pieces {
        let Some(annotated) = piece.annotated(Api::Anthropic) else {
            continue;
        };
        if annotated.message.role() != Role::Assistant {
            continue;
        }
        for (nth, call) in annotated.message.tool_calls().iter().enumerate() {
            let base = accepted_id(&call.id);
            let mut id = base.clone();
            while !own && used.contains_key(&id) {
                let times = used.entry(base.clone()).or_default();
                *times += 1;
                id = format!("{base}_{times}");
            }
            used.entry(id.clone()).or_insert(1);
            ids.insert((annotated.item, nth), id);
        }
    }
    ids
}
