//! Converts the lines of a Kimi Code log.

use super::line::{appended, event, id, is_result, is_typed, kind, origin, prompt, step_of, time_of};
use super::message::{add_content, member, parts, reply_parts};
use crate::error::Position;
use crate::format::kit::{Assembly, Decoded, ElementEdit, SideSession, SummaryDraft};
use crate::format::object::text;
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts};
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::message::Role;
use std::collections::{HashMap, HashSet};

/// The name of the format, and of its annotations.
pub const NAME: &str = "kimi";

/// Assigns the lines of a log to sessions and messages.
pub fn assemble(lines: &[&[u8]]) -> Assembly {
    let mut assembly = Assembly {
        first: (0..lines.len()).collect(),
        session: vec![0; lines.len()],
        others: Vec::new(),
    };
    let steps: Vec<Option<String>> = lines.iter().map(|line| step_of(line)).collect();
    let has_content = |line: &[u8]| {
        let kind = event(line).and_then(kind);
        matches!(kind.as_deref(), Some("content.part" | "tool.call"))
    };
    let content = lines.iter().zip(&steps).filter(|(line, _)| has_content(line));
    let filled: HashSet<&str> = content.filter_map(|(_, step)| step.as_deref()).collect();
    let mut begun: HashMap<&str, usize> = HashMap::new();
    let mut last = None;
    for (nth, line) in lines.iter().enumerate() {
        match &steps[nth] {
            Some(step) if filled.contains(step.as_str()) => {
                let head = *begun.entry(step).or_insert(nth);
                assembly.first[nth] = head;
                last = Some(head);
            }
            // A step without content belongs to the previous message.
            Some(_) => assembly.first[nth] = last.unwrap_or(nth),
            None if appended(line).is_some() || is_result(line) => last = Some(nth),
            None => {}
        }
        if kind(line).as_deref() == Some("context.undo") {
            undo(lines, nth, &mut assembly);
            last = None;
        }
    }
    assembly
}

/// Turns messages from a typed one to an undo into a branch, except those that the program added.
fn undo(lines: &[&[u8]], marker: usize, assembly: &mut Assembly) {
    let count = json::member(lines[marker], "count");
    let count = count.and_then(json::number::<usize>);
    let main: Vec<usize> = (0..marker).filter(|nth| assembly.session[*nth] == 0).collect();
    let mut typed = main.iter().rev().filter(|nth| is_typed(lines[**nth]));
    let Some(from) = typed.nth(count.unwrap_or(1).max(1) - 1).copied() else {
        return;
    };
    let is_message = |nth: &usize| {
        let line = lines[*nth];
        step_of(line).is_some() || is_result(line) || appended(line).is_some()
    };
    let before = main.iter().rev().find(|nth| **nth < from && is_message(nth));
    assembly.others.push(SideSession {
        kind: "branch",
        at: before.map(|nth| id_of(lines, assembly.first[*nth])),
        id: None,
    });
    let is_removed =
        |nth: &usize| *nth >= from && is_message(nth) && origin(lines[*nth]).is_none_or(|own| own == "user");
    for nth in main.into_iter().filter(is_removed) {
        assembly.session[nth] = assembly.others.len();
    }
}

/// The id of the message that starts at a line.
fn id_of(lines: &[&[u8]], nth: usize) -> String {
    id(lines[nth]).unwrap_or_else(|| format!("msg_{}", nth + 1))
}

/// Information about all elements.
#[derive(Default)]
pub struct KimiOutline {
    /// The element of the system prompt.
    prompt: Option<usize>,
    /// The elements that each compaction keeps.
    kept: HashMap<usize, HashSet<usize>>,
    /// The working directory; `model` is the last one used.
    pub cwd: Option<Vec<u8>>,
    pub model: Option<Vec<u8>>,
}

