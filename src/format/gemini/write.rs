//! Encodes a view as contents of the API: user and model alternate, and the responses to the calls of a content are in
//! the next content.

use crate::format::report::Loss;
use crate::format::request::call::CallMembers;
use crate::format::request::media::RequestMedia;
use crate::format::request::request_part::{
    AnnotatedMessage, RequestPart, WriteSettings, add_members, extra_members,
};
use crate::format::request::turns::{RequestTurn, TurnEncoder};
use crate::format::request::{Api, ProviderRequest, draft, part_losses};
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use std::collections::HashMap;

/// Types of parts that are kept unchanged.
const NATIVE_PARTS: [&str; 8] = [
    "inlineData", "inline_data", "fileData", "file_data", "executableCode", "executable_code",
    "codeExecutionResult", "code_execution_result",
];

/// Members that a part may have next to its content.
const EXTRA_MEMBERS: [&str; 4] = [
    "thoughtSignature", "thought_signature", "thought", "videoMetadata",
];

/// Encodes the pieces as elements of a request.
pub fn write(pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
    ContentEncoder(names(pieces)).request(pieces, writing)
}

/// With the tool names of calls, by item and call.
struct ContentEncoder(HashMap<(usize, usize), String>);

impl TurnEncoder for ContentEncoder {
    const MODEL: &'static str = "model";
    const RESULTS: &'static str = "function";

    fn add_text(text: &[u8], turn: &mut RequestTurn) {
        turn.parts.push(wrapped("text", text));
    }

    fn add_content(
        annotated: &AnnotatedMessage<'_>,
        turn: &mut RequestTurn,
        writing: &mut WriteSettings<'_>,
    ) {
        turn.parts.extend(contents(annotated, writing));
    }

    fn add_reply(
        &self,
        annotated: &AnnotatedMessage<'_>,
        turn: &mut RequestTurn,
        writing: &mut WriteSettings<'_>,
    ) {
        let mut reasoning = Vec::new();
        for part in annotated.reasoning() {
            if json::member(part, "type") != Some(b"\"thought\"") {
                part_losses::reasoning(part, writing.report);
                continue;
            }
            let mut thought = ObjectBuilder::default();
            for (name, value) in extra_members(part, &["type"]) {
                thought.raw(&name, value);
            }
            thought.raw("thought", "true");
            reasoning.push(thought.finish());
        }
        let parts = contents(annotated, writing);
        let calls = annotated.calls();
        let notes = annotated.call_notes(calls.len());
        let calls = calls.iter().enumerate();
        let calls = calls
            .map(|(nth, raw)| call(raw, notes.get(nth).copied().unwrap_or(b"{}"), writing))
            .collect();
        turn.parts.extend(draft::in_order(
            annotated.noted("blocks"),
            [reasoning, parts, calls],
        ));
    }

    fn result(&self, annotated: &AnnotatedMessage<'_>, writing: &mut WriteSettings<'_>) -> Vec<u8> {
        let mut response = ObjectBuilder::default();
        if annotated.noted("made").is_none()
            && let Some(id) = annotated.message.tool_call_id
        {
            response.raw("id", id);
        }
        let called = writing
            .calls
            .get(&annotated.item)
            .and_then(|call| self.0.get(call));
        match (called, annotated.message.name) {
            (Some(name), _) => response.text("name", name),
            (None, Some(name)) => response.raw("name", name),
            (None, None) => response.text("name", "unknown"),
        };
        response.raw("response", answer(annotated, writing));
        add_members(&mut response, annotated.noted("call"));
        let mut part = ObjectBuilder::default();
        part.raw("functionResponse", response.finish());
        add_members(&mut part, annotated.noted("part"));
        part.finish()
    }

    fn close(turn: &RequestTurn) -> Option<Vec<u8>> {
        if turn.parts.is_empty() && turn.results.is_empty() {
            return None;
        }
        let role = if turn.role == "function" {
            "user"
        } else {
            turn.role
        };
        let mut content = ObjectBuilder::default();
        content
            .text("role", role)
            .raw("parts", array(turn.results.iter().chain(&turn.parts)));
        add_members(&mut content, turn.members.as_deref());
        Some(content.finish())
    }

