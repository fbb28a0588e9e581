//! Encodes OpenAI Chat messages for training data.

use super::options::{TrainingKind, TrainingOptions, TrainingThinking};
use crate::error::Position;
use crate::format::report::{Loss, Report};
use crate::model::display_role;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::message::{Message, MessagePart, Role, ToolCall};
use crate::model::record::Record;
use std::collections::HashMap;

/// Encodes the messages of a session, in order.
pub struct TrainingWriter {
    kind: TrainingKind,
    options: TrainingOptions,
    /// Tool names by call id.
    tools: HashMap<String, String>,
    /// Maximum number of calls in a message.
    pub calls: usize,
}

impl TrainingWriter {
    pub fn new(kind: TrainingKind, options: TrainingOptions) -> TrainingWriter {
        TrainingWriter {
            kind,
            options,
            tools: HashMap::new(),
            calls: 0,
        }
    }

    /// Encodes a message; `reasoning` is that of the record.
    pub fn message(&mut self, raw: &[u8], reasoning: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
        let record = Record::parse(raw, Position { line: 1, offset: 1 });
        let Some(message) = record.message() else {
            return raw.to_vec();
        };
        let calls = message.tool_calls();
        self.calls = self.calls.max(calls.len());
        for call in &calls {
            self.tools.insert(call.id.to_string(), call.name.to_string());
        }
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = vec![
            ("reasoning", None),
            ("reasoning_content", None),
            ("reasoning_details", None),
        ];
        if let Some(content) = self.content(message, report) {
            changes.push(("content", Some(content)));
        }
        if self.kind == TrainingKind::Trl {
            self.of_templates(message, &calls, &mut changes, report);
        }
        let reasoning_parts = reasoning
            .and_then(reasoning_texts)
            .filter(|text| !text.is_empty());
        match (self.options.thinking, reasoning_parts) {
            (TrainingThinking::Field, Some(text)) => changes.push(("reasoning_content", Some(quoted(&text)))),
            (TrainingThinking::Inline, Some(text)) => {
                let text = format!("<think>\n{text}\n</think>\n\n{}", message.text());
                changes.retain(|(name, _)| *name != "content");
                changes.push(("content", Some(quoted(&text))));
            }
            (TrainingThinking::Drop, Some(_)) => report.count_loss(Loss::Reasoning, 1),
            (_, None) => {}
        }
        json::with_owned_members(raw, &changes).unwrap_or_else(|_| raw.to_vec())
    }

    /// The content if it changes: only text and images are kept, and for templates a single string of texts.
    fn content(&self, message: &Message<'_>, report: &mut Report) -> Option<Vec<u8>> {
        let parts = json::elements(message.content?, Dialect::Strict)?;
        let kept = |raw: &&[u8]| {
            let kind = json::member_text(raw, "type");
            raw.starts_with(b"\"") || matches!(kind.as_deref(), Some("text" | "image_url"))
        };
        let texts = message.parts();
        let is_text = texts.iter().all(|part| matches!(part, MessagePart::Text(_)));
        if is_text {
            return (self.kind == TrainingKind::Trl).then(|| quoted(&message.text()));
        }
        let remaining: Vec<&[u8]> = parts.iter().copied().filter(kept).collect();
        report.count_loss(Loss::Attachment, (parts.len() - remaining.len()) as u64);
        Some(array(remaining))
    }

    /// Adds the members that chat templates expect: arguments as objects, text content, the tool name of a result.
    fn of_templates(
        &self,
        message: &Message<'_>,
        calls: &[ToolCall<'_>],
        changes: &mut Vec<(&'static str, Option<Vec<u8>>)>,
        report: &mut Report,
    ) {
        if message.content.is_none_or(|raw| raw == b"null") {
            changes.push(("content", Some(b"\"\"".to_vec())));
        }
        if message.role() == Role::Developer {
            changes.push(("role", Some(b"\"system\"".to_vec())));
        }
        if !calls.is_empty() {
            let calls = calls.iter().map(|call| with_object(call, report));
            changes.push(("tool_calls", Some(array(calls.collect::<Vec<_>>()))));
        }
        let tool = message.tool_call_id().and_then(|id| self.tools.get(id.as_ref()));
        if let Some(tool) = tool.filter(|_| message.name.is_none()) {
            changes.push(("name", Some(quoted(tool))));
        }
    }
}

/// A call with an object as its arguments; free text becomes a member `input`.
fn with_object(call: &ToolCall<'_>, report: &mut Report) -> Vec<u8> {
    let text = call.arguments.trim();
    let mut function = ObjectBuilder::default();
    function.text("name", &call.name);
    match json::members(text.as_bytes(), Dialect::Strict) {
        Some(_) => function.raw("arguments", json::compact(text.as_bytes()).0),
        None if text.is_empty() => function.raw("arguments", "{}"),
        None => {
            report.count_loss(Loss::Arguments, 1);
            function.raw("arguments", wrapped("input", quoted(&call.arguments)))
        }
    };
    let mut built = ObjectBuilder::default();
    built
        .text("id", &call.id)
        .text("type", "function")
        .raw("function", function.finish());
    built.finish()
}

/// The unencrypted texts of reasoning.
fn reasoning_texts(raw: &[u8]) -> Option<String> {
    if let Some(text) = json::text(raw) {
        return Some(text.into_owned());
    }
    let parts = json::elements(raw, Dialect::Strict)?;
    let texts: Vec<_> = parts
        .into_iter()
        .filter_map(display_role::reasoning_text)
        .collect();
    Some(texts.join("\n\n"))
}

/// Excludes a message from training.
pub fn unweighted(raw: &mut Vec<u8>) {
    if let Ok(changed) = json::with_members(raw, &[("weight", Some(b"0"))]) {
        *raw = changed;
    }
}
