//! A message that is made here, spelled as goaitools spells its own.

use super::message::KNOWN;
use crate::format::go;
use crate::model::json::{self, Dialect};

/// Members of a call, and of its function, in their order.
const CALL: [&str; 3] = ["id", "type", "function"];
const FUNCTION: [&str; 2] = ["name", "arguments"];

/// An object in the making.
struct Object {
    out: Vec<u8>,
}

impl Object {
    fn new() -> Self {
        Object { out: vec![b'{'] }
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        go::push_text(&mut self.out, name);
        self.out.push(b':');
        &mut self.out
    }

    fn end(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

/// A message of OpenAI Chat in goaitools' order, what is empty left out, members that it does not know behind the others.
pub fn message(body: &[u8]) -> Vec<u8> {
    let members = json::members(body, Dialect::Strict).unwrap_or_default();
    let get = |name: &str| {
        let found = members.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    };
    let mut object = Object::new();
    go::push_string(object.name("role"), get("role").unwrap_or(b"\"\""));
    for name in &KNOWN[1..] {
        match get(name) {
            None | Some(b"null" | b"\"\"" | b"[]") => {}
            Some(calls) if *name == "tool_calls" => {
                let written = list(calls);
                object.name(name).extend_from_slice(&written);
            }
            Some(value) => go::push_string(object.name(name), value),
        }
    }
    for (name, value) in members.iter().filter(|(name, _)| !KNOWN.contains(&name.as_ref())) {
        go::push_raw(object.name(name), value);
    }
    object.end()
}

fn list(calls: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let Some(all) = json::elements(calls, Dialect::Strict) else {
        go::push_raw(&mut out, calls);
        return out;
    };
    out.push(b'[');
    for (nth, raw) in all.iter().enumerate() {
        if nth > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&call(raw));
    }
    out.push(b']');
    out
}

/// Members in an order, then the others; `write` spells a value of the former.
fn ordered(raw: &[u8], order: &[&str], write: impl Fn(&str, Option<&[u8]>, &mut Object)) -> Vec<u8> {
    let Some(members) = json::members(raw, Dialect::Strict) else {
        let mut out = Vec::new();
        go::push_raw(&mut out, raw);
        return out;
    };
    let mut object = Object::new();
    for name in order {
        let found = members.iter().find(|(known, _)| known == name);
        write(name, found.map(|(_, value)| *value), &mut object);
    }
    for (name, value) in members.iter().filter(|(name, _)| !order.contains(&name.as_ref())) {
        go::push_raw(object.name(name), value);
    }
    object.end()
}

fn call(raw: &[u8]) -> Vec<u8> {
    ordered(raw, &CALL, |name, value, object| match (name, value) {
        ("function", Some(function)) => {
            let written = ordered(function, &FUNCTION, |name, value, object| {
                if let Some(value) = value {
                    string(name, value, object);
                }
            });
            object.name(name).extend_from_slice(&written);
        }
        ("type", None) => go::push_text(object.name(name), "function"),
        (_, Some(value)) => string(name, value, object),
        (_, None) => {}
    })
}

/// A string; arguments that came as an object are the text of it.
fn string(name: &str, value: &[u8], object: &mut Object) {
    if name == "arguments" && !value.starts_with(b"\"") && value != b"null" {
        let text = String::from_utf8_lossy(&json::compact(value).0).into_owned();
        go::push_text(object.name(name), &text);
    } else {
        go::push_string(object.name(name), value);
    }
}
