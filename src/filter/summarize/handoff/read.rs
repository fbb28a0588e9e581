//! Parses the lines of an earlier handoff.

use super::super::entry::entry;
use super::{AssistantNote, Command, PlanStep, SessionFacts};
use std::borrow::Cow;

/// The heading of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    Earlier,
    Requests,
    Plan,
    Files,
    Commands,
    Errors,
    Notes,
    Reply,
}

impl Heading {
    /// All headings, in output order.
    pub const ALL: [Heading; 8] = [
        Heading::Earlier,
        Heading::Requests,
        Heading::Plan,
        Heading::Files,
        Heading::Commands,
        Heading::Errors,
        Heading::Notes,
        Heading::Reply,
    ];

    /// The heading as a line.
    pub const fn line(self) -> &'static str {
        match self {
            Heading::Earlier => "earlier:",
            Heading::Requests => "requests:",
            Heading::Plan => "plan:",
            Heading::Files => "files:",
            Heading::Commands => "commands:",
            Heading::Errors => "errors:",
            Heading::Notes => "notes:",
            Heading::Reply => "last reply:",
        }
    }

    /// Parses a heading.
    pub fn of(line: &str) -> Option<Heading> {
        Heading::ALL.into_iter().find(|heading| heading.line() == line)
    }
}

/// The prefix of the line of tools that handle neither files nor commands.
pub const TOOLS: &str = "other tools: ";

/// Parses an item of a block. Other lines are ignored, because no handoff contains them.
pub fn item(facts: &mut SessionFacts<'_>, heading: Heading, line: &str) {
    if let Some(more) = line.strip_prefix('[').and_then(|rest| rest.split(' ').next())
        && let Ok(more) = more.parse::<u64>()
        && line.ends_with(']')
    {
        let place = match heading {
            Heading::Requests => 0,
            Heading::Files => 1,
            _ => 2,
        };
        facts.unnamed[place] = facts.unnamed[place].saturating_add(more);
        return;
    }
    let quoted = line.strip_prefix("- ").map(str::to_string);
    match (heading, quoted) {
        (Heading::Earlier, Some(text)) => facts.earlier.push(entry(&text, None)),
        (Heading::Requests, Some(text)) => facts.requests.push(Cow::Owned(text)),
        (Heading::Errors, Some(text)) => facts.errors.push(text),
        (Heading::Notes, Some(text)) => facts.notes.push(AssistantNote {
            text: Cow::Owned(text),
            concludes: false,
        }),
        (Heading::Reply, Some(text)) => facts.reply = Some(Cow::Owned(text)),
        (Heading::Plan, None) => {
            let step = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
            if let Some((state, text)) = step {
                facts.plan.push(PlanStep {
                    state: state.chars().next().unwrap_or(' '),
                    text: text.to_string(),
                });
            }
        }
        (Heading::Files, None) => file(facts, line),
        (Heading::Commands, None) => match (line.strip_prefix("$ "), line.strip_prefix(TOOLS)) {
            (Some(command), _) => ran(facts, command),
            (None, Some(tools)) => {
                for (name, calls) in tools.split(", ").map(times) {
                    *facts.tools.seen(name) += calls;
                }
            }
            (None, None) => {}
        },
        _ => {}
    }
}

fn file(facts: &mut SessionFacts<'_>, line: &str) {
    let Some((letter, rest)) = line.split_once(' ') else {
        return;
    };
    let (rest, failed) = match rest.strip_suffix(" (failed)") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (path, changes) = times(rest);
    let change = letter.chars().next().filter(|letter| *letter != 'R');
    let file = facts.files.seen(path);
    file.change = change;
    file.changes = if change.is_some() { changes } else { 0 };
    file.failed = failed;
}

fn ran(facts: &mut SessionFacts<'_>, line: &str) {
    let failure = line.rsplit_once(" => ").filter(|(_, outcome)| {
        let code = outcome.split(':').next().unwrap_or_default();
        code == "failed" || code.parse::<i64>().is_ok()
    });
    let (command, failure) = match failure {
        Some((command, failure)) => (command, Some(failure.to_string())),
        None => (line, None),
    };
    // The last line of the newest test follows its number of runs; after a single run it remains part of the text.
    let several = |at: &usize| times(&command[..*at]).1 > 1;
    let end = command.match_indices(": ").map(|(at, _)| at).find(several);
    let (command, last_line) = match end.filter(|_| failure.is_none()) {
        Some(end) => (&command[..end], &command[end + 2..]),
        None => (command, ""),
    };
    let (text, runs) = times(command);
    let known = facts.commands.seen(text);
    *known = Command {
        runs: known.runs + runs,
        failure,
        last_line: Cow::Owned(last_line.to_string()),
    };
}

/// Parses `NAME x3` into name and count.
fn times(text: &str) -> (&str, u64) {
    match text.rsplit_once(" x").map(|(name, times)| (name, times.parse())) {
        Some((name, Ok(times))) => (name, times),
        _ => (text, 1),
    }
}
