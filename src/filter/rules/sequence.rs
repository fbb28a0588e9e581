//! `sequence`: the order of tool calls.

use super::subject::Subject;
use super::text::RuleText;
use super::violation::Violation;
use crate::format::report::count_of;
use serde::Deserialize;

/// Tools, and how strictly the calls follow their order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Sequence {
    tools: Vec<RuleText>,
    #[serde(default)]
    mode: Mode,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Other calls may come between.
    #[default]
    InOrder,
    /// The calls are exactly these.
    Exact,
    /// As often as listed, in any order.
    AnyOrder,
}

impl Sequence {
    pub fn check(&self, subject: &Subject<'_>) -> Option<Violation> {
        match self.mode {
            Mode::InOrder => self.in_order(subject),
            Mode::Exact => self.exact(subject),
            Mode::AnyOrder => self.any_order(subject),
        }
    }

    fn in_order(&self, subject: &Subject<'_>) -> Option<Violation> {
        let mut calls = subject.calls.iter();
        let mut last = None;
        for (nth, tool) in self.tools.iter().enumerate() {
            match calls.find(|call| tool.matches(&call.tool)) {
                Some(call) => last = Some(call.item),
                None => {
                    let after = match nth {
                        0 => String::new(),
                        nth => format!(" after {}", self.tools[nth - 1]),
                    };
                    let step = format!("step {} of {}", nth + 1, self.tools.len());
                    return Some(Violation::new(last, format!("no call of {tool}{after} ({step})")));
                }
            }
        }
        None
    }

    fn exact(&self, subject: &Subject<'_>) -> Option<Violation> {
        let count = subject.calls.len().max(self.tools.len());
        let found = (0..count).find_map(|nth| match (subject.calls.get(nth), self.tools.get(nth)) {
            (Some(call), Some(tool)) if tool.matches(&call.tool) => None,
            (call, tool) => Some((nth, call, tool)),
        });
        let (nth, call, tool) = found?;
        let expected = tool.map_or("no further call".to_string(), RuleText::to_string);
        let own = call.map_or("missing", |call| &call.tool);
        let message = format!("call {} is {own}; expected {expected}", nth + 1);
        Some(Violation::new(call.map(|call| call.item), message))
    }

    fn any_order(&self, subject: &Subject<'_>) -> Option<Violation> {
        self.tools.iter().find_map(|tool| {
            let name = tool.to_string();
            let listed = self.tools.iter().filter(|own| own.to_string() == name).count();
            let called = subject.calls.iter().filter(|call| tool.matches(&call.tool));
            let called = called.count();
            let message = || {
                format!(
                    "{} of {tool}; expected at least {listed}",
                    count_of(called as u64, "call")
                )
            };
            (called < listed).then(|| Violation::new(None, message()))
        })
    }
}
