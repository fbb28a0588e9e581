//! What the request is like that the history goes into, and how much of each rule is wanted.

use super::rules::{Level, Rule};

/// What decides which rules apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The provider keeps no state (`store` is false).
    pub stateless: bool,
    /// Calls may lie in the response before, which the request names.
    pub previous_response: bool,
    /// Thinking is on.
    pub thinking: bool,
    /// The request defines no tools.
    pub no_tools: bool,
    /// The model goes on from a final assistant message.
    pub prefill: bool,
    /// The major version of Gemini; from 3 on signatures are required.
    pub gemini: u32,
    /// A call that is still open at the very end is only worth a warning, and stays as it is.
    pub open_end: bool,
    /// Two messages of one role may not stand side by side.
    pub alternate: bool,
    /// Further roles that the model takes.
    pub roles: Vec<String>,
    /// Marks of `cache_control` that the rest of the request has.
    pub marks: usize,
    /// Levels other than the table's; the last one of a rule counts.
    pub levels: Vec<(&'static Rule, Level)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
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

impl Options {
    /// The level of a rule under these options.
    pub fn level(&self, rule: &Rule) -> Level {
        let own = self.levels.iter().rev().find(|(other, _)| *other == rule);
        own.map_or(rule.level, |(_, level)| *level)
    }
}
