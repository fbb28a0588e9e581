//! Where the history is in the body of a request or a response.

use super::elements;
use crate::format::request::Api;
use crate::model::json::{self, Dialect, Members, ObjectBuilder};
use std::borrow::Cow;

/// An element, and its offset in the document.
pub type Listed<'a> = (usize, Cow<'a, [u8]>);

/// What is looked for, as it is told where it is not there.
pub const WANTED: &str = "an element of a history nor a body with one, in the form";

/// A history, and what stood beside it.
#[derive(Debug, Default)]
pub struct Body<'a> {
    /// The elements.
    pub list: Vec<Listed<'a>>,
    /// The instructions and their offset.
    pub system: Option<Listed<'a>>,
    /// The other members of the request that it came in; none for an array.
    pub rest: Option<Vec<(String, &'a [u8])>>,
    /// What it was instead of a list: `text`, or `lines`.
    pub instead: Option<&'static str>,
    /// The members of the response that it came in.
    pub response: Option<Vec<(String, &'a [u8])>>,
    /// Whether it is one of the answers of a response.
    pub is_choice: bool,
    /// What a response tells of its answer.
    answer: Vec<(&'static str, &'a [u8])>,
}

impl<'a> Body<'a> {
    /// A history without anything beside it.
    pub fn of_list(list: Vec<Listed<'a>>) -> Body<'a> {
        Body {
            list,
            ..Body::default()
        }
    }

    /// Members that a message gets; only the answer of a response gets any.
    pub fn told(&self, answer: bool) -> Vec<(&'static str, Option<&'a [u8]>)> {
        let told = self.answer.iter().filter(|_| answer);
        told.map(|(name, value)| (*name, Some(*value))).collect()
    }
}

/// Whether it has what an item of Responses has, which may have an input or an output itself.
fn is_item(api: Api, value: &[u8]) -> bool {
    let has = |name: &str| json::member(value, name).is_some();
    api == Api::OpenaiResponses && (has("type") || has("role") || has("call_id"))
}

/// The history in a request.
fn request_list(api: Api, value: &[u8]) -> Option<&[u8]> {
    let list = json::member(value, list_name(api)).filter(|_| !is_item(api, value))?;
    let text = api == Api::OpenaiResponses && list.starts_with(b"\"");
    (!text || json::member(value, "model").is_some()).then_some(list)
}

/// Names of the members that hold a history in a request.
const fn list_name(api: Api) -> &'static str {
    match api {
        Api::OpenaiChat | Api::Anthropic => "messages",
        Api::OpenaiResponses => "input",
        Api::Gemini => "contents",
    }
}

/// Whether an object holds a history, and is not an element of one.
pub fn is_body(api: Api, value: &[u8]) -> bool {
    request_list(api, value).is_some() || response_list(api, value).is_some()
}

/// The list in a response that its answer is in.
fn response_list(api: Api, value: &[u8]) -> Option<&[u8]> {
    let name = match api {
        Api::OpenaiChat => "choices",
        Api::OpenaiResponses => "output",
        Api::Gemini => "candidates",
        Api::Anthropic => return None,
    };
    let whole = api != Api::OpenaiResponses || json::member(value, "object").is_some();
    json::member(value, name).filter(|raw| whole && raw.starts_with(b"[") && !is_item(api, value))
}

/// The histories in an object that begins at an offset; a lone element is one as well.
pub fn bodies(api: Api, value: &[u8], start: usize) -> Vec<Body<'_>> {
    let place = |inner: &[u8]| start + inner.as_ptr() as usize - value.as_ptr() as usize;
    let Some(list) = request_list(api, value) else {
        return match response_list(api, value) {
            Some(list) => answers(api, value, list, place(list)),
            None => match is_element(api, value) {
                true => vec![Body::of_list(vec![(start, value.into())])],
                false => Vec::new(),
            },
        };
    };
    let mut body = Body {
        rest: Some(Vec::new()),
        ..Body::default()
    };
    let at = place(list);
    match list.first() {
        Some(b'"') if api == Api::OpenaiResponses => {
            let mut message = ObjectBuilder::default();
            message.text("role", "user").raw("content", list);
            body.list.push((at, message.finish().into()));
            body.instead = Some("text");
        }
        _ => {
            let listed = elements(list).into_iter();
            body.list = listed.map(|(offset, raw)| (at + offset, raw.into())).collect();
        }
    }
    for (name, value) in members(value) {
        match (api, name.as_str()) {
            (_, name) if name == list_name(api) => {}
            (Api::Anthropic, "system") if matches!(value.first(), Some(b'"' | b'[')) => {
                body.system = Some((place(value), value.into()));
            }
            (Api::OpenaiResponses, "instructions") if value.starts_with(b"\"") => {
                body.system = Some((place(value), value.into()));
            }
            (Api::Gemini, "systemInstruction" | "system_instruction")
                if matches!(value.first(), Some(b'"' | b'{')) && body.system.is_none() =>
            {
                body.system = Some((place(value), value.into()));
                // The spelling is kept, for the member to stand where it stood.
                if name == "system_instruction" {
                    body.rest.get_or_insert_default().push((name, b"null"));
                }
            }
            _ => body.rest.get_or_insert_default().push((name, value)),
        }
    }
    vec![body]
}

