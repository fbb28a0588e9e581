//! Converts the lines of a display stream to messages and back.

use crate::format::kit::{Assembly, Decoded, SideSession};
use crate::format::report::{Loss, Report};
use crate::format::request::call::CallMembers;
use crate::format::request::contents::{RequestContent, content_parts, joined};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::request::{draft, media, part_losses};
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::Role;
use crate::model::time;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The update in a line.
pub struct GrokUpdate<'l> {
    line: &'l [u8],
    raw: &'l [u8],
    /// Its type.
    pub kind: Cow<'l, str>,
}

impl<'l> GrokUpdate<'l> {
    /// From a line of a stream.
    pub fn of(line: &'l [u8]) -> Option<GrokUpdate<'l>> {
        let raw = json::member(json::member(line, "params")?, "update")?;
        let kind = json::member_text(raw, "sessionUpdate")?;
        Some(GrokUpdate { line, raw, kind })
    }

    fn get(&self, name: &str) -> Option<&'l [u8]> {
        json::member(self.raw, name)
    }

    /// A string member.
    pub fn text(&self, name: &str) -> Option<String> {
        json::member_string(self.raw, name)
    }

    /// The number of its prompt.
    pub fn prompt_index(&self) -> Option<&'l [u8]> {
        json::member(self.get("_meta")?, "promptIndex")
    }

    /// Whether it completes a call.
    pub fn is_result(&self) -> bool {
        let status = self.text("status");
        self.kind == "tool_call_update" && matches!(status.as_deref(), Some("completed" | "failed"))
    }

    /// Identifies the message that adjacent updates belong to.
    fn message(&self) -> Option<(bool, Option<&'l [u8]>)> {
        match self.kind.as_ref() {
            "user_message_chunk" => Some((true, self.prompt_index())),
            "agent_message_chunk" | "agent_thought_chunk" | "tool_call" => {
                let meta = json::member(self.line, "params").and_then(|raw| json::member(raw, "_meta"));
                Some((false, meta.and_then(|meta| json::member(meta, "promptId"))))
            }
            _ => None,
        }
    }
}

/// The time of a line, in milliseconds or seconds.
pub fn time_of(line: &[u8]) -> Option<String> {
    let meta = json::member(line, "params").and_then(|raw| json::member(raw, "_meta"));
    let exact = meta.and_then(|meta| json::number::<i64>(json::member(meta, "agentTimestampMs")?));
    let time = exact.or_else(|| json::number(json::member(line, "timestamp")?))?;
    // Seconds until the year 5138.
    let is_seconds = time < 100_000_000_000;
    time::from_milliseconds(if is_seconds { time.checked_mul(1000)? } else { time })
}

/// Assigns the lines of a stream to sessions and messages.
pub fn assemble(lines: &[&[u8]]) -> Assembly {
    let mut assembly = Assembly {
        first: (0..lines.len()).collect(),
        session: vec![0; lines.len()],
        others: Vec::new(),
    };
    let mut open = None;
    // The messages of calls and of their results.
    let mut known: HashMap<(String, bool), usize> = HashMap::new();
    for (nth, line) in lines.iter().enumerate() {
        let Some(update) = GrokUpdate::of(line) else {
            continue;
        };
        let is_call = update.kind == "tool_call" || update.is_result();
        let call = update.text("toolCallId").filter(|_| is_call);
        let call = call.map(|call| (call, update.is_result()));
        // A repeated update belongs to the same message.
        if let Some(first) = call.as_ref().and_then(|call| known.get(call)) {
            assembly.first[nth] = *first;
            continue;
        }
        match (update.message(), open) {
            (Some(message), Some((first, before))) if message == before => assembly.first[nth] = first,
            (Some(message), _) => open = Some((nth, message)),
            (None, _) if update.is_result() => open = None,
            (None, _) if update.kind == "rewind_marker" => {
                open = None;
                rewind(lines, nth, update.get("target_prompt_index"), &mut assembly);
            }
            (None, _) => {}
        }
        known.extend(call.map(|call| (call, assembly.first[nth])));
    }
    assembly
}

