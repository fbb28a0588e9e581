//! A message as records: results first, and the rest of it behind them.

use super::NAME;
use super::block::{self, Piece};
use super::element::Element;
use super::spell;
use crate::format::grouped;
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::contents::joined;
use crate::format::request::draft::Draft;
use crate::format::request::piece::{array, quoted, rest_object};
use crate::model::json::{self, ObjectBuilder};
use std::collections::HashMap;

struct Made {
    draft: Draft,
    notes: Vec<Vec<u8>>,
}

/// How a message is kept on its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    Notes,
    Whole,
}

/// The lines of a message under this id, each with its own.
pub fn records(element: &Element<'_>, id: &str) -> Vec<(String, Vec<u8>)> {
    let made = made(element);
    let noted = bodies(element, &made, id, Keeping::Notes);
    let back = spell::element(&noted, &mut Report::default());
    let exact = back.is_some_and(|back| json::same(&back, element.raw));
    let bodies = match exact {
        true => noted,
        false => bodies(element, &made, id, Keeping::Whole),
    };
    let named = bodies.into_iter().enumerate();
    named.map(|(nth, body)| (name(id, nth), body)).collect()
}

/// What is noted of a message on its records, by their ids, also where it is kept whole.
pub fn notes_of(element: &Element<'_>, id: &str) -> HashMap<String, Vec<u8>> {
    let bodies = bodies(element, &made(element), id, Keeping::Notes);
    let noted = bodies.iter().enumerate();
    noted
        .filter_map(|(nth, body)| Some((name(id, nth), grouped::note(body, NAME)?.to_vec())))
        .collect()
}

/// The id of the nth record of a message.
fn name(id: &str, nth: usize) -> String {
    match nth {
        0 => id.to_string(),
        nth => format!("{id}#{}", nth + 1),
    }
}

fn bodies(element: &Element<'_>, made: &[Made], id: &str, keeping: Keeping) -> Vec<Vec<u8>> {
    let (shown, sent) = (element.is_shown(), element.is_sent());
    let body = |(nth, made): (usize, &Made)| {
        let mut draft = made.draft.clone();
        draft.raw("id", quoted(&name(id, nth)));
        if let Some(time) = element.time() {
            draft.raw("timestamp", quoted(&time));
        }
        if !shown && sent && draft.role() != "tool" {
            draft.raw("category", b"\"context\"".as_slice());
        }
        if !shown {
            let who = if sent { "agent" } else { "none" };
            draft.metadata("visibility", Some(quoted(who)));
        }
        let mut own = ObjectBuilder::default();
        let message = rest_object(element.raw, &["role", "content"]);
        match (nth, keeping) {
            (0, Keeping::Notes) => drop(own.raw("message", message.unwrap_or_else(|| b"{}".to_vec()))),
            (0, Keeping::Whole) => drop(own.raw("raw", element.raw)),
            _ => drop(own.text("of", id)),
        }
        if keeping == Keeping::Notes {
            own.raw("content", array(&made.notes));
        }
        draft.metadata(NAME, Some(own.finish()));
        draft.body(Api::OpenaiChat)
    };
    made.iter().enumerate().map(body).collect()
}

fn made(element: &Element<'_>) -> Vec<Made> {
    let (mut all, mut others) = (Vec::new(), Vec::new());
    for raw in &element.blocks {
        match block::answer(raw).filter(|_| !element.is_model) {
            Some(answer) => {
                let mut draft = Draft::new("tool");
                draft
                    .raw("tool_call_id", answer.id)
                    .raw("content", answer.content)
                    .metadata("is_error", answer.failed.then(|| b"true".to_vec()));
                let notes = vec![answer.note];
                all.push(Made { draft, notes });
            }
            None => others.push(block::read(raw)),
        }
    }
    if !others.is_empty() || all.is_empty() {
        all.push(rest(element.is_model, others));
    }
    all
}

/// What stands in a message beside results.
fn rest(is_model: bool, blocks: Vec<(Piece, Vec<u8>)>) -> Made {
    let (mut said, mut thoughts, mut calls, mut notes) = (vec![], vec![], vec![], vec![]);
    for (piece, note) in blocks {
        match piece {
            Piece::Said(part) => said.push(part),
            Piece::Thought(thought) => thoughts.push(thought),
            Piece::Call(call) => calls.push(call),
        }
        notes.push(note);
    }
    let mut draft = Draft::new(if is_model { "assistant" } else { "user" });
    draft.raw("content", joined(&said, if is_model { b"null" } else { b"[]" }));
    if !calls.is_empty() {
        draft.raw("tool_calls", array(&calls));
    }
    if !thoughts.is_empty() {
        draft.raw("reasoning", array(&thoughts));
    }
    Made { draft, notes }
}
