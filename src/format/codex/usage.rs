//! Token usage of replies, computed as differences of the totals in a log.

use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;

/// The figures of a total, in the order of the log.
const NAMES: [&str; 6] = [
    "input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens",
    "reasoning_output_tokens", "total_tokens",
];

/// The figures of one reply, or of all replies so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodexFigures([u64; NAMES.len()]);

impl CodexFigures {
    /// The total in a `token_count` event, if any.
    pub fn total_of_event(event: &[u8]) -> Option<CodexFigures> {
        let total = json::member(json::member(event, "info")?, "total_token_usage")?;
        let number = |name: &str| {
            let raw = json::member(total, name)?;
            json::number(raw)
        };
        number(NAMES[0])?;
        Some(CodexFigures(NAMES.map(|name| number(name).unwrap_or(0))))
    }

    /// The increase since an earlier total. A total that fell has restarted.
    pub fn since(self, before: CodexFigures) -> CodexFigures {
        if self.0.iter().zip(&before.0).any(|(now, then)| now < then) {
            return self;
        }
        CodexFigures(std::array::from_fn(|at| self.0[at] - before.0[at]))
    }

    /// The sum.
    pub fn plus(self, other: CodexFigures) -> CodexFigures {
        CodexFigures(std::array::from_fn(|at| self.0[at].saturating_add(other.0[at])))
    }

    pub fn is_zero(self) -> bool {
        self.0.iter().all(|figure| *figure == 0)
    }

    /// The `usage` member of a message.
    pub fn object(self) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        for (name, figure) in NAMES.iter().zip(self.0) {
            // Older logs have no figure for cache writes.
            if figure > 0 || *name != NAMES[2] {
                built.raw(name, figure.to_string());
            }
        }
        built.finish()
    }
}

/// A request: its time, its model, and its usage as in a message.
pub type UsageTotal = (Option<String>, String, Vec<u8>);

/// The requests of a session that has totals but no messages that they belong to.
pub fn totals(session: &Session) -> Vec<UsageTotal> {
    let (mut found, mut before, mut model) = (Vec::new(), CodexFigures::default(), String::new());
    for index in 0..session.len() {
        let Some(raw) = json::member(session.record(index).body, "raw") else {
            continue;
        };
        let payload = json::member(raw, "payload").unwrap_or(b"{}");
        if let Some(named) = json::member_text(payload, "model") {
            model = named.into_owned();
        }
        if let Some(total) = CodexFigures::total_of_event(payload) {
            let used = total.since(before);
            before = total;
            // A repeated total.
            if used.is_zero() {
                continue;
            }
            let time = json::member_text(raw, "timestamp");
            found.push((time.map(|time| time.into_owned()), model.clone(), used.object()));
        }
    }
    found
}