/// The answers of a response: each is a session.
fn answers<'a>(api: Api, value: &'a [u8], list: &'a [u8], at: usize) -> Vec<Body<'a>> {
    let rest: Vec<_> = members(value)
        .into_iter()
        .filter(|(_, inner)| inner.as_ptr() != list.as_ptr())
        .collect();
    let member = |name: &'static str, from: &str| {
        let found = rest.iter().find(|(known, _)| known == from);
        found.map(|(_, value)| (name, *value))
    };
    let answer: Vec<_> = match api {
        Api::OpenaiResponses => [member("model", "model"), member("usage", "usage")]
            .into_iter()
            .flatten()
            .collect(),
        Api::Gemini => [member("model", "modelVersion"), member("usage", "usageMetadata")]
            .into_iter()
            .flatten()
            .collect(),
        Api::OpenaiChat | Api::Anthropic => Vec::new(),
    };
    let body = |listed: Vec<Listed<'a>>| Body {
        list: listed,
        response: Some(rest.clone()),
        is_choice: api != Api::OpenaiResponses,
        answer: answer.clone(),
        ..Body::default()
    };
    let listed = elements(list).into_iter().map(|(offset, raw)| (at + offset, raw));
    if api == Api::OpenaiResponses {
        return vec![body(listed.map(|(at, raw)| (at, raw.into())).collect())];
    }
    let name = if api == Api::Gemini { "content" } else { "message" };
    listed
        .filter_map(|(at, choice)| {
            let element = json::member(choice, name)?;
            Some(body(vec![(at, element.into())]))
        })
        .collect()
}

fn is_element(api: Api, value: &[u8]) -> bool {
    let has = |name: &str| json::member(value, name).is_some();
    match api {
        Api::OpenaiChat | Api::Anthropic => has("role"),
        Api::OpenaiResponses => has("role") || has("type"),
        Api::Gemini => has("parts"),
    }
}

/// The members of an object; of a name that repeats the last one.
fn members(object: &[u8]) -> Vec<(String, &[u8])> {
    let mut all: Vec<(String, &[u8])> = Vec::new();
    let mut places = std::collections::HashMap::new();
    if let Ok(mut scan) = Members::new(object, Dialect::Python) {
        while let Ok(Some(member)) = scan.next() {
            let name = member.name().into_owned();
            match places.get(&name) {
                Some(&at) => {
                    let (_, value): &mut (String, &[u8]) = &mut all[at];
                    *value = member.value;
                }
                None => {
                    places.insert(name.clone(), all.len());
                    all.push((name, member.value));
                }
            }
        }
    }
    all
}
