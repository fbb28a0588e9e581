//! Rules for sessions: assertions in a TOML file, such as a tool that must be called. One file for each kind of assertion.

mod amount;
mod call_rule;
mod ends;
mod limit;
mod secrets;
mod sequence;
mod subject;
#[cfg(test)]
mod tests;
mod text;
mod text_rule;
mod violation;

pub(super) use subject::Subject;
pub use violation::Violation;

use super::toml_error;
use super::usage::Prices;
use crate::error::Result;
use crate::model::session::Session;
use crate::model::view::View;
use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct RuleFile {
    rule: Vec<Spanned<Assertions>>,
}

/// The assertions of a rule; all of them hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Assertions {
    name: Option<String>,
    called: Option<call_rule::Called>,
    sequence: Option<sequence::Sequence>,
    after: Option<call_rule::Order>,
    before: Option<call_rule::Order>,
    says: Option<text_rule::TextRule>,
    limit: Option<limit::Limit>,
    ends: Option<ends::Ends>,
    no_secrets: Option<secrets::NoSecrets>,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct SessionRule {
    /// The name, or the number of the rule.
    pub name: String,
    assertions: Assertions,
}

impl SessionRule {
    /// The rules of a file.
    ///
    /// # Errors
    /// [`Config`](crate::error::ErrorKind::Config) with line and column.
    pub fn read(text: &str) -> Result<Vec<SessionRule>> {
        let file: RuleFile = toml_error::read(text)?;
        if file.rule.is_empty() {
            return Err(toml_error::at(text, 0, "no rules"));
        }
        let rule = |(nth, assertions): (usize, Spanned<Assertions>)| {
            let at = assertions.span().start;
            let assertions = assertions.into_inner();
            if let Some(fault) = assertions.fault() {
                return Err(toml_error::at(text, at, &fault));
            }
            Ok(SessionRule {
                name: assertions
                    .name
                    .clone()
                    .unwrap_or_else(|| format!("rule {}", nth + 1)),
                assertions,
            })
        };
        file.rule.into_iter().enumerate().map(rule).collect()
    }

    /// The violations in a view.
    pub fn check(&self, session: &Session, view: &View, prices: &Prices) -> Vec<Violation> {
        let subject = &Subject::of(session, view);
        let own = &self.assertions;
        let mut found = Vec::new();
        found.extend(own.called.iter().filter_map(|called| called.check(subject)));
        found.extend(own.sequence.iter().filter_map(|sequence| sequence.check(subject)));
        found.extend(own.after.iter().filter_map(|order| order.after(subject)));
        found.extend(own.before.iter().filter_map(|order| order.before(subject)));
        found.extend(own.says.iter().filter_map(|says| says.check(subject)));
        found.extend(own.limit.iter().flat_map(|limit| limit.check(subject, prices)));
        found.extend(own.ends.iter().flat_map(|ends| ends.check(subject)));
        found.extend(own.no_secrets.iter().flat_map(|none| none.check(subject)));
        found
    }
}

impl Assertions {
    /// Why a rule asserts nothing, or cannot hold.
    fn fault(&self) -> Option<String> {
        let has_any = self.called.is_some()
            || self.sequence.is_some()
            || self.after.is_some()
            || self.before.is_some()
            || self.says.is_some()
            || self.limit.is_some()
            || self.ends.is_some()
            || self.no_secrets.is_some();
        if self.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Some("the name is empty".to_string());
        }
        if !has_any {
            return Some(
                "no assertion; expected called, sequence, after, before, says, limit, ends or no_secrets"
                    .to_string(),
            );
        }
        (self.called.as_ref().and_then(call_rule::Called::fault))
            .or_else(|| self.says.as_ref()?.fault())
            .or_else(|| self.limit.as_ref()?.fault())
            .or_else(|| self.ends.as_ref()?.fault())
    }
}
