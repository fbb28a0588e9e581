//! Converts a content of the API to native messages: responses become tool messages, followed by the rest.

use crate::format::content::{missing, unknown_parts};
use crate::format::request::draft::{self, AnnotatedDraft, MemberSlot};
use crate::format::request::media::RequestMedia;
use crate::format::request::request_part::{extra_members, extra_object};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use crate::model::key;
use std::collections::{HashMap, VecDeque};

/// The calls read so far: those of the latest content with calls, and counts of calls without an id.
#[derive(Debug, Default)]
pub struct GeminiCallIds {
    open: Vec<GeminiCall>,
    by_name: HashMap<String, VecDeque<usize>>,
    by_id: HashMap<String, VecDeque<usize>>,
    seen: HashMap<String, u64>,
}

#[derive(Debug)]
struct GeminiCall {
    id: String,
    answered: bool,
}

impl GeminiCallIds {
    fn begin(&mut self) {
        self.open.clear();
        self.by_name.clear();
        self.by_id.clear();
    }

    fn add(&mut self, name: &str, own: Option<&str>, id: String) {
        let nth = self.open.len();
        let by_id = self.by_id.entry(own.unwrap_or_default().to_string());
        by_id.or_default().push_back(nth);
        self.by_name.entry(name.to_string()).or_default().push_back(nth);
        self.open.push(GeminiCall { id, answered: false });
    }

    /// An id for a call without one, derived from its bytes alone, so that every read yields the same.
    fn derived_id(&mut self, part: &[u8]) -> String {
        let short = &key::sha256(part)[..12];
        let times = self.seen.entry(short.to_string()).or_default();
        *times += 1;
        match *times {
            1 => format!("call_{short}"),
            nth => format!("call_{short}_{nth}"),
        }
    }

    /// The id of the call that a response answers: by its id, else the oldest open one with its name.
    fn answered(&mut self, name: &str, own: Option<&str>) -> Option<String> {
        let queue = match own {
            Some(own) => self.by_id.get_mut(own)?,
            None => self.by_name.get_mut(name)?,
        };
        while let Some(nth) = queue.pop_front() {
            let open = &mut self.open[nth];
            if !std::mem::replace(&mut open.answered, true) {
                return Some(open.id.clone());
            }
        }
        None
    }
}

/// The native messages of a content; empty if it has no parts.
pub fn read(element: &[u8], calls: &mut GeminiCallIds) -> Vec<AnnotatedDraft> {
    let Some(parts) = json::member(element, "parts").and_then(|raw| json::elements(raw, Dialect::Strict))
    else {
        return match json::member_text(element, "role") {
            Some(role) => vec![AnnotatedDraft::new(native_role(&role))],
            None => Vec::new(),
        };
    };
    let role = json::member_text(element, "role");
    let mut drafts = match role.as_deref() {
        Some("model") => vec![model(&parts, calls)],
        _ => user(role.as_deref().unwrap_or("user"), &parts, calls),
    };
    if let Some(first) = drafts.first_mut() {
        first.note("members", extra_object(element, &["role", "parts"]));
    }
    drafts
}

/// The fault of a content without parts, or without a known part.
pub fn fault(element: &[u8]) -> Option<String> {
    match json::member(element, "parts") {
        Some(parts) => unknown_parts(parts),
        None => {
            let members = json::members(element, Dialect::Strict)?;
            let mut further = members.iter().filter(|(name, _)| name != "role");
            further.next().map(|(name, _)| missing(name))
        }
    }
}

fn native_role(role: &str) -> &str {
    match role {
        "model" => "assistant",
        "function" => "user",
        other => other,
    }
}

/// The instructions next to the contents.
pub fn system(raw: &[u8]) -> AnnotatedDraft {
    let mut draft = AnnotatedDraft::new("system");
    let parts = json::member(raw, "parts").and_then(|raw| json::elements(raw, Dialect::Strict));
    match parts {
        Some(parts) => draft.raw("content", content(&parts)),
        None if raw.starts_with(b"\"") => draft.raw("content", raw),
        None => draft.raw("content", array([raw])),
    };
    draft.note("members", extra_object(raw, &["parts"]));
    draft
}

/// Converts parts to content; a single plain text becomes a string.
fn content(parts: &[&[u8]]) -> Vec<u8> {
    match parts {
        [part] => match json::member(part, "text") {
            Some(text) if text.starts_with(b"\"") && extra_object(part, &["text"]).is_none() => text.to_vec(),
            _ => array([self::part(part)]),
        },
        parts => array(parts.iter().map(|part| self::part(part))),
    }
}

