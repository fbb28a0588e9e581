//! Messages of version 4: what was said stands in `content`, and with all else in `parts`.

use super::KIND;
use super::part;
use super::spell_new::{function, made_id, result_text, shown};
use crate::format::listed::Spelling;
use crate::format::report::Loss;
use crate::format::request::draft::text_part;
use crate::format::request::media::Media;
use crate::format::request::piece::{Said, array, object_arguments, rest};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::Role;
use std::collections::HashMap;

/// What messages have no place for.
const LOST: [&str; 5] = ["usage", "model", "category", "tokens", "name"];

/// A message that is being made.
#[derive(Default)]
struct Open {
    role: &'static str,
    id: Option<Vec<u8>>,
    time: Option<Vec<u8>>,
    members: Option<Vec<u8>>,
    texts: Vec<String>,
    parts: Vec<Made>,
    attachments: Vec<Vec<u8>>,
    step: u64,
}

/// A part, or a call that may get a result.
enum Made {
    Part(Vec<u8>),
    Call(Vec<u8>),
}

/// Writes messages.
pub fn elements(said: &[Said<'_>], spelling: &mut Spelling) -> Vec<Vec<u8>> {
    let mut all: Vec<Open> = Vec::new();
    let mut waiting: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut exchange = false;
    for said in said {
        spelling.tell_books(said, &KIND, &LOST);
        let refused = json::member(said.body, "refusal").is_some_and(|raw| raw != b"null");
        spelling.report.lose(Loss::Part, u64::from(refused));
        let beside = |spelling: &mut Spelling| {
            for (name, loss) in [("id", Loss::Id), ("timestamp", Loss::Timestamp)] {
                let had = json::member(said.body, name).is_some();
                spelling.report.lose(loss, u64::from(had));
            }
        };
        // Only newer messages have a place for these.
        let lost = said.noted("metadata").is_some();
        spelling.report.lose(Loss::Metadata, u64::from(lost));
        match said.message.role() {
            Role::Tool => {
                beside(spelling);
                let id = said.message.tool_call_id().unwrap_or_default();
                match waiting.get_mut(id.as_ref()).and_then(Vec::pop) {
                    Some((message, part)) => {
                        if let Made::Call(call) = &mut all[message].parts[part] {
                            *call = answered(call, said, spelling);
                        }
                    }
                    None => spelling.report.lose(Loss::Orphan, 1),
                }
            }
            Role::Assistant => {
                match exchange && !said.is_apart() {
                    true => beside(spelling),
                    false => all.push(open("assistant", said)),
                }
                exchange = true;
                let at = all.len() - 1;
                let Some(last) = all.last_mut() else { continue };
                last.parts.push(Made::Part(br#"{"type":"step-start"}"#.to_vec()));
                spoken(said, last, spelling);
                let calls = said.calls();
                let notes = said.call_notes(calls.len());
                for (nth, raw) in calls.into_iter().enumerate() {
                    let id = json::member(raw, "id").and_then(json::text).unwrap_or_default();
                    let known = waiting.entry(id.into_owned()).or_default();
                    known.push((at, last.parts.len()));
                    let note = notes.get(nth).copied().unwrap_or(b"{}");
                    last.parts.push(Made::Call(call(raw, note, last.step, spelling)));
                }
                last.step += 1;
                last.parts.extend(shown(said).into_iter().map(Made::Part));
            }
            role => {
                exchange = false;
                let system = matches!(role, Role::System | Role::Developer);
                spelling.report.lose(Loss::Part, u64::from(role == Role::Other));
                let mut made = open(if system { "system" } else { "user" }, said);
                spoken(said, &mut made, spelling);
                made.parts.extend(shown(said).into_iter().map(Made::Part));
                all.push(made);
            }
        }
    }
    all.into_iter()
        .enumerate()
        .map(|(nth, open)| finished(nth, open))
        .collect()
}

fn open(role: &'static str, said: &Said<'_>) -> Open {
    Open {
        role,
        id: json::member(said.body, "id").map(<[u8]>::to_vec),
        time: json::member(said.body, "timestamp").map(<[u8]>::to_vec),
        members: said.noted("members").map(<[u8]>::to_vec),
        ..Open::default()
    }
}

fn finished(nth: usize, open: Open) -> Vec<u8> {
    let mut invocations = Vec::new();
    let mut parts = Vec::new();
    for part in open.parts {
        match part {
            Made::Part(raw) => parts.push(raw),
            Made::Call(raw) => {
                let mut part = ObjectBuilder::default();
                part.text("type", "tool-invocation").raw("toolInvocation", &raw);
                parts.push(part.finish());
                invocations.push(raw);
            }
        }
    }
    let parts = array(parts);
    let mut made = ObjectBuilder::default();
    made.raw("id", open.id.unwrap_or_else(|| made_id(nth, &parts)));
    if let Some(time) = open.time {
        made.raw("createdAt", time);
    }
    made.text("role", open.role)
        .text("content", &open.texts.join("\n"));
    if !open.attachments.is_empty() {
        made.raw("experimental_attachments", array(&open.attachments));
    }
    for (name, value) in open.members.iter().flat_map(|members| rest(members, &[])) {
        made.raw(&name, value);
    }
    if !invocations.is_empty() {
        made.raw("toolInvocations", array(invocations));
    }
    made.raw("parts", parts);
    made.finish()
}

/// Thoughts and content.
fn spoken(said: &Said<'_>, open: &mut Open, spelling: &mut Spelling) {
    for part in said.reasoning() {
        let text = part::thought_text(part);
        if text.is_empty() {
            spelling.tell_reasoning(part);
            continue;
        }
        let claude = json::member(part, "type") == Some(b"\"thinking\"");
        let signature = json::member(part, "signature").filter(|_| claude);
        if signature.is_none() {
            spelling.tell_signature(part);
        }
        let mut detail = ObjectBuilder::default();
        detail.text("type", "text").text("text", &text);
        if let Some(signature) = signature {
            detail.raw("signature", signature);
        }
        let mut made = ObjectBuilder::default();
        made.text("type", "reasoning")
            .text("reasoning", &text)
            .raw("details", array([detail.finish()]));
        open.parts.push(Made::Part(made.finish()));
    }
    let texts = match said.string() {
        Some(text) => vec![text_part(text)],
        None => said.parts().into_iter().map(<[u8]>::to_vec).collect(),
    };
    for raw in texts {
        let text = match json::text(&raw) {
            Some(text) => Some(text),
            None if json::member(&raw, "type") == Some(b"\"text\"") => part::text(&raw, "text"),
            None => None,
        };
        match text {
            Some(text) if text.is_empty() => {}
            Some(text) => {
                let mut made = ObjectBuilder::default();
                made.text("type", "text").text("text", &text);
                open.parts.push(Made::Part(made.finish()));
                open.texts.push(text.into_owned());
            }
            None => attach(&raw, open, spelling),
        }
    }
}

/// An attachment; what the model made is a part of what it said.
fn attach(raw: &[u8], open: &mut Open, spelling: &mut Spelling) {
    let Some(media) = Media::of(raw) else {
        spelling.report.lose(Loss::Part, 1);
        return;
    };
    let Some(file) = part::attachment(media) else {
        spelling.report.lose(Loss::Attachment, 1);
        return;
    };
    let mut made = ObjectBuilder::default();
    let data = file.url.split_once(";base64,").map(|(_, data)| data);
    match (open.role, data) {
        ("assistant", Some(data)) => {
            made.text("type", "file")
                .text("mimeType", &file.mime)
                .text("data", data);
            open.parts.push(Made::Part(made.finish()));
        }
        ("assistant", None) => spelling.report.lose(Loss::Attachment, 1),
        _ => {
            if let Some(name) = &file.name {
                made.text("name", name);
            }
            made.text("contentType", &file.mime).text("url", &file.url);
            open.attachments.push(made.finish());
        }
    }
}

fn call(raw: &[u8], note: &[u8], step: u64, spelling: &mut Spelling) -> Vec<u8> {
    let (name, arguments) = function(raw, spelling);
    let (args, wrapped) = match arguments.and_then(json::text) {
        Some(text)
            if text.starts_with('{')
                && json::value_end(text.as_bytes(), 0, Dialect::Strict) == Ok(text.len())
                && !text.contains(['\n', '\r']) =>
        {
            (text.into_owned().into_bytes(), false)
        }
        _ => object_arguments(arguments),
    };
    spelling.report.lose(Loss::Arguments, u64::from(wrapped));
    let mut made = ObjectBuilder::default();
    if json::member(note, "state").is_none() {
        made.text("state", "call");
    }
    made.raw("step", step.to_string())
        .raw("toolCallId", json::member(raw, "id").unwrap_or(b"\"\""))
        .raw("toolName", name)
        .raw("args", args);
    for (name, value) in rest(note, &["type", "step"]) {
        made.raw(&name, value);
    }
    made.finish()
}

/// A call with its result; that it failed has no place.
fn answered(call: &[u8], said: &Said<'_>, spelling: &mut Spelling) -> Vec<u8> {
    let failed = ["is_error", "denied"]
        .iter()
        .any(|name| said.metadata(name).is_some());
    spelling.report.lose(Loss::Metadata, u64::from(failed));
    let text = result_text(said, spelling);
    let string = crate::format::request::piece::quoted(&text);
    let result = part::value(&text).map_or(string, <[u8]>::to_vec);
    json::with_members(call, &[("state", Some(b"\"result\"")), ("result", Some(&result))])
        .unwrap_or_else(|_| call.to_vec())
}
