//! The texts of a message that a user sees: its text, reasoning, calls and results. Excludes ids, signatures and
//! encoded data.

use crate::model::json::{self, Dialect};
use crate::model::message::{Message, MessagePart as Content, Role};
use crate::model::named_enum::named_enum;

named_enum! {
    /// A kind of text in a session.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum TextKind {
        /// Text of the message.
        Text = "text",
        /// Reasoning of a model.
        Reasoning = "reasoning",
        /// The name of a called tool, and the strings among its arguments.
        Call = "call",
        /// The result of a call.
        Result = "result",
        /// A summary of earlier messages.
        Summary = "summary",
        /// The title of a session.
        Title = "title",
    }
}

/// Calls `each` for each text of a message, with the tool of a call.
pub fn each_text<'m>(message: &Message<'m>, each: &mut dyn FnMut(TextKind, Option<&str>, &str)) {
    for reasoning in json::items(message.reasoning) {
        reasoning_texts(reasoning, each);
    }
    let own = match message.role() {
        Role::Tool => TextKind::Result,
        _ => TextKind::Text,
    };
    for part in message.parts() {
        match part {
            Content::Text(text) => each(own, None, &text),
            Content::Other(kind, raw) => other(&kind, raw, each),
        }
    }
    if let Some(text) = message.refusal() {
        each(own, None, &text);
    }
    for call in message.tool_calls() {
        each(TextKind::Call, Some(&call.name), &call.name);
        strings(&call.arguments, &mut |text| {
            each(TextKind::Call, Some(&call.name), text)
        });
    }
}

/// Content other than plain text. Media and encoded data are not searched.
fn other(kind: &str, raw: &[u8], each: &mut dyn FnMut(TextKind, Option<&str>, &str)) {
    let text = |name: &str| json::member_text(raw, name);
    match kind {
        "thinking" | "reasoning" => reasoning_texts(raw, each),
        "refusal" => text("refusal")
            .iter()
            .for_each(|text| each(TextKind::Text, None, text)),
        "tool_result" => text_members(raw, &["content", "text"], &mut |text| {
            each(TextKind::Result, None, text)
        }),
        "input_text" | "output_text" => text("text")
            .iter()
            .for_each(|text| each(TextKind::Text, None, text)),
        _ => {}
    }
}

/// Reasoning without its signature and encrypted data.
fn reasoning_texts(raw: &[u8], each: &mut dyn FnMut(TextKind, Option<&str>, &str)) {
    let names = ["text", "thinking", "summary", "content"];
    text_members(raw, &names, &mut |text| each(TextKind::Reasoning, None, text));
}

/// The texts in these members of an object, at any depth.
fn text_members(raw: &[u8], names: &[&str], each: &mut dyn FnMut(&str)) {
    if let Some(elements) = json::elements(raw, Dialect::Strict) {
        for element in elements {
            match json::text(element) {
                Some(text) => each(&text),
                None => text_members(element, names, each),
            }
        }
        return;
    }
    for (name, value) in json::members(raw, Dialect::Strict).unwrap_or_default() {
        if !names.contains(&name.as_ref()) {
            continue;
        }
        match json::text(value) {
            Some(text) => each(&text),
            None => text_members(value, names, each),
        }
    }
}

/// Nested JSON deeper than this is searched without decoding.
const DEEPEST: usize = 8;

/// The strings in the arguments of a call, including those of JSON quoted in JSON; other arguments unchanged.
fn strings(arguments: &str, each: &mut dyn FnMut(&str)) {
    if !inside(arguments.as_bytes(), DEEPEST, each) {
        each(arguments);
    }
}

/// Calls `each` for the strings of an object or array; `false` if the bytes are neither.
fn inside(value: &[u8], depth: usize, each: &mut dyn FnMut(&str)) -> bool {
    let value = value.trim_ascii();
    let values: Vec<&[u8]> = match value.first() {
        Some(b'{') => match json::members(value, Dialect::Strict) {
            Some(members) => members.into_iter().map(|(_, value)| value).collect(),
            None => return false,
        },
        Some(b'[') => match json::elements(value, Dialect::Strict) {
            Some(elements) => elements,
            None => return false,
        },
        _ => return false,
    };
    for value in values {
        match json::text(value) {
            Some(text) => {
                let is_nested = depth > 0 && inside(text.as_bytes(), depth - 1, each);
                if !is_nested {
                    each(&text);
                }
            }
            None if depth > 0 => {
                inside(value, depth - 1, each);
            }
            None => each(&String::from_utf8_lossy(value)),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Position;
    use crate::model::record::Record;

    fn texts(line: &str) -> Vec<(TextKind, String)> {
        let record = Record::parse(line.as_bytes(), Position::default());
        let mut found = Vec::new();
        each_text(record.message().unwrap(), &mut |part, _, text| {
            found.push((part, text.to_string()))
        });
        found
    }

    #[test]
    fn texts_of_each_kind_are_decoded() {
        let line = r#"{"role":"assistant","content":[{"type":"text","text":"caf\u00e9"},{"type":"image_url","image_url":{"url":"data:x"}}],"reasoning":[{"text":"hm","signature":"sig"},{"summary":[{"type":"summary_text","text":"short"}],"encrypted_content":"x"}],"tool_calls":[{"id":"call_1","type":"function","function":{"name":"run","arguments":"{\"cmd\":\"{\\\"deep\\\":[\\\"a \\\\\\\"b\\\\\\\"\\\"]}\",\"n\":8080,\"list\":[\"x\"]}"}}]}"#;
        let of = |part, text: &str| (part, text.to_string());
        assert_eq!(
            texts(line),
            [
                of(TextKind::Reasoning, "hm"),
                of(TextKind::Reasoning, "short"),
                of(TextKind::Text, "caf\u{e9}"),
                of(TextKind::Call, "run"),
                of(TextKind::Call, "a \"b\""),
                of(TextKind::Call, "x"),
            ]
        );
        assert_eq!(
            texts(r#"{"role":"tool","tool_call_id":"c","content":"out"}"#),
            [of(TextKind::Result, "out")]
        );
        let free = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"patch","input":"*** {Begin"}}]}"#;
        assert_eq!(
            texts(free),
            [of(TextKind::Call, "patch"), of(TextKind::Call, "*** {Begin")]
        );
    }
}
