//! Converts stored messages to native lines, and finds data that goaitools itself would reject.

use crate::error::Position;
use crate::format::go_json::folded;
use crate::format::kit::records;
use crate::format::request::request_part::AMBIGUOUS_MEMBERS;
use crate::format::{content, openai_chat};
use crate::model::json::{self, Dialect, Members, ObjectBuilder};
use crate::model::record::Record;
use crate::model::{event, key, summary};
use std::collections::BTreeMap;

/// The name of the format, and of its annotations.
pub const NAME: &str = "goaitools";

/// Members known to goaitools, in its order.
pub const KNOWN: [&str; 5] = ["role", "content", "name", "tool_calls", "tool_call_id"];

pub struct ConvertedElement {
    pub line: Vec<u8>,
    /// Why goaitools would reject it, and with it the whole state.
    pub fault: Option<&'static str>,
}

impl From<Vec<u8>> for ConvertedElement {
    fn from(line: Vec<u8>) -> ConvertedElement {
        ConvertedElement { line, fault: None }
    }
}

/// The known members of an element: the last value of each that is not null.
#[derive(Default)]
struct ElementMembers<'a> {
    values: BTreeMap<usize, &'a [u8]>,
    /// Whether a name differs in case or is repeated, so that only Go reads the element like this.
    odd: bool,
    others: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> ElementMembers<'a> {
    fn of(object: &'a [u8]) -> Option<ElementMembers<'a>> {
        let mut members = Members::new(object, Dialect::Strict).ok()?;
        let mut known = ElementMembers::default();
        let mut seen = [false; KNOWN.len()];
        while let Some(member) = members.next().ok()? {
            let name = folded(member.key);
            let Some(at) = KNOWN.iter().position(|own| own.as_bytes() == name.as_ref()) else {
                known.others.push((member.key, member.value));
                continue;
            };
            known.odd |= seen[at] || member.key != name.as_ref();
            seen[at] = true;
            if member.value != b"null" {
                known.values.insert(at, member.value);
            }
        }
        Some(known)
    }

    fn get(&self, name: &str) -> Option<&'a [u8]> {
        let at = KNOWN.iter().position(|own| *own == name)?;
        self.values.get(&at).copied()
    }

    fn fault(&self) -> Option<&'static str> {
        let text = |name: &str| self.get(name).is_none_or(|raw| raw.starts_with(b"\""));
        let calls = |raw: &[u8]| {
            json::elements(raw, Dialect::Strict).is_some_and(|all| all.iter().all(|call| is_call(call)))
        };
        let has_content = ["content", "tool_calls", "tool_call_id"]
            .iter()
            .any(|name| self.get(name).is_some());
        match () {
            () if !has_content && !self.others.is_empty() => {
                Some("no content, and members that goaitools does not know")
            }
            () if !text("content") && !self.get("content").is_some_and(|raw| raw.starts_with(b"[")) => {
                Some("\"content\" is neither a string nor a list of parts")
            }
            () if self
                .get("content")
                .is_some_and(|raw| content::unknown_kind(raw).is_some()) =>
            {
                Some("\"content\" has no part of a known type")
            }
            () if !text("name") => Some("\"name\" is not a string"),
            () if !text("tool_call_id") => Some("\"tool_call_id\" is not a string"),
            () if !self.get("tool_calls").is_none_or(calls) => Some("\"tool_calls\" is not a list of calls"),
            () => None,
        }
    }
}

