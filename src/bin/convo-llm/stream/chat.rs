//! Assembles streamed chunks of the OpenAI Chat API, each of which adds to the message.

use super::step::{StreamStep, StreamText};
use convo::model::json::{self, Dialect, ObjectBuilder, array};
use std::collections::HashMap;

/// The reply assembled so far.
#[derive(Debug, Default)]
pub struct ChatAssembler {
    id: Option<Vec<u8>>,
    model: Option<Vec<u8>>,
    usage: Option<Vec<u8>>,
    content: StreamText,
    refusal: StreamText,
    /// Reasoning, under the member name that the service uses.
    reasoning: Vec<(&'static str, StreamText)>,
    details: Vec<Vec<u8>>,
    calls: Vec<StreamedCall>,
    /// The position in `calls` of each call index.
    numbered: HashMap<Vec<u8>, usize>,
    finish_reason: Option<Vec<u8>>,
}

#[derive(Debug, Default)]
struct StreamedCall {
    id: StreamText,
    name: StreamText,
    arguments: StreamText,
}

fn is_text(raw: &&[u8]) -> bool {
    raw.len() > 2 && raw.starts_with(b"\"")
}

impl ChatAssembler {
    /// Adds a chunk.
    pub fn push(&mut self, data: &[u8]) -> StreamStep {
        let own = |name: &str| json::member(data, name).filter(is_text).map(<[u8]>::to_vec);
        self.id = self.id.take().or_else(|| own("id"));
        self.model = self.model.take().or_else(|| own("model"));
        if let Some(usage) = json::member(data, "usage").filter(|raw| raw.starts_with(b"{")) {
            self.usage = Some(usage.to_vec());
        }
        let choices = json::list(data, "choices");
        let first = |choice: &&&[u8]| matches!(json::member(choice, "index"), None | Some(b"0"));
        let Some(choice) = choices.iter().find(first) else {
            return StreamStep::default();
        };
        if let Some(reason) = json::member(choice, "finish_reason").filter(is_text) {
            self.finish_reason = Some(reason.to_vec());
        }
        let Some(delta) = json::member(choice, "delta") else {
            return StreamStep::default();
        };
        let member = |name: &str| json::member(delta, name);
        for name in ["reasoning_content", "reasoning"] {
            if let Some(raw) = member(name).filter(is_text) {
                match self.reasoning.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, text)) => text.push(Some(raw)),
                    None => self
                        .reasoning
                        .push((name, StreamText(raw[1..raw.len() - 1].to_vec()))),
                }
            }
        }
        let listed = |name: &str| member(name).and_then(|raw| json::elements(raw, Dialect::Strict));
        let details = listed("reasoning_details").unwrap_or_default();
        self.details.extend(details.into_iter().map(<[u8]>::to_vec));
        for call in listed("tool_calls").unwrap_or_default() {
            self.call(call);
        }
        self.content.push(member("content"));
        self.refusal.push(member("refusal"));
        StreamStep::of(member("content").or(member("refusal")))
    }

    /// Adds a part of a call. Some services send no index; then a name begins a new call.
    fn call(&mut self, piece: &[u8]) {
        let index = json::member(piece, "index").filter(|raw| *raw != b"null");
        let function = json::member(piece, "function").unwrap_or(b"{}");
        let begins = json::member(function, "name").filter(is_text).is_some();
        let known = match index {
            Some(index) => self.numbered.get(index).copied(),
            None if begins => None,
            None => self.calls.len().checked_sub(1),
        };
        let at = known.unwrap_or_else(|| {
            let next = self.calls.len();
            if let Some(index) = index {
                self.numbered.insert(index.to_vec(), next);
            }
            self.calls.push(StreamedCall::default());
            next
        });
        let call = &mut self.calls[at];
        // Some services repeat id and name in every chunk.
        if call.id.is_empty() {
            call.id.push(json::member(piece, "id"));
        }
        if call.name.is_empty() {
            call.name.push(json::member(function, "name"));
        }
        match json::member(function, "arguments") {
            Some(raw) if raw.starts_with(b"{") => {
                json::push_text(&mut call.arguments.0, &String::from_utf8_lossy(raw));
                let quoted = std::mem::take(&mut call.arguments.0);
                call.arguments.push(Some(&quoted));
            }
            raw => call.arguments.push(raw),
        }
    }

    /// Whether the end was received.
    pub fn is_complete(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Returns the assembled reply.
    pub fn body(self) -> Vec<u8> {
        let mut message = ObjectBuilder::default();
        message.text("role", "assistant");
        match self.content.is_empty() {
            true => message.raw("content", "null"),
            false => message.raw("content", self.content.raw()),
        };
        for (name, text) in &self.reasoning {
            message.raw(name, text.raw());
        }
        if !self.details.is_empty() {
            message.raw("reasoning_details", array(self.details.iter()));
        }
        if !self.refusal.is_empty() {
            message.raw("refusal", self.refusal.raw());
        }
        if !self.calls.is_empty() {
            message.raw("tool_calls", array(self.calls.iter().map(StreamedCall::raw)));
        }
        let mut choice = ObjectBuilder::default();
        choice
            .raw("message", message.finish())
            .raw("finish_reason", self.finish_reason.as_deref().unwrap_or(b"null"));
        let mut body = ObjectBuilder::default();
        for (name, value) in [("id", &self.id), ("model", &self.model), ("usage", &self.usage)] {
            if let Some(value) = value {
                body.raw(name, value);
            }
        }
        body.raw("choices", array([choice.finish()].iter()));
        body.finish()
    }
}

impl StreamedCall {
    fn raw(&self) -> Vec<u8> {
        let mut function = ObjectBuilder::default();
        function
            .raw("name", self.name.raw())
            .raw("arguments", self.arguments.raw());
        let mut call = ObjectBuilder::default();
        call.raw("id", self.id.raw())
            .text("type", "function")
            .raw("function", function.finish());
        call.finish()
    }
}
