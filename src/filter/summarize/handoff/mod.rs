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
mod lines;
mod read;
mod requests;
mod write;

pub(in crate::filter) use command::Purpose;
pub(super) use cut::GAP;
pub(in crate::filter) use cut::first;
pub(super) use read::{Heading, item};
pub(super) use write::Blocks;

use super::entry::{QuotedText, entry};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The facts of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts<'a> {
    /// User requests, oldest first.
    pub requests: Vec<Cow<'a, str>>,
    /// The newest plan.
    pub plan: Vec<PlanStep>,
    /// Written or read files, by path.
    pub files: Recent<ChangedFile>,
    /// Commands, by text.
    pub commands: Recent<Command<'a>>,
    /// Other tools, with the number of calls.
    pub tools: Recent<u64>,
    /// Failures, oldest first.
    pub errors: Vec<String>,
    /// Assistant texts before the last reply, oldest first.
    pub notes: Vec<AssistantNote<'a>>,
    /// The newest reply.
    pub reply: Option<Cow<'a, str>>,
    /// Conversation entries that an earlier summary quotes.
    pub(super) earlier: Vec<QuotedText<'static>>,
    /// Requests, files and commands that earlier summaries counted but did not list.
    pub(super) unnamed: [u64; 3],
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// `x` done, `>` in progress, `-` canceled, else a blank.
    pub state: char,
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
    /// Whether the last change failed.
    pub failed: bool,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command<'a> {
    /// Number of runs.
    pub runs: u64,
    /// Exit status and error line of the last run, if it failed.
    pub failure: Option<String>,
    /// The last output line of the last run.
    pub last_line: Cow<'a, str>,
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

impl<'a> SessionFacts<'a> {
    /// Whether there is a file, a command or a plan to hand over.
    pub fn hands_over(&self) -> bool {
        !(self.files.is_empty() && self.commands.is_empty() && self.plan.is_empty())
    }

    /// Adds the lines of another program's summary.
    pub fn add_lines_of_summary(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        self.earlier.extend(lines.map(|line| entry(line, None)));
    }

    /// Total bytes of everything that could be quoted, including the line prefixes.
    pub fn bytes(&self) -> u64 {
        let texts = self.requests.iter().map(|text| text.len());
        let steps = self.plan.iter().map(|step| step.text.len());
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
            .iter()
            .map(String::len)
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

    /// Combines these facts with newer ones.
    pub fn and(mut self, newer: SessionFacts<'a>) -> SessionFacts<'a> {
        self.requests.extend(newer.requests);
        if !newer.plan.is_empty() {
            self.plan = newer.plan;
        }
        for (path, file) in newer.files.in_order() {
            let known = self.files.seen(path);
            known.changes += file.changes;
            if file.change.is_some() {
                // A file that was added in this session counts as added, even after modifications.
                let built = known.change == Some('A') && file.change == Some('M');
                known.change = if built { Some('A') } else { file.change };
                known.failed = file.failed;
            }
        }
        for (text, command) in newer.commands.in_order() {
            let known = self.commands.seen(text);
            let runs = known.runs + command.runs;
            *known = Command {
                runs,
                ..command.clone()
            };
        }
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
