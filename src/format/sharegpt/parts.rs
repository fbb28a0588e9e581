//! Converts content parts with `type` and `value`.

use super::call::{self, Calls};
use super::lost;
use crate::format::object::{Object, set};
use crate::format::report::{Loss, Report};
use crate::format::request::draft::{self, Draft, Slot, text_part};
use crate::format::request::piece::{Said, array, quoted, wrapped};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::ToolCall;

/// Converts the parts of a message.
pub fn read(content: Option<&[u8]>, draft: &mut Draft, own: &mut ObjectBuilder, calls: &mut Calls) {
    let parts = content.and_then(|raw| json::elements(raw, json::Dialect::Strict));
    let Some(parts) = parts else {
        match content {
            Some(raw) if raw.starts_with(b"\"") || raw == b"null" => draft.raw("content", raw),
            Some(raw) => draft.raw("content", array([raw])),
            None => draft.raw("content", "null"),
        };
        return;
    };
    let (mut said, mut reasoning, mut made, mut order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut text = None;
    for raw in parts {
        let part = Object::of(raw).unwrap_or_default();
        let kind = part.text("type").unwrap_or_default();
        let value = part.string("value");
        let called = value.filter(|_| kind == "tool_call").and_then(json::text);
        let called = called.as_deref().and_then(call::read);
        match (kind.as_ref(), value, called) {
            ("reasoning", Some(value), _) => {
                reasoning.push(text_part(value));
                order.push(Slot::Reasoning);
            }
            ("tool_call", _, Some((all, false))) => {
                made.extend(all.iter().map(|one| calls.made(one)));
                order.push(Slot::Call);
            }
            (kind, value, _) => {
                said.push(match (kind, value) {
                    ("text", Some(value)) => {
                        text = Some(value);
                        text_part(value)
                    }
                    ("image", Some(value)) => {
                        let mut part = ObjectBuilder::default();
                        part.text("type", "image_url")
                            .raw("image_url", wrapped("url", value));
                        part.finish()
                    }
                    _ => raw.to_vec(),
                });
                order.push(Slot::Content);
            }
        }
    }
    match (&said[..], text) {
        ([], _) => draft.raw("content", "null"),
        ([_], Some(text)) => draft.raw("content", text),
        (said, _) => draft.raw("content", array(said)),
    };
    if !made.is_empty() {
        draft.raw("tool_calls", array(made));
    }
    if !reasoning.is_empty() {
        draft.raw("reasoning", array(reasoning));
    }
    set(own, "order", draft::order_note(&order));
}

fn valued(kind: &str, value: &[u8]) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    part.text("type", kind).raw("value", value);
    part.finish()
}

/// Encodes the parts of a message; `order` is the annotated order.
pub fn spell(said: &Said<'_>, order: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let mut reasoning = Vec::new();
    for part in said.reasoning() {
        match json::member(part, "text").filter(|raw| raw.starts_with(b"\"")) {
            Some(text) => reasoning.push(valued("reasoning", text)),
            None => report.lose(Loss::Reasoning, 1),
        }
        lost::reasoning(part, report);
    }
    let mut content = Vec::new();
    content.extend(said.string().map(|text| valued("text", text)));
    for raw in said.parts() {
        let part = Object::of(raw).unwrap_or_default();
        let kind = part.text("type").unwrap_or_default();
        match kind.as_ref() {
            "text" => content.extend(part.string("text").map(|text| valued("text", text))),
            "image_url" => {
                let image = part.object("image_url").unwrap_or_default();
                content.extend(image.string("url").map(|url| valued("image", url)));
            }
            _ if part.get("value").is_some() => content.push(raw.to_vec()),
            kind => report.lose(lost::part(kind), 1),
        }
    }
    let calls = said.calls().into_iter().map(|raw| {
        let text = call::spell(&ToolCall::read(raw));
        valued("tool_call", &quoted(&text))
    });
    let calls = calls.collect();
    array(draft::in_order(order, [reasoning, content, calls]))
}
