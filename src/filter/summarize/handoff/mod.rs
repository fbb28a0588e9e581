//! The handoff of a session with tools: requests, plan, files, commands with their outcome, errors, notes and the
//! last reply. Everything is quoted; ellipses mark omitted words.
//!
//! ```text
//! requests:
//! - Make `count` faster: it takes 6 s for 50 MB [...] and keep the output as it is.
//! plan:
//! [x] measure
//! files:
//! M src/count.rs x4
//! commands:
//! $ cargo test -q x3 => 101: error[E0308]: mismatched types
//! ```
//!
//! Every line of an item begins with a prefix of its block or with two spaces, so that no text can imitate a heading
//! or a standing instruction, here or in the next summary, which parses these lines.

mod command;
mod cut;
mod error_lines;
mod errors;
mod lines;
mod purpose;
mod read;
mod repeatable;
mod requests;
mod shorten_command;
mod write;

pub(super) use cut::GAP;
pub(in crate::filter) use cut::first;
use errors::SessionErrors;
pub(in crate::filter) use errors::{SessionError, Success};
pub(in crate::filter) use purpose::{CommandPurpose, negative_answer};
pub(super) use read::{Heading, item};
pub(super) use write::HandoffBlocks;

use super::entry::{QuotedText, entry};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The facts of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts<'a> {
    /// User requests, oldest first.
    pub requests: Vec<Cow<'a, str>>,
    /// Whether messages after the first kept request are among those that are handed over.
    pub continues_request: bool,
    /// Whether an earlier record that is kept has the first request.
    pub is_further: bool,
    /// The newest plan; empty if a kept message shows it, none if there is none.
    pub plan: Option<Vec<PlanStep>>,
    /// Written or read files, by path.
    pub files: Recent<ChangedFile>,
    /// Commands, by text.
    pub commands: Recent<Command<'a>>,
    /// Other tools, with the number of calls.
    pub tools: Recent<u64>,
    /// Failures, oldest first.
    pub errors: SessionErrors,
    /// Assistant texts before the last reply, oldest first.
    pub notes: Vec<AssistantNote<'a>>,
    /// The newest reply.
    pub reply: Option<Cow<'a, str>>,
    /// Number of changes of files so far.
    pub changes: u64,
    /// Files that kept messages change, and whether the last change deletes the file or reverts its changes.
    pub kept_changes: HashMap<String, bool>,
    /// Calls of kept messages that may resolve earlier errors.
    pub kept_successes: Vec<Success>,
    /// Conversation entries that an earlier summary quotes.
    pub(super) earlier: Vec<QuotedText<'static>>,
    /// Requests, files, commands and steps of the plan that earlier summaries counted but did not list.
    pub(super) unnamed: [u64; 4],
}

/// The place of the plan among the numbers of items that earlier summaries did not list.
const PLAN: usize = 3;

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// `x` done, `>` in progress, `-` canceled, else a blank; none if the call only names the step.
    pub state: Option<char>,
    /// Description.
    pub text: String,
}

/// The changes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFile {
    /// `A` added, `M` modified, `D` deleted; none: only read.
    pub change: Option<char>,
    /// Number of changes.
    pub changes: u64,
    /// Whether the last change failed; of a file without a change, the last reading.
    pub failed: bool,
    /// Whether earlier changes were reverted.
    pub reverted: bool,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command<'a> {
    /// Number of runs.
    pub runs: u64,
    /// Exit status and error line of the last run, if it failed; or its negative answer, such as no match.
    pub failure: Option<String>,
    /// The last output line of the last run, or the one that reports the result of tests.
    pub last_line: Cow<'a, str>,
    /// Number of changes of files before the last run.
    pub changes_before: u64,
    /// Whether an earlier summary reports that a later command resolved the failure.
    pub is_resolved: bool,
}

/// A sentence of the assistant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssistantNote<'a> {
    /// The sentence.
    pub text: Cow<'a, str>,
    /// Whether it is among the first of a message directly before a request.
    pub concludes: bool,
}

