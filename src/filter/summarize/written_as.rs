//! Detects how things of a kind are written: `comments in English`, `amounts in thousands of euros`.

use super::forms::is_plural;
use super::marks::{ANSWER, IMPERATIVE, THING};
use super::word_lists::{AT_HAND, CLOSINGS, VALUES, is_in};
use super::words::Sentence;

impl Sentence {
    /// `comments in English`, `function names in camelCase, please`, `amounts in thousands of euros`: how all of a kind are
    /// written.
    pub(super) fn names_a_manner(&self, start: usize) -> bool {
        if matches!(self.at(start), "everything" | "all") && self.at(start + 1) == "in" {
            return self.is_value_of(start);
        }
        // "Works with tables", "Bob sings in French".
        let verbs = [
            "comes", "ends", "finishes", "goes", "looks", "plays", "runs", "sings", "speaks", "starts",
            "talks", "works",
        ];
        let is_kind = |at: &usize| is_plural(self.at(*at)) && !is_in(&verbs, self.at(*at));
        let Some(noun) = (start..start + 3).find(is_kind) else {
            return false;
        };
        // A name of a kind may begin with a word that is also a verb: "log messages".
        let verbs = ["commit", "date", "file", "link", "log", "query", "test"];
        let is_named = !self.is(IMPERATIVE, start) || noun > start && is_in(&verbs, self.at(start));
        let places = ["after", "before", "for", "from", "under", "until", "within"];
        if is_named && self.at(noun + 1) == "only" && is_in(&places, self.at(noun + 2)) {
            return true;
        }
        // "Numbers below ten as words".
        let limits = is_in(&["above", "below", "over", "under"], self.at(noun + 1));
        is_named && (self.is_value_of(noun) || limits && self.is_value_of(noun + 2))
    }

    /// Whether a value with which texts are written follows the word at an index.
    pub(super) fn is_value_of(&self, noun: usize) -> bool {
        // "Sentences no longer than 20 words", "chapters of about 2000 words".
        const UNITS: [&str; 7] = [
            "bullets", "characters", "lines", "pages", "paragraphs", "sentences", "words",
        ];
        let has_unit = || (noun + 3..noun + 8).any(|at| is_in(&UNITS, self.at(at)));
        let is_limited = (is_in(&["below", "under", "within"], self.at(noun + 1)) && self.is(THING, noun)
            || self.at(noun + 1) == "no" && self.at(noun + 3) == "than"
            || self.at(noun + 1) == "of" && is_in(&["about", "around", "at", "up"], self.at(noun + 2)))
            && has_unit();
        if is_limited || !is_in(&["in", "as", "with"], self.at(noun + 1)) {
            return is_limited;
        }
        // "Sources as footnotes, please".
        if self.at(noun + 1) == "as"
            && is_plural(self.at(noun + 2))
            && is_in(&["please", "pls"], self.at(noun + 3))
        {
            return true;
        }
        let is_value = |at: &usize| self.is(ANSWER, *at) || is_in(VALUES, self.at(*at));
        let values = noun + 2..noun + 6;
        let Some(value) = values.rev().find(is_value) else {
            return false;
        };
        self.ends_clause(value + 1) && (noun + 2..value).all(|at| !is_in(AT_HAND, self.at(at)))
    }

    /// Whether a clause ends before an index, or with a closing word: "please", "only".
    fn ends_clause(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.fresh)
            || is_in(CLOSINGS, self.at(at))
            || is_in(&["and", "but", "unless"], self.at(at))
    }
}