/// Whether goaitools accepts this as a call: its members have the required types.
fn is_call(call: &[u8]) -> bool {
    let strings = |object: &[u8], names: &[&[u8]]| {
        let Ok(mut members) = Members::new(object, Dialect::Strict) else {
            return false;
        };
        loop {
            match members.next() {
                Ok(None) => return true,
                Ok(Some(member)) => {
                    let known = names.contains(&folded(member.key).as_ref());
                    if known && !member.value.starts_with(b"\"") && member.value != b"null" {
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
    };
    let function = json::member(call, "function").filter(|raw| *raw != b"null");
    call == b"null"
        || strings(call, &[b"id", b"type"])
            && function.is_none_or(|function| strings(function, &[b"name", b"arguments"]))
}

/// Converts an element. One that is not a message becomes a passthrough record.
pub fn read(element: &[u8]) -> ConvertedElement {
    let (element, _) = json::compact(element);
    let Some(known) = ElementMembers::of(&element) else {
        return passthrough(&element, "not an object");
    };
    let role = known.get("role");
    if role.is_some_and(|raw| !raw.starts_with(b"\"")) {
        return passthrough(&element, "\"role\" is not a string");
    }
    let plain = if known.odd || role.is_none() {
        rebuilt(&known)
    } else {
        element.clone()
    };
    let line = openai_chat::native_reasoning(plain);
    let bookkeeping = |line: &[u8]| {
        AMBIGUOUS_MEMBERS
            .iter()
            .any(|name| json::member(line, name).is_some())
    };
    ConvertedElement {
        line: if line == element && !bookkeeping(&line) {
            line
        } else {
            with_raw(line, &element)
        },
        fault: known.fault(),
    }
}

fn passthrough(element: &[u8], fault: &'static str) -> ConvertedElement {
    ConvertedElement {
        line: records::passthrough(NAME, element),
        fault: Some(fault),
    }
}

/// The message as Go reads it, with canonical member names.
fn rebuilt(known: &ElementMembers<'_>) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    built.raw("role", known.get("role").unwrap_or(b"\"\""));
    for name in &KNOWN[1..] {
        known.get(name).map(|value| built.raw(name, value));
    }
    for (key, value) in &known.others {
        built.raw(&json::unescape(key), value);
    }
    built.finish()
}

/// The line with the original element in its metadata, for writing it back.
fn with_raw(line: Vec<u8>, element: &[u8]) -> Vec<u8> {
    let metadata = json::member(&line, "metadata").filter(|raw| raw.starts_with(b"{"));
    let own = json::wrapped("raw", element);
    let metadata = json::with_members(metadata.unwrap_or(b"{}"), &[(NAME, Some(&own))]);
    let Ok(metadata) = metadata else { return line };
    json::with_members(&line, &[("metadata", Some(&metadata))]).unwrap_or(line)
}

/// The original element of a line, if the line is unchanged except for members that this program adds.
pub fn stored(line: &[u8]) -> Option<Vec<u8>> {
    let own = records::note(line, NAME);
    let Some(raw) = own.and_then(|own| json::member(own, "raw")) else {
        let built = AMBIGUOUS_MEMBERS
            .iter()
            .any(|name| json::member(line, name).is_some());
        return (!built).then(|| line.to_vec());
    };
    let then = read(raw).line;
    let names = KNOWN.iter().chain(&["reasoning"]);
    let same = names
        .into_iter()
        .all(|name| json::member(line, name) == json::member(&then, name));
    same.then(|| raw.to_vec())
}

/// The text of a summary that this program wrote as an element.
pub fn summary_text(element: &[u8]) -> Option<String> {
    let known = ElementMembers::of(element)?;
    let own = known.values.len() == 2 && known.others.is_empty() && !known.odd;
    let text = known.get("content").filter(|_| own).and_then(json::text)?;
    (known.get("role")? == b"\"user\"")
        .then(|| summary::unquoted(&text))
        .flatten()
}

/// The event for such an element.
pub fn summary_line(element: &[u8], text: &str) -> Vec<u8> {
    let (element, _) = json::compact(element);
    let mut event = event::begin("summary", &key::id_from("evt_", &element));
    event.text("content", text).text("as", "user").raw("here", "true");
    with_raw(event.finish(), &element)
}

/// The element in an event: one that is not a message, or the active summary.
pub fn preserved_element(line: &[u8]) -> Option<&[u8]> {
    let record = Record::parse(line, Position { line: 0, offset: 1 });
    match record.event()?.name().as_ref() {
        "foreign" => records::passthrough_raw(line, NAME),
        "summary" => {
            let raw = json::member(records::note(line, NAME)?, "raw")?;
            let text = json::member_text(line, "content")?;
            (summary_text(raw)? == text).then_some(raw)
        }
        _ => None,
    }
}
