//! Converts a message to native ones: each step of the model, and the results of its calls.

use super::ui_part::{UiCall, UiPart};
use super::{new, old};
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::model::json::{self, array};
use std::borrow::Cow;

/// A step under construction.
#[derive(Default)]
struct StepDraft {
    thoughts: Vec<Vec<u8>>,
    parts: Vec<Vec<u8>>,
    calls: Vec<UiCall>,
}

impl StepDraft {
    fn is_silent(&self) -> bool {
        self.thoughts.is_empty() && self.parts.is_empty() && self.calls.is_empty()
    }
}

/// Whether a message is of version 4.
pub fn is_old(element: &[u8]) -> bool {
    ["content", "toolInvocations"]
        .iter()
        .any(|name| json::member(element, name).is_some())
}

/// The role of a message; `None` if the value is not one.
pub fn role(raw: &[u8]) -> Option<Cow<'_, str>> {
    let role = json::member_text(raw, "role")?;
    matches!(role.as_ref(), "system" | "user" | "assistant").then_some(role)
}

/// The native messages; `None` if the value is not a message.
pub fn messages(raw: &[u8]) -> Option<Vec<AnnotatedDraft>> {
    let role = role(raw)?;
    let is_old = is_old(raw);
    let pieces = match is_old {
        false => new::ui_parts(raw)?,
        true => old::ui_parts(raw, &role),
    };
    let mut drafts = Vec::new();
    for step in steps(pieces, role == "assistant") {
        step_messages(&role, step, &mut drafts);
    }
    let first = drafts.first_mut()?;
    if is_old {
        let noted = |is: bool| is.then(|| b"true".to_vec());
        first.optional("timestamp", old::time(raw));
        first
            .note("differs", noted(old::differs(raw)))
            .note("reasoning", noted(old::reasoning(raw).is_some()));
    }
    Some(drafts)
}

/// The steps, at least one.
fn steps(pieces: Vec<UiPart>, separate: bool) -> Vec<StepDraft> {
    let mut steps = vec![StepDraft::default()];
    for piece in pieces {
        let Some(last) = steps.last_mut() else { break };
        match piece {
            UiPart::Border if separate && !last.is_silent() => steps.push(StepDraft::default()),
            UiPart::Border => {}
            UiPart::Thought(part) => last.thoughts.push(part),
            UiPart::Part(part) => last.parts.push(part),
            UiPart::Call(call) => last.calls.push(call),
        }
    }
    if steps.len() > 1 && steps.last().is_some_and(StepDraft::is_silent) {
        steps.pop();
    }
    steps
}

fn step_messages(role: &str, step: StepDraft, drafts: &mut Vec<AnnotatedDraft>) {
    let mut draft = AnnotatedDraft::new(role);
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
    draft.list("tool_calls", &calls);
    draft.list("reasoning", &step.thoughts);
    drafts.push(draft);
    for call in step.calls {
        let Some(answer) = call.result else { continue };
        let mut draft = AnnotatedDraft::new("tool");
        draft.raw("tool_call_id", call.id).raw("content", answer.content);
        let noted = |is: bool| is.then(|| b"true".to_vec());
        draft
            .metadata("is_error", noted(answer.failed))
            .metadata("denied", noted(answer.denied));
        drafts.push(draft);
    }
}
