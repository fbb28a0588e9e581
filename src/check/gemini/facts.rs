//! The properties of a turn that Gemini's rules examine.

use crate::check::raw::{each, elements, is_filled, string};
use crate::model::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Role {
    User,
    Model,
    Other,
}

/// A call or response.
#[derive(Debug, Default)]
pub(in crate::check) struct Named {
    pub(in crate::check) name: String,
    pub(in crate::check) id: String,
    /// Whether its part has a signature.
    pub(in crate::check) signed: bool,
}

#[derive(Debug)]
pub(in crate::check) enum Part {
    Call(Named),
    Response(Named),
    /// `{}`, or not an object.
    Empty,
    /// An empty text without a signature.
    Blank,
    Other,
}

#[derive(Debug)]
pub(in crate::check) struct Facts {
    pub(in crate::check) role: Role,
    /// The role as written; the default is user.
    pub(in crate::check) name: String,
    pub(in crate::check) parts: Vec<Part>,
}

impl Facts {
    /// The calls, with part indexes.
    pub(in crate::check) fn calls(&self) -> impl Iterator<Item = (usize, &Named)> {
        self.parts.iter().enumerate().filter_map(|(at, part)| match part {
            Part::Call(call) if self.role != Role::User => Some((at, call)),
            _ => None,
        })
    }

    /// The responses, with part indexes.
    pub(in crate::check) fn responses(&self) -> impl Iterator<Item = (usize, &Named)> {
        self.parts.iter().enumerate().filter_map(|(at, part)| match part {
            Part::Response(response) => Some((at, response)),
            _ => None,
        })
    }
}

/// Extracts the properties of a turn.
pub(in crate::check) fn read(raw: &[u8]) -> Facts {
    let mut facts = Facts {
        role: Role::User,
        name: String::new(),
        parts: Vec::new(),
    };
    each(raw, |name, value| match name {
        "role" => facts.name = string(value),
        "parts" => facts.parts = elements(value).into_iter().map(part).collect(),
        _ => {}
    });
    facts.role = match facts.name.as_str() {
        "user" | "" => Role::User,
        "model" => Role::Model,
        _ => Role::Other,
    };
    facts
}

fn part(raw: &[u8]) -> Part {
    let (mut call, mut response, mut text) = (None, None, None);
    let (mut signed, mut members) = (false, 0);
    each(raw, |name, value| {
        members += 1;
        match name {
            "functionCall" | "function_call" => call = Some(value),
            "functionResponse" | "function_response" => response = Some(value),
            "thoughtSignature" | "thought_signature" => signed = is_filled(Some(value)),
            "text" => text = Some(value),
            _ => {}
        }
    });
    let named = |raw: &[u8]| Named {
        name: json::member(raw, "name").map(string).unwrap_or_default(),
        id: json::member(raw, "id").map(string).unwrap_or_default(),
        signed,
    };
    match (call, response, text) {
        (Some(call), ..) => Part::Call(named(call)),
        (_, Some(response), _) => Part::Response(named(response)),
        _ if members == 0 => Part::Empty,
        (_, _, Some(b"\"\"")) if !signed => Part::Blank,
        _ => Part::Other,
    }
}
