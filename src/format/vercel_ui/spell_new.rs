//! Messages of version 5: an exchange is one, with a border ahead of each step.

use super::KIND;
use super::part;
use crate::format::listed::Spelling;
use crate::format::report::Loss;
use crate::format::request::draft::text_part;
use crate::format::request::media::Media;
use crate::format::request::piece::{Said, array, quoted, rest};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key;
use crate::model::message::{Part, Role};
use std::collections::HashMap;

/// What messages of these roles have no place for.
const LOST: [&str; 6] = ["timestamp", "usage", "model", "category", "tokens", "name"];

/// A message that is being made.
struct Open {
    role: &'static str,
    id: Option<Vec<u8>>,
    metadata: Option<Vec<u8>>,
    members: Option<Vec<u8>>,
    parts: Vec<Vec<u8>>,
}

/// A call whose result may come: which message, which part, and what was noted on it.
struct Waiting {
    at: (usize, usize),
    note: Vec<u8>,
}

/// Writes messages.
pub fn elements(said: &[Said<'_>], spelling: &mut Spelling) -> Vec<Vec<u8>> {
    let mut all: Vec<Open> = Vec::new();
    let mut waiting: HashMap<String, Vec<Waiting>> = HashMap::new();
    let mut exchange = false;
    for said in said {
        spelling.tell_books(said, &KIND, &LOST);
        let refused = json::member(said.body, "refusal").is_some_and(|raw| raw != b"null");
        spelling.report.lose(Loss::Part, u64::from(refused));
        let own = json::member(said.body, "id");
        match said.message.role() {
            Role::Tool => {
                spelling.report.lose(Loss::Id, u64::from(own.is_some()));
                let id = said.message.tool_call_id().unwrap_or_default();
                let call = waiting.get_mut(id.as_ref()).and_then(Vec::pop);
                match call {
                    Some(call) => {
                        let part = &mut all[call.at.0].parts[call.at.1];
                        *part = answered(part, &call.note, said, spelling);
                    }
                    None => spelling.report.lose(Loss::Orphan, 1),
                }
            }
            Role::Assistant => {
                match exchange && !said.is_apart() {
                    true => spelling.report.lose(Loss::Id, u64::from(own.is_some())),
                    false => all.push(open("assistant", said)),
                }
                exchange = true;
                let at = all.len() - 1;
                if let Some(last) = all.last_mut() {
                    last.parts.push(br#"{"type":"step-start"}"#.to_vec());
                    last.parts.extend(spoken(said, spelling));
                    let calls = said.calls();
                    let notes = said.call_notes(calls.len());
                    for (nth, raw) in calls.into_iter().enumerate() {
                        let note = notes.get(nth).copied().unwrap_or(b"{}");
                        let id = json::member(raw, "id").and_then(json::text).unwrap_or_default();
                        let known = waiting.entry(id.into_owned()).or_default();
                        known.push(Waiting {
                            at: (at, last.parts.len()),
                            note: note.to_vec(),
                        });
                        last.parts.push(call(raw, note, spelling));
                    }
                    last.parts.extend(shown(said));
                }
            }
            role => {
                exchange = false;
                let system = matches!(role, Role::System | Role::Developer);
                if role == Role::Other {
                    // No such role: it is said by the user.
                    spelling.report.lose(Loss::Part, 1);
                }
                let mut made = open(if system { "system" } else { "user" }, said);
                made.parts.extend(spoken(said, spelling));
                made.parts.extend(shown(said));
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
    let noted = |name: &str| said.noted(name).map(<[u8]>::to_vec);
    Open {
        role,
        id: json::member(said.body, "id").map(<[u8]>::to_vec),
        metadata: noted("metadata"),
        members: noted("members"),
        parts: Vec::new(),
    }
}

fn finished(nth: usize, open: Open) -> Vec<u8> {
    let parts = array(&open.parts);
    let id = open.id.unwrap_or_else(|| made_id(nth, &parts));
    let mut made = ObjectBuilder::default();
    made.raw("id", id).text("role", open.role);
    if let Some(metadata) = open.metadata {
        made.raw("metadata", metadata);
    }
    for (name, value) in open.members.iter().flat_map(|members| rest(members, &[])) {
        made.raw(&name, value);
    }
    made.raw("parts", parts);
    made.finish()
}

/// An id for a message that has none: always the same for the same.
pub fn made_id(nth: usize, said: &[u8]) -> Vec<u8> {
    let text = [nth.to_string().as_bytes(), b"\n", said].concat();
    quoted(&format!("msg_{}", &key::sha256(&text)[..16]))
}

/// Parts that are shown and not sent.
pub fn shown(said: &Said<'_>) -> Vec<Vec<u8>> {
    let noted = said
        .noted("shown")
        .and_then(|raw| json::elements(raw, Dialect::Strict));
    noted
        .unwrap_or_default()
        .into_iter()
        .map(<[u8]>::to_vec)
        .collect()
}

/// Thoughts and content.
fn spoken(said: &Said<'_>, spelling: &mut Spelling) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    for part in said.reasoning() {
        let (text, told) = (part::thought_text(part), part::signed(part));
        if text.is_empty() && told.is_none() {
            spelling.tell_reasoning(part);
            continue;
        }
        if told.is_none() {
            spelling.tell_signature(part);
        }
        let mut made = ObjectBuilder::default();
        made.text("type", "reasoning")
            .text("text", &text)
            .text("state", "done");
        if let Some(told) = told {
            made.raw("providerMetadata", told);
        }
        parts.push(made.finish());
    }
    if let Some(text) = said.string() {
        if text != b"\"\"" {
            parts.push(text_part(text));
        }
        return parts;
    }
    parts.extend(
        said.parts()
            .into_iter()
            .filter_map(|part| content(part, spelling)),
    );
    parts
}

fn content(raw: &[u8], spelling: &mut Spelling) -> Option<Vec<u8>> {
    if raw.starts_with(b"\"") {
        return Some(text_part(raw));
    }
    let kind = part::text(raw, "type").unwrap_or_default();
    let own = (kind == "file" && json::member(raw, "mediaType").is_some())
        || kind.starts_with("tool-")
        || kind == "dynamic-tool";
    match kind.as_ref() {
        "text" => return json::member(raw, "text").map(text_part),
        _ if own => return Some(raw.to_vec()),
        _ => {}
    }
    let Some(media) = Media::of(raw) else {
        spelling.report.lose(Loss::Part, 1);
        return None;
    };
    let Some(file) = part::attachment(media) else {
        spelling.report.lose(Loss::Attachment, 1);
        return None;
    };
    let mut made = ObjectBuilder::default();
    made.text("type", "file").text("mediaType", &file.mime);
    if let Some(name) = &file.name {
        made.text("filename", name);
    }
    made.text("url", &file.url);
    Some(made.finish())
}

/// Name and arguments of a call; whether they were given in another form than that of a function is told.
pub fn function<'c>(call: &'c [u8], spelling: &mut Spelling) -> (&'c [u8], Option<&'c [u8]>) {
    let function = json::member(call, "function")
        .or_else(|| json::member(call, "custom"))
        .unwrap_or(b"{}");
    let arguments = json::member(function, "arguments");
    let custom = arguments.is_none() && json::member(function, "input").is_some();
    spelling.report.lose(Loss::Arguments, u64::from(custom));
    let name = json::member(function, "name").unwrap_or(b"\"\"");
    (name, arguments.or_else(|| json::member(function, "input")))
}

fn call(raw: &[u8], note: &[u8], spelling: &mut Spelling) -> Vec<u8> {
    let (name, arguments) = function(raw, spelling);
    let mut made = ObjectBuilder::default();
    match json::member(note, "type") {
        Some(kind) => made.raw("type", kind).raw("toolName", name),
        None => made.text("type", &format!("tool-{}", json::text(name).unwrap_or_default())),
    };
    made.raw("toolCallId", json::member(raw, "id").unwrap_or(b"\"\""));
    if json::member(note, "state").is_none() {
        made.text("state", "input-available");
    }
    if let Some(text) = arguments.and_then(json::text).filter(|text| !text.is_empty()) {
        match part::value(&text) {
            Some(value) => made.raw("input", value),
            None => made.text("input", &text),
        };
    }
    for (name, value) in rest(note, &["type"]) {
        made.raw(&name, value);
    }
    made.finish()
}

/// The text of a result; what is no text in it is told.
pub fn result_text(said: &Said<'_>, spelling: &mut Spelling) -> String {
    for part in said.message.parts() {
        if let Part::Other(_, raw) = part {
            let attached = Media::of(raw).is_some();
            spelling
                .report
                .lose(if attached { Loss::Attachment } else { Loss::Part }, 1);
        }
    }
    said.message.text().into_owned()
}

/// The part of a call with its result.
fn answered(part: &[u8], note: &[u8], said: &Said<'_>, spelling: &mut Spelling) -> Vec<u8> {
    let text = result_text(said, spelling);
    let string = quoted(&text);
    let is = |name: &str| said.metadata(name) == Some(b"true");
    let changes: Vec<(&str, Option<Vec<u8>>)> = if is("is_error") {
        vec![
            ("state", Some(quoted("output-error"))),
            ("errorText", Some(string)),
        ]
    } else if is("denied") {
        let mut changes = vec![("state", Some(quoted("output-denied")))];
        if json::member(note, "approval").is_none() {
            let mut approval = ObjectBuilder::default();
            approval
                .raw("id", json::member(part, "toolCallId").unwrap_or(b"\"\""))
                .raw("approved", "false")
                .raw("reason", string);
            changes.push(("approval", Some(approval.finish())));
        }
        changes
    } else {
        let output = part::value(&text).map_or(string, <[u8]>::to_vec);
        vec![
            ("state", Some(quoted("output-available"))),
            ("output", Some(output)),
        ]
    };
    let changes: Vec<_> = changes
        .iter()
        .map(|(name, value)| (*name, value.as_deref()))
        .collect();
    json::with_members(part, &changes).unwrap_or_else(|_| part.to_vec())
}