impl KimiOutline {
    /// Examines all elements, each by its first line.
    pub fn of(lines: &[&[u8]]) -> KimiOutline {
        let mut outline = KimiOutline::default();
        // The messages that the model receives.
        let mut live: Vec<Option<usize>> = Vec::new();
        for (nth, line) in lines.iter().enumerate() {
            if outline.prompt.is_none() && prompt(line).is_some() {
                outline.prompt = Some(nth);
            }
            let disclosed = json::member(line, "environmentDisclosure").and_then(|raw| member(raw, "cwd"));
            let own = member(line, "cwd").filter(|_| kind(line).as_deref() == Some("config.update"));
            outline.cwd = own.or(disclosed).map(<[u8]>::to_vec).or(outline.cwd.take());
            match kind(line).as_deref() {
                Some("config.update") => {
                    let model = member(line, "modelAlias").map(<[u8]>::to_vec);
                    outline.model = model.or(outline.model.take());
                }
                Some("context.clear") => live.clear(),
                Some("context.apply_compaction") => {
                    let kept = kept_messages(line, &live, lines);
                    live = std::iter::once(None).chain(kept.iter().copied()).collect();
                    outline.kept.insert(nth, kept.into_iter().flatten().collect());
                }
                _ if appended(line).is_some() || step_of(line).is_some() || is_result(line) => {
                    live.push(Some(nth))
                }
                _ => {}
            }
        }
        outline
    }
}

/// The messages that a compaction keeps.
fn kept_messages(line: &[u8], live: &[Option<usize>], lines: &[&[u8]]) -> Vec<Option<usize>> {
    let number = |name| {
        let raw = json::member(line, name)?;
        json::number::<usize>(raw)
    };
    match number("keptUserMessageCount") {
        Some(count) => {
            let typed = live
                .iter()
                .filter(|nth| nth.is_some_and(|nth| is_typed(lines[nth])));
            let typed: Vec<Option<usize>> = typed.copied().collect();
            typed[typed.len().saturating_sub(count)..].to_vec()
        }
        None => {
            let count = number("compactedCount").unwrap_or(live.len());
            live[count.min(live.len())..].to_vec()
        }
    }
}

/// The line of a compaction that keeps the same messages after elements were removed; `None` if unchanged.
pub fn compacted(
    outline: &KimiOutline,
    nth: usize,
    line: &[u8],
    removed: &HashSet<usize>,
) -> Option<Vec<u8>> {
    let kept = outline.kept.get(&nth)?;
    let left = kept.iter().filter(|nth| !removed.contains(nth)).count();
    let number = |name| {
        let raw = json::member(line, name)?;
        json::number::<usize>(raw)
    };
    let (name, count) = match (number("keptUserMessageCount"), number("compactedCount")) {
        (Some(count), _) => ("keptUserMessageCount", (count, count.min(left))),
        (None, Some(count)) => {
            let before = outline.kept.keys().filter(|other| **other < nth).max();
            let earlier = removed
                .iter()
                .filter(|removed| **removed < nth && before.is_none_or(|before| **removed > *before));
            let earlier = earlier.filter(|removed| !kept.contains(removed));
            ("compactedCount", (count, count.saturating_sub(earlier.count())))
        }
        (None, None) => return None,
    };
    let (then, now) = count;
    let now = (then != now || kept.len() != left).then(|| now.to_string())?;
    json::with_members(line, &[(name, Some(now.as_bytes()))]).ok()
}

/// If the system prompt is removed, removes only this member of its line, and that of later lines, which would become
/// the prompt of the session.
pub fn remove_prompts(
    outline: &KimiOutline,
    raws: &[Vec<u8>],
    list: &mut Vec<ElementEdit>,
    report: &mut Report,
) {
    let Some(first) = outline.prompt else { return };
    let nth = |edit: &ElementEdit| match edit {
        ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => Some(*nth),
        ElementEdit::Insert(_) => None,
    };
    if list.iter().any(|edit| nth(edit) == Some(first)) {
        return;
    }
    let next = list
        .iter()
        .position(|edit| nth(edit).is_some_and(|nth| nth > first));
    list.insert(next.unwrap_or(list.len()), ElementEdit::Keep(first));
    let mut later = 0;
    for edit in list {
        if let ElementEdit::Keep(nth) = *edit
            && prompt(&raws[nth]).is_some()
            && let Ok(line) = json::with_members(&raws[nth], &[("systemPrompt", None)])
        {
            *edit = ElementEdit::Replace(nth, line);
            later += u64::from(nth != first);
        }
    }
    if later > 0 {
        let prompts = if later == 1 { "prompt" } else { "prompts" };
        report.note(
            Position::default(),
            format!("also removed {later} later system {prompts}"),
        );
    }
}

