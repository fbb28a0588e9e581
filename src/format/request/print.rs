//! Prints a history as a document: a request body, or the original array.

use super::source_layout::{with_listed_lines, with_source_layout, with_source_lines};
use super::{Api, ProviderRequest, built, members, was_read_from};
use crate::error::{Error, Result};
use crate::format::{WritePurpose, WriteTarget, written};
use crate::model::json::{self, ObjectBuilder};
use crate::model::record::without_mark;
use crate::model::session::Session;
use crate::model::view::View;
use std::borrow::Cow;

/// Writes one session's view, one element per line. A history that is written back keeps its original form, and the
/// bytes of its source where they have not changed; one for a model is always a request body.
pub fn write(
    api: Api,
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    if purpose == WritePurpose::Return && session.metadata("response").is_some() {
        return Err(response_refused());
    }
    let origin = session.origin().filter(|_| purpose == WritePurpose::Return);
    let Some(origin) = origin else {
        return print(api, session, view, WriteTarget(purpose, out, report)).map(|_| ());
    };
    check_list(api, &origin.bytes)?;
    let mut rewritten = Vec::new();
    let has_lines = print(api, session, view, WriteTarget(purpose, &mut rewritten, report))?;
    let had_lines = input(api, session, purpose).is_some_and(|input| input == "lines");
    let document = match had_lines {
        true if has_lines => Some(with_source_lines(api, &origin.bytes, &rewritten)),
        true => Some(with_listed_lines(api, &origin.bytes, &rewritten)?),
        false => with_source_layout(api, &origin.bytes, &rewritten),
    };
    written(out.write_all(&document.unwrap_or(rewritten)))
}

/// Returns an error if the history of a document is a value whose messages were not read, because they would be lost.
fn check_list(api: Api, source: &[u8]) -> Result<()> {
    let shape = api.interface().shape();
    match shape.unreadable_history(without_mark(source).trim_ascii()) {
        None => Ok(()),
        Some(_) => {
            let error = Error::data(format!("'{}' is not a list", shape.list));
            Err(error.hint("change the value to a list of messages"))
        }
    }
}

/// As [`write()`], without the bytes of a source. Returns whether each element is a line; otherwise the output is one
/// value.
fn print(
    api: Api,
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<bool> {
    if purpose == WritePurpose::Export {
        report.count_line_losses(session);
    }
    let request = built(api, session, view, purpose, report);
    let came_as = input(api, session, purpose);
    if came_as.as_deref() == Some("lines") && request.system.is_none() {
        for element in &request.elements {
            written(out.write_all(&element.raw))?;
            written(out.write_all(b"\n"))?;
        }
        return Ok(true);
    }
    let text = came_as.is_some_and(|input| input == "text");
    if let Some(text) = alone(api, session, &request).filter(|_| text) {
        written(out.write_all(&text))?;
        return written(out.write_all(b"\n")).map(|()| false);
    }
    let (open, close) = frame(api, session, purpose, &request);
    written(out.write_all(&open))?;
    for (nth, element) in request.elements.iter().enumerate() {
        written(out.write_all(if nth == 0 { b"\n" } else { b",\n" }))?;
        written(out.write_all(&element.raw))?;
    }
    // An empty list is on one line.
    let close = if request.elements.is_empty() {
        &close[1..]
    } else {
        close
    };
    written(out.write_all(close)).map(|()| false)
}

/// The error of writing back a response: a request lacks its other members, such as its id and the reason of its end.
pub fn response_refused() -> Error {
    Error::not_in_place("responses cannot be rewritten in place")
}

/// A request body whose input is a string and still has no other content.
fn alone(api: Api, session: &Session, request: &ProviderRequest) -> Option<Vec<u8>> {
    let shape = api.interface().shape();
    let [element] = request.elements.as_slice() else {
        return None;
    };
    let text = json::string_member(&element.raw, "content")?;
    let mut built = ObjectBuilder::default();
    built.text("role", "user").raw("content", text);
    if built.finish() != element.raw {
        return None;
    }
    let mut changes = vec![(shape.list, Some(text))];
    changes.extend(
        request
            .system
            .as_deref()
            .zip(shape.instructions.first())
            .map(|(raw, name)| (*name, Some(raw))),
    );
    json::with_members(&members(session)?, &changes).ok()
}

/// The original form of a history that was not a list, for writing back: `text` or `lines`.
fn input(api: Api, session: &Session, purpose: WritePurpose) -> Option<String> {
    let back = match api.interface().shape().array {
        true => purpose == WritePurpose::Return,
        false => purpose != WritePurpose::Context,
    };
    if !back || !was_read_from(api, session) {
        return None;
    }
    json::text(&session.metadata("input")?).map(Cow::into_owned)
}

/// The text before and after the elements.
fn frame(
    api: Api,
    session: &Session,
    purpose: WritePurpose,
    request: &ProviderRequest,
) -> (Vec<u8>, &'static [u8]) {
    let own = was_read_from(api, session) && purpose != WritePurpose::Context;
    let shape = api.interface().shape();
    let members = members(session).filter(|_| match shape.array {
        true => purpose == WritePurpose::Return,
        false => own,
    });
    let array = shape.array || own && request.system.is_none();
    if members.is_none() && array {
        return (b"[".to_vec(), b"\n]\n");
    }
    let members = members.unwrap_or_else(|| b"{}".to_vec());
    let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
    // Use the request's own name for the member.
    let there = |name: &&&str| json::member(&members, name).is_some();
    let others = shape.instructions.iter().skip(1).find(there);
    if let Some(name) = others.or(shape.instructions.first()) {
        match &request.system {
            Some(raw) => changes.push((name, Some(raw))),
            None if others.is_some() => changes.push((name, None)),
            None => {}
        }
    }
    changes.push((shape.list, None));
    let mut open = json::with_members(&members, &changes).unwrap_or_else(|_| b"{}".to_vec());
    open.pop();
    if open.len() > 1 {
        open.push(b',');
    }
    json::push_text(&mut open, shape.list);
    open.extend_from_slice(b":[");
    (open, b"\n]}\n")
}
