//! Violations that a check finds, and options for their repair.

use super::options::CheckOptions;
use super::rules::{HistoryRule, Severity, TableRule};
use crate::format::request::Api;
use crate::model::named_enum::named_enum;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiViolation {
    /// The rule.
    pub rule: TableRule,
    /// Its level under the options of the check.
    pub level: Severity,
    /// The API of the rule; `None`: it applies to every history.
    pub api: Option<Api>,
    /// Index of the element; for a violation of the session structure, the index of the view item.
    pub index: usize,
    /// Description of the violation.
    pub message: String,
    /// Index of the call, result or part inside the element.
    pub(super) part: usize,
    /// Whether it is a call that may still be answered, which is not repaired.
    pub(super) open: bool,
}

impl ApiViolation {
    /// Index of the call, result or part inside the element.
    pub fn part(&self) -> usize {
        self.part
    }

    /// Whether the provider would reject the history.
    pub fn is_error(&self) -> bool {
        self.level == Severity::Error
    }
}

named_enum! {
    /// The method of repair, where there are several.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RepairMode {
        /// Drop the smallest unit that violates the rule.
        Drop = "drop",
        /// Insert the missing parts.
        Stub = "stub",
        /// Turn a result without its call into text.
        Text = "text",
    }
}

/// Options of a repair.
#[derive(Clone, Copy, Debug)]
pub struct Repair<'a> {
    /// The mode; `None`: the first one that the table lists for each rule.
    pub mode: Option<RepairMode>,
    /// Whether warnings are repaired, too.
    pub warnings: bool,
    /// The session's id, from which new ids are derived.
    pub session: &'a str,
}

/// Violations found so far.
pub(super) struct Findings<'o> {
    api: Api,
    pub(super) options: &'o CheckOptions,
    list: Vec<ApiViolation>,
}

impl<'o> Findings<'o> {
    /// Without violations, for the rules of an API.
    pub(super) fn new(api: Api, options: &'o CheckOptions) -> Findings<'o> {
        Findings {
            api,
            options,
            list: Vec::new(),
        }
    }

    /// All violations, sorted by element.
    pub(super) fn sorted(mut self) -> Vec<ApiViolation> {
        self.list.sort_by_key(|finding| finding.index);
        self.list
    }

    /// Adds a violation; `part` is the index inside the element.
    pub(super) fn add(&mut self, id: &str, (index, part): (usize, usize), message: impl FnOnce() -> String) {
        self.note(id, (index, part), false, message);
    }

    /// Adds a violation for a call without a result, which may be `at_end` of the history.
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
        // A test ensures that every id is in the table.
        let Some(rule) = HistoryRule::of(id) else { return };
        let mut level = self.options.level(rule);
        if open {
            level = level.min(Severity::Warn);
        }
        if level > Severity::Off {
            self.list.push(ApiViolation {
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
