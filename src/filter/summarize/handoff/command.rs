//! The command block of a handoff: the newest run of each test program, and of a build, shows the current state; commands
//! that only inspect can be run again.

use super::cut::{begin_alike, first};
use super::errors::{RESOLVED, Success, WATCHED};
use super::lines::{CountFn, MORE, fitting, quoted, unseen};
use super::purpose::{ANSWERS, CommandPurpose};
use super::read::{OUTDATED, TOOLS};
use super::repeatable::RepeatableCommand;
use super::shorten_command::shortened;
use super::{Command, SessionFacts};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

/// Maximum characters of a command, tried in this order when not all fit.
const WIDTHS: [usize; 4] = [200, 120, 80, 64];

/// Characters of a result that are quoted in every width.
const SHORTEST: usize = 80;

/// Maximum number of test and check programs that are compared.
const PROGRAMS: usize = 16;

impl SessionFacts<'_> {
    /// Whether these facts of a summary include a command, whole or shortened, with this failure or last line.
    pub fn include_run(&self, text: &str, failure: Option<&str>, last_line: &str) -> bool {
        let mut lines = WIDTHS.into_iter().map(|width| shortened(text, width));
        let known = lines.find_map(|line| self.commands.known(&line));
        known.is_some_and(|known| match (&known.failure, failure) {
            (Some(known), Some(failure)) => begin_alike(known, failure),
            (None, None) => known.last_line.is_empty() || begin_alike(&known.last_line, last_line),
            _ => false,
        })
    }
}

impl Command<'_> {
    /// Whether the last run failed.
    pub fn has_failed(&self) -> bool {
        let failure = self.failure.as_deref();
        failure.is_some_and(|failure| !ANSWERS.contains(&failure))
    }

    /// The text of the command within `width` characters, the number of runs, and the failure of the last run; of a
    /// successful one, on request, the last line of its output.
    pub fn line(&self, text: &str, width: usize, quotes: bool) -> String {
        let mut shown = shortened(text.trim(), width).into_owned();
        if self.runs > 1 {
            shown.push_str(&format!(" x{}", self.runs));
        }
        let last = first(self.last_line.trim(), width.clamp(SHORTEST, 120));
        match &self.failure {
            // Quoted text must not pass for the mark.
            Some(failure) => {
                let failure = first(failure.trim_end_matches(RESOLVED), width.clamp(SHORTEST, 160));
                shown.push_str(&format!(" => {failure}"));
            }
            None if quotes && !last.is_empty() => shown.push_str(&format!(": {last}")),
            None => {}
        }
        shown
    }
}

