//! A message as native ones: each step of the model, and the results of its calls.

use super::piece::{Call, Piece};
use super::{KIND, NEW, new, old};
use crate::format::request::draft::{self, Draft};
use crate::format::request::piece::array;
use crate::model::json;

/// A step that is being put together.
#[derive(Default)]
struct Step {
    thoughts: Vec<Vec<u8>>,
    parts: Vec<Vec<u8>>,
    calls: Vec<Call>,
    shown: Vec<Vec<u8>>,
}

impl Step {
    fn is_silent(&self) -> bool {
        self.thoughts.is_empty() && self.parts.is_empty() && self.calls.is_empty()
    }
}

/// The native messages of a message; none of a role that is no message.
pub fn drafts(raw: &[u8]) -> Option<Vec<Draft>> {
    let role = json::member(raw, "role").and_then(json::text)?;
    let role = match role.as_ref() {
        role @ ("system" | "user" | "assistant") => role,
        _ => return None,
    };
    let taken = match (KIND.form)(raw) {
        NEW => new::take(raw)?,
        _ => old::take(raw, role),
    };
    let mut drafts = Vec::new();
    for step in steps(taken.pieces, role == "assistant") {
        spoken(role, step, &mut drafts);
    }
    let first = drafts.first_mut()?;
    if let Some(id) = json::member(raw, "id").filter(|id| id.starts_with(b"\"") && *id != b"\"\"") {
        first.raw("id", id);
    }
    if let Some(time) = taken.time {
        first.raw("timestamp", time);
    }
    first
        .note("metadata", taken.metadata)
        .note("members", taken.members);
    Some(drafts)
}

/// The steps; what is only shown goes with the step before it, or with the first. There is always one.
fn steps(pieces: Vec<Piece>, apart: bool) -> Vec<Step> {
    let mut steps = vec![Step::default()];
    let mut ahead = Vec::new();
    for piece in pieces {
        let Some(last) = steps.last_mut() else { break };
        match piece {
            Piece::Border if apart && !last.is_silent() => steps.push(Step::default()),
            Piece::Border => {}
            Piece::Thought(part) => last.thoughts.push(part),
            Piece::Part(part) => last.parts.push(part),
            Piece::Call(call) => last.calls.push(call),
            Piece::Shown(part) => last.shown.push(part),
        }
    }
    if steps.len() > 1 && steps.last().is_some_and(Step::is_silent) {
        ahead = steps.pop().map(|last| last.shown).unwrap_or_default();
    }
    if let Some(last) = steps.last_mut() {
        last.shown.append(&mut ahead);
    }
    steps
}

/// The messages of one step.
fn spoken(role: &str, step: Step, drafts: &mut Vec<Draft>) {
    let mut draft = Draft::new(role);
    let plain = match step.parts.as_slice() {
        [only] if json::member(only, "type") == Some(b"\"text\"") => json::member(only, "text"),
        _ => None,
    };
    match plain {
        Some(text) => draft.raw("content", text),
        None if !step.parts.is_empty() => draft.raw("content", array(&step.parts)),
        None if role == "assistant" && !step.is_silent() => draft.raw("content", "null"),
        None => draft.raw("content", "\"\""),
    };
    let calls: Vec<_> = step
        .calls
        .iter()
        .map(|call| draft::call(&call.id, &call.name, &call.arguments))
        .collect();
    if !calls.is_empty() {
        draft.raw("tool_calls", array(calls));
    }
    if !step.thoughts.is_empty() {
        draft.raw("reasoning", array(&step.thoughts));
    }
    let notes: Vec<_> = step.calls.iter().map(|call| call.note.clone()).collect();
    draft
        .note("shown", (!step.shown.is_empty()).then(|| array(&step.shown)))
        .note("calls", draft::call_notes(&notes));
    drafts.push(draft);
    for call in step.calls {
        let Some(answer) = call.result else { continue };
        let mut draft = Draft::new("tool");
        draft.raw("tool_call_id", call.id).raw("content", answer.content);
        let noted = |is: bool| is.then(|| b"true".to_vec());
        draft
            .metadata("is_error", noted(answer.failed))
            .metadata("denied", noted(answer.denied));
        drafts.push(draft);
    }
}
