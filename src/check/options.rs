//! Properties of the request that determine which rules apply, and levels of rules.

use super::rules::{HistoryRule, Severity, TableRule};

/// Options of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// The provider stores no state (`store` is false).
    pub stateless: bool,
    /// Calls may be in a previous response, which the request names.
    pub previous_response: bool,
    /// Thinking is enabled.
    pub thinking: bool,
    /// The request defines no tools.
    pub no_tools: bool,
    /// The model continues a final assistant message.
    pub prefill: bool,
    /// The major version of Gemini; signatures are required from version 3 on.
    pub gemini: u32,
    /// An unanswered call at the end is only a warning and is not repaired.
    pub open_end: bool,
    /// Adjacent messages must have different roles.
    pub alternate: bool,
    /// Additional roles that the model accepts.
    pub roles: Vec<String>,
    /// Number of `cache_control` marks in the rest of the request.
    pub marks: usize,
    /// Levels that override those of the table; the last one of a rule applies.
    pub levels: Vec<(TableRule, Severity)>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            stateless: false,
            previous_response: false,
            thinking: false,
            no_tools: false,
            prefill: false,
            gemini: 3,
            open_end: false,
            alternate: false,
            roles: Vec::new(),
            marks: 0,
            levels: Vec::new(),
        }
    }
}

impl CheckOptions {
    /// The level of a rule under these options.
    pub fn level(&self, rule: &HistoryRule) -> Severity {
        let own = self.levels.iter().rev().find(|(other, _)| *other == rule);
        own.map_or(rule.level, |(_, level)| *level)
    }
}
