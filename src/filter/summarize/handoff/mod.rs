//! What somebody needs who takes over a session with tools: requests, plan, files, commands with their outcome, errors, notes and
//! the last reply. All of it is quoted; which words are left out, marks tell.
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
//! Every line of an item begins with a mark of its block or with two spaces, so that no text can pass for a heading or a standing
//! instruction, here or in the next summary, which reads these lines again.

mod command;
mod cut;
mod lines;
mod read;
mod requests;
mod write;

pub(super) use cut::GAP;
pub(super) use read::{Heading, item};
pub(super) use write::Blocks;

use super::entry::{Entry, entry};
use std::borrow::Cow;
use std::collections::HashMap;

/// The facts of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// What the user asked for, oldest first.
    pub requests: Vec<Cow<'a, str>>,
    /// The newest plan.
    pub plan: Vec<Step>,
    /// Files that were written or read, by path.
    pub files: Recent<File>,
    /// Commands, by text.
    pub commands: Recent<Command<'a>>,
    /// Other tools, and how often each was called.
    pub tools: Recent<u64>,
    /// What failed, oldest first.
    pub errors: Vec<String>,
    /// What the model said beside its last reply, oldest first.
    pub notes: Vec<Note<'a>>,
    /// The newest reply.
    pub reply: Option<Cow<'a, str>>,
    /// What an earlier summary quotes of a conversation.
    pub(super) earlier: Vec<Entry<'static>>,
    /// Requests, files and commands that earlier summaries counted and did not name.
    pub(super) unnamed: [u64; 3],
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `x` done, `>` in progress, `-` cancelled, else a blank.
    pub state: char,
    /// What is to be done.
    pub text: String,
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// `A` written, `M` edited, `D` deleted; none: read.
    pub change: Option<char>,
    /// How many times it changed.
    pub changes: u64,
    /// Whether the last change failed.
    pub failed: bool,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command<'a> {
    /// How often it ran.
    pub runs: u64,
    /// Code and error line of the last run, where that failed.
    pub failure: Option<String>,
    /// The last line of what the last run printed.
    pub last_line: Cow<'a, str>,
}

/// A sentence of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The sentence.
    pub text: Cow<'a, str>,
    /// Whether it is among the first of a message before a request.
    pub concludes: bool,
}

/// Things by name, in the order in which they were last seen.
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
    /// The thing of this name, seen now.
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

    /// All of them, the one that was seen last at the end.
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

impl<'a> Facts<'a> {
    /// Whether there is something to hand over: a file, a command or a plan.
    pub fn hands_over(&self) -> bool {
        !(self.files.is_empty() && self.commands.is_empty() && self.plan.is_empty())
    }

    /// Takes in the lines of a summary that another program wrote.
    pub fn recall(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        self.earlier.extend(lines.map(|line| entry(line, None)));
    }

    /// Bytes of all that could be quoted, and of the lines around it.
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

    /// These facts, and newer ones.
    pub fn and(mut self, newer: Facts<'a>) -> Facts<'a> {
        self.requests.extend(newer.requests);
        if !newer.plan.is_empty() {
            self.plan = newer.plan;
        }
        for (path, file) in newer.files.in_order() {
            let known = self.files.seen(path);
            known.changes += file.changes;
            if file.change.is_some() {
                // What was made here is new, whatever became of it since.
                let made = known.change == Some('A') && file.change == Some('M');
                known.change = if made { Some('A') } else { file.change };
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
