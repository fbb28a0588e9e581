//! One line for a whole exchange: the question, the tool calls with their results, and the answer.
//! Source of the format: the design of goaitools' compactors, and convo's vectors for it.

use crate::filter::summarize::without_sentences;
use crate::model::message::{Message, Role};
use std::collections::{HashMap, VecDeque};

/// Most code points of a user's or model's text.
const TEXT: usize = 120;
/// Most code points of a call's arguments and of its result.
const CALL: usize = 80;

/// Precedes the standing instructions, one per line, from which a later compaction detects them again.
const INSTRUCTIONS: &str = "standing instructions:";

/// Builds the digest of an exchange's messages, without system messages. These standing instructions of the user follow
/// whole, instead of being shortened with the rest of the text.
pub fn exchange(messages: &[Message<'_>], instructions: &[&str]) -> String {
    let mut results: HashMap<String, VecDeque<String>> = HashMap::new();
    for message in messages.iter().filter(|message| message.role() == Role::Tool) {
        let id = message.tool_call_id().unwrap_or_default().into_owned();
        results
            .entry(id)
            .or_default()
            .push_back(short(&message.text(), CALL));
    }
    let messages_of = |role: Role| messages.iter().filter(move |message| message.role() == role);
    let mut parts: Vec<String> = messages_of(Role::User)
        .filter_map(|message| without_sentences(message.text(), instructions))
        .map(|text| format!("user: {}", short(&text, TEXT)))
        .collect();
    for call in messages.iter().flat_map(Message::tool_calls) {
        let result = results.get_mut(call.id.as_ref()).and_then(VecDeque::pop_front);
        let result = result.as_deref().unwrap_or("(no result)");
        parts.push(format!(
            "{}({}) -> {result}",
            call.name,
            short(&call.arguments, CALL)
        ));
    }
    let mut answers = messages_of(Role::Assistant).map(|message| short(&message.text(), TEXT));
    if let Some(answer) = answers.rfind(|text| !text.is_empty()) {
        parts.push(format!("assistant: {answer}"));
    }
    let mut digest = format!("[digest of {} messages] {}", messages.len(), parts.join(" | "));
    if !instructions.is_empty() {
        digest.push_str(&format!("\n{INSTRUCTIONS}"));
    }
    for text in instructions {
        digest.push_str("\n- ");
        digest.push_str(&short(text, usize::MAX));
    }
    digest
}

/// Collapses white space to single spaces and limits the length; shortened text ends in three dots.
fn short(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > most {
            break; // enough to know that it is too long
        }
        if !out.is_empty() {
            out.push(' ');
            length += 1;
        }
        for character in word.chars().take(most.saturating_add(1)) {
            out.push(character);
            length += 1;
        }
    }
    if length > most {
        let end = out.char_indices().nth(most - 3).map_or(out.len(), |(at, _)| at);
        out.truncate(end);
        out.push_str("...");
    }
    out
}
