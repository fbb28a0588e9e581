//! I1: a session that an API accepts is still accepted after compaction.

use super::super::ThinkingOption;
use super::case::{Case, Done};
use crate::check::{self, Api};
use crate::format::report::Report;
use crate::format::request;
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use proptest::prelude::*;
use std::collections::HashSet;

pub fn hold(case: &Case, done: &Done) -> Result<(), TestCaseError> {
    // A user who removes all reasoning has thinking switched off.
    let thinking = case.options.thinking != ThinkingOption::Drop;
    let broken = broken((&case.before, &case.view), (&done.after, &done.view), thinking);
    prop_assert!(broken.is_none(), "I1: {}", broken.unwrap_or_default());
    Ok(())
}

/// The errors of the second session for an API and options that accept the first.
pub fn broken(before: (&Session, &View), after: (&Session, &View), thinking: bool) -> Option<String> {
    if !is_plain(before.0, before.1) {
        return None;
    }
    let asked = Api::ALL
        .into_iter()
        .flat_map(|api| [false, true].map(|stateless| (api, stateless)));
    for (api, stateless) in asked {
        let options = check::CheckOptions {
            thinking,
            stateless,
            open_end: true,
            ..check::CheckOptions::default()
        };
        if errors(api, before.0, before.1, &options).is_empty() {
            let found = errors(api, after.0, after.1, &options);
            if !found.is_empty() {
                let sent = requested(api, after.0, after.1);
                return Some(format!("{} {found:?}\n{sent}", api.name()));
            }
        }
    }
    None
}

fn elements(api: Api, session: &Session, view: &View) -> Vec<Vec<u8>> {
    let request = request::elements(api, session, view, &mut Report::default()).unwrap();
    request.elements.into_iter().map(|element| element.raw).collect()
}

fn errors(api: Api, session: &Session, view: &View, options: &check::CheckOptions) -> Vec<String> {
    let found = check::check(api, &elements(api, session, view), options).into_iter();
    found
        .filter(check::ApiViolation::is_error)
        .map(|finding| format!("{} {}", finding.rule.id, finding.message))
        .collect()
}

fn requested(api: Api, session: &Session, view: &View) -> String {
    String::from_utf8_lossy(&elements(api, session, view).join(&b"\n"[..])).into_owned()
}

/// Whether every result has an unambiguous call: the results have ids, and no id has two calls. If an id repeats, some
/// APIs take one result as that of all its calls.
fn is_plain(session: &Session, view: &View) -> bool {
    let mut calls = HashSet::new();
    view.messages(session).all(|message| {
        let named = message.role() != Role::Tool || message.tool_call_id().is_some_and(|id| !id.is_empty());
        let mut built = message.tool_calls().into_iter();
        named && built.all(|call| calls.insert(call.id.into_owned()))
    })
}
