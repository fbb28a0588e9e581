//! The outcome of a call: its exit code, whether it failed, and the error line.

use super::super::head_tail::boundary;
use super::super::placeholders;
use super::tool::CallSubject;
use super::{file_error, test_report};
use crate::filter::phrase::contains_words;
use crate::filter::summarize::handoff::{CommandPurpose, negative_answer};
use crate::model::json;
use crate::model::message::Message;
use std::borrow::Cow;

/// The outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOutcome<'a> {
    code: Option<i64>,
    /// Whether it failed.
    pub failed: bool,
    /// The id of the process if it is still running; a later call fetches the rest of its output.
    pub process: Option<String>,
    /// The meaning of an exit status that is not a failure.
    answer: Option<&'static str>,
    /// The purpose of the command, if it is known.
    purpose: Option<CommandPurpose>,
    text: Cow<'a, str>,
}

/// The text before an exit code in the envelope of a result.
const CODES: [&str; 3] = [
    "Process exited with code ", "Command exited with code ", "Exit code: ",
];

/// Texts before the id of a running process.
const RUNNING: [&str; 2] = [
    "Process running with session ID ",
    "Command running in background with ID: ",
];

/// The text before an exit code that is the whole first line of a result.
const CODE_LINE: &str = "Exit code ";

/// How many bytes of a result are searched for an exit code, at its beginning and at its end.
const ENVELOPE: (usize, usize) = (600, 200);

impl<'a> CallOutcome<'a> {
    /// Reads the outcome from a result.
    pub fn of(message: &Message<'a>) -> CallOutcome<'a> {
        let mut text = message.text();
        if let Some(outcome) = placeholders::outcome(&text).and_then(CallOutcome::elided) {
            return outcome;
        }
        let mut code = message
            .metadata
            .and_then(|raw| json::number::<i64>(json::member(raw, "exit_code")?));
        if code.is_none() {
            code = exit_code(&text);
        }
        if let Some((status, output)) = background(&text) {
            code = code.or(status);
            text = Cow::Owned(output);
        }
        if text.starts_with('{')
            && let Some(output) = json::member_text(text.as_bytes(), "output")
        {
            let own =
                json::member(text.as_bytes(), "metadata").and_then(|raw| json::member(raw, "exit_code"));
            code = code.or_else(|| json::number(own?));
            let output = output.into_owned();
            text = Cow::Owned(output);
        }
        let is_error = message.metadata.and_then(|raw| json::member(raw, "is_error")) == Some(b"true");
        CallOutcome {
            code,
            failed: is_error || code.is_some_and(|code| code != 0),
            process: running_process(&text),
            answer: None,
            purpose: None,
            text: text_after_envelope(text),
        }
    }

    /// Reads the outcome of a command: its output may report a failure that the exit status does not, and exit status 1
    /// may be a negative answer.
    pub fn of_command(message: &Message<'a>, line: &str) -> CallOutcome<'a> {
        let mut outcome = CallOutcome::of(message);
        let purpose = CommandPurpose::of(line);
        outcome.purpose = Some(purpose);
        if outcome.code == Some(1) {
            outcome.answer = negative_answer(line);
            outcome.failed &= outcome.answer.is_none();
        }
        outcome.failed |= test_report::reports_failure(purpose, &outcome.text);
        outcome
    }

    /// Reads the outcome of a call with this subject.
    pub fn of_call(message: &Message<'a>, subject: &CallSubject<'_>) -> CallOutcome<'a> {
        match subject {
            CallSubject::Command(line) => CallOutcome::of_command(message, line),
            CallSubject::Files(files) => {
                let mut outcome = CallOutcome::of(message);
                outcome.failed |= outcome.code.is_none() && file_error::reports_failure(files, &outcome.text);
                outcome
            }
            _ => CallOutcome::of(message),
        }
    }

    /// Whether the command only inspects something, so that its failure is an answer, too.
    pub fn only_looks(&self) -> bool {
        self.purpose == Some(CommandPurpose::Looking)
    }

    /// Reads the outcome that the placeholder of a failed result contains.
    fn elided(outcome: &str) -> Option<CallOutcome<'a>> {
        let (code, line) = outcome.split_once(": ").unwrap_or((outcome, ""));
        let code = match code {
            FAILED => None,
            code => Some(code.parse().ok()?),
        };
        Some(CallOutcome {
            code,
            failed: true,
            process: None,
            answer: None,
            purpose: None,
            text: Cow::Owned(line.to_string()),
        })
    }

    /// The text of the result, without the envelope of a command.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the process has exited with a code.
    pub fn has_ended(&self) -> bool {
        self.code.is_some()
    }

    /// Whether a text explains the failure.
    pub fn explains_failure(&self) -> bool {
        !self.text.trim().is_empty() && !placeholders::is_mark(&self.text)
    }

