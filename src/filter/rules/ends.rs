//! `ends`: the end of a session.

use super::subject::Subject;
use super::violation::Violation;
use crate::check::{Api, CheckOptions, check};
use crate::filter::repair;
use crate::format::report::Report;
use crate::format::request;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The last message, calls without result, and the API whose rules hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Ends {
    role: Option<String>,
    open_calls: Option<bool>,
    #[serde(default, deserialize_with = "api")]
    valid_for: Option<Api>,
}

fn api<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Api>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let names = || Api::ALL.map(Api::name).join(", ");
    let unknown = || D::Error::custom(format!("unknown API '{name}'; expected one of {}", names()));
    Api::from_name(&name).map(Some).ok_or_else(unknown)
}

impl Ends {
    pub fn fault(&self) -> Option<String> {
        let is_empty = self.role.is_none() && self.open_calls.is_none() && self.valid_for.is_none();
        is_empty.then(|| "ends requires role, open_calls or valid_for".to_string())
    }

    pub fn check(&self, subject: &Subject<'_>) -> Vec<Violation> {
        let mut violations = Vec::new();
        if let Some(role) = &self.role {
            match subject.messages.last() {
                Some(last) if last.role == *role => {}
                Some(last) => {
                    let message = format!("the last message is of {}; expected {role}", last.role);
                    violations.push(Violation::new(Some(last.item), message));
                }
                None => violations.push(Violation::new(None, format!("no message; expected {role}"))),
            }
        }
        let mut open = subject.calls.iter().filter(|call| call.failed.is_none());
        match self.open_calls {
            Some(false) => violations.extend(open.map(|call| {
                let message = format!("the call of {} has no result", call.tool);
                Violation::new(Some(call.item), message)
            })),
            Some(true) if open.next().is_none() => {
                violations.push(Violation::new(None, "every call has a result"));
            }
            _ => {}
        }
        violations.extend(self.valid_for.into_iter().flat_map(|api| invalid(subject, api)));
        violations
    }
}

/// The errors of the session as a request to an API.
fn invalid(subject: &Subject<'_>, api: Api) -> Vec<Violation> {
    let mut losses = Report::to_format(api.name());
    let request = match request::elements(api, subject.session, subject.view, &mut losses) {
        Ok(request) => request,
        Err(error) => return vec![Violation::new(None, error.message)],
    };
    let options = repair::options_for(&request, &CheckOptions::default());
    let findings = check(api, &request.elements, &options);
    let errors = findings.iter().filter(|finding| finding.is_error());
    let violation = |finding: &crate::check::ApiViolation| {
        let items = request.elements.get(finding.index).map(|element| &element.items);
        let item = items.and_then(|items| items.get(finding.part()).or(items.last()));
        let message = format!(
            "invalid for {}: {} {}",
            api.name(),
            finding.rule.id,
            finding.message
        );
        Violation::new(item.copied(), message)
    };
    errors.map(violation).collect()
}
