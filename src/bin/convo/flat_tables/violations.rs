//! The violations of a session.

use super::{RowMember, RowPart, members};
use std::collections::BTreeSet;

pub struct SessionViolations {
    /// The API whose rules were checked.
    pub api: Option<&'static str>,
    pub is_valid: bool,
    pub errors: u64,
    pub warnings: u64,
    /// Violations that a repair exists for.
    pub repairable: u64,
    /// The violated rules.
    pub rules: BTreeSet<String>,
    /// The first error, else the first warning.
    pub first: Option<FirstViolation>,
}

/// A violation and its position.
pub struct FirstViolation {
    pub rule: String,
    pub message: String,
    /// Line of the input, if known.
    pub line: Option<u64>,
}

impl SessionViolations {
    fn first<V>(&self, value: impl FnOnce(&FirstViolation) -> V) -> Option<V> {
        self.first.as_ref().map(value)
    }

    /// Joins the rules; a name that a user gave may have a comma.
    fn rules(&self) -> Option<String> {
        let rules: Vec<String> = self.rules.iter().map(|rule| rule.replace(',', " ")).collect();
        (!rules.is_empty()).then(|| rules.join(","))
    }
}

impl RowPart for SessionViolations {
    const MEMBERS: &'static [RowMember<Self>] = members! {
        "api": Text(|found| found.api.map(str::to_string)),
            "API whose rules were checked: that of `--for`, else that of the format; null if none was";
        "valid": Boolean(|found| Some(found.is_valid)), "true without errors; with `--strict`, without warnings too";
        "errors": Integer(|found| Some(found.errors)), "violations of level error";
        "warnings": Integer(|found| Some(found.warnings)), "violations of level warn";
        "repairable": Integer(|found| Some(found.repairable)), "violations of rules that `--for API --fix` repairs";
        "rules": Text(|found| found.rules()),
            "ids of the violated rules and names of those of `--rules`, sorted, separated by commas; a comma in a name is a blank; null if none is violated";
        "first_rule": Text(|found| found.first(|first| first.rule.clone())),
            "rule of the first error, else of the first warning";
        "first_message": Text(|found| found.first(|first| first.message.clone())), "message of that violation";
        "first_line": Integer(|found| found.first(|first| first.line).flatten()),
            "line of that violation in the input; null if unknown";
    };
}
