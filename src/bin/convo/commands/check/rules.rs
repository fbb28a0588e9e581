//! Reads rule files and checks sessions against them.

use super::problem::CheckProblem;
use crate::config;
use crate::output::{count_of, path_name};
use clap::Args;
use convo::check::Severity;
use convo::error::Result;
use convo::filter::rules::{SessionRule, Violation};
use convo::filter::usage::Prices;
use convo::model::session::Session;
use convo::model::view::View;
use std::path::PathBuf;

/// The name of these checks in reports.
pub const RULES: &str = "rules";

// No doc comment: clap would use it as the description of the command that flattens this struct.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Rules")]
pub struct RuleOptions {
    /// Check the rules in FILE (repeatable)
    ///
    /// Without --for, checks nothing else. A rule is a TOML table [[rule]] with an optional name and one or more assertions, all of which must hold:
    ///
    /// called = { tool, args, failed, min, max }: the number of such calls, at least 1 unless min or max is given. args
    /// lists the members that matter; tool and strings in args are exact, or regular expressions after `re:`. A call
    /// without result has neither failed = true nor false.
    ///
    /// sequence = { tools = [...], mode }: the calls contain these tools in this order (in_order, the default), are
    /// exactly these (exact), or contain each as often as listed (any_order).
    ///
    /// after = { tool, args, failed, then = { tool, args, failed } }: the second call occurs after the last of the first;
    /// before: it occurs before the first. Without a call of the first kind, both hold.
    ///
    /// says = { role, text or re, min, max, where }: the number of messages that contain the text; where is any, first or
    /// last message of the role.
    ///
    /// limit = { tokens, messages, exchanges, calls, seconds, cost, tool_errors }: each { min, max }. tokens and cost are
    /// those recorded in the whole log; a total that is not recorded violates the rule.
    ///
    /// ends = { role, open_calls, valid_for }: role of the last message, whether a call has no result, and an API.
    ///
    /// no_secrets = { level }: no secrets of level likely (the default) or definite, as redact --check finds them.
    #[arg(long, value_name = "FILE", conflicts_with = "fix", value_hint = clap::ValueHint::FilePath)]
    rules: Vec<PathBuf>,
    /// With --rules: check all messages of the log, not the view
    #[arg(long, requires = "rules", hide_short_help = true)]
    pub log: bool,
}

impl RuleOptions {
    /// Reads the rules; none without a file.
    ///
    /// # Errors
    /// [`Kind::Config`](convo::error::ErrorKind::Config) for a file that cannot be read.
    pub fn read(&self) -> Result<Option<Vec<SessionRule>>> {
        let mut rules = Vec::new();
        for path in &self.rules {
            let text = config::text(path)?;
            let read =
                SessionRule::read(&text).map_err(|error| crate::errors::named(error, &path_name(path)));
            rules.extend(read?);
        }
        Ok((!self.rules.is_empty()).then_some(rules))
    }
}

/// A session checked against rules.
pub struct RuleCheck<'r> {
    results: Vec<(&'r SessionRule, Vec<Violation>)>,
    /// Number of messages in the view.
    pub elements: usize,
}

impl<'r> RuleCheck<'r> {
    pub fn new(rules: &'r [SessionRule], session: &Session, view: &View, prices: &Prices) -> RuleCheck<'r> {
        let check = |rule: &'r SessionRule| (rule, rule.check(session, view, prices));
        RuleCheck {
            results: rules.iter().map(check).collect(),
            elements: view.items.len(),
        }
    }

    /// Returns each rule with its violations.
    pub fn each_rule(&self) -> impl Iterator<Item = (&str, Vec<CheckProblem<'_>>)> {
        self.results.iter().map(|(rule, violations)| {
            let problem = |violation| problem(rule, violation);
            (rule.name.as_str(), violations.iter().map(problem).collect())
        })
    }

    /// Returns the violations.
    pub fn each(&self) -> impl Iterator<Item = CheckProblem<'_>> {
        self.each_rule().flat_map(|(_, problems)| problems)
    }

    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Number of violated rules.
    pub fn failed(&self) -> usize {
        let failed = |(_, violations): &&(&SessionRule, Vec<Violation>)| !violations.is_empty();
        self.results.iter().filter(failed).count()
    }

    pub fn errors(&self) -> usize {
        self.results.iter().map(|(_, violations)| violations.len()).sum()
    }

    /// Summarizes the result in one line.
    pub fn describe(&self) -> String {
        let rules = count_of(self.len() as u64, "rule");
        match self.failed() {
            0 => format!("{rules}: passed"),
            failed => format!("{rules}: {failed} failed"),
        }
    }
}

fn problem<'r>(rule: &'r SessionRule, violation: &'r Violation) -> CheckProblem<'r> {
    CheckProblem {
        api: RULES,
        rule: &rule.name,
        level: Severity::Error,
        message: &violation.message,
        fix: None,
        index: violation.item,
        item: violation.item,
    }
}