/// Decodes the lines of an element.
pub fn decode(outline: &KimiOutline, nth: usize, lines: &[&[u8]]) -> Decoded {
    let line = lines[0];
    let draft = match kind(line).as_deref() {
        Some("config.update" | "profile.bind") if outline.prompt == Some(nth) => {
            prompt(line).map(|prompt| draft::AnnotatedDraft::with_content("system", prompt))
        }
        Some("context.append_message") => {
            // The summary of a compaction; the compaction itself is another record.
            if origin(line).as_deref() == Some("compaction_summary") && !outline.kept.is_empty() {
                return Decoded::Passthrough;
            }
            message(line)
        }
        Some("context.append_loop_event") => match event(line).and_then(kind).as_deref() {
            Some("tool.result") => result(line),
            Some(_) if step_of(line).is_some() => match step(lines) {
                Some(None) => return Decoded::Passthrough,
                draft => draft.flatten(),
            },
            Some(_) => return Decoded::Passthrough,
            None => None,
        },
        Some("context.apply_compaction") => return compaction(outline, nth, line),
        Some("context.clear") => {
            return Decoded::Summary(SummaryDraft {
                kept: Some(nth),
                spared: Some(HashSet::new()),
                ..SummaryDraft::default()
            });
        }
        Some(_) => return Decoded::Passthrough,
        None => None,
    };
    Decoded::timed(draft, time_of(line))
}

fn compaction(outline: &KimiOutline, nth: usize, line: &[u8]) -> Decoded {
    match text(line, "summary").or_else(|| text(line, "contextSummary")) {
        Some(text) => Decoded::Summary(SummaryDraft {
            text,
            kept: Some(nth),
            spared: outline.kept.get(&nth).cloned(),
            members: vec![("by", quoted(NAME))],
            ..SummaryDraft::default()
        }),
        None => Decoded::Unrecognized,
    }
}

fn message(line: &[u8]) -> Option<draft::AnnotatedDraft> {
    let message = appended(line)?;
    let role = text(message, "role")?;
    let mut draft = draft::AnnotatedDraft::new(&role);
    add_content(&mut draft, member(message, "content")?, b"\"\"")?;
    if role == "user" && !is_typed(line) {
        draft.raw("category", "\"context\"");
    }
    let calls = json::items(member(message, "toolCalls"));
    if !calls.is_empty() {
        let calls = calls.into_iter().map(|raw| {
            let function = json::member(raw, "function").unwrap_or(raw);
            let arguments = member(function, "arguments").or(member(function, "args"));
            draft::call_of(
                member(raw, "id").or(member(raw, "toolCallId")),
                member(function, "name"),
                arguments,
            )
        });
        draft.raw("tool_calls", array(calls.collect::<Vec<_>>()));
    }
    draft.optional("tool_call_id", member(message, "toolCallId"));
    let is_failed = json::member(message, "isError") == Some(b"true");
    draft
        .metadata("is_error", is_failed.then(|| b"true".to_vec()))
        .note("appended", (role != "user").then(|| b"true".to_vec()));
    Some(draft)
}

/// The message of a step; `None` if unsupported, `Some(None)` if it has no content.
fn step(lines: &[&[u8]]) -> Option<Option<draft::AnnotatedDraft>> {
    let (mut parts, mut calls, mut usage) = (Vec::new(), Vec::new(), None);
    for line in lines {
        let Some(event) = event(line) else { continue };
        match kind(event)?.as_ref() {
            "content.part" => parts.push(json::member(event, "part")?),
            "tool.call" => calls.push(draft::call_of(
                member(event, "toolCallId"),
                member(event, "name"),
                member(event, "args"),
            )),
            "step.end" => usage = member(event, "usage").or(usage),
            _ => {}
        }
    }
    if parts.is_empty() && calls.is_empty() {
        return Some(None);
    }
    let mut draft = draft::AnnotatedDraft::new("assistant");
    add_content(&mut draft, &array(parts), b"\"\"")?;
    draft.list("tool_calls", &calls);
    draft.optional("usage", usage);
    Some(Some(draft))
}

