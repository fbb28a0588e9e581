//! Parses a summarizer's reply, and wraps a summary in PenguiFlow's tags.

use crate::model::json;

const OPEN: &str = "<session_summary>";
const CLOSE: &str = "</session_summary>";

/// The summary between its tags. A text with the opening tag is unchanged, except that a missing closing tag is added;
/// an empty text becomes an empty pair of tags.
pub fn wrapped(text: &str) -> String {
    let text = text.trim();
    match text.find(OPEN) {
        _ if text.is_empty() => format!("{OPEN}{CLOSE}"),
        None => format!("{OPEN}\n{text}\n{CLOSE}"),
        Some(at) if text[at..].contains(CLOSE) => text.to_string(),
        Some(_) => format!("{text}{CLOSE}"),
    }
}

/// Whether a summary is blank, with or without tags.
pub fn is_blank(summary: &str) -> bool {
    summary.replace(OPEN, "").replace(CLOSE, "").trim().is_empty()
}

/// The summary in a model's reply: an object with a string `summary`, in a fenced block or bare.
///
/// # Errors
///
/// The reason why the reply is invalid.
pub fn read(reply: &str) -> Result<String, &'static str> {
    let reply = unfenced(reply.trim());
    let Some(summary) = json::member(reply.as_bytes(), "summary") else {
        return Err("the reply is not a JSON object with a summary");
    };
    let summary = json::text(summary).ok_or("the summary in the reply is not a string")?;
    match is_blank(&summary) {
        true => Err("the summary is blank"),
        false => Ok(wrapped(&summary)),
    }
}

/// The content of a fenced Markdown block, or the text if it is not one.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    match inside.and_then(|inside| inside.split_once('\n')) {
        Some((language, block)) if !language.trim().contains(char::is_whitespace) => block.trim(),
        _ => text,
    }
}