/// Values by name, ordered by last occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent<T> {
    places: HashMap<String, usize>,
    things: Vec<(String, usize, T)>,
    seen: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent {
            places: HashMap::new(),
            things: Vec::new(),
            seen: 0,
        }
    }
}

impl<T: Default> Recent<T> {
    /// Returns the value of this name and marks it as the newest.
    pub fn seen(&mut self, name: &str) -> &mut T {
        self.seen += 1;
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.places.insert(name.to_string(), self.things.len());
                self.things.push((name.to_string(), 0, T::default()));
                self.things.len() - 1
            }
        };
        let thing = &mut self.things[place];
        thing.1 = self.seen;
        &mut thing.2
    }

    /// The value of this name, if there is one.
    pub fn known(&self, name: &str) -> Option<&T> {
        self.places.get(name).map(|place| &self.things[*place].2)
    }

    /// All values in any order.
    pub fn unordered(&self) -> impl Iterator<Item = (&str, &T)> {
        self.things.iter().map(|(name, _, thing)| (name.as_str(), thing))
    }

    /// All values, the newest last.
    pub fn in_order(&self) -> Vec<(&str, &T)> {
        let mut all: Vec<_> = self.things.iter().collect();
        all.sort_by_key(|(_, seen, _)| *seen);
        all.into_iter()
            .map(|(name, _, thing)| (name.as_str(), thing))
            .collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }
}

impl PlanStep {
    /// The first word: the number by which later calls name a numbered step, `#2`.
    fn number(&self) -> &str {
        self.text.split(' ').next().unwrap_or_default()
    }

