//! Parses the lines of an earlier handoff.

use super::super::entry::entry;
use super::errors::RESOLVED;
use super::purpose::{ANSWERS, CommandPurpose};
use super::{AssistantNote, Command, PLAN, PlanStep, SessionError, SessionFacts};
use crate::model::named_enum::named_enum;
use std::borrow::Cow;

named_enum! {
    /// The heading of a block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Heading {
        Earlier = "earlier:",
        Requests = "requests:",
        Plan = "plan:",
        Files = "files:",
        Commands = "commands:",
        Errors = "errors:",
        Notes = "notes:",
        Reply = "last reply:",
    }
}

/// The prefix of the line of tools that handle neither files nor commands.
pub const TOOLS: &str = "other tools: ";

/// Follows a result that is older than the last change of a file.
pub const OUTDATED: &str = " (before the last edit)";

/// Parses an item of a block. Other lines are ignored, because no handoff contains them.
pub fn item(facts: &mut SessionFacts<'_>, heading: Heading, line: &str) {
    if let Some(more) = line.strip_prefix('[').and_then(|rest| rest.split(' ').next())
        && let Ok(more) = more.parse::<u64>()
        && line.ends_with(']')
    {
        let place = match heading {
            Heading::Requests => 0,
            Heading::Files => 1,
            Heading::Plan => PLAN,
            _ => 2,
        };
        facts.unnamed[place] = facts.unnamed[place].saturating_add(more);
        return;
    }
    let quoted = line.strip_prefix("- ").map(str::to_string);
    match (heading, quoted) {
        (Heading::Earlier, Some(text)) => facts.earlier.push(entry(&text, None)),
        (Heading::Requests, Some(text)) => facts.requests.push(Cow::Owned(text)),
        (Heading::Errors, Some(text)) => facts.errors.push(SessionError::parse(&text)),
        (Heading::Notes, Some(text)) => facts.notes.push(AssistantNote {
            text: Cow::Owned(text),
            concludes: false,
        }),
        (Heading::Reply, Some(text)) => facts.reply = Some(Cow::Owned(text)),
        (Heading::Plan, None) => {
            let step = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
            if let Some((state, text)) = step {
                facts.plan.get_or_insert_default().push(PlanStep {
                    state: state.chars().next(),
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
    // Without a number, a file whose last change failed may have no other changes.
    let is_changed = change.is_some() && !(failed && changes == 1);
    file.changes = if is_changed { changes } else { 0 };
    file.failed = failed;
    facts.changes += file.changes;
}

/// Most colons of a line after which the last line of a test is looked for.
const ENDS: usize = 16;

fn ran(facts: &mut SessionFacts<'_>, line: &str) {
    let (line, changes_before) = match line.strip_suffix(OUTDATED) {
        Some(line) => (line, 0),
        None => (line, facts.changes),
    };
    let bare = line.strip_suffix(RESOLVED);
    let failure = bare.unwrap_or(line).rsplit_once(" => ").filter(|(_, outcome)| {
        let code = outcome.split(':').next().unwrap_or_default();
        code == "failed" || ANSWERS.contains(outcome) || code.parse::<i64>().is_ok()
    });
    let is_resolved = bare.is_some() && failure.is_some();
    let (command, failure) = match failure {
        Some((command, failure)) => (command, Some(failure.to_string())),
        None => (line, None),
    };
    // The last line of a test follows its number of runs, or the command. A colon within quotes belongs to the command.
    let is_even = |text: &str, quote: char| text.matches(quote).count().is_multiple_of(2);
    let checks = |text: &str| {
        is_even(text, '\'') && is_even(text, '"') && CommandPurpose::of(text) >= CommandPurpose::Checking
    };
    let ends = |at: &usize| times(&command[..*at]).1 > 1 || checks(&command[..*at]);
    let end = command
        .match_indices(": ")
        .take(ENDS)
        .map(|(at, _)| at)
        .find(ends);
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
        changes_before,
        is_resolved,
    };
}

/// Parses `NAME x3` into name and count.
fn times(text: &str) -> (&str, u64) {
    match text.rsplit_once(" x").map(|(name, times)| (name, times.parse())) {
        Some((name, Ok(times))) => (name, times),
        _ => (text, 1),
    }
}
