//! Which messages of a document are questions for a compaction and answers to them, and where what is kept begins.

use super::element::{Element, kind};
use crate::model::json;
use std::borrow::Cow;
use std::collections::HashMap;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Something said.
    Said,
    /// A question for a compaction, or an answer to it that does not count.
    Beside,
    /// The answer that counts: what stands from this element on is kept.
    Summary(usize),
}

/// What each of the messages is; an element that is no message is beside them.
pub fn parts(elements: &[Option<Element<'_>>]) -> Vec<Part> {
    let mut by_id: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for (nth, element) in elements.iter().enumerate() {
        if let Some(id) = element.as_ref().and_then(|element| element.text("id")) {
            by_id.entry(id).or_insert(nth);
        }
    }
    let asks = |nth: usize| elements[nth].as_ref().is_some_and(Element::asks);
    let mut parts: Vec<Part> = (0..elements.len())
        .map(|nth| match &elements[nth] {
            Some(element) if !element.asks() => Part::Said,
            _ => Part::Beside,
        })
        .collect();
    let mut last = None;
    for (nth, element) in elements.iter().enumerate() {
        let Some(element) = element else { continue };
        let Some(finished) = element.answers() else {
            continue;
        };
        let question = match element.text("parentID") {
            Some(parent) => by_id.get(&parent).copied().filter(|question| *question < nth),
            None => nth.checked_sub(1),
        };
        let Some(question) = question.filter(|question| asks(*question)) else {
            continue;
        };
        if !finished {
            parts[nth] = Part::Beside;
            continue;
        }
        let tail = elements[question].as_ref().and_then(tail);
        let kept = tail
            .and_then(|id| by_id.get(&id).copied())
            .filter(|kept| *kept < question);
        parts[nth] = Part::Summary(kept.unwrap_or(question));
        last = Some(kept.unwrap_or(question));
    }
    // Only the last one counts: none before it covers what that one keeps.
    for part in &mut parts {
        if let (Part::Summary(kept), Some(last)) = (part, last) {
            *kept = (*kept).min(last);
        }
    }
    parts
}

/// The message that a question for a compaction names as the first that is kept.
fn tail<'a>(question: &Element<'a>) -> Option<Cow<'a, str>> {
    let mut asked = question.parts.iter().filter(|part| kind(part) == "compaction");
    asked
        .next_back()
        .and_then(|part| json::member(part, "tail_start_id"))
        .and_then(json::text)
}