fn result(line: &[u8]) -> Option<draft::AnnotatedDraft> {
    let event = event(line)?;
    let result = json::member(event, "result")?;
    let mut draft = draft::AnnotatedDraft::new("tool");
    add_content(&mut draft, member(result, "output").unwrap_or(b"\"\""), b"\"\"")?;
    draft.raw("tool_call_id", member(event, "toolCallId")?);
    let is_failed = json::member(result, "isError") == Some(b"true");
    draft.metadata("is_error", is_failed.then(|| b"true".to_vec()));
    Some(draft)
}

/// Encodes a message as lines, without times. Only the first system prompt of a log is a message, so a new one is
/// appended as a record.
pub fn encode(annotated: &AnnotatedMessage<'_>, is_new: bool, report: &mut Report) -> Vec<Vec<u8>> {
    let is_appended = annotated.noted("appended").is_some();
    match annotated.message.role() {
        Role::System | Role::Developer if !is_new && !is_appended => {
            let mut texts = Vec::new();
            for piece in content_parts(annotated.message.content) {
                match piece {
                    RequestContent::Text(raw) => texts.extend(json::text(raw)),
                    RequestContent::Other(_) => report.count_loss(Loss::Metadata, 1),
                }
            }
            let mut line = ObjectBuilder::default();
            line.text("type", "config.update")
                .text("systemPrompt", &texts.join("\n\n"));
            vec![line.finish()]
        }
        Role::Assistant if !is_appended => steps(annotated, report),
        Role::Tool if !is_appended => {
            let mut result = ObjectBuilder::default();
            result.raw("output", content(annotated, report));
            if annotated.metadata("is_error") == Some(b"true") {
                result.raw("isError", "true");
            }
            let mut event = ObjectBuilder::default();
            event
                .text("type", "tool.result")
                .raw("toolCallId", annotated.message.tool_call_id.unwrap_or(b"\"\""))
                .raw("result", result.finish());
            vec![looped(&event.finish())]
        }
        _ => {
            let mut message = ObjectBuilder::default();
            message
                .text("role", &annotated.message.role_name())
                .raw("content", array(parts(annotated, report)));
            let calls = annotated.calls().into_iter();
            let calls = calls.map(|call| super::message::function_call(call, report));
            message.raw("toolCalls", array(calls.collect::<Vec<_>>()));
            message.optional("toolCallId", annotated.message.tool_call_id);
            let mut line = ObjectBuilder::default();
            line.text("type", "context.append_message")
                .raw("message", message.finish());
            vec![line.finish()]
        }
    }
}

fn content(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<u8> {
    match annotated.message.content {
        Some(raw) if raw.starts_with(b"\"") => raw.to_vec(),
        _ => array(parts(annotated, report)),
    }
}

fn looped(event: &[u8]) -> Vec<u8> {
    let mut line = ObjectBuilder::default();
    line.text("type", "context.append_loop_event").raw("event", event);
    line.finish()
}

/// Encodes a message as the lines of a step.
fn steps(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let id = json::member(annotated.body, "id").unwrap_or(b"\"\"");
    let mut events = Vec::new();
    let mut event = |kind: &str, name: &str, more: &[(&str, &[u8])]| {
        let mut event = ObjectBuilder::default();
        event.text("type", kind).raw(name, id);
        for (name, value) in more {
            event.raw(name, value);
        }
        events.push(looped(&event.finish()));
    };
    event("step.begin", "uuid", &[]);
    for part in reply_parts(annotated, report) {
        event("content.part", "stepUuid", &[("part", &part)]);
    }
    for call in annotated.calls() {
        let call = CallMembers::of_function(call, report);
        let arguments = call.arguments.unwrap_or(b"\"{}\"");
        let text = json::text(arguments).unwrap_or_default();
        let is_value = json::is_value(text.as_bytes());
        let arguments = if is_value { text.as_bytes() } else { arguments };
        event(
            "tool.call",
            "stepUuid",
            &[("toolCallId", call.id), ("name", call.name), ("args", arguments)],
        );
    }
    if let Some(usage) = json::member(annotated.body, "usage") {
        event("step.end", "uuid", &[("usage", usage)]);
    }
    events
}
