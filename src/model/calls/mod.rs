//! Summaries of tool calls for human readers: the tool name, the main argument, and a file change as a line diff.

mod diff;
mod edits;
mod line;
mod result;
#[cfg(test)]
mod tests;

use super::json::{self, Dialect};
use super::message::ToolCall;
pub use diff::of as line_diff;
pub use line::DetailLine;
use line::{CallArguments, PATHS};
pub use result::{has_failed, output};
use std::borrow::Cow;

/// A summary of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSummary {
    /// Name of the tool.
    pub name: String,
    /// Path, command or query, on one line; may be empty.
    pub subject: String,
    /// Details below the first line.
    pub lines: Vec<DetailLine>,
    /// Numbers of added and removed lines, if the call changes a file.
    pub counts: Option<(usize, usize)>,
    /// Remaining arguments as `name: value`.
    pub arguments: Vec<String>,
}

/// Argument names that identify the subject of a call, in order of preference.
const SUBJECTS: [&str; 17] = [
    "command", "cmd", "pattern", "query", "file_path", "path", "filePath", "absolute_path", "notebook_path",
    "target_file", "filename", "url", "uri", "description", "prompt", "task", "question",
];

/// Minor settings of well-known tools, which only a complete summary lists.
const MINOR: [&str; 36] = [
    "description", "timeout", "timeout_ms", "timeout_seconds", "workdir", "working_directory", "cwd",
    "offset", "limit", "start_line", "end_line", "view_range", "insert_line", "run_in_background",
    "is_background", "dangerouslyDisableSandbox", "yield_time_ms", "max_output_tokens", "login",
    "justification", "sandbox_permissions", "with_escalated_permissions", "output_mode", "head_limit",
    "multiline", "case_sensitive", "glob", "type", "replace_all", "replaceAll", "expected_replacements",
    "instruction", "subagent_type", "explanation", "edit_mode", "requires_approval",
];

/// Unchanged lines around a change.
const AROUND: usize = 2;

impl CallSummary {
    /// Summarizes a call, with paths relative to the working directory. With `full`, nothing is omitted.
    pub fn of(call: &ToolCall<'_>, directory: Option<&str>, full: bool) -> CallSummary {
        let mut summary = CallSummary {
            name: call.name.to_string(),
            ..CallSummary::default()
        };
        let text = call.arguments.trim();
        let Some(mut arguments) = json::members(text.as_bytes(), Dialect::Python) else {
            summary.free_text(text, directory);
            return summary;
        };
        if let Some(patch) = edits::take_patch(&mut arguments) {
            summary.patch(&patch, directory);
        }
        let change = edits::take_change(&mut arguments, if full { AROUND } else { 0 });
        summary.take_subject(&mut arguments, directory);
        if let Some((lines, counts)) = change {
            summary.lines.extend(lines);
            summary.counts = Some(counts);
        }
        if let Some(steps) = take_steps(&mut arguments) {
            summary.lines.extend(steps);
        }
        let is_known = !summary.subject.is_empty() || !summary.lines.is_empty();
        arguments.retain(|(name, _)| full || !is_known || !MINOR.contains(&name.as_ref()));
        let row = |(name, raw): (Cow<'_, str>, &[u8])| format!("{name}: {}", value(raw));
        summary.arguments = arguments.into_iter().map(row).collect();
        if let ([only], false) = (&summary.arguments[..], is_known)
            && !only.contains('\n')
        {
            summary.subject = summary.arguments.remove(0);
        }
        summary
    }

    /// A call whose arguments are not an object.
    fn free_text(&mut self, text: &str, directory: Option<&str>) {
        if edits::is_patch(text) {
            self.patch(text, directory);
        } else {
            self.command(text);
        }
    }

    fn patch(&mut self, patch: &str, directory: Option<&str>) {
        let (files, lines, counts) = edits::patch(patch, |path| relative(path, directory));
        self.subject = files.join(", ");
        self.lines = lines;
        self.counts = Some(counts);
    }

    /// Uses the first line of a text as the subject, and the others as details.
    fn command(&mut self, text: &str) {
        let mut lines = text.trim_end().lines();
        self.subject = lines.next().unwrap_or_default().to_string();
        self.lines
            .extend(lines.map(|line| DetailLine::Text(line.to_string())));
    }

    fn take_subject(&mut self, arguments: &mut CallArguments<'_>, directory: Option<&str>) {
        if !self.subject.is_empty() {
            return;
        }
        let mut position = |names: &[&str]| {
            let place = |name: &&str| arguments.iter().position(|(own, _)| own == name);
            let place = names.iter().find_map(place)?;
            let (name, raw) = &arguments[place];
            let text = words(raw).filter(|text| !text.trim().is_empty())?;
            let name = name.to_string();
            arguments.remove(place);
            Some((name, text))
        };
        let Some((name, text)) = position(&SUBJECTS) else {
            return;
        };
        let path = match name.as_str() {
            "pattern" | "command" | "query" => position(&PATHS),
            _ => None,
        };
        let path = path.map(|(_, path)| relative(&path, directory));
        match (name.as_str(), path) {
            // Editors whose command is a word such as `view`.
            ("command", Some(path)) => self.subject = format!("{text} {path}"),
            (_, Some(path)) => self.subject = format!("{text} in {path}"),
            (name, None) if PATHS.contains(&name) => self.subject = relative(&text, directory),
            (_, None) => self.command(&text),
        }
    }
}

/// The steps of a plan or a list of tasks.
fn take_steps(arguments: &mut CallArguments<'_>) -> Option<Vec<DetailLine>> {
    let place = arguments
        .iter()
        .position(|(name, _)| matches!(name.as_ref(), "todos" | "plan"))?;
    let steps = json::elements(arguments[place].1, Dialect::Python)?;
    let step = |raw: &[u8]| {
        let text = |name| json::member_text(raw, name);
        let mark = match text("status").as_deref() {
            Some("completed" | "done") => "[x]",
            Some("in_progress") => "[>]",
            _ => "[ ]",
        };
        let what = text("content").or_else(|| text("step"))?;
        Some(DetailLine::Text(format!("{mark} {what}")))
    };
    let lines: Option<Vec<DetailLine>> = steps.into_iter().map(step).collect();
    arguments.remove(place);
    lines
}

/// A string, or the words of a command, without a shell that only runs a script.
pub fn words(raw: &[u8]) -> Option<String> {
    if let Some(text) = json::text(raw) {
        return Some(text.into_owned());
    }
    let words = json::elements(raw, Dialect::Python)?;
    let words: Option<Vec<_>> = words.into_iter().map(json::text).collect();
    let words = words?;
    match &words[..] {
        [shell, flag, script] if shell.ends_with("sh") && matches!(flag.as_ref(), "-c" | "-lc") => {
            Some(script.to_string())
        }
        words => Some(words.join(" ")),
    }
}

/// An argument as text.
fn value(raw: &[u8]) -> String {
    match json::text(raw) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(&json::compact(raw).0).into_owned(),
    }
}

/// A path below the working directory, relative to it.
fn relative(path: &str, directory: Option<&str>) -> String {
    let directory = directory.map(|directory| directory.trim_end_matches('/'));
    let below = directory
        .filter(|directory| !directory.is_empty())
        .and_then(|directory| path.strip_prefix(directory));
    match below {
        Some("") => ".".to_string(),
        Some(below) if below.starts_with('/') => below.trim_start_matches('/').to_string(),
        _ => path.to_string(),
    }
}
