//! Finds the history in the body of a request or response.

use crate::format::request::Api;
use crate::format::request::request_part::extra_object;
use crate::model::json::{self, ArrayElements, Dialect, Members, ObjectBuilder};
use std::borrow::Cow;

/// An element and its offset in the document.
pub type Listed<'a> = (usize, Cow<'a, [u8]>);

/// A member and its name.
type NamedValue<'a> = (String, Cow<'a, [u8]>);

/// The expected input, for error messages.
pub const EXPECTED_INPUT: &str = "a message nor a request body";

/// A history and the members next to it.
#[derive(Debug, Default)]
pub struct Body<'a> {
    /// The elements.
    pub list: Vec<Listed<'a>>,
    /// The instructions and their offset.
    pub system: Option<Listed<'a>>,
    /// The other members of its request; `None` for an array.
    pub rest: Option<Vec<NamedValue<'a>>>,
    /// Its form if it was not a list: `text` or `lines`.
    pub instead: Option<&'static str>,
    /// The other members of its response; the list of answers has those of its answer.
    pub response: Option<Vec<NamedValue<'a>>>,
    /// Whether it is one of several answers in a response.
    pub is_choice: bool,
    /// Message members that the response has for its answer.
    answer: Vec<(&'static str, &'a [u8])>,
}

impl<'a> Body<'a> {
    /// A history without other members.
    pub fn of_list(list: Vec<Listed<'a>>) -> Body<'a> {
        Body {
            list,
            ..Body::default()
        }
    }

    /// Members to add to a message; only the answer of a response gets any.
    pub fn message_members(&self, answer: bool) -> Vec<(&'static str, Option<&'a [u8]>)> {
        let reported = self.answer.iter().filter(|_| answer);
        reported.map(|(name, value)| (*name, Some(*value))).collect()
    }
}

/// Whether a value is an element whose members include one named like a list.
fn is_item(api: Api, value: &[u8]) -> bool {
    has_any(value, api.interface().shape().no_body)
}

fn has_any(value: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| json::member(value, name).is_some())
}

/// The history in a request.
fn request_list(api: Api, value: &[u8]) -> Option<&[u8]> {
    let shape = api.interface().shape();
    let list = json::member(value, shape.list).filter(|_| !is_item(api, value))?;
    let text = shape.text_list && list.starts_with(b"\"");
    (!text || json::member(value, "model").is_some()).then_some(list)
}

/// Whether an object contains a history, and is not an element of one.
pub fn is_body(api: Api, value: &[u8]) -> bool {
    request_list(api, value).is_some() || response_list(api, value).is_some()
}

/// The list in a response with its answer.
fn response_list(api: Api, value: &[u8]) -> Option<&[u8]> {
    let shape = api.interface().shape().response.as_ref()?;
    let whole = shape
        .requires
        .is_none_or(|name| json::member(value, name).is_some());
    json::member(value, shape.list).filter(|raw| whole && raw.starts_with(b"[") && !is_item(api, value))
}

/// The histories in an object at an offset; a single element is a history, too.
pub fn bodies(api: Api, value: &[u8], start: usize) -> Vec<Body<'_>> {
    let shape = api.interface().shape();
    let place = |inner: &[u8]| start + inner.as_ptr() as usize - value.as_ptr() as usize;
    let Some(list) = request_list(api, value) else {
        return match response_list(api, value) {
            Some(list) => answers(api, value, list, place(list)),
            None => match has_any(value, shape.element) {
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
        Some(b'"') if shape.text_list => {
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
        let known = shape.instructions.iter().position(|known| *known == name);
        let begins = value
            .first()
            .is_some_and(|first| shape.instructions_begin.contains(first));
        match known.filter(|_| begins && body.system.is_none()) {
            _ if name == shape.list => {}
            Some(nth) => {
                body.system = Some((place(value), value.into()));
                // Keep the alternative name, so that the member is written back under it.
                if nth > 0 {
                    body.rest.get_or_insert_default().push((name, b"null"[..].into()));
                }
            }
            None => body.rest.get_or_insert_default().push((name, value.into())),
        }
    }
    vec![body]
}

/// The answers of a response, each as a session.
fn answers<'a>(api: Api, value: &'a [u8], list: &'a [u8], at: usize) -> Vec<Body<'a>> {
    let rest: Vec<_> = members(value)
        .into_iter()
        .filter(|(_, inner)| inner.as_ptr() != list.as_ptr())
        .collect();
    let member = |name: &'static str, from: &str| {
        let found = rest.iter().find(|(known, _)| known == from);
        found.map(|(_, value)| (name, *value))
    };
    let Some(shape) = &api.interface().shape().response else {
        return Vec::new();
    };
    let reported = shape.answer.iter();
    let answer: Vec<_> = reported.filter_map(|(name, from)| member(name, from)).collect();
    let body = |listed: Vec<Listed<'a>>, choice: Option<Vec<u8>>| {
        let rest = rest
            .iter()
            .map(|(name, value)| (name.clone(), Cow::Borrowed(*value)));
        let choice = choice.map(|choice| (shape.list.to_string(), json::array([choice]).into()));
        Body {
            list: listed,
            response: Some(rest.chain(choice).collect()),
            is_choice: shape.element.is_some(),
            answer: answer.clone(),
            ..Body::default()
        }
    };
    let listed = elements(list).into_iter().map(|(offset, raw)| (at + offset, raw));
    let Some(name) = shape.element else {
        return vec![body(listed.map(|(at, raw)| (at, raw.into())).collect(), None)];
    };
    listed
        .filter_map(|(at, choice)| {
            let element = json::member(choice, name)?;
            let others = extra_object(choice, &[name]);
            Some(body(vec![(at, element.into())], others))
        })
        .collect()
}

/// The members of an object; the last one of a repeated name.
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

/// The elements of an array and their offsets.
pub fn elements(array: &[u8]) -> Vec<(usize, &[u8])> {
    let mut found = Vec::new();
    if let Ok(mut scan) = ArrayElements::new(array, Dialect::Python) {
        while let Ok(Some(element)) = scan.next() {
            found.push(element);
        }
    }
    found
}
