//! The errors of a session: which later calls resolve them, and which of them a handoff lists.
//!
//! A command resolves the failure of the same command, and of every command of the same programs in the same directory
//! whose operands it includes; a test or check without operands includes all. A change of a file resolves failed changes
//! of this file; any access resolves a failed read.

use super::cut::{GAP, begin_alike, first};
use super::repeatable::RepeatableCommand;
use super::shorten_command::shortened;

/// Maximum number of errors that are listed, besides the newest unresolved one.
const LISTED: usize = 3;

/// Maximum number of open errors to watch; older ones are forgotten.
pub const WATCHED: usize = 64;

/// Most characters of a subject.
const SUBJECT: usize = 60;

/// Follows an error or a failed command that a later call resolved.
pub const RESOLVED: &str = " (resolved)";

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionError {
    /// The name of the tool.
    tool: String,
    /// The command or path.
    subject: String,
    /// Exit status and error line.
    failure: String,
    /// Whether a later call resolved it.
    pub(super) is_resolved: bool,
    /// The commands of the subject that a later call must repeat.
    commands: Vec<RepeatableCommand>,
}

/// A successful call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Success {
    /// A command.
    Command(String),
    /// A file that was changed.
    Change(String),
    /// A file that was read.
    Reading(String),
}

/// The errors of a session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionErrors(Vec<SessionError>);

impl SessionError {
    /// An unresolved failure of `tool` with a command or path.
    pub fn new(tool: &str, subject: &str, failure: String) -> SessionError {
        // Quoted text must not pass for the mark.
        let failure = failure.trim_end_matches(RESOLVED).to_string();
        SessionError {
            tool: tool.to_string(),
            subject: subject.trim().trim_end_matches(RESOLVED).to_string(),
            failure,
            is_resolved: false,
            commands: RepeatableCommand::all(subject),
        }
    }

    /// Parses a line of an earlier handoff.
    pub fn parse(line: &str) -> SessionError {
        let (line, is_resolved) = match line.strip_suffix(RESOLVED) {
            Some(line) => (line, true),
            None => (line, false),
        };
        // The command may contain an arrow, too.
        let is_outcome = |at: &usize| {
            let outcome = line[at + 4..].split([':', ' ']).next().unwrap_or_default();
            outcome == "failed"
                || outcome.parse::<i64>().is_ok() && line[at + 4 + outcome.len()..].starts_with(':')
        };
        let arrows = || line.match_indices(" => ").map(|(at, _)| at);
        let end = arrows().find(is_outcome).or(arrows().next());
        let (call, failure) = end.map_or((line, ""), |at| (&line[..at], &line[at + 4..]));
        let (tool, subject) = call.split_once(' ').unwrap_or((call, ""));
        SessionError {
            is_resolved,
            ..SessionError::new(tool, subject, failure.to_string())
        }
    }

    /// The error as a line of a handoff, with at most `width` characters of its failure.
    pub fn line(&self, width: usize) -> String {
        let short = shortened(&self.subject, SUBJECT);
        let short = short.strip_suffix(GAP.trim_end()).unwrap_or(&short);
        let space = if short.is_empty() { "" } else { " " };
        let failure = if self.failure.is_empty() { "" } else { " => " };
        let resolved = if self.is_resolved { RESOLVED } else { "" };
        format!(
            "{}{space}{}{failure}{}{resolved}",
            self.tool,
            short.trim_end(),
            first(&self.failure, width)
        )
    }

    /// The line that explains the failure.
    fn explanation(&self) -> &str {
        self.failure
            .rsplit_once(": ")
            .map_or(&self.failure, |(_, line)| line)
    }

    fn is_resolved_by(&self, success: &Success, repeated: &[RepeatableCommand]) -> bool {
        let is_read =
            || self.tool.starts_with("read") || self.tool.starts_with("view") || self.tool == "open_file";
        let includes = |failed: &RepeatableCommand| repeated.iter().any(|repeated| repeated.includes(failed));
        match success {
            Success::Command(text) => {
                self.subject == text.trim() || !self.commands.is_empty() && self.commands.iter().all(includes)
            }
            Success::Change(path) => self.subject == *path,
            Success::Reading(path) => self.subject == *path && is_read(),
        }
    }
}

impl SessionErrors {
    /// Adds an error. One that is resolved resolves the same error of an earlier record.
    pub fn push(&mut self, error: SessionError) {
        if error.is_resolved {
            let is_same = |known: &SessionError| {
                (&known.tool, &known.subject) == (&error.tool, &error.subject)
                    && begin_alike(&known.failure, &error.failure)
            };
            self.0.retain(|known| known.is_resolved || !is_same(known));
        }
        self.0.push(error);
        let is_open = |error: &&SessionError| !error.is_resolved;
        if self.0.iter().filter(is_open).count() > WATCHED || self.0.len() > 2 * WATCHED {
            self.0.remove(0);
        }
    }

    /// Adds newer errors.
    pub fn extend(&mut self, newer: SessionErrors) {
        newer.0.into_iter().for_each(|error| self.push(error));
    }

