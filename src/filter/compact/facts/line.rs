//! A tool result in one line: the file that was read or changed, the command and its outcome, or the arguments of
//! another tool. A line of the result is quoted only if it is the whole result or the outcome.

use super::near_path::near;
use super::outcome::CallOutcome;
use super::placeholders;
use super::tool::{self, CallSubject};
use crate::filter::compact::state::CompactionState;
use crate::filter::phrase::one_line;
use crate::filter::summarize::handoff::{Command, CommandPurpose, first};
use crate::model::json::{self, Dialect};
use std::borrow::Cow;

/// Most characters of a command, of arguments, and of a result that is quoted.
const WIDTH: usize = 120;

/// Most characters of one argument.
const ARGUMENT: usize = 60;

/// A result in one line.
pub struct ResultLine {
    /// The tool, unless the line begins with what it did.
    pub tool: Option<Box<str>>,
    /// The line.
    pub text: String,
}

/// Describes a result; paths inside `place` are relative to it.
pub fn of(work: &CompactionState<'_>, at: usize, place: Option<&str>) -> ResultLine {
    let message = work.described(at);
    let call = work.call(at);
    let about = call.as_ref().map(tool::read);
    let about = about.map(|(_, about)| about);
    let outcome = message.as_ref().map(|message| match &about {
        Some(about) => CallOutcome::of_call(message, about),
        None => CallOutcome::of(message),
    });
    let outcome = outcome.unwrap_or_default();
    let failure = outcome.result(WIDTH).map(|failure| one_line(&failure));
    let output = ResultText::of(outcome.text());
    let line = |text: String| ResultLine { tool: None, text };
    let ended = |text: String, output: &str| match &failure {
        Some(failure) => format!("{text} => {failure}"),
        None => format!("{text}{output}"),
    };
    match about {
        Some(CallSubject::Files(files)) => {
            let is_read = files.iter().all(|(change, _)| change.is_none());
            let files = files.iter().map(|(change, path)| {
                let verb = match change {
                    None => "Read",
                    Some('A') => "Added",
                    Some('D') => "Deleted",
                    Some(_) => "Edited",
                };
                format!("{verb} {}", near(place, path))
            });
            let files = files.collect::<Vec<_>>().join(", ");
            let size = if is_read { output.size() } else { String::new() };
            line(ended(first(&one_line(&files), 2 * WIDTH).into_owned(), &size))
        }
        Some(CallSubject::Command(text)) => {
            let text = one_line(&text);
            // Like a handoff, with the last line of a test; other output of several lines is counted.
            let quotes = output.sole().is_some() || CommandPurpose::of(&text) >= CommandPurpose::Checking;
            let size = match quotes || failure.is_some() {
                true => String::new(),
                false => output.size(),
            };
            let command = Command {
                runs: 1,
                last_line: Cow::Owned(one_line(outcome.last_line())),
                failure: failure.clone(),
                ..Command::default()
            };
            line(format!("$ {}{size}", command.line(&text, WIDTH, quotes)))
        }
        Some(CallSubject::Plan(steps)) => line(ended(format!("Plan{}", counted(steps.len(), "step")), "")),
        Some(CallSubject::Other) | None => {
            let given = call
                .as_ref()
                .map(|call| arguments(&call.arguments))
                .unwrap_or_default();
            let output = match output.sole() {
                Some(sole) if given.is_empty() => sole.to_string(),
                Some(sole) => format!(": {sole}"),
                None => output.size(),
            };
            let text = ended(given, &output).trim_start().to_string();
            ResultLine {
                tool: Some(work.tool(at).into()),
                text,
            }
        }
    }
}

/// The text of a result: none if it is blank or elided.
struct ResultText<'t>(Option<&'t str>);

impl<'t> ResultText<'t> {
    fn of(text: &'t str) -> ResultText<'t> {
        let text = text.trim();
        let is_known = !text.is_empty() && !text.lines().any(placeholders::is_mark);
        ResultText(is_known.then_some(text))
    }

    /// The text if it is one short line.
    fn sole(&self) -> Option<&'t str> {
        self.0
            .filter(|text| !text.contains('\n') && text.chars().nth(WIDTH).is_none())
    }

    /// The number of lines.
    fn size(&self) -> String {
        self.0
            .map(|text| counted(text.lines().count(), "line"))
            .unwrap_or_default()
    }
}

fn counted(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!(" ({number} {what}{s})")
}

/// The values of arguments, without their names.
fn arguments(raw: &str) -> String {
    let members = json::members(raw.as_bytes(), Dialect::Strict).unwrap_or_default();
    let values = members.into_iter().filter_map(|(_, value)| {
        let is_number = |raw: &&str| raw.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let number = || std::str::from_utf8(value).ok().filter(is_number);
        let text = json::text(value).or_else(|| number().map(Cow::Borrowed))?;
        let text = one_line(&text);
        (!text.is_empty()).then(|| first(&text, ARGUMENT).into_owned())
    });
    let values = values.collect::<Vec<_>>().join(", ");
    first(&values, WIDTH).into_owned()
}
