//! The properties of a turn that Gemini's rules examine.

use crate::check::raw::{each, elements, is_filled, string};
use crate::model::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum GeminiRole {
    User,
    Model,
    Other,
}

/// A call or response.
#[derive(Debug, Default)]
pub(in crate::check) struct NamedCall {
    pub(in crate::check) name: String,
    pub(in crate::check) id: String,
    /// Whether its part has a signature.
    pub(in crate::check) signed: bool,
}

#[derive(Debug)]
pub(in crate::check) enum GeminiPart {
    Call(NamedCall),
    Response(NamedCall),
    /// `{}`, or not an object.
    Empty,
    /// An empty text without a signature.
    Blank,
    Other,
}

#[derive(Debug)]
pub(in crate::check) struct GeminiFacts {
    pub(in crate::check) role: GeminiRole,
    /// The role as written; the default is user.
    pub(in crate::check) name: String,
    pub(in crate::check) parts: Vec<GeminiPart>,
}

impl GeminiFacts {
    /// The calls, with part indexes.
    pub(in crate::check) fn calls(&self) -> impl Iterator<Item = (usize, &NamedCall)> {
        self.parts.iter().enumerate().filter_map(|(at, part)| match part {
            GeminiPart::Call(call) if self.role != GeminiRole::User => Some((at, call)),
            _ => None,
        })
    }

    /// The responses, with part indexes.
    pub(in crate::check) fn responses(&self) -> impl Iterator<Item = (usize, &NamedCall)> {
        self.parts.iter().enumerate().filter_map(|(at, part)| match part {
            GeminiPart::Response(response) => Some((at, response)),
            _ => None,
        })
    }
}

/// Extracts the properties of a turn.
pub(in crate::check) fn read(raw: &[u8]) -> GeminiFacts {
    let mut facts = GeminiFacts {
        role: GeminiRole::User,
        name: String::new(),
        parts: Vec::new(),
    };
    each(raw, |name, value| match name {
        "role" => facts.name = string(value),
        "parts" => facts.parts = elements(value).into_iter().map(part).collect(),
        _ => {}
    });
    facts.role = match facts.name.as_str() {
        "user" | "" => GeminiRole::User,
        "model" => GeminiRole::Model,
        _ => GeminiRole::Other,
    };
    facts
}

fn part(raw: &[u8]) -> GeminiPart {
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
    let named = |raw: &[u8]| NamedCall {
        name: json::member(raw, "name").map(string).unwrap_or_default(),
        id: json::member(raw, "id").map(string).unwrap_or_default(),
        signed,
    };
    match (call, response, text) {
        (Some(call), ..) => GeminiPart::Call(named(call)),
        (_, Some(response), _) => GeminiPart::Response(named(response)),
        _ if members == 0 => GeminiPart::Empty,
        (_, _, Some(b"\"\"")) if !signed => GeminiPart::Blank,
        _ => GeminiPart::Other,
    }
}