/// Turns the messages from a prompt to the marker that names it into a branch.
fn rewind(lines: &[&[u8]], marker: usize, target: Option<&[u8]>, assembly: &mut Assembly) {
    let Some(target) = target.and_then(json::number::<u64>) else {
        return;
    };
    let main: Vec<usize> = (0..marker).filter(|nth| assembly.session[*nth] == 0).collect();
    let is_removed = |nth: &&usize| {
        let update = GrokUpdate::of(lines[**nth]);
        let index = update.and_then(|update| update.prompt_index().and_then(json::number::<u64>));
        index.is_some_and(|index| index >= target)
    };
    let Some(from) = main.iter().find(is_removed).copied() else {
        return;
    };
    let is_message = |nth: &&usize| {
        GrokUpdate::of(lines[**nth]).is_some_and(|update| update.message().is_some() || update.is_result())
    };
    let before = main.iter().rev().filter(|nth| **nth < from).find(is_message);
    assembly.others.push(SideSession {
        kind: "branch",
        at: before.map(|nth| format!("msg_{}", assembly.first[*nth] + 1)),
        id: None,
    });
    for nth in main.into_iter().filter(|nth| *nth >= from) {
        assembly.session[nth] = assembly.others.len();
    }
}

/// Decodes the lines of a message.
pub fn decode(lines: &[&[u8]]) -> Decoded {
    let updates: Option<Vec<GrokUpdate<'_>>> = lines.iter().map(|line| GrokUpdate::of(line)).collect();
    let Some(updates) = updates else {
        let is_named = json::member(lines[0], "method").is_some();
        return if is_named {
            Decoded::Passthrough
        } else {
            Decoded::Unrecognized
        };
    };
    let draft = match updates[0].message() {
        Some((true, _)) => parts(&updates, "user_message_chunk")
            .map(|parts| draft::AnnotatedDraft::with_content("user", joined(&parts, b"\"\""))),
        Some((false, _)) => assistant(&updates),
        None if updates[0].is_result() => result(&updates[0]),
        None => return Decoded::Passthrough,
    };
    Decoded::timed(draft, time_of(lines[0]))
}

