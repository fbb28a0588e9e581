//! Converts items to native messages.

use super::part;
use crate::format::content::fault as unknown_content;
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::format::request::request_part::extra_object;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::key;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

/// The role of an item in a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Reasoning,
    /// Text, or a call that the provider executes.
    Text,
    Call,
    /// Not from the model, or a separate message.
    Other,
}

fn kind(item: &[u8]) -> Cow<'_, str> {
    json::member_text(item, "type").unwrap_or(Cow::Borrowed("message"))
}

fn is_message(item: &[u8]) -> bool {
    kind(item) == "message" && json::string_member(item, "role").is_some()
}

fn is_call(item: &[u8]) -> bool {
    kind(item).ends_with("_call") && (has_id(item) || is_unnamed(item))
}

fn is_output(item: &[u8]) -> bool {
    kind(item).ends_with("_output") && (has_id(item) || is_unnamed(item))
}

fn has_id(item: &[u8]) -> bool {
    json::string_member(item, "call_id").is_some()
}

/// Whether an item is a client's call, or its output, with a null `call_id`.
pub(in crate::format) fn is_unnamed(item: &[u8]) -> bool {
    const CLIENT: [&str; 3] = ["function_call", "custom_tool_call", "local_shell_call"];
    let kind = kind(item);
    let call = kind.strip_suffix("_output").unwrap_or(&kind);
    CLIENT.contains(&call) && json::member(item, "call_id") == Some(b"null")
}

fn stage(item: &[u8]) -> Stage {
    match kind(item).as_ref() {
        "reasoning" => Stage::Reasoning,
        "message" if is_message(item) && json::member(item, "role") == Some(b"\"assistant\"") => Stage::Text,
        "mcp_list_tools" | "mcp_approval_request" => Stage::Text,
        _ if is_call(item) => Stage::Call,
        kind if kind.ends_with("_call") => Stage::Text,
        _ => Stage::Other,
    }
}

/// The number of leading items that form one message: reasoning, one text, calls.
pub fn group(items: &[&[u8]]) -> usize {
    let mut reached = Stage::Reasoning;
    for (nth, item) in items.iter().enumerate() {
        let stage = stage(item);
        if stage == Stage::Other {
            return nth.max(1);
        }
        let after = stage < reached || (stage == Stage::Text && reached == Stage::Text);
        if nth > 0 && after {
            return nth;
        }
        reached = reached.max(stage);
    }
    items.len()
}

/// The instructions next to the items.
pub fn instructions(raw: &[u8]) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("system");
    match raw.first() {
        Some(b'"') => draft.raw("content", raw),
        _ => draft.raw("content", array([raw])),
    };
    draft.metadata("from", Some(quoted("instructions")));
    draft
}

/// Information about earlier calls.
#[derive(Debug, Default)]
pub struct ItemTools {
    /// Ids of calls of custom tools.
    custom: HashSet<String>,
    /// Ids of unanswered calls with a null `call_id`.
    unnamed: VecDeque<String>,
    /// Number of calls with a null `call_id`, by generated id.
    times: HashMap<String, u64>,
}

impl ItemTools {
    /// Generates the id of a call without one from its bytes and, if repeated, its number.
    fn name(&mut self, item: &[u8]) -> String {
        let id = key::id_from("call_", item);
        let times = self.times.entry(id.clone()).or_default();
        *times += 1;
        let id = match *times {
            1 => id,
            times => format!("{id}_{times}"),
        };
        self.unnamed.push_back(id.clone());
        id
    }

    /// The id of the call that an output without one answers: the oldest open one.
    fn answered(&mut self, item: &[u8]) -> String {
        let waiting = self.unnamed.pop_front();
        waiting.unwrap_or_else(|| key::id_from("call_", item))
    }
}

/// The native messages of a group of items; empty if they are not items.
pub fn read(items: &[&[u8]], tools: &mut ItemTools) -> Vec<AnnotatedDraft> {
    let first = items.first().copied().unwrap_or_default();
    if !first.starts_with(b"{") || !(is_message(first) || json::member(first, "type").is_some()) {
        return Vec::new();
    }
    if stage(first) != Stage::Other {
        return vec![assistant(items, tools)];
    }
    if is_message(first) {
        let role = json::member_text(first, "role").unwrap_or_default();
        let mut draft = AnnotatedDraft::new(&role);
        content(&mut draft, first);
        draft.note("item", extra_object(first, &["role", "content"]));
        return vec![draft];
    }
    if is_output(first) {
        return vec![output(first, tools)];
    }
    let mut draft = draft::raw_draft(first);
    draft.note("whole", Some(b"true".to_vec()));
    vec![draft]
}

/// The fault of an item of unknown type, or of a message with unknown content.
pub fn fault(item: &[u8]) -> Option<String> {
    let kind = kind(item);
    match kind.as_ref() {
        "message" => unknown_content(item, &[]),
        "reasoning" => unknown_content(item, &["summary", "encrypted_content"]),
        "compaction" | "mcp_list_tools" => None,
        kind if ["_call", "_output", "_request", "_response", "_reference"]
            .iter()
            .any(|end| kind.ends_with(end)) =>
        {
            None
        }
        kind => Some(format!("unknown item type '{kind}'")),
    }
}