/// The commands in output form.
pub struct Commands<'f> {
    all: Vec<(&'f str, &'f Command<'f>, CommandPurpose)>,
    /// The newest test; without tests, the newest check.
    newest_result: Option<usize>,
    /// Which results are current.
    currency: Vec<Currency>,
    /// Which failures a later command resolves.
    resolved: Vec<bool>,
    /// Number of changes of files.
    changes: u64,
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
            .map(|(text, command)| (text, command, CommandPurpose::of(text)))
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
        let newest = |wanted| all.iter().rposition(|(_, _, purpose)| *purpose == wanted);
        Commands {
            newest_result: newest(CommandPurpose::Testing).or_else(|| newest(CommandPurpose::Checking)),
            currency: currency(&all),
            resolved: resolved(&all, &facts.kept_successes),
            changes: facts.changes,
            all,
            tools: match tools.is_empty() {
                true => String::new(),
                false => quoted(TOOLS, &tools.join(", ")),
            },
            unnamed: facts.unnamed[2],
            shown: Default::default(),
        }
    }

    /// The line of a command with a number of runs.
    fn line(&self, nth: usize, width: usize, runs: u64) -> String {
        let (text, command, purpose) = &self.all[nth];
        let command = &Command {
            runs,
            failure: command.failure.clone(),
            last_line: Cow::Borrowed(&command.last_line),
            ..**command
        };
        let currency = self.currency[nth];
        let mut line = match (&command.failure, currency) {
            // The line that explains the failure of a test is not repeated if a later run replaces it.
            (Some(failure), Currency::Replaced) => {
                let code = failure.split(": ").next().unwrap_or_default().to_string();
                let command = Command {
                    failure: Some(code),
                    ..command.clone()
                };
                command.line(text, width, false)
            }
            _ => command.line(text, width, currency == Currency::Quoted),
        };
        let reports =
            currency == Currency::Quoted || command.has_failed() && *purpose >= CommandPurpose::Checking;
        if self.resolved[nth] {
            line.push_str(RESOLVED);
        } else if reports && currency != Currency::Replaced && command.changes_before < self.changes {
            line.push_str(OUTDATED);
        }
        quoted("$ ", &line)
    }

    /// The lines for a width, and their costs. Of commands whose lines are equal but for their runs, the newest has the line
    /// and the runs of all; the others have an empty one.
    fn shown(&self, width: usize, count: CountFn<'_>) -> &(Vec<String>, Vec<u64>) {
        self.shown[width].get_or_init(|| {
            let width = WIDTHS[width];
            let mut newest: HashMap<String, (usize, u64)> = HashMap::new();
            for (nth, (_, command, _)) in self.all.iter().enumerate() {
                let (at, runs) = newest.entry(self.line(nth, width, 1)).or_default();
                (*at, *runs) = (nth, *runs + command.runs);
            }
            let mut lines = vec![String::new(); self.all.len()];
            for (line, (nth, runs)) in newest {
                lines[nth] = if runs > 1 {
                    self.line(nth, width, runs)
                } else {
                    line
                };
            }
            let costs = lines.iter().map(|line| count(line)).collect();
            (lines, costs)
        })
    }

    /// Tokens of all commands.
    pub fn need(&self, count: CountFn<'_>) -> u64 {
        let more = if self.unnamed > 0 { MORE } else { 0 };
        self.shown(0, count).1.iter().sum::<u64>() + count(&self.tools) + more
    }

    /// Tokens of the newest result.
    pub fn least(&self, count: CountFn<'_>) -> u64 {
        let costs = &self.shown(WIDTHS.len() - 1, count).1;
        self.newest_result.map_or(0, |nth| costs[nth] + MORE)
    }

    /// All commands in the greatest width that fits; else as many of the most important as fit.
    pub fn lines(&self, room: u64, count: CountFn<'_>) -> Vec<String> {
        let tools = count(&self.tools);
        let more = if self.unnamed > 0 { MORE } else { 0 };
        let fits = |room: u64, width: usize| self.shown(width, count).1.iter().sum::<u64>() + more <= room;
        let (room, tools) = match room.checked_sub(tools) {
            Some(room) if room >= tools.max(self.least(count)) || fits(room, WIDTHS.len() - 1) => {
                (room, self.tools.as_str())
            }
            _ => (room, ""),
        };
        let mut lines = Vec::new();
        let mut missing = 0;
        for width in 0..WIDTHS.len() {
            let (all, costs) = self.shown(width, count);
            if fits(room, width) {
                (lines, missing) = (all.clone(), 0);
                break;
            }
            if width + 1 == WIDTHS.len() {
                (lines, missing) = fitting(all, costs, self.order().into_iter(), room.saturating_sub(MORE));
            }
        }
        lines.retain(|line| !line.is_empty());
        if !lines.is_empty() {
            lines.splice(0..0, unseen(missing + self.unnamed, " commands"));
        }
        if !tools.is_empty() {
            lines.push(tools.to_string());
        }
        lines
    }

    /// Order of importance: the newest result, unresolved failures and quoted results, other commands, inspections and
    /// replaced results; the newest first in each.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.all.len()).rev().collect();
        order.sort_by_key(|nth| {
            let (_, command, purpose) = &self.all[*nth];
            let currency = self.currency[*nth];
            let is_open = command.has_failed() && !self.resolved[*nth] && currency != Currency::Replaced;
            match (self.newest_result == Some(*nth), purpose) {
                (true, _) => 0,
                _ if is_open || currency == Currency::Quoted => 1,
                (_, CommandPurpose::Looking) => 3,
                _ if currency == Currency::Replaced => 3,
                _ => 2,
            }
        });
        order
    }
}

/// Whether the result of a command is the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Currency {
    /// The newest run of a test program, or the newest check: its result is quoted.
    Quoted,
    /// A test or check that a later run includes.
    Replaced,
    /// Any other command.
    Other,
}

/// Which failures a later command resolves, kept or not. Of many failures, the newest are compared.
fn resolved(all: &[(&str, &Command<'_>, CommandPurpose)], kept: &[Success]) -> Vec<bool> {
    let kept = kept.iter().filter_map(|success| match success {
        Success::Command(text) => Some(text.as_str()),
        _ => None,
    });
    let mut repeated: Vec<RepeatableCommand> = kept.flat_map(RepeatableCommand::all).collect();
    let mut failures = 0;
    let mut found = vec![false; all.len()];
    for (nth, (text, command, _)) in all.iter().enumerate().rev() {
        if !command.has_failed() {
            repeated.extend(RepeatableCommand::all(text));
            continue;
        }
        failures += 1;
        found[nth] = command.is_resolved;
        if failures <= WATCHED && !command.is_resolved {
            let failed = RepeatableCommand::all(text);
            let includes =
                |failed: &RepeatableCommand| repeated.iter().any(|repeated| repeated.includes(failed));
            found[nth] = !failed.is_empty() && failed.iter().all(includes);
        }
    }
    found
}

fn currency(all: &[(&str, &Command<'_>, CommandPurpose)]) -> Vec<Currency> {
    let mut known: Vec<RepeatableCommand> = Vec::new();
    let mut found = vec![Currency::Other; all.len()];
    let mut has_check = false;
    for (nth, (text, _, purpose)) in all.iter().enumerate().rev() {
        if *purpose < CommandPurpose::Checking {
            continue;
        }
        let Some(command) = RepeatableCommand::all(text).into_iter().next() else {
            continue;
        };
        let is_newest = !known.iter().any(|newer| newer.is_program_of(&command));
        found[nth] = match purpose {
            _ if known.iter().any(|newer| newer.includes(&command)) => Currency::Replaced,
            CommandPurpose::Testing if is_newest => Currency::Quoted,
            CommandPurpose::Checking if !has_check => Currency::Quoted,
            _ => Currency::Other,
        };
        has_check |= *purpose == CommandPurpose::Checking;
        if known.len() < PROGRAMS {
            known.push(command);
        }
    }
    found
}