    /// The exit code, or `failed`, and the line that explains it.
    pub fn failure(&self, most: usize) -> String {
        let code = self.code.filter(|code| *code != 0);
        let code = code.map_or(FAILED.to_string(), |code| code.to_string());
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

    /// The failure, or the negative answer of a command.
    pub fn result(&self, most: usize) -> Option<String> {
        match self.failed {
            true => Some(self.failure(most)),
            false => self.answer.map(str::to_string),
        }
    }

    /// The line with the result of tests, else the last line that is not empty.
    pub fn last_line(&self) -> &str {
        if self.purpose == Some(CommandPurpose::Testing)
            && let Some(line) = test_report::result_line(CommandPurpose::Testing, &self.text)
        {
            return line;
        }
        output_lines(&self.text).next_back().unwrap_or_default()
    }
}

/// The outcome of a failure without an exit code.
const FAILED: &str = "failed";

/// The first bytes of a result, which may be an envelope.
fn front(text: &str) -> &str {
    &text[..boundary(text, ENVELOPE.0)]
}

/// The exit code in the envelope of a result.
fn exit_code(text: &str) -> Option<i64> {
    let front = front(text);
    let back = boundary(text, text.len().saturating_sub(ENVELOPE.1));
    let code = |line: &str| {
        let rest = CODES
            .iter()
            .find_map(|begins| line.trim_start().strip_prefix(begins))?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    let found = front
        .lines()
        .chain(text[back.max(front.len())..].lines())
        .find_map(code);
    found.or_else(|| text.lines().next()?.strip_prefix(CODE_LINE)?.parse().ok())
}

/// The id of the running process that an envelope names.
fn running_process(text: &str) -> Option<String> {
    let mut lines = front(text).lines().take_while(|line| *line != OUTPUT);
    let begins = |line: &str| {
        RUNNING
            .iter()
            .find_map(|begins| line.strip_prefix(begins))
            .map(str::to_string)
    };
    let rest = lines.find_map(begins)?;
    let id = rest.split_whitespace().next()?.trim_end_matches('.');
    (!id.is_empty()).then(|| id.to_string())
}

/// The exit code and the output of a background command, as Claude Code reports them in tags.
fn background(text: &str) -> Option<(Option<i64>, String)> {
    if !text.trim_start().starts_with('<') {
        return None;
    }
    let within = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0)
    };
    let status = within("status")?;
    let code = within("exit_code").and_then(|code| code.trim().parse().ok());
    let code = code.or(match status.trim() {
        "completed" => Some(0),
        "failed" | "killed" => Some(1),
        _ => None,
    });
    let output = ["stdout", "stderr", "output"]
        .iter()
        .filter_map(|name| within(name));
    Some((code, output.collect::<Vec<_>>().join("\n")))
}

/// The last line of an envelope.
const OUTPUT: &str = "Output:";

/// The text after an envelope: after its line `Output:`, or after a first line that is only the exit code.
fn text_after_envelope(text: Cow<'_, str>) -> Cow<'_, str> {
    let front = front(&text);
    let has_code = CODES.iter().chain(&RUNNING).any(|begins| front.contains(begins));
    let mut end = 0;
    let mut ends = front.split_inclusive('\n').map(|line| {
        end += line.len();
        (line.trim_end(), end)
    });
    let at = match has_code {
        true => ends.find(|(line, _)| *line == OUTPUT).map(|(_, end)| end),
        false => ends
            .next()
            .filter(|(line, _)| is_code_line(line))
            .map(|(_, end)| end),
    };
    match (at, text) {
        (None, text) => text,
        (Some(at), Cow::Borrowed(text)) => Cow::Borrowed(&text[at..]),
        (Some(at), Cow::Owned(text)) => Cow::Owned(text[at..].to_string()),
    }
}

fn is_code_line(line: &str) -> bool {
    let code = line.strip_prefix(CODE_LINE);
    code.is_some_and(|code| code.parse::<i64>().is_ok())
}

/// The lines of a result with a text, except placeholders and those that only report its exit code.
fn output_lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_code = |line: &str| CODES.iter().any(|begins| line.starts_with(begins));
    let lines = text.lines().map(str::trim);
    lines.filter(move |line| !line.is_empty() && !is_code(line) && !placeholders::is_mark(line))
}

/// Texts that identify an error line.
const NAMING: [&str; 7] = [
    "error: ", "error[", "panicked", "no such file", "permission denied", "command not found", "exception: ",
];

/// Beginnings that identify an error line.
const BEGINNING: [&str; 2] = ["fatal: ", "npm err!"];

/// Words of a line that may describe an error.
const WORDS: [&str; 26] = [
    "error", "errors", "failed", "failure", "exception", "panic", "cannot", "can't", "not found", "no such",
    "denied", "fatal", "rejected", "refused", "invalid", "unable", "traceback", "missing", "undefined",
    "unexpected", "timed out", "panicked", "abort", "aborted", "killed", "unknown",
];

/// The line that explains the failure.
fn error_line(text: &str) -> &str {
    let lines = || output_lines(text);
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
                r#"{"role":"tool","content":"Exit code 1\n(eval):1: no matches\n","metadata":{"is_error":true}}"#,
                failed("1: (eval):1: no matches", "(eval):1: no matches"),
            ),
            (
                r#"{"role":"tool","content":"(no output)\n\nCommand exited with code 3"}"#,
                failed("3: (no output)", "(no output)"),
            ),
            (
                r#"{"role":"tool","content":"Chunk ID: 1\nProcess running with session ID 5\nOutput:\n","metadata":{"exit_code":1}}"#,
                failed("1", ""),
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
