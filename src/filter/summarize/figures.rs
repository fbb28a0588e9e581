//! Detects another figure for the same thing: "the budget is 31,500", "the budget is 35,500 now".

use super::rule_terms::{hash_of, term_hashes};
use super::word_lists::is_in;
use super::words::Sentence;

/// The numbers of a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct SentenceFigures {
    all: Vec<Figure>,
    /// The hashes of the terms that name what they are about: "the budget".
    subject: Vec<u64>,
    /// Whether the sentence has few words.
    is_short: bool,
}

#[derive(Clone, Debug)]
struct Figure {
    /// A hash of its digits.
    number: u64,
    /// Whether it has several digits, so that it hardly occurs by chance.
    is_long: bool,
    /// The hash of the term after it.
    unit: Option<u64>,
}

/// Verbs before which a sentence names what it is about.
const VERBS: &[&str] = &[
    "is", "are", "was", "were", "must", "should", "may", "can", "cannot", "can't", "has", "have", "goes",
    "went", "moved", "moves", "rose", "fell", "needs", "will", "it's", "we're", "that's",
];

/// Most words of a sentence that names nothing but a number and its unit: "it's 14 days now".
const SHORT: usize = 8;

impl SentenceFigures {
    pub fn of(sentence: &Sentence) -> SentenceFigures {
        let count = sentence.words.len();
        let Some(first) = (0..count).find(|at| sentence.is_number(*at)) else {
            return SentenceFigures::default();
        };
        let mut all = Vec::new();
        let mut at = first;
        while at < count {
            // "31,500" and "3.8" are two words.
            let end = (at..count).find(|at| !sentence.is_number(*at)).unwrap_or(count);
            if end > at {
                let digits: Vec<&str> = (at..end).map(|at| sentence.at(at)).collect();
                let digits = digits.join(" ");
                all.push(Figure {
                    number: hash_of(&digits),
                    is_long: digits.len() > 1,
                    unit: term_hashes(sentence, end..(end + 1).min(count)).first().copied(),
                });
            }
            at = end + 1;
        }
        let verb = (0..first).find(|at| is_in(VERBS, sentence.at(*at)));
        SentenceFigures {
            all,
            subject: term_hashes(sentence, 0..verb.unwrap_or(first)),
            is_short: count <= SHORT,
        }
    }

    /// The hashes of numbers that hardly occur by chance.
    pub fn numbers(&self) -> Vec<u64> {
        let long = self.all.iter().filter(|figure| figure.is_long);
        long.map(|figure| figure.number).collect()
    }

    /// Whether the figures of a sentence with a cue change those of an earlier one. `is_common` returns whether both
    /// sentences have a term.
    pub fn change(&self, earlier: &SentenceFigures, is_common: impl Fn(&u64) -> bool) -> bool {
        let is_known = |figure: &Figure| earlier.all.iter().any(|other| other.number == figure.number);
        let has_unit = |figure: &Figure| {
            figure.unit.is_some() && earlier.all.iter().any(|other| other.unit == figure.unit)
        };
        if earlier.all.is_empty() {
            return false;
        }
        let names_old = self.all.iter().any(|figure| figure.is_long && is_known(figure));
        let is_same_subject = self.subject.iter().chain(&earlier.subject).any(is_common);
        let is_same_unit = || self.is_short && self.subject.is_empty() && self.all.iter().any(has_unit);
        names_old || !self.all.iter().all(is_known) && (is_same_subject || is_same_unit())
    }
}
