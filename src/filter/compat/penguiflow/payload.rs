//! PenguiFlow's size estimate: a quarter of the code points of its context, encoded as Python does with sorted
//! members.

use super::super::history::CompatHistory;
use crate::filter::retention::{Cost, LinkedTurns, TurnEstimate};
use crate::model::json::{self, Dialect};
use crate::model::message::Role;
use std::collections::HashMap;

/// Estimates the tokens of a text as PenguiFlow does.
pub fn estimate(text: &str) -> u64 {
    TurnEstimate::default().summary(text)
}

/// The maximum code points of a summary, quotes included, in a context with these turns.
pub(super) fn maximum_summary(recent: LinkedTurns, total: u64) -> u64 {
    let list = recent.size + 2 * recent.turns.saturating_sub(1);
    let frame = length(r#"{"recent_turns": []}"#) + length(r#", "summary": "#);
    total.saturating_mul(4).saturating_sub(1 + frame + list)
}

/// Code points of an exchange as a turn: the user message, the last answer and the digest.
pub(super) fn turn(history: &CompatHistory<'_>, messages: &[usize], digests: bool) -> u64 {
    let read = || messages.iter().filter_map(|at| history.message(*at));
    let requested: Vec<String> = read()
        .filter(|message| message.role() == Role::User)
        .map(|message| message.text().into_owned())
        .collect();
    let answers = read().filter(|message| message.role() == Role::Assistant);
    let answer = answers
        .map(|message| message.text().into_owned())
        .rfind(|text| !text.is_empty());
    let mut size = length(r#"{"assistant": , "user": }"#);
    size += quoted(&requested.join("\n\n")) + quoted(&answer.unwrap_or_default());
    if digests {
        let recorded = read().find_map(|message| {
            let metadata = json::member(message.metadata?, "penguiflow")?;
            json::member(metadata, "trajectory_digest").filter(|raw| *raw != b"null")
        });
        let digest = recorded
            .map(encoded_length)
            .or_else(|| digest_of_calls(history, messages));
        size += digest.map_or(0, |size| length(r#""trajectory_digest": , "#) + size);
    }
    size
}

/// Maximum length in code points of the observation of a call in a digest.
const OBSERVATION: usize = 400;

/// Code points of PenguiFlow's digest of calls that have results; none without such a call.
fn digest_of_calls(history: &CompatHistory<'_>, messages: &[usize]) -> Option<u64> {
    let read = || messages.iter().filter_map(|at| history.message(*at));
    let calls = read().flat_map(|message| message.tool_calls());
    let names: HashMap<_, _> = calls.map(|call| (call.id, call.name)).collect();
    let (mut tools, mut observed) = (Vec::new(), Vec::new());
    for result in read().filter(|message| message.role() == Role::Tool) {
        let id = result.tool_call_id().unwrap_or_default();
        let tool = names.get(&id).map_or("", |name| name.as_ref());
        let text = json::quoted(&result.text());
        let text = String::from_utf8_lossy(&text).into_owned();
        let cut = text
            .char_indices()
            .nth(OBSERVATION)
            .map(|(at, _)| format!("{}\u{2026}", &text[..at]));
        observed.push(format!("- {tool}: {}", cut.unwrap_or(text)));
        tools.push(tool.to_string());
    }
    if tools.is_empty() {
        return None;
    }
    let names = tools.iter().map(|tool| quoted(tool)).sum::<u64>() + 2 * (tools.len() as u64 - 1);
    let frame =
        r#"{"artifacts_refs": [], "observations_summary": , "reasoning_summary": null, "tools_invoked": []}"#;
    Some(length(frame) + names + quoted(&observed.join("\n")))
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Code points of a text encoded as a JSON string.
pub fn quoted(text: &str) -> u64 {
    String::from_utf8_lossy(&json::quoted(text)).chars().count() as u64
}

/// Code points of a value with a space after each comma and colon and only mandatory escapes.
fn encoded_length(value: &[u8]) -> u64 {
    let (compact, _) = json::compact(value);
    let (mut size, mut at) = (0, 0);
    while at < compact.len() {
        let text = (compact[at] == b'"')
            .then(|| json::value_end(&compact, at, Dialect::Strict).ok())
            .flatten();
        match text {
            Some(end) => {
                size += quoted(&json::text(&compact[at..end]).unwrap_or_default());
                at = end;
            }
            None => {
                size += 1 + u64::from(matches!(compact[at], b',' | b':'));
                at += 1;
            }
        }
    }
    size
}