fn content(draft: &mut AnnotatedDraft, item: &[u8]) {
    match json::member(item, "content") {
        Some(raw) if raw.starts_with(b"\"") || raw == b"null" => draft.raw("content", raw),
        Some(raw) if raw.starts_with(b"[") => draft.raw("content", part::read_content(raw)),
        // The native format has no such content.
        Some(raw) => draft.raw("content", array([raw])),
        None => draft,
    };
}

/// The parts of an item that shares its message with others.
fn parts(item: &[u8]) -> Vec<Vec<u8>> {
    let own = |parts: Vec<&[u8]>| parts.into_iter().map(<[u8]>::to_vec).collect();
    let content = json::member(item, "content").filter(|_| is_message(item));
    match content {
        Some(raw) if raw.starts_with(b"[") => own(json::items(part::read_content(raw).as_slice())),
        Some(raw) if raw.starts_with(b"\"") => vec![draft::text_part(raw)],
        _ => vec![item.to_vec()],
    }
}

fn assistant(items: &[&[u8]], tools: &mut ItemTools) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("assistant");
    let (mut reasoning, mut calls, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    // Texts of the model, and calls that the provider executes.
    let mut texts: Vec<&[u8]> = Vec::new();
    for item in items {
        match stage(item) {
            Stage::Reasoning => reasoning.push(*item),
            Stage::Call => {
                if kind(item) != "function_call" {
                    let id = json::member_text(item, "call_id");
                    tools.custom.extend(id.map(Cow::into_owned));
                }
                let unnamed = is_unnamed(item).then(|| quoted(&tools.name(item)));
                draft.note("unnamed", unnamed.as_ref().map(|_| b"true".to_vec()));
                let (call, note) = call(item, unnamed.as_deref());
                calls.push(call);
                notes.push(note);
            }
            _ => texts.push(item),
        }
    }
    match texts.as_slice() {
        [] => drop(draft.raw("content", "null")),
        [item] if is_message(item) => {
            content(&mut draft, item);
            draft.note("item", extra_object(item, &["role", "content"]));
        }
        [item] => {
            draft.raw("content", array([item]));
            draft.note("whole", Some(b"true".to_vec()));
        }
        // Several items become one message, which can only be written back if the items are preserved.
        several => {
            draft.raw("content", array(several.iter().flat_map(|item| parts(item))));
        }
    }
    draft.list("tool_calls", &calls);
    if !reasoning.is_empty() {
        draft.raw("reasoning", array(&reasoning));
        draft.note("reasoned", Some(b"true".to_vec()));
    }
    draft.note("calls", draft::call_notes(&notes));
    draft
}

/// A call, and the annotation for its other members.
fn call(item: &[u8], unnamed: Option<&[u8]>) -> (Vec<u8>, Vec<u8>) {
    let own = |name| json::member(item, name).unwrap_or(b"null");
    let id = unnamed.unwrap_or(own("call_id"));
    match kind(item).as_ref() {
        "function_call" => {
            let arguments = own("arguments");
            let arguments = match arguments.first() {
                Some(b'"') => arguments.to_vec(),
                Some(b'n') => b"\"\"".to_vec(),
                _ => quoted(&String::from_utf8_lossy(arguments)),
            };
            let rest = extra_object(item, &["type", "call_id", "name", "arguments"]);
            (draft::call(id, own("name"), &arguments), draft::noted(rest))
        }
        "custom_tool_call" => {
            let mut custom = ObjectBuilder::default();
            custom.raw("name", own("name")).raw("input", own("input"));
            let mut call = ObjectBuilder::default();
            call.raw("id", id)
                .text("type", "custom")
                .raw("custom", custom.finish());
            let rest = extra_object(item, &["type", "call_id", "name", "input"]);
            (call.finish(), draft::noted(rest))
        }
        kind => {
            // For a tool of the provider, all other members are the arguments.
            let extra = ["type", "call_id", "id", "status"];
            let arguments = extra_object(item, &extra).unwrap_or_else(|| b"{}".to_vec());
            let mut note = ObjectBuilder::default();
            note.text("type", kind);
            for name in ["id", "status"] {
                note.optional(name, json::member(item, name));
            }
            let name = quoted(kind.strip_suffix("_call").unwrap_or(kind));
            let arguments = quoted(&String::from_utf8_lossy(&arguments));
            (draft::call(id, &name, &arguments), note.finish())
        }
    }
}

fn output(item: &[u8], tools: &mut ItemTools) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("tool");
    match is_unnamed(item) {
        true => draft
            .raw("tool_call_id", quoted(&tools.answered(item)))
            .note("unnamed", Some(b"true".to_vec())),
        false => draft.raw("tool_call_id", json::member(item, "call_id").unwrap_or(b"\"\"")),
    };
    match json::member(item, "output") {
        Some(raw) if raw.starts_with(b"\"") => draft.raw("content", raw),
        Some(raw) if raw.starts_with(b"[") => draft.raw("content", part::read_content(raw)),
        None | Some(b"null") => draft.raw("content", "null"),
        Some(other) => draft.raw("content", array([other])),
    };
    // A function's output needs no annotation; that of another tool could be mistaken for one.
    let id = json::member_text(item, "call_id").unwrap_or_default();
    let usual: &[&str] =
        match kind(item) == "function_call_output" && !id.is_empty() && !tools.custom.contains(id.as_ref()) {
            true => &["type", "call_id", "output"],
            false => &["call_id", "output"],
        };
    draft.note("item", extra_object(item, usual));
    draft
}
