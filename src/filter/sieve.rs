//! Selects sessions for a data set, and reports why others are rejected.

use super::diff::DiffEntry;
use super::rules::Subject;
use crate::model::exchange::Cuts;
use crate::model::key::sha256;
use crate::model::session::Session;
use crate::model::view::View;
use std::ops::Range;

/// The conditions of a data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sieve {
    /// Require that the session ends with an assistant message and every call has a result.
    pub complete: bool,
    /// Minimum number of exchanges.
    pub min_exchanges: Option<usize>,
    /// Maximum number of tokens.
    pub max_tokens: Option<u64>,
    /// Tools that must all be called.
    pub tools: Vec<String>,
    /// Require that no tool result is an error.
    pub no_tool_errors: bool,
    /// A range from 0 to 1 of the hash of the id, for a partition of the sessions.
    pub split: Option<Range<f64>>,
    /// Require an assistant message after the last user message.
    pub answered: bool,
}

impl Sieve {
    /// The first reason to reject a session; calls `tokens` only if needed.
    pub fn reason<E>(
        &self,
        session: &Session,
        view: &View,
        tokens: impl FnOnce() -> Result<u64, E>,
    ) -> Result<Option<&'static str>, E> {
        let subject = Subject::of(session, view);
        let is_last = |role: &str| subject.messages.last().is_some_and(|last| last.role == role);
        let is_open = || subject.calls.iter().any(|call| call.failed.is_none());
        let has_failed = || subject.calls.iter().any(|call| call.failed == Some(true));
        let is_called = |tool: &String| subject.calls.iter().any(|call| call.tool == tool.as_str());
        let answered = || {
            let mut newest = subject.messages.iter().rev();
            newest
                .find_map(|message| match message.role.as_str() {
                    "assistant" => Some(true),
                    "user" => Some(false),
                    _ => None,
                })
                .unwrap_or(false)
        };
        let exchanges = || Cuts::of(session, view).exchanges();
        Ok(
            if self
                .split
                .as_ref()
                .is_some_and(|split| !split.contains(&share(session, view)))
            {
                Some("split")
            } else if self.complete && (!is_last("assistant") || is_open()) {
                Some("incomplete")
            } else if self.answered && !answered() {
                Some("no-reply")
            } else if self.min_exchanges.is_some_and(|least| exchanges() < least) {
                Some("exchanges")
            } else if !self.tools.iter().all(is_called) {
                Some("no-tool")
            } else if self.no_tool_errors && has_failed() {
                Some("tool-errors")
            } else {
                match self.max_tokens {
                    Some(most) if tokens()? > most => Some("tokens"),
                    _ => None,
                }
            },
        )
    }
}

/// A stable number from 0 to 1, from the session's id or else its messages.
fn share(session: &Session, view: &View) -> f64 {
    let id = session.header_text("id").filter(|id| !id.is_empty());
    let hash = match id {
        Some(id) => sha256(id.as_bytes()),
        None => sha256(&view.shown(session).concat()),
    };
    let digits = u64::from_str_radix(&hash[..13], 16).unwrap_or_default();
    digits as f64 / (1u64 << 52) as f64
}

/// Keys that are equal for equal sessions: roles, contents and calls, without ids and layout.
pub fn keys(session: &Session, view: &View) -> Vec<u64> {
    DiffEntry::all(session, view).iter().map(DiffEntry::key).collect()
}

/// The same keys as one SHA-256.
pub fn fingerprint(session: &Session, view: &View) -> String {
    let hashes = DiffEntry::all(session, view)
        .iter()
        .map(DiffEntry::sha256)
        .collect::<String>();
    sha256(hashes.as_bytes())
}

/// The tool calls of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewCalls {
    /// Number of calls.
    pub all: u64,
    /// Calls whose result is an error.
    pub failed: u64,
    /// Calls without a result.
    pub open: u64,
}

/// Counts the tool calls of a view.
pub fn calls(session: &Session, view: &View) -> ViewCalls {
    let calls = Subject::of(session, view).calls;
    let count = |failed| calls.iter().filter(|call| call.failed == failed).count() as u64;
    ViewCalls {
        all: calls.len() as u64,
        failed: count(Some(true)),
        open: count(None),
    }
}

/// Whether each session is kept if none may be a prefix of another; of equal ones the first is kept.
pub fn longest(keys: &[Vec<u64>]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|one, other| keys[*one].cmp(&keys[*other]).then(other.cmp(one)));
    let mut kept = vec![true; keys.len()];
    // In sorted order, a session directly follows its prefix.
    for pair in order.windows(2) {
        kept[pair[0]] = !keys[pair[1]].starts_with(&keys[pair[0]]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_repetitions_are_reduced_to_one() {
        let keys = [
            vec![1, 2],
            vec![1, 2, 3],
            vec![2],
            vec![1, 2, 3],
            vec![1, 3],
            vec![],
        ];
        assert_eq!(longest(&keys), [false, true, true, false, true, false]);
        assert_eq!(longest(&[]), [false; 0]);
    }

    #[test]
    fn a_share_is_that_of_the_id_and_evenly_spread() {
        let share = |id: &str| {
            let mut session = Session::default();
            session.push_new(format!(r#"{{"type":"session","version":1,"id":"{id}"}}"#).as_bytes());
            super::share(&session, &View::replay(&session))
        };
        let all: Vec<f64> = (0..1000).map(|nth| share(&format!("session-{nth}"))).collect();
        assert!(all.iter().all(|share| (0.0..1.0).contains(share)));
        let below = all.iter().filter(|share| **share < 0.9).count();
        assert!((870..930).contains(&below), "{below}");
        assert_eq!(share("session-7"), all[7]);
    }
}
