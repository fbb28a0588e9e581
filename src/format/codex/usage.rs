//! What the model was sent and answered: differences of the totals that a log tells again and again.

use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;

/// The figures of a total, in the order in which they are written.
const NAMES: [&str; 6] = [
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
];

/// Figures of one answer, or of all so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures([u64; NAMES.len()]);

impl Figures {
    /// The total that a `token_count` tells; none when it tells none.
    pub fn told(event: &[u8]) -> Option<Figures> {
        let total = json::member(json::member(event, "info")?, "total_token_usage")?;
        let number = |name: &str| {
            let raw = json::member(total, name)?;
            std::str::from_utf8(raw).ok()?.parse().ok()
        };
        number(NAMES[0])?;
        Some(Figures(NAMES.map(|name| number(name).unwrap_or(0))))
    }

    /// What is more than before. A total that fell has begun anew.
    pub fn since(self, before: Figures) -> Figures {
        if self.0.iter().zip(&before.0).any(|(now, then)| now < then) {
            return self;
        }
        Figures(std::array::from_fn(|at| self.0[at] - before.0[at]))
    }

    /// Both together.
    pub fn plus(self, other: Figures) -> Figures {
        Figures(std::array::from_fn(|at| self.0[at].saturating_add(other.0[at])))
    }

    /// Whether there is nothing to tell.
    pub fn is_zero(self) -> bool {
        self.0.iter().all(|figure| *figure == 0)
    }

    /// As the `usage` of a message.
    pub fn object(self) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        for (name, figure) in NAMES.iter().zip(self.0) {
            // Older logs know of no cache that is written.
            if figure > 0 || *name != NAMES[2] {
                built.raw(name, figure.to_string());
            }
        }
        built.finish()
    }
}

/// A request: its time, its model, and its usage as that of a message.
pub type Total = (Option<String>, String, Vec<u8>);

/// The requests of a session that has totals and no message to which they belong.
pub fn totals(session: &Session) -> Vec<Total> {
    let (mut found, mut before, mut model) = (Vec::new(), Figures::default(), String::new());
    for index in 0..session.len() {
        let Some(raw) = json::member(session.record(index).body, "raw") else {
            continue;
        };
        let payload = json::member(raw, "payload").unwrap_or(b"{}");
        if let Some(named) = json::member(payload, "model").and_then(json::text) {
            model = named.into_owned();
        }
        if let Some(total) = Figures::told(payload) {
            let used = total.since(before);
            before = total;
            // A total that is told again.
            if used.is_zero() {
                continue;
            }
            let time = json::member(raw, "timestamp").and_then(json::text);
            found.push((time.map(|time| time.into_owned()), model.clone(), used.object()));
        }
    }
    found
}