    fn is_numbered(&self) -> bool {
        let digits = self.number().strip_prefix('#');
        digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

impl ChangedFile {
    /// Records an attempt to change the file, counting it if it succeeded.
    pub fn attempt(&mut self, change: char, failed: bool) {
        self.failed = failed;
        if !failed {
            self.changes += 1;
        }
        if !failed || self.changes == 0 {
            self.change = Some(self.combined(change));
        }
    }

    /// Records that the changes so far were reverted.
    pub fn revert(&mut self) {
        *self = ChangedFile {
            reverted: true,
            ..ChangedFile::default()
        };
    }

    /// A file that was added in this session counts as added, even after modifications.
    fn combined(&self, change: char) -> char {
        match (self.change, change) {
            (Some('A'), 'M') => 'A',
            _ => change,
        }
    }

    /// Adds newer changes.
    fn update(&mut self, newer: &ChangedFile) {
        if newer.reverted {
            self.revert();
        }
        self.changes += newer.changes;
        if let Some(change) = newer.change {
            self.change = Some(self.combined(change));
        }
        if newer.change.is_some() || self.change.is_none() {
            self.failed = newer.failed;
        }
    }
}

impl<'a> SessionFacts<'a> {
    /// Whether there is a file, a command or a plan to hand over.
    pub fn hands_over(&self) -> bool {
        !(self.files.is_empty() && self.commands.is_empty() && self.steps().is_empty())
    }

    /// The steps of the newest plan that no kept message shows.
    fn steps(&self) -> &[PlanStep] {
        self.plan.as_deref().unwrap_or_default()
    }

    /// Adds a numbered step to the plan, or changes it.
    pub fn step(&mut self, step: PlanStep) {
        let plan = self.plan.get_or_insert_default();
        match plan.iter_mut().find(|known| known.number() == step.number()) {
            Some(known) => {
                known.state = step.state.or(known.state);
                if step.number() != step.text {
                    known.text = step.text;
                }
            }
            None => plan.push(step),
        }
    }

    /// Adds the lines of another program's summary.
    pub fn add_lines_of_summary(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        self.earlier.extend(lines.map(|line| entry(line, None)));
    }

    /// Total bytes of everything that could be quoted, including the line prefixes.
    pub fn bytes(&self) -> u64 {
        let texts = self.requests.iter().map(|text| text.len());
        let steps = self.steps().iter().map(|step| step.text.len());
        let names = |names: Vec<usize>| names.into_iter().map(|length| length.min(400) + 16);
        let files = names(self.files.in_order().iter().map(|(name, _)| name.len()).collect());
        let commands = names(
            self.commands
                .in_order()
                .iter()
                .map(|(name, _)| name.len() * 2)
                .collect(),
        );
        let notes = self.notes.iter().map(|note| note.text.len());
        let others = self
            .errors
            .lengths()
            .chain(self.reply.iter().map(|text| text.len()));
        let earlier = self.earlier.iter().map(|entry| entry.text.len());
        let all = texts
            .chain(steps)
            .chain(files)
            .chain(commands)
            .chain(notes)
            .chain(others)
            .chain(earlier);
        all.map(|length| length as u64 + 4).sum()
    }

    /// Drops all but the newest of equal notes.
    pub(super) fn drop_repeated_notes(&mut self) {
        let mut seen = HashSet::new();
        let newest = self.notes.iter().rev().map(|note| seen.insert(&*note.text));
        let mut kept: Vec<bool> = newest.collect();
        self.notes.retain(|_| kept.pop().unwrap_or(true));
    }

    /// The successful calls, for errors before them.
    fn successes(&self) -> impl Iterator<Item = Success> {
        let commands = self.commands.in_order().into_iter();
        let commands = commands.filter(|(_, command)| !command.has_failed());
        let files = self.files.in_order().into_iter().filter(|(_, file)| !file.failed);
        let files = files.map(|(path, file)| match file.change {
            Some(_) => Success::Change(path.to_string()),
            None => Success::Reading(path.to_string()),
        });
        let commands = commands.map(|(text, _)| Success::Command(text.to_string()));
        commands.chain(files).chain(self.kept_successes.iter().cloned())
    }

    /// Makes these the facts of a further record, which reports what they resolve of an earlier one.
    pub fn follow(&mut self, earlier: SessionFacts<'static>) {
        self.is_further = true;
        let mut errors = std::mem::take(&mut self.errors);
        errors.add_resolved(earlier.errors, self.successes());
        self.errors = errors;
    }

    /// Combines these facts with newer ones.
    pub fn and(mut self, newer: SessionFacts<'a>) -> SessionFacts<'a> {
        if self.errors.has_open() {
            newer
                .successes()
                .for_each(|success| self.errors.resolve(&success));
        }
        self.requests.extend(newer.requests);
        match newer.plan {
            Some(steps)
                if !steps.is_empty() && steps.iter().chain(self.steps()).all(PlanStep::is_numbered) =>
            {
                steps.into_iter().for_each(|step| self.step(step));
            }
            Some(steps) => (self.plan, self.unnamed[PLAN]) = (Some(steps), 0),
            None => {}
        }
        for (path, file) in newer.files.in_order() {
            self.files.seen(path).update(file);
        }
        for (text, command) in newer.commands.in_order() {
            let known = self.commands.seen(text);
            *known = Command {
                runs: known.runs + command.runs,
                changes_before: self.changes + command.changes_before,
                ..command.clone()
            };
        }
        self.changes += newer.changes;
        self.continues_request |= newer.continues_request;
        self.is_further |= newer.is_further;
        self.kept_changes.extend(newer.kept_changes);
        self.kept_successes.extend(newer.kept_successes);
        for (name, calls) in newer.tools.in_order() {
            *self.tools.seen(name) += calls;
        }
        self.errors.extend(newer.errors);
        self.notes.extend(newer.notes);
        if newer.reply.is_some() {
            self.reply = newer.reply;
        }
        self.earlier.extend(newer.earlier);
        for (own, newer) in self.unnamed.iter_mut().zip(newer.unnamed) {
            *own = own.saturating_add(newer);
        }
        self
    }
}
