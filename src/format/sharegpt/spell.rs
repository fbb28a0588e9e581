//! Encodes messages as turns of a record.

use super::record::Spelling;
use super::turn::{still_says, usual};
use super::{NAME, call, lost, parts};
use crate::error::Place;
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::piece::{Said, quoted};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Message, Role, ToolCall};
use crate::model::record::Record;
use std::collections::HashMap;

/// Unusual sender names of a record, by role.
pub type Words = HashMap<String, String>;

/// An encoded turn: its bytes, and which of the message's calls it has.
pub type Spelled = (Vec<u8>, Option<usize>);

/// The annotations of a message.
pub fn noted<'m>(message: &Message<'m>) -> Object<'m> {
    let own = message.metadata.and_then(|raw| json::member(raw, NAME));
    own.and_then(Object::of).unwrap_or_default()
}

/// The turn for a message, if it is a single one.
pub fn alone(body: &[u8], spelling: Spelling) -> Option<Vec<u8>> {
    let record = Record::parse(body, Place { line: 0, offset: 1 });
    let message = record.message()?;
    let mut turns = turns(body, message, spelling, &Words::new(), &mut Report::default());
    let (turn, _) = turns.pop().filter(|_| turns.is_empty())?;
    Some(turn)
}

/// The turns for a message.
pub fn turns(
    body: &[u8],
    message: &Message<'_>,
    spelling: Spelling,
    words: &Words,
    report: &mut Report,
) -> Vec<Spelled> {
    let own = noted(message);
    if let Some(raw) = own.get("raw").filter(|raw| still_says(raw, spelling, message)) {
        return vec![(raw.to_vec(), None)];
    }
    let said = Said::of(0, body, *message, Api::OpenaiChat.name());
    let role = match message.role() {
        Role::Developer => "system".into(),
        _ => message.role_name(),
    };
    let word = match own.text("from") {
        Some(word) => word.into_owned(),
        None => words
            .get(role.as_ref())
            .cloned()
            .unwrap_or_else(|| usual(&role, spelling).to_string()),
    };
    let mut members = own.get("members").and_then(Object::of);
    let mut turn = |names: [&str; 2], word: &str, value: &[u8]| {
        let mut turn = ObjectBuilder::default();
        turn.text(names[0], word).raw(names[1], value);
        for (name, value) in members.take().unwrap_or_default().members() {
            turn.raw(name, value);
        }
        turn.finish()
    };
    if spelling == Spelling::Parts {
        let content = parts::spell(&said, own.get("order"), report);
        return vec![(turn(["role", "content"], &word, &content), None)];
    }
    for thought in said.reasoning() {
        report.lose(Loss::Reasoning, 1);
        lost::reasoning(thought, report);
    }
    let names = ["from", "value"];
    let calls: Vec<String> = said
        .calls()
        .into_iter()
        .map(|raw| call::spell(&ToolCall::read(raw)))
        .collect();
    let text = text(&said, report);
    let mut spelled = Vec::new();
    if calls.is_empty() || text != b"\"\"" {
        spelled.push((turn(names, &word, &text), None));
    }
    if own.get("array").is_some() && !calls.is_empty() {
        let value = quoted(&format!("[{}]", calls.join(", ")));
        spelled.push((turn(names, "function_call", &value), None));
        return spelled;
    }
    for (nth, call) in calls.iter().enumerate() {
        spelled.push((turn(names, "function_call", &quoted(call)), Some(nth)));
    }
    spelled
}

/// The text of a message as a JSON string; reports other parts as losses.
pub fn text(said: &Said<'_>, report: &mut Report) -> Vec<u8> {
    if let Some(text) = said.string() {
        return text.to_vec();
    }
    let mut texts = Vec::new();
    for raw in said.parts() {
        let part = Object::of(raw).unwrap_or_default();
        let kind = part.text("type").unwrap_or_default();
        match (part.text("text").filter(|_| kind == "text"), json::text(raw)) {
            (Some(text), _) | (None, Some(text)) => texts.push(text),
            (None, None) => report.lose(lost::part(&kind), 1),
        }
    }
    quoted(&texts.join("\n"))
}
