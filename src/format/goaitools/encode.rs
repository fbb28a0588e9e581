//! Encodes new messages like goaitools.

use super::message::KNOWN;
use crate::format::go_json;
use crate::model::json::{self, Dialect, Member, Members};

/// Members of a call and of its function, in order.
const CALL: [&str; 3] = ["id", "type", "function"];
const FUNCTION: [&str; 2] = ["name", "arguments"];

/// An object under construction.
struct GoObject {
    out: Vec<u8>,
}

impl GoObject {
    fn new() -> Self {
        GoObject { out: vec![b'{'] }
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        go_json::push_text(&mut self.out, name);
        self.out.push(b':');
        &mut self.out
    }
}

/// The members of an object: the last value of each named one, in this order, and all others.
struct Sorted<'a, const N: usize> {
    known: [Option<&'a [u8]>; N],
    others: Vec<Member<'a>>,
}

impl<'a, const N: usize> Sorted<'a, N> {
    fn of(object: &'a [u8], order: &[&str; N]) -> Option<Self> {
        let mut members = Members::new(object, Dialect::Strict).ok()?;
        let mut sorted = Sorted {
            known: [None; N],
            others: Vec::new(),
        };
        while let Some(member) = members.next().ok()? {
            match order.iter().position(|name| *name == member.name()) {
                Some(at) => sorted.known[at] = Some(member.value),
                None => sorted.others.push(member),
            }
        }
        Some(sorted)
    }

    /// Appends the other members.
    fn end(self, mut object: GoObject) -> Vec<u8> {
        for member in self.others {
            go_json::push_raw(object.name(&member.name()), member.value);
        }
        object.out.push(b'}');
        object.out
    }
}

/// A value that is not an object, unchanged.
fn raw(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    go_json::push_raw(&mut out, value);
    out
}

/// Encodes an OpenAI Chat message in goaitools' order: empty members are omitted, unknown ones come last.
pub fn message(body: &[u8]) -> Vec<u8> {
    let Some(members) = Sorted::of(body, &KNOWN) else {
        return raw(body);
    };
    let mut object = GoObject::new();
    go_json::push_string(object.name(KNOWN[0]), members.known[0].unwrap_or(b"\"\""));
    for (name, value) in KNOWN.iter().zip(members.known).skip(1) {
        match value {
            None | Some(b"null" | b"\"\"" | b"[]") => {}
            Some(calls) if *name == "tool_calls" => {
                let written = list(calls);
                object.name(name).extend_from_slice(&written);
            }
            Some(value) => go_json::push_string(object.name(name), value),
        }
    }
    members.end(object)
}

fn list(calls: &[u8]) -> Vec<u8> {
    let Some(all) = json::elements(calls, Dialect::Strict) else {
        return raw(calls);
    };
    let mut out = Vec::new();
    out.push(b'[');
    for (nth, element) in all.iter().enumerate() {
        if nth > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&call(element));
    }
    out.push(b']');
    out
}

fn call(call: &[u8]) -> Vec<u8> {
    let Some(members) = Sorted::of(call, &CALL) else {
        return raw(call);
    };
    let mut object = GoObject::new();
    let [id, kind, function_of] = members.known;
    id.into_iter().for_each(|id| string("id", id, &mut object));
    match kind {
        Some(kind) => string("type", kind, &mut object),
        None => go_json::push_text(object.name("type"), "function"),
    }
    if let Some(value) = function_of {
        let written = function(value);
        object.name("function").extend_from_slice(&written);
    }
    members.end(object)
}

fn function(function: &[u8]) -> Vec<u8> {
    let Some(members) = Sorted::of(function, &FUNCTION) else {
        return raw(function);
    };
    let mut object = GoObject::new();
    for (name, value) in FUNCTION.iter().zip(members.known) {
        value
            .into_iter()
            .for_each(|value| string(name, value, &mut object));
    }
    members.end(object)
}

/// A string; arguments that are an object become their JSON text.
fn string(name: &str, value: &[u8], object: &mut GoObject) {
    if name == "arguments" && !value.starts_with(b"\"") && value != b"null" {
        let text = String::from_utf8_lossy(&json::compact(value).0).into_owned();
        go_json::push_text(object.name(name), &text);
    } else {
        go_json::push_string(object.name(name), value);
    }
}
