//! `called`, `after`, `before`: tool calls by name, arguments and result.

use super::amount::MatchLimits;
use super::subject::{Subject, SubjectCall};
use super::text::{ExpectedValue, RuleText};
use super::violation::Violation;
use crate::model::json::{self, Dialect, quoted, wrapped};
use serde::Deserialize;
use std::fmt;

/// A tool call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Call {
    tool: Option<RuleText>,
    args: Option<ExpectedValue>,
    failed: Option<bool>,
}

impl Call {
    fn matches(&self, call: &SubjectCall<'_>) -> bool {
        self.tool.as_ref().is_none_or(|tool| tool.matches(&call.tool))
            && self.failed.is_none_or(|failed| call.failed == Some(failed))
            && self
                .args
                .as_ref()
                .is_none_or(|args| args.matches(&arguments(call)))
    }
}

/// The arguments as an object; free text is its member `input`.
fn arguments(call: &SubjectCall<'_>) -> Vec<u8> {
    let raw = call.arguments.trim().as_bytes();
    if json::members(raw, Dialect::Python).is_some() {
        return raw.to_vec();
    }
    wrapped("input", quoted(&call.arguments))
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => tool.fmt(f)?,
            None => f.write_str("any tool")?,
        }
        if let Some(args) = &self.args {
            write!(f, " {args}")?;
        }
        match self.failed {
            Some(true) => f.write_str(" with an error"),
            Some(false) => f.write_str(" without error"),
            None => Ok(()),
        }
    }
}

/// The number of calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Called {
    tool: Option<RuleText>,
    args: Option<ExpectedValue>,
    failed: Option<bool>,
    min: Option<usize>,
    max: Option<usize>,
}

impl Called {
    fn amount(&self) -> MatchLimits {
        MatchLimits {
            min: self.min,
            max: self.max,
        }
    }

    pub fn fault(&self) -> Option<String> {
        self.amount().fault()
    }

    pub fn check(&self, subject: &Subject<'_>) -> Option<Violation> {
        let call = Call {
            tool: self.tool.clone(),
            args: self.args.clone(),
            failed: self.failed,
        };
        let found = subject.calls.iter().filter(|own| call.matches(own));
        let items: Vec<usize> = found.map(|own| own.item).collect();
        self.amount().violation(&items, "call", &format!("of {call}"))
    }
}

/// A call that another one must follow or precede.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Order {
    tool: Option<RuleText>,
    args: Option<ExpectedValue>,
    failed: Option<bool>,
    then: Call,
}

impl Order {
    fn call(&self) -> Call {
        Call {
            tool: self.tool.clone(),
            args: self.args.clone(),
            failed: self.failed,
        }
    }

    /// Checks that the other call follows the last such call.
    pub fn after(&self, subject: &Subject<'_>) -> Option<Violation> {
        let call = self.call();
        let last = subject.calls.iter().rposition(|own| call.matches(own))?;
        let is_met = subject.calls[last + 1..].iter().any(|own| self.then.matches(own));
        let message = || format!("no call of {} after the last call of {call}", self.then);
        (!is_met).then(|| Violation::new(Some(subject.calls[last].item), message()))
    }

    /// Checks that the other call precedes the first such call.
    pub fn before(&self, subject: &Subject<'_>) -> Option<Violation> {
        let call = self.call();
        let first = subject.calls.iter().position(|own| call.matches(own))?;
        let is_met = subject.calls[..first].iter().any(|own| self.then.matches(own));
        let message = || format!("no call of {} before the first call of {call}", self.then);
        (!is_met).then(|| Violation::new(Some(subject.calls[first].item), message()))
    }
}
