//! What a sentence permits that an earlier rule forbids.

use super::rule_terms::term_hashes;
use super::words::Sentence;

/// What a sentence permits, as hashes of terms.
#[derive(Clone, Debug, Default)]
pub(super) struct Permission {
    /// The things that are fine: "lodash is fine".
    subject: Vec<u64>,
    /// Where or when it is: "in commit messages".
    limits: Vec<u64>,
}

impl Permission {
    /// What the sentence permits, if it permits something.
    pub fn of(sentence: &Sentence) -> Permission {
        const LIMITS: [&str; 8] = ["in", "for", "within", "inside", "when", "if", "as", "during"];
        let count = sentence.words.len();
        let state = (0..count).find(|at| sentence.is_permitted_state(*at));
        let limit = (1..count).find(|at| LIMITS.contains(&sentence.at(*at)));
        Permission {
            subject: term_hashes(sentence, 0..state.unwrap_or(0)),
            limits: term_hashes(sentence, limit.unwrap_or(count)..count),
        }
    }

    /// Whether only a part of what a rule forbids is permitted: another thing, or at another place. `has` returns whether the
    /// rule has a term.
    pub fn is_partial(&self, has: impl Fn(&u64) -> bool) -> bool {
        let is_other = !self.subject.is_empty() && !self.subject.iter().any(&has);
        is_other || !self.limits.iter().all(has)
    }
}