/// The parts of chunks of a kind; adjacent texts are joined. `None` if a chunk has no content.
fn parts(updates: &[GrokUpdate<'_>], kind: &str) -> Option<Vec<Vec<u8>>> {
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut is_open = false;
    let close = |text: &mut String, is_open: &mut bool, parts: &mut Vec<Vec<u8>>| {
        if std::mem::take(is_open) {
            parts.push(draft::text_part(&quoted(&std::mem::take(text))));
        }
    };
    for update in updates {
        if update.kind != kind {
            close(&mut text, &mut is_open, &mut parts);
            continue;
        }
        let content = update.get("content").filter(|raw| raw.starts_with(b"{"))?;
        match json::member_text(content, "type").as_deref() {
            Some("text") => {
                text.push_str(&json::member_text(content, "text")?);
                is_open = true;
            }
            Some(_) => {
                close(&mut text, &mut is_open, &mut parts);
                parts.push(image(content).unwrap_or_else(|| content.to_vec()));
            }
            None => return None,
        }
    }
    close(&mut text, &mut is_open, &mut parts);
    Some(parts)
}

fn image(content: &[u8]) -> Option<Vec<u8>> {
    let text = |name| json::member_text(content, name);
    let url = match (text("type")?.as_ref(), text("mimeType"), text("data")) {
        ("image", Some(mime), Some(data)) => format!("data:{mime};base64,{data}"),
        _ => return None,
    };
    let mut image = ObjectBuilder::default();
    image
        .text("type", "image_url")
        .raw("image_url", wrapped("url", quoted(&url)));
    Some(image.finish())
}

fn assistant(updates: &[GrokUpdate<'_>]) -> Option<draft::AnnotatedDraft> {
    let reasoning_parts = parts(updates, "agent_thought_chunk")?;
    let annotated = parts(updates, "agent_message_chunk")?;
    let mut known = HashSet::new();
    let calls = updates.iter().filter(|update| update.kind == "tool_call");
    let calls = calls.filter(|call| known.insert(call.get("toolCallId")));
    let calls: Option<Vec<Vec<u8>>> = calls.map(call).collect();
    let calls = calls?;
    let mut draft = draft::AnnotatedDraft::with_content("assistant", joined(&annotated, b"null"));
    if !reasoning_parts.is_empty() {
        let reasoning_parts = reasoning_parts.iter().map(|part| {
            let mut reasoning = ObjectBuilder::default();
            reasoning.text("type", "thinking");
            reasoning.raw("text", json::member(part, "text").unwrap_or(b"\"\""));
            reasoning.finish()
        });
        draft.raw("reasoning", array(reasoning_parts));
    }
    draft.list("tool_calls", &calls);
    Some(draft)
}

fn call(update: &GrokUpdate<'_>) -> Option<Vec<u8>> {
    let id = update.get("toolCallId").filter(|raw| raw.starts_with(b"\""))?;
    let input = update.get("rawInput").filter(|raw| *raw != b"null");
    let input = String::from_utf8_lossy(input.unwrap_or(b"{}"));
    Some(draft::call(
        id,
        update.get("title").unwrap_or(b"\"\""),
        &quoted(&input),
    ))
}

fn result(update: &GrokUpdate<'_>) -> Option<draft::AnnotatedDraft> {
    let id = update.get("toolCallId").filter(|raw| raw.starts_with(b"\""))?;
    let parts = json::items(update.get("content")).into_iter().map(|element| {
        let inner = json::member(element, "content").filter(|raw| raw.starts_with(b"{"));
        let text = inner.and_then(|inner| json::member(inner, "text"));
        match text.filter(|raw| raw.starts_with(b"\"")) {
            Some(text) => draft::text_part(text),
            None => inner.and_then(image).unwrap_or_else(|| element.to_vec()),
        }
    });
    let mut draft = draft::AnnotatedDraft::with_content("tool", joined(&parts.collect::<Vec<_>>(), b"\"\""));
    draft.raw("tool_call_id", id);
    let is_failed = update.text("status").as_deref() == Some("failed");
    draft.metadata("is_error", is_failed.then(|| b"true".to_vec()));
    Some(draft)
}

/// Encodes a message as lines.
pub fn encode(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    match annotated.message.role() {
        Role::Tool => {
            let parts = contents(annotated, report).into_iter();
            let status = match annotated.metadata("is_error") {
                Some(b"true") => "failed",
                _ => "completed",
            };
            let mut update = ObjectBuilder::default();
            update
                .text("sessionUpdate", "tool_call_update")
                .raw("toolCallId", annotated.message.tool_call_id.unwrap_or(b"\"\""))
                .text("status", status)
                .raw("content", array(parts.map(|part| element(&part))));
            lines.push(update.finish());
        }
        Role::Assistant => {
            for part in annotated.reasoning() {
                let text = json::member(part, "text").or(json::member(part, "thinking"));
                let text = text.filter(|text| text.starts_with(b"\""));
                report.count_loss(Loss::Part, u64::from(text.is_none()));
                let is_signed = ["signature", "encrypted_content"]
                    .iter()
                    .any(|name| json::member(part, name).is_some());
                report.count_loss(Loss::Signature, u64::from(is_signed));
                lines.extend(text.map(|text| chunk("agent_thought_chunk", &draft::text_part(text))));
            }
            let parts = contents(annotated, report).into_iter();
            lines.extend(parts.map(|part| chunk("agent_message_chunk", &part)));
            lines.extend(annotated.calls().into_iter().map(|call| request(call, report)));
        }
        role => {
            report.count_loss(Loss::Message, u64::from(!matches!(role, Role::User)));
            let parts = contents(annotated, report).into_iter();
            lines.extend(parts.map(|part| chunk("user_message_chunk", &part)));
        }
    }
    let line = |update: Vec<u8>| wrapped("params", wrapped("update", &update));
    lines.into_iter().map(line).collect()
}

fn chunk(kind: &str, content: &[u8]) -> Vec<u8> {
    let mut update = ObjectBuilder::default();
    update.text("sessionUpdate", kind).raw("content", content);
    update.finish()
}

fn element(part: &[u8]) -> Vec<u8> {
    let mut element = ObjectBuilder::default();
    element.text("type", "content").raw("content", part);
    element.finish()
}

/// The parts of a content: texts, and images with inline data.
fn contents(annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
    let pieces = content_parts(annotated.message.content).into_iter();
    let parts = pieces.filter_map(|piece| match piece {
        RequestContent::Text(text) => Some(draft::text_part(text)),
        RequestContent::Other(part) => {
            let built = media::RequestMedia::of(part).and_then(|media| match (media.kind, media.bytes) {
                (media::MediaKind::Image, media::Bytes::Here(mime, data)) => {
                    let mut image = ObjectBuilder::default();
                    image
                        .text("type", "image")
                        .text("mimeType", &mime)
                        .text("data", &data);
                    Some(image.finish())
                }
                _ => None,
            });
            if built.is_none() {
                part_losses::content(part, report);
            }
            built
        }
    });
    parts.collect()
}

fn request(call: &[u8], report: &mut Report) -> Vec<u8> {
    let call = CallMembers::of_function(call, report);
    let arguments = call.arguments.filter(|_| !call.is_custom).unwrap_or(b"{}");
    let mut update = ObjectBuilder::default();
    update
        .text("sessionUpdate", "tool_call")
        .raw("toolCallId", call.id)
        .raw("title", call.name);
    match json::text(arguments) {
        Some(text) if json::is_value(text.as_bytes()) => update.raw("rawInput", text.as_bytes()),
        Some(text) => update.text("rawInput", &text),
        None => update.raw("rawInput", arguments),
    };
    update.finish()
}

/// Whether a message is written as one of the user.
fn is_prompt(annotated: &AnnotatedMessage<'_>) -> bool {
    !matches!(annotated.message.role(), Role::Assistant | Role::Tool)
}

/// What new lines of a stream have in common.
#[derive(Default)]
pub struct NewUpdates {
    session: Option<String>,
    /// The number of the next prompt, by which adjacent prompts are separate messages.
    prompt: u64,
}

impl NewUpdates {
    /// For lines after those of this session.
    pub fn after<'l>(session: Option<String>, lines: impl Iterator<Item = &'l [u8]>) -> NewUpdates {
        let index = |line| json::number::<u64>(GrokUpdate::of(line)?.prompt_index()?);
        let last = lines.filter_map(index).max();
        NewUpdates {
            session,
            prompt: last.map_or(0, |last| last.saturating_add(1)),
        }
    }

    /// The lines of a message.
    pub fn lines(&mut self, annotated: &AnnotatedMessage<'_>, report: &mut Report) -> Vec<Vec<u8>> {
        let lines = encode(annotated, report);
        let lines = lines.iter().map(|line| self.line(line, annotated)).collect();
        self.prompt += u64::from(is_prompt(annotated));
        lines
    }

    fn line(&self, line: &[u8], annotated: &AnnotatedMessage<'_>) -> Vec<u8> {
        let update = json::member(line, "params").and_then(|params| json::member(params, "update"));
        let mut update = update.unwrap_or(b"{}").to_vec();
        if is_prompt(annotated) {
            let meta = wrapped("promptIndex", self.prompt.to_string());
            update = json::with_members(&update, &[("_meta", Some(&meta))]).unwrap_or(update);
        }
        let mut params = ObjectBuilder::default();
        if let Some(session) = &self.session {
            params.text("sessionId", session);
        }
        params.raw("update", update);
        let mut built = ObjectBuilder::default();
        let time = annotated.message.timestamp();
        if let Some(time) = time.and_then(|time| time::milliseconds(&time)) {
            built.raw("timestamp", (time / 1000).to_string());
        }
        built
            .text("method", "session/update")
            .raw("params", params.finish());
        built.finish()
    }
}