    /// Puts the unresolved errors of an earlier record that these calls resolve before these errors.
    pub fn add_resolved(&mut self, mut earlier: SessionErrors, successes: impl Iterator<Item = Success>) {
        earlier.0.retain(|error| !error.is_resolved);
        if earlier.has_open() {
            successes.for_each(|success| earlier.resolve(&success));
        }
        earlier.0.retain(|error| error.is_resolved);
        earlier.extend(std::mem::take(self));
        *self = earlier;
    }

    /// Marks the errors that a later call resolves.
    pub fn resolve(&mut self, success: &Success) {
        let mut open = self.0.iter_mut().filter(|error| !error.is_resolved).peekable();
        if open.peek().is_none() {
            return;
        }
        let repeated = match success {
            Success::Command(text) => RepeatableCommand::all(text),
            _ => Vec::new(),
        };
        for error in open.filter(|error| error.is_resolved_by(success, &repeated)) {
            error.is_resolved = true;
        }
    }

    /// Whether an error is unresolved.
    pub fn has_open(&self) -> bool {
        self.0.iter().any(|error| !error.is_resolved)
    }

    /// Bytes of each error.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        let length = |error: &SessionError| {
            error.tool.len() + error.subject.len().min(4 * SUBJECT) + error.failure.len()
        };
        self.0.iter().map(length)
    }

    /// The newest different errors and the newest unresolved one, oldest first, and their order of importance:
    /// unresolved ones, then resolved ones, the newest first.
    pub fn newest(&self) -> (Vec<&SessionError>, Vec<usize>) {
        let mut chosen: Vec<usize> = Vec::new();
        for (nth, error) in self.0.iter().enumerate().rev() {
            let is_known = |known: &usize| self.0[*known].explanation() == error.explanation();
            let has_open = chosen.iter().any(|known| !self.0[*known].is_resolved);
            let is_listed = chosen.len() < LISTED || !error.is_resolved && !has_open;
            if is_listed && !chosen.iter().any(is_known) {
                chosen.push(nth);
            }
        }
        chosen.reverse();
        let mut order: Vec<usize> = (0..chosen.len()).rev().collect();
        order.sort_by_key(|place| self.0[chosen[*place]].is_resolved);
        (chosen.iter().map(|nth| &self.0[*nth]).collect(), order)
    }

    /// The lines of all errors, oldest first.
    #[cfg(test)]
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().map(|error| error.line(usize::MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors() -> SessionErrors {
        let mut errors = SessionErrors::default();
        for (tool, subject, failure) in [
            ("bash", "pytest tests/a.py -q", "1: E  AssertionError: one"),
            ("edit", "src/a.rs", "failed: no match"),
            ("read", "src/b.rs", "failed: no such file"),
            ("bash", "make", "2: stopped"),
        ] {
            errors.push(SessionError::new(tool, subject, failure.to_string()));
        }
        errors
    }

    #[test]
    fn later_calls_resolve_errors() {
        let resolved = |successes: &[Success]| {
            let mut errors = errors();
            successes.iter().for_each(|success| errors.resolve(success));
            errors.0.iter().map(|error| error.is_resolved).collect::<Vec<_>>()
        };
        let command = |text: &str| Success::Command(text.to_string());
        assert_eq!(
            resolved(&[command("python -m pytest")]),
            [true, false, false, false]
        );
        assert_eq!(resolved(&[command("pytest tests/b.py")]), [false; 4]);
        assert_eq!(
            resolved(&[Success::Change("src/a.rs".to_string())]),
            [false, true, false, false]
        );
        let read = |path: &str| Success::Reading(path.to_string());
        assert_eq!(
            resolved(&[read("src/a.rs"), read("src/b.rs")]),
            [false, false, true, false]
        );
    }

    #[test]
    fn the_newest_errors_and_an_open_one_are_listed_and_parsed_again() {
        let mut errors = errors();
        let (newest, order) = errors.newest();
        assert_eq!(newest.len(), 3, "{newest:?}");
        assert_eq!(order, [2, 1, 0]);
        let path = |path: &str| Success::Change(path.to_string());
        let make = Success::Command("make".to_string());
        for success in [
            make,
            path("src/a.rs"),
            path("src/b.rs"),
            Success::Reading("src/b.rs".to_string()),
        ] {
            errors.resolve(&success);
        }
        let (newest, order) = errors.newest();
        let lines: Vec<String> = newest.iter().map(|error| error.line(usize::MAX)).collect();
        assert_eq!(
            lines,
            [
                "bash pytest tests/a.py -q => 1: E  AssertionError: one",
                "edit src/a.rs => failed: no match (resolved)",
                "read src/b.rs => failed: no such file (resolved)",
                "bash make => 2: stopped (resolved)",
            ]
        );
        assert_eq!(order, [0, 3, 2, 1]);
        for error in errors.0 {
            assert_eq!(SessionError::parse(&error.line(usize::MAX)), error);
        }
    }
}
