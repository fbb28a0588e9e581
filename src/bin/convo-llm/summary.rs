//! Answers a summary request of `convo summarize`: sends it to the model as a question and returns an object.

use crate::ask::ModelClient;
use convo::error::{Error, ErrorKind, Result};
use convo::model::json::{self, Dialect, ObjectBuilder};
use convo::model::session::Session;

/// Request members that the model receives as data; the others are for programs.
const DATA: [&str; 4] = ["budget", "pins", "previous_summary", "messages"];

/// Answers the chunks of a request, each with the previous answer; the last answer is the summary.
pub fn run(model: &ModelClient<'_>, pieces: &[Vec<u8>], system: Option<&str>) -> Result<Vec<u8>> {
    let mut previous: Option<String> = None;
    for piece in pieces {
        let session = question(piece, previous.as_deref(), system)?;
        let reply = model.ask(&session, &[])?;
        if reply.is_cut() {
            let error = Error::new(ErrorKind::Unavailable, "the summary reached its maximum length");
            return Err(error.hint("raise --max-tokens or CONVO_LLM_MAX_TOKENS"));
        }
        let text = without_thinking(&reply.text);
        if text.is_empty() {
            return Err(Error::new(ErrorKind::Unavailable, "the summary is empty"));
        }
        previous = Some(text.to_string());
    }
    let text = previous.unwrap_or_default();
    let mut answer = ObjectBuilder::default();
    answer.text("schema", "convo.summary/1");
    let sha256 = pieces.last().and_then(|piece| json::member(piece, "sha256"));
    if let Some(sha256) = sha256 {
        answer.raw("sha256", sha256);
    }
    answer
        .text("summary", &text)
        .text("by", &format!("llm:{}", model.settings.model));
    Ok(answer.finish())
}

/// Builds the question: the task as instructions, and the rest marked as data that contains no instructions.
fn question(piece: &[u8], previous: Option<&str>, system: Option<&str>) -> Result<Session> {
    if json::value_end(piece, 0, Dialect::Strict) != Ok(piece.len()) {
        return Err(Error::data("the summary request is damaged"));
    }
    let instructions = json::member_text(piece, "instructions");
    let mut data = ObjectBuilder::default();
    for name in DATA {
        match (name, previous, json::member(piece, name)) {
            ("previous_summary", Some(text), _) => drop(data.text(name, text)),
            (_, _, Some(value)) => drop(data.raw(name, value)),
            (_, _, None) => {
                let what = format!("the request for a summary is damaged: it has no {name}");
                return Err(Error::data(what));
            }
        }
    }
    let reported = [system, instructions.as_deref()].into_iter().flatten();
    let reported: Vec<&str> = reported.map(str::trim).filter(|text| !text.is_empty()).collect();
    let mut session = Session::default();
    for (role, text) in [
        ("system", reported.join("\n\n")),
        ("user", String::from_utf8_lossy(&data.finish()).into_owned()),
    ] {
        if !text.is_empty() {
            let mut message = ObjectBuilder::default();
            message.text("role", role).text("content", &text);
            session.push_new(&message.finish());
        }
    }
    Ok(session)
}

/// Removes the reasoning that self-hosted models print before the text.
fn without_thinking(text: &str) -> &str {
    let text = text.trim();
    let reasoning = text
        .strip_prefix("<think>")
        .and_then(|rest| rest.split_once("</think>"));
    reasoning.map_or(text, |(_, after)| after.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_removed_from_a_summary() {
        assert_eq!(without_thinking("<think>\nhm\n</think>\n\nBeans. "), "Beans.");
        assert_eq!(without_thinking("a <think>b</think>"), "a <think>b</think>");
        assert_eq!(without_thinking("<think>for ever"), "<think>for ever");
    }
}
