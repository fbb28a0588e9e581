//! The command block of a handoff: the newest test shows the current state; commands that only inspect can be run
//! again.

use super::cut::first;
use super::lines::{CountFn, MORE, fitting, quoted, unseen};
use super::read::TOOLS;
use super::{Command, SessionFacts};
use std::cell::OnceCell;

/// Maximum characters of a command, tried in this order when not all fit.
const WIDTHS: [usize; 4] = [200, 120, 80, 64];

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Inspects something.
    Looking,
    /// Tests or builds.
    Testing,
    /// Anything else.
    Other,
}

const LOOKING: [&str; 18] = [
    "cat", "nl", "ls", "tree", "find", "rg", "grep", "head", "tail", "wc", "pwd", "which", "file", "stat",
    "du", "echo", "ps", "env",
];

const LOOKING_WITH: [(&str, &[&str]); 3] = [
    ("sed", &["-n"]),
    (
        "git",
        &["status", "diff", "log", "show", "branch", "rev-parse", "ls-files"],
    ),
    ("date", &[]),
];

const TESTING: [&str; 22] = [
    "test", "tests", "pytest", "jest", "vitest", "tox", "check", "clippy", "lint", "eslint", "tsc", "mypy",
    "ruff", "build", "make", "compile", "cargo", "gradle", "mvn", "ctest", "phpunit", "rspec",
];

impl Purpose {
    /// Classifies a command.
    pub fn of(command: &str) -> Purpose {
        let mut words = words(without_directory(command));
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        let with = LOOKING_WITH.iter().find(|(name, _)| *name == first);
        if LOOKING.contains(&first) || with.is_some_and(|(_, with)| with.is_empty() || with.contains(&second))
        {
            return Purpose::Looking;
        }
        let is_word = |c: char| !c.is_alphanumeric() && c != '_';
        match command.split(is_word).any(|word| TESTING.contains(&word)) {
            true => Purpose::Testing,
            false => Purpose::Other,
        }
    }
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    command.split_whitespace()
}

/// The command after `cd DIR &&`.
fn without_directory(command: &str) -> &str {
    let rest = command.trim_start().strip_prefix("cd ");
    match rest.and_then(|rest| rest.split_once("&&")) {
        Some((place, rest)) if !place.contains([';', '|', '\n']) => rest,
        _ => command,
    }
}

impl Command<'_> {
    /// The text of the command within `width` characters, the number of runs, and the failure of the last run; of a
    /// successful one, on request, the last line of its output.
    pub fn line(&self, text: &str, width: usize, quotes: bool) -> String {
        let mut shown = first(text.trim(), width).into_owned();
        if self.runs > 1 {
            shown.push_str(&format!(" x{}", self.runs));
        }
        let last = first(self.last_line.trim(), 120);
        match &self.failure {
            Some(failure) => shown.push_str(&format!(" => {}", first(failure, 160))),
            None if quotes && !last.is_empty() => shown.push_str(&format!(": {last}")),
            None => {}
        }
        shown
    }
}

/// The commands in output form.
pub struct Commands<'f> {
    all: Vec<(&'f str, &'f Command<'f>, Purpose)>,
    /// The newest test.
    newest_test: Option<usize>,
    tools: String,
    unnamed: u64,
    /// Lines and costs for each width, computed on demand.
    shown: [OnceCell<(Vec<String>, Vec<u64>)>; WIDTHS.len()],
}

impl<'f> Commands<'f> {
    /// Prepares the commands of a session.
    pub fn of(facts: &'f SessionFacts<'_>) -> Commands<'f> {
        let all = facts.commands.in_order();
        let all: Vec<_> = all
            .into_iter()
            .map(|(text, command)| (text, command, Purpose::of(text)))
            .collect();
        let tools = facts
            .tools
            .in_order()
            .into_iter()
            .rev()
            .map(|(name, calls)| match calls {
                1 => name.to_string(),
                several => format!("{name} x{several}"),
            });
        let tools: Vec<String> = tools.take(12).collect();
        let newest_test = all
            .iter()
            .rposition(|(_, _, purpose)| *purpose == Purpose::Testing);
        Commands {
            all,
            newest_test,
            tools: match tools.is_empty() {
                true => String::new(),
                false => quoted(TOOLS, &tools.join(", ")),
            },
            unnamed: facts.unnamed[2],
            shown: Default::default(),
        }
    }

    fn line(&self, nth: usize, width: usize) -> String {
        let (text, command, _) = &self.all[nth];
        quoted("$ ", &command.line(text, width, self.newest_test == Some(nth)))
    }

    /// The lines for a width, and their costs.
    fn shown(&self, width: usize, count: CountFn<'_>) -> &(Vec<String>, Vec<u64>) {
        self.shown[width].get_or_init(|| {
            let lines: Vec<String> = (0..self.all.len())
                .map(|nth| self.line(nth, WIDTHS[width]))
                .collect();
            let costs = lines.iter().map(|line| count(line)).collect();
            (lines, costs)
        })
    }

    /// Tokens of all commands.
    pub fn need(&self, count: CountFn<'_>) -> u64 {
        let more = if self.unnamed > 0 { MORE } else { 0 };
        self.shown(0, count).1.iter().sum::<u64>() + count(&self.tools) + more
    }

    /// All commands in the greatest width that fits; else as many of the most important as fit.
    pub fn lines(&self, room: u64, count: CountFn<'_>) -> Vec<String> {
        let tools = count(&self.tools);
        let (room, tools) = match room.checked_sub(tools) {
            Some(room) if room >= tools => (room, self.tools.as_str()),
            _ => (room, ""),
        };
        let more = if self.unnamed > 0 { MORE } else { 0 };
        let mut lines = Vec::new();
        let mut missing = 0;
        for width in 0..WIDTHS.len() {
            let (all, costs) = self.shown(width, count);
            if costs.iter().sum::<u64>() + more <= room {
                (lines, missing) = (all.clone(), 0);
                break;
            }
            if width + 1 == WIDTHS.len() {
                (lines, missing) = fitting(all, costs, self.order().into_iter(), room.saturating_sub(MORE));
            }
        }
        if !lines.is_empty() {
            lines.splice(0..0, unseen(missing + self.unnamed, " commands"));
        }
        if !tools.is_empty() {
            lines.push(tools.to_string());
        }
        lines
    }

    /// Order of importance: the newest test, failures, other commands, inspections; the newest first in each.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.all.len()).rev().collect();
        order.sort_by_key(|nth| {
            let (_, command, purpose) = &self.all[*nth];
            match (self.newest_test == Some(*nth), command.failure.is_some(), purpose) {
                (true, ..) => 0,
                (false, true, _) => 1,
                (_, _, Purpose::Looking) => 3,
                _ => 2,
            }
        });
        order
    }
}

#[cfg(test)]
mod tests {
    use super::Purpose;

    #[test]
    fn commands_are_classified_by_their_words() {
        for (command, purpose) in [
            ("cd /w && git diff --stat", Purpose::Looking),
            ("sed -n 1,20p a.rs", Purpose::Looking),
            ("sed -i s/a/b/ test.rs", Purpose::Testing),
            ("cargo test -q", Purpose::Testing),
            ("npm run lint", Purpose::Testing),
            ("git commit -m x", Purpose::Other),
            ("rg test", Purpose::Looking),
            ("", Purpose::Other),
        ] {
            assert_eq!(Purpose::of(command), purpose, "{command}");
        }
    }
}