    fn instructions(turn: RequestTurn) -> Option<Vec<u8>> {
        let mut built = ObjectBuilder::default();
        built.raw("parts", array(&turn.parts));
        add_members(&mut built, turn.members.as_deref());
        (!turn.parts.is_empty()).then(|| built.finish())
    }
}

/// The tool names of calls, by item and call.
fn names(pieces: &[RequestPart<'_>]) -> HashMap<(usize, usize), String> {
    let mut names = HashMap::new();
    for piece in pieces {
        if let Some(annotated) = piece.annotated(Api::Gemini) {
            for (nth, call) in annotated.message.tool_calls().into_iter().enumerate() {
                names.insert((annotated.item, nth), call.name.into_owned());
            }
        }
    }
    names
}

fn contents(annotated: &AnnotatedMessage<'_>, writing: &mut WriteSettings<'_>) -> Vec<Vec<u8>> {
    match annotated.string() {
        Some(b"\"\"") => Vec::new(),
        Some(text) => vec![wrapped("text", text)],
        None => annotated
            .parts()
            .into_iter()
            .filter_map(|raw| part(raw, writing))
            .collect(),
    }
}

/// Converts a native part; otherwise reports a loss.
fn part(raw: &[u8], writing: &mut WriteSettings<'_>) -> Option<Vec<u8>> {
    if raw.starts_with(b"\"") {
        return (raw != b"\"\"").then(|| wrapped("text", raw));
    }
    let kind = json::member_text(raw, "type");
    match kind.as_deref() {
        Some("text" | "input_text" | "output_text") => {
            let text = json::member(raw, "text")?;
            let mut built = ObjectBuilder::default();
            built.raw("text", text);
            let mut signed = false;
            for (name, value) in extra_members(raw, &["type", "text"]) {
                if EXTRA_MEMBERS.contains(&name.as_ref()) {
                    built.raw(&name, value);
                    signed = true;
                } else if name != "cache_control" && !matches!(value, b"null" | b"[]") {
                    writing.report.count_loss(Loss::Part, 1);
                }
            }
            // An empty text may have a signature.
            (signed || text != b"\"\"").then(|| built.finish())
        }
        Some("refusal") => json::member(raw, "refusal").map(|text| wrapped("text", text)),
        None if NATIVE_PARTS.iter().any(|name| json::member(raw, name).is_some()) => Some(raw.to_vec()),
        _ => {
            let media = RequestMedia::of(raw);
            let made = media.as_ref().and_then(RequestMedia::gemini);
            writing.converted(raw, media.is_some(), made)
        }
    }
}

fn call(raw: &[u8], note: &[u8], writing: &mut WriteSettings<'_>) -> Vec<u8> {
    let own = CallMembers::of(raw);
    let mut call = ObjectBuilder::default();
    // Only restore original ids, because the API matches by position.
    if note_of(note, "made").is_none()
        && let Some(id) = json::member(raw, "id")
    {
        call.raw("id", id);
    }
    call.raw("name", own.name).raw("args", own.object(writing.report));
    add_members(&mut call, note_of(note, "call"));
    let mut part = ObjectBuilder::default();
    part.raw("functionCall", call.finish());
    add_members(&mut part, note_of(note, "part"));
    part.finish()
}

fn note_of<'n>(note: &'n [u8], name: &str) -> Option<&'n [u8]> {
    json::member(note, name)
}

/// A result as an object: its text if that is one, else the text under `output` or `error`.
fn answer(annotated: &AnnotatedMessage<'_>, writing: &mut WriteSettings<'_>) -> Vec<u8> {
    let failed = annotated.metadata("is_error") == Some(b"true");
    let name = if failed { "error" } else { "output" };
    let Some(text) = annotated.string() else {
        let mut texts = Vec::new();
        for part in annotated.message.parts() {
            match part {
                crate::model::message::MessagePart::Text(text) => texts.push(text),
                crate::model::message::MessagePart::Other(_, raw) => {
                    part_losses::content(raw, writing.report);
                }
            }
        }
        return wrapped(name, quoted(&texts.join("\n")));
    };
    let inner = json::text(text).unwrap_or_default();
    let bytes = inner.trim().as_bytes();
    let object = json::is_object(bytes);
    // A failure must be recognizable from the object.
    if object && (json::member(bytes, "error").is_some() == failed) {
        return json::compact(bytes).0;
    }
    wrapped(name, text)
}
