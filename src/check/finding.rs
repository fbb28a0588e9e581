//! What a check finds, and how it is to be repaired.

use super::options::Options;
use super::rules::{Level, Rule};
use crate::format::request::Api;

/// What a history does against a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How grave it is under the options of the check.
    pub level: Level,
    /// Whose rule it is; none: of every history.
    pub api: Option<Api>,
    /// The element, from 0; of a broken structure, the item of the view.
    pub index: usize,
    /// What is wrong, in words.
    pub message: String,
    /// The call, result or part inside the element.
    pub(super) part: usize,
    /// Whether it is a call that may still be answered: it stays as it is.
    pub(super) open: bool,
}

impl Finding {
    /// The call, result or part inside the element that is meant, from 0.
    pub fn part(&self) -> usize {
        self.part
    }

    /// Whether the history cannot be sent.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

/// Which way a repair goes where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The smallest piece that breaks the rule goes.
    Drop,
    /// What is missing is put in.
    Stub,
    /// A result without its call becomes text.
    Text,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Drop, Mode::Stub, Mode::Text];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Drop => "drop",
            Mode::Stub => "stub",
            Mode::Text => "text",
        }
    }
}

/// How a history is to be repaired.
#[derive(Clone, Copy, Debug)]
pub struct Repair<'a> {
    /// Which way; none: for each rule the first that the table names.
    pub mode: Option<Mode>,
    /// Whether warnings are repaired too, and not only errors.
    pub warnings: bool,
    /// The session's id, from which new ids are derived.
    pub session: &'a str,
}

/// Findings as they are made.
pub(super) struct Findings<'o> {
    api: Api,
    pub(super) options: &'o Options,
    list: Vec<Finding>,
}

impl<'o> Findings<'o> {
    /// None so far, of the rules of an interface.
    pub(super) fn new(api: Api, options: &'o Options) -> Findings<'o> {
        Findings {
            api,
            options,
            list: Vec::new(),
        }
    }

    /// All of them, in the order of their elements.
    pub(super) fn sorted(mut self) -> Vec<Finding> {
        self.list.sort_by_key(|finding| finding.index);
        self.list
    }

    /// Notes what breaks a rule; `part` says where inside the element.
    pub(super) fn add(&mut self, id: &str, (index, part): (usize, usize), message: impl FnOnce() -> String) {
        self.note(id, (index, part), false, message);
    }

    /// The same for a call without a result, which may stand `at_end` of the history.
    pub(super) fn open(
        &mut self,
        id: &str,
        place: (usize, usize),
        at_end: bool,
        message: impl FnOnce() -> String,
    ) {
        self.note(id, place, at_end && self.options.open_end, message);
    }

    fn note(
        &mut self,
        id: &str,
        (index, part): (usize, usize),
        open: bool,
        message: impl FnOnce() -> String,
    ) {
        // The tests make sure that every id is in the table.
        let Some(rule) = Rule::of(id) else { return };
        let mut level = self.options.level(rule);
        if open {
            level = level.min(Level::Warn);
        }
        if level > Level::Off {
            self.list.push(Finding {
                rule,
                level,
                api: Some(self.api),
                index,
                message: message(),
                part,
                open,
            });
        }
    }
}
