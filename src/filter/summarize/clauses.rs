//! Splits a rule into the clauses that later sentences can change one by one: "call me Jo" and "never mention my age".

use super::marks::{IMPERATIVE, PASS, PERSON, THING};
use super::revoking::NEGATIONS;
use super::word_lists::is_in;
use super::words::Sentence;
use std::ops::Range;

/// Words that join clauses and items of a list.
const JOINING: &[&str] = &["and", "or", "nor", "but", "plus"];

/// Words with which an order begins, if no imperative does.
const ORDERING: &[&str] = &["always", "never", "don't", "dont", "do", "no", "only", "avoid"];

/// Words that begin a condition.
const CONDITIONS: &[&str] = &[
    "after", "as", "at", "before", "for", "if", "in", "once", "on", "unless", "until", "when", "whenever",
    "while",
];

/// Most words of an item in a list.
const ITEM: usize = 3;

/// A clause of a sentence.
struct Clause {
    words: Range<usize>,
    /// Whether a negation of the clause before it applies to it: "never push or force".
    is_negated: bool,
}

impl Sentence {
    /// The clauses of a rule without reasons, each with the negation that applies to it; none if the rule is one clause
    /// without a reason.
    pub(super) fn clauses(&self) -> Vec<String> {
        let count = self.words.len();
        let opening = self.opening(0);
        // A comma after a condition begins the order.
        let order = match is_in(CONDITIONS, self.at(opening)) {
            true => (opening + 1..count).find(|at| self.words[*at].fresh),
            false => Some(opening),
        };
        let mut clauses: Vec<Clause> = Vec::new();
        // Where the current clause begins, unless the words are a reason, and whether a negation applies to it.
        let (mut start, mut is_negated) = (Some(0), false);
        let mut at = order.unwrap_or(count) + 1;
        while at < count {
            let is_reason = start.is_some() && self.is_reason(at);
            let is_clause = |begin: &usize| start.is_some() && !is_reason || self.orders(*begin);
            let begin = self.clause_after(at).filter(is_clause);
            if !is_reason && begin.is_none() {
                at += 1;
                continue;
            }
            // "Don't guess, and cite sources".
            let begins_anew = |begin: usize| {
                is_in(ORDERING, self.at(begin))
                    || self.is(IMPERATIVE, begin) && self.words[at].fresh && !self.is_item(at)
            };
            let negates = start.is_some_and(|start| self.negates(start..at)) || is_negated;
            clauses.extend(start.map(|start| Clause {
                words: start..at,
                is_negated,
            }));
            is_negated = negates && !is_reason && begin.is_some_and(|begin| !begins_anew(begin));
            (start, at) = (begin, begin.unwrap_or(at) + 1);
        }
        clauses.extend(start.map(|start| Clause {
            words: start..count,
            is_negated,
        }));
        clauses.retain(|clause| clause.words != (0..count));
        clauses.iter().map(|clause| self.text_of(clause)).collect()
    }

    /// The index of the verb with which an order begins.
    pub(super) fn verb(&self) -> Option<usize> {
        let opening = self.opening(0);
        let mut words = opening..self.words.len();
        let at = words.find(|at| !is_in(ORDERING, self.at(*at)) && self.at(*at) != "not")?;
        self.is(IMPERATIVE, at).then_some(at)
    }

    fn negates(&self, mut words: Range<usize>) -> bool {
        words.any(|at| is_in(NEGATIONS, self.at(at)))
    }

    fn text_of(&self, clause: &Clause) -> String {
        let mut text = String::from(if clause.is_negated { "never" } else { "" });
        for at in clause.words.clone() {
            text.push_str(if self.words[at].fresh && at > clause.words.start {
                ", "
            } else {
                " "
            });
            text.push_str(self.at(at));
        }
        text
    }

    /// Whether the reason of a rule begins at an index: "because she is ill", ", my team reads it".
    fn is_reason(&self, at: usize) -> bool {
        const STATES: &[&str] = &[
            "is", "are", "was", "were", "has", "have", "hates", "likes", "loves", "needs", "wants",
        ];
        let is_person = self.is(PERSON, at) && !is_in(&["if", "when", "where"], self.at(at));
        let is_comment = is_person || is_in(&["since", "as"], self.at(at)) || is_in(STATES, self.at(at + 1));
        self.at(at) == "because" || self.words[at].fresh && is_comment
    }

    /// Where the clause begins that a conjunction or a comma at an index separates from the words before.
    fn clause_after(&self, at: usize) -> Option<usize> {
        if is_in(JOINING, self.at(at)) {
            let begin = (at + 1..self.words.len()).find(|next| !self.is(PASS, *next))?;
            let is_statement = self.is(PERSON, begin) && !is_in(&["my", "his", "her"], self.at(begin));
            return (!is_statement && self.at(begin) != "not").then_some(begin);
        }
        // "Message in imperative".
        let names_a_manner = || self.is(THING, at) && is_in(&["in", "as", "with"], self.at(at + 1));
        let begins = self.words[at].fresh && (self.orders(at) || names_a_manner() || self.is_item(at));
        begins.then_some(at)
    }

    fn orders(&self, at: usize) -> bool {
        self.is(IMPERATIVE, at) || is_in(ORDERING, self.at(at))
    }

    /// Whether the words after a comma are an item of a list: "emojis, slang or tables".
    fn is_item(&self, at: usize) -> bool {
        let ends = |at: &usize| self.words[*at].fresh || is_in(&["and", "or"], self.at(*at));
        match (at + 1..self.words.len().min(at + 1 + ITEM)).find(ends) {
            Some(next) if is_in(&["and", "or"], self.at(next)) => true,
            Some(next) => self.is_item(next),
            None => false,
        }
    }
}
