//! Finds the compaction requests and answers of a document, and what each compaction keeps.

use super::element::{OpencodeMessage, kind};
use crate::model::json;
use std::borrow::Cow;
use std::collections::HashMap;

/// The role of a message in compactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionRole {
    /// A normal message.
    Message,
    /// A compaction request, or an answer that is not effective.
    Passthrough,
    /// An effective answer, which keeps the messages from this element on.
    Summary(usize),
}

/// The role of each message; an element that is not a message is [`CompactionRole::Passthrough`].
pub fn parts(elements: &[Option<OpencodeMessage<'_>>]) -> Vec<CompactionRole> {
    let mut by_id: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for (nth, element) in elements.iter().enumerate() {
        if let Some(id) = element.as_ref().and_then(|element| element.text("id")) {
            by_id.entry(id).or_insert(nth);
        }
    }
    let asks = |nth: usize| elements[nth].as_ref().is_some_and(OpencodeMessage::asks);
    let mut parts: Vec<CompactionRole> = (0..elements.len())
        .map(|nth| match &elements[nth] {
            Some(element) if !element.asks() => CompactionRole::Message,
            _ => CompactionRole::Passthrough,
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
            parts[nth] = CompactionRole::Passthrough;
            continue;
        }
        let tail = elements[question].as_ref().and_then(tail);
        let kept = tail
            .and_then(|id| by_id.get(&id).copied())
            .filter(|kept| *kept < question);
        parts[nth] = CompactionRole::Summary(kept.unwrap_or(question));
        last = Some(kept.unwrap_or(question));
    }
    // Only the last compaction is effective: earlier ones do not cover what it keeps.
    for part in &mut parts {
        if let (CompactionRole::Summary(kept), Some(last)) = (part, last) {
            *kept = (*kept).min(last);
        }
    }
    parts
}

/// The first message to keep, as named by a compaction request.
fn tail<'a>(question: &OpencodeMessage<'a>) -> Option<Cow<'a, str>> {
    let mut requested = question.parts.iter().filter(|part| kind(part) == "compaction");
    requested
        .next_back()
        .and_then(|part| json::member(part, "tail_start_id"))
        .and_then(json::text)
}