/// Converts a part to native form, if the conversion is lossless.
fn part(raw: &[u8]) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    if json::member(raw, "text").is_some() && json::member(raw, "type").is_none() {
        built.text("type", "text");
        extra_members(raw, &[]).for_each(|(name, value)| {
            built.raw(&name, value);
        });
        return built.finish();
    }
    let media = RequestMedia::of(raw);
    let back = media.as_ref().and_then(RequestMedia::chat);
    match back {
        Some(part)
            if RequestMedia::of(&part)
                .and_then(|m| m.gemini())
                .is_some_and(|same| json::same(&same, raw)) =>
        {
            part
        }
        _ => raw.to_vec(),
    }
}

fn function<'p>(part: &'p [u8], names: [&str; 2]) -> Option<&'p [u8]> {
    names
        .iter()
        .find_map(|name| json::member(part, name))
        .filter(|raw| raw.starts_with(b"{"))
}

fn model(parts: &[&[u8]], known: &mut GeminiCallIds) -> AnnotatedDraft {
    let (mut reasoning, mut contents, mut calls, mut notes) = (vec![], vec![], vec![], vec![]);
    let mut order = Vec::new();
    for raw in parts {
        let slot = if let Some(call) = function(raw, ["functionCall", "function_call"]) {
            if calls.is_empty() {
                known.begin();
            }
            let name = json::member(call, "name").unwrap_or(b"null");
            let own = json::member_text(call, "id");
            let id = own
                .as_ref()
                .map_or_else(|| known.derived_id(raw), ToString::to_string);
            known.add(&json::text(name).unwrap_or_default(), own.as_deref(), id.clone());
            let arguments = json::member(call, "args").unwrap_or(b"");
            let arguments = quoted(&String::from_utf8_lossy(arguments));
            calls.push(draft::call(&quoted(&id), name, &arguments));
            notes.push(call_note(raw, call, own.is_none()));
            MemberSlot::Call
        } else if json::member(raw, "thought") == Some(b"true") && json::member(raw, "text").is_some() {
            let mut thought = ObjectBuilder::default();
            thought.text("type", "thought");
            extra_members(raw, &["thought"]).for_each(|(name, value)| {
                thought.raw(&name, value);
            });
            reasoning.push(thought.finish());
            MemberSlot::Reasoning
        } else {
            contents.push(*raw);
            MemberSlot::Content
        };
        order.push(slot);
    }
    let mut draft = AnnotatedDraft::new("assistant");
    match contents.is_empty() && !parts.is_empty() {
        true => draft.raw("content", "null"),
        false => draft.raw("content", content(&contents)),
    };
    draft.reply((&calls, &notes), &reasoning, &order);
    draft
}

/// The annotation of a call: members of its part and of itself other than id, name and arguments, and whether its id
/// was generated.
fn call_note(part: &[u8], call: &[u8], built: bool) -> Vec<u8> {
    let mut note = ObjectBuilder::default();
    if built {
        note.raw("made", "true");
    }
    note.optional("part", extra_object(part, &["functionCall", "function_call"]));
    note.optional("call", extra_object(call, &["id", "name", "args"]));
    note.finish()
}

fn user(role: &str, parts: &[&[u8]], calls: &mut GeminiCallIds) -> Vec<AnnotatedDraft> {
    let (mut drafts, mut contents) = (Vec::new(), Vec::new());
    for raw in parts {
        match function(raw, ["functionResponse", "function_response"]) {
            Some(response) => drafts.push(result(raw, response, calls)),
            None => contents.push(*raw),
        }
    }
    if !contents.is_empty() || drafts.is_empty() {
        drafts.push(AnnotatedDraft::with_content(
            native_role(role),
            content(&contents),
        ));
    }
    drafts
}

fn result(part: &[u8], response: &[u8], calls: &mut GeminiCallIds) -> AnnotatedDraft {
    let name = json::member_text(response, "name").unwrap_or_default();
    let own = json::member_text(response, "id");
    let id = calls.answered(&name, own.as_deref());
    let mut draft = AnnotatedDraft::new("tool");
    if let Some(id) = id.or_else(|| own.as_ref().map(ToString::to_string)) {
        draft.raw("tool_call_id", quoted(&id));
    }
    draft.raw("name", quoted(&name));
    let value = json::member(response, "response").unwrap_or(b"null");
    let failed = json::member(value, "error").is_some();
    let only = |name| {
        let text = json::string_member(value, name)?;
        extra_object(value, &[name]).is_none().then_some(text)
    };
    match only("output").or_else(|| only("error")) {
        Some(text) => draft.raw("content", text),
        None => draft.raw("content", quoted(&String::from_utf8_lossy(value))),
    };
    draft
        .metadata("is_error", failed.then(|| b"true".to_vec()))
        .note("made", own.is_none().then(|| b"true".to_vec()))
        .note(
            "part",
            extra_object(part, &["functionResponse", "function_response"]),
        )
        .note("call", extra_object(response, &["id", "name", "response"]));
    draft
}
