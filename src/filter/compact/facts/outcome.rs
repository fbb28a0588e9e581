//! The outcome of a call: its exit code, whether it failed, and the error line.

use super::super::placeholders;
use crate::filter::phrase::contains_words;
use crate::model::json;
use crate::model::message::Message;
use std::borrow::Cow;

/// The outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOutcome<'a> {
    code: Option<i64>,
    /// Whether it failed.
    pub failed: bool,
    text: Cow<'a, str>,
}

/// The text before an exit code in the envelope of a result.
const CODES: [&str; 3] = [
    "Process exited with code ",
    "Command exited with code ",
    "Exit code: ",
];

/// How many bytes of a result are searched for an exit code, at its beginning and at its end.
const ENVELOPE: (usize, usize) = (600, 200);

impl<'a> CallOutcome<'a> {
    /// Reads the outcome from a result.
    pub fn of(message: &Message<'a>) -> CallOutcome<'a> {
        let mut text = message.text();
        let mut code = message
            .metadata
            .and_then(|raw| number(json::member(raw, "exit_code")?));
        if code.is_none() {
            code = exit_code(&text);
        }
        if text.starts_with('{')
            && let Some(output) = json::member(text.as_bytes(), "output").and_then(json::text)
        {
            let own =
                json::member(text.as_bytes(), "metadata").and_then(|raw| json::member(raw, "exit_code"));
            code = code.or_else(|| number(own?));
            let output = output.into_owned();
            text = Cow::Owned(output);
        }
        let is_error = message.metadata.and_then(|raw| json::member(raw, "is_error")) == Some(b"true");
        CallOutcome {
            code,
            failed: is_error || code.is_some_and(|code| code != 0),
            text: text_after_envelope(text),
        }
    }

    /// Whether a text explains the failure.
    pub fn explains_failure(&self) -> bool {
        !self.text.trim().is_empty() && !placeholders::is_mark(&self.text)
    }

    /// The exit code, or `failed`, and the line that explains it.
    pub fn failure(&self, most: usize) -> String {
        let code = self.code.filter(|code| *code != 0);
        let code = code.map_or("failed".to_string(), |code| code.to_string());
        let line: String = match self.explains_failure() {
            true => error_line(&self.text).trim().chars().take(most).collect(),
            false => String::new(),
        };
        if line.is_empty() {
            code
        } else {
            format!("{code}: {line}")
        }
    }

    /// The last line that is not empty.
    pub fn last_line(&self) -> &str {
        let mut lines = self.text.lines().rev().map(str::trim);
        let last = lines.find(|line| !line.is_empty()).unwrap_or_default();
        if placeholders::is_mark(last) { "" } else { last }
    }
}

fn number(raw: &[u8]) -> Option<i64> {
    std::str::from_utf8(raw).ok()?.parse().ok()
}

/// The exit code in the envelope of a result.
fn exit_code(text: &str) -> Option<i64> {
    let front = (0..=ENVELOPE.0.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))?;
    let back = (text.len().saturating_sub(ENVELOPE.1)..=text.len()).find(|at| text.is_char_boundary(*at))?;
    let code = |line: &str| {
        let rest = CODES
            .iter()
            .find_map(|begins| line.trim_start().strip_prefix(begins))?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    text[..front]
        .lines()
        .chain(text[back.max(front)..].lines())
        .find_map(code)
}

/// The text after the line `Output:` of an envelope.
fn text_after_envelope(text: Cow<'_, str>) -> Cow<'_, str> {
    let front = (0..=ENVELOPE.0.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let is_envelope = CODES.iter().any(|begins| text[..front].contains(begins));
    let at = text[..front].find("\nOutput:\n").filter(|_| is_envelope);
    match (at, text) {
        (None, text) => text,
        (Some(at), Cow::Borrowed(text)) => Cow::Borrowed(&text[at + 9..]),
        (Some(at), Cow::Owned(text)) => Cow::Owned(text[at + 9..].to_string()),
    }
}

/// Texts that identify an error line.
const NAMING: [&str; 7] = [
    "error: ",
    "error[",
    "panicked",
    "no such file",
    "permission denied",
    "command not found",
    "exception: ",
];

/// Beginnings that identify an error line.
const BEGINNING: [&str; 2] = ["fatal: ", "npm err!"];

/// Words of a line that may describe an error.
const WORDS: [&str; 26] = [
    "error",
    "errors",
    "failed",
    "failure",
    "exception",
    "panic",
    "cannot",
    "can't",
    "not found",
    "no such",
    "denied",
    "fatal",
    "rejected",
    "refused",
    "invalid",
    "unable",
    "traceback",
    "missing",
    "undefined",
    "unexpected",
    "timed out",
    "panicked",
    "abort",
    "aborted",
    "killed",
    "unknown",
];

/// The line that explains the failure.
fn error_line(text: &str) -> &str {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let names = |line: &&str| {
        let lower = line.to_lowercase();
        NAMING.iter().any(|what| lower.contains(what)) || BEGINNING.iter().any(|what| lower.starts_with(what))
    };
    let speaks = |line: &&str| {
        let lower = line.to_lowercase();
        WORDS.iter().any(|what| contains_words(&lower, what))
    };
    lines()
        .find(names)
        .or_else(|| lines().find(speaks))
        .or_else(|| lines().next())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::compact::state::read;

    fn outcome(line: &str) -> (bool, String, String) {
        let message = read(line.as_bytes()).unwrap();
        let outcome = CallOutcome::of(&message);
        let line = outcome.last_line().to_string();
        (outcome.failed, outcome.failure(80), line)
    }

    #[test]
    fn code_and_line_are_found_in_every_envelope() {
        let failed = |why: &str, last: &str| (true, why.to_string(), last.to_string());
        for (line, expected) in [
            (
                r#"{"role":"tool","content":"Chunk ID: 1\nProcess exited with code 101\nOutput:\nerror[E0308]: mismatched\nmore\n"}"#,
                failed("101: error[E0308]: mismatched", "more"),
            ),
            (
                r#"{"role":"tool","content":"{\"output\":\"a\\nmake: *** failed\\n\",\"metadata\":{\"exit_code\":2}}"}"#,
                failed("2: make: *** failed", "make: *** failed"),
            ),
            (
                r#"{"role":"tool","content":"nothing here","metadata":{"is_error":true}}"#,
                failed("failed: nothing here", "nothing here"),
            ),
            (
                r#"{"role":"tool","content":"error: not so","metadata":{"exit_code":0}}"#,
                (
                    false,
                    "failed: error: not so".to_string(),
                    "error: not so".to_string(),
                ),
            ),
        ] {
            assert_eq!(outcome(line), expected, "{line}");
        }
    }
}
