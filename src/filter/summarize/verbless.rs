//! Detects standing instructions without a verb: `comments in English`, `more examples, less theory`.

use super::forms::{DETERMINERS, is_plural};
use super::marks::{ANSWER, IMPERATIVE, PERSON, THING};
use super::word_lists::{AT_HAND, CLOSINGS, CONTENTS, EXTRAS, STYLES, VALUES, is_in};
use super::words::Sentence;

/// Most words of a sentence without a verb.
const MOST: usize = 10;

/// Words that compare amounts.
const AMOUNTS: [&str; 3] = ["more", "less", "fewer"];

impl Sentence {
    /// Whether the sentence is an order without a verb, starting at its first significant word.
    pub(super) fn is_verbless(&self, start: usize) -> bool {
        let end = self.words.len();
        !self.is_for_one_time()
            && end <= start + MOST
            && !is_in(AT_HAND, self.at(start))
            && (self.is_style_alone(start)
                || self.names_a_manner(start)
                || self.weighs_amounts(start)
                || self.is_everywhere(start)
                || self.is_all_there_is(start)
                || self.is(THING, start) && self.has_words_at(start + 1, "first then")
                || self.is_on_each(start)
                || self.is_value_for_many(start)
                || self.is_labelled(start)
                || self.ends_with_limit(start))
            || self.contrasts(start)
    }

    /// `British spelling, please`, `metric units only`: requests a style.
    fn is_style_alone(&self, start: usize) -> bool {
        let last = self.words.len().saturating_sub(1);
        let asks = is_in(&["please", "pls", "only"], self.at(last));
        // "Salt-free, please".
        last == start + 1 && asks && self.at(start).ends_with("-free")
            || (start + 2..start + 4).contains(&last)
                && asks
                && is_in(STYLES, self.at(last - 1))
                && !is_in(&["in", "with", "without", "one", "two", "three"], self.at(start))
                && !self.is(IMPERATIVE, start)
    }

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

    /// `... are in euros`, `... are snake_case`, `... are lower case`.
    pub(super) fn is_written_as(&self, verb: usize) -> bool {
        let value = self.at(verb + 1);
        // "Prices are lower".
        let compares = is_in(&["lower", "upper", "points", "title"], value) && self.at(verb + 2) != "case";
        let is_value = is_in(VALUES, value) || self.is(ANSWER, verb + 1);
        is_in(&["is", "are"], self.at(verb)) && (is_value && !compares || self.is_value_of(verb))
    }

    /// `double quotes for strings`, `spaces around operators, please`.
    fn is_value_for_many(&self, start: usize) -> bool {
        let is_place = |at: &usize| {
            is_in(
                &["after", "around", "before", "between", "for", "in"],
                self.at(*at),
            )
        };
        (start + 1..start + 3).find(is_place).is_some_and(|at| {
            let is_value = is_in(VALUES, self.at(at - 1)) || self.is(ANSWER, at - 1);
            let ends = |noun: usize| is_plural(self.at(noun)) && self.ends_clause(noun + 1);
            is_value && (ends(at + 1) || ends(at + 2) && !is_in(DETERMINERS, self.at(at + 1)))
        })
    }

    /// `type annotations on all public methods`, `captions under every image`.
    fn is_on_each(&self, start: usize) -> bool {
        let last = self.words.len().saturating_sub(1);
        let is_prep = |at: &usize| is_in(&["above", "before", "for", "on", "under", "with"], self.at(*at));
        (start + 1..start + 4).find(is_prep).is_some_and(|at| {
            is_plural(self.at(at - 1))
                && is_in(&["all", "every", "each"], self.at(at + 1))
                && self.is(THING, last)
                && (at + 2..at + 5).contains(&last)
                && (at == start + 2 || !self.is(IMPERATIVE, start))
        })
    }

    /// `titles: max 60 characters`, `tone: friendly`: a label and what holds for it.
    fn is_labelled(&self, start: usize) -> bool {
        const LABELS: [&str; 9] = [
            "audience", "currency", "format", "language", "length", "spelling", "style", "tone", "units",
        ];
        const LIMITS: [&str; 10] = [
            "always", "at", "max", "maximum", "min", "minimum", "never", "only", "under", "up",
        ];
        let ends = |at: usize| self.words.get(at).is_some_and(|word| word.fresh);
        let of_things = |at: usize| ends(at) && self.is(THING, at - 1) && is_in(&LIMITS, self.at(at));
        is_in(&LABELS, self.at(start)) && ends(start + 1) && !is_in(CLOSINGS, self.at(start + 1))
            || of_things(start + 1)
            || of_things(start + 2)
    }

    /// `three items at most`, `two exclamation marks max`: up to the end of the sentence.
    pub(super) fn ends_with_limit(&self, start: usize) -> bool {
        const NUMBERS: [&str; 5] = ["one", "two", "three", "four", "five"];
        let (first, last) = (self.at(start), self.words.len().saturating_sub(1));
        let is_number = is_in(&NUMBERS, first) || first.starts_with(|digit: char| digit.is_ascii_digit());
        let is_limit = is_in(&["max", "maximum", "tops"], self.at(last))
            || self.has_words_at(last.saturating_sub(1), "at most");
        is_number && is_limit && (start + 2..start + 6).contains(&last)
    }

    /// Whether a clause ends before an index, or with a closing word: "please", "only".
    fn ends_clause(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.fresh)
            || is_in(CLOSINGS, self.at(at))
            || is_in(&["and", "but", "unless"], self.at(at))
    }

    /// `more examples, less theory`.
    fn weighs_amounts(&self, start: usize) -> bool {
        let second = start + 2..self.words.len().min(start + 5);
        let differs =
            |at: usize| is_in(&AMOUNTS, self.at(at)) && (self.at(at) == "more") != (self.at(start) == "more");
        is_in(&AMOUNTS, self.at(start))
            && second.into_iter().any(|at| self.words[at].fresh && differs(at))
            && (self.has_any(EXTRAS) || self.has_any(CONTENTS))
    }

    /// `type hints everywhere, please`.
    fn is_everywhere(&self, start: usize) -> bool {
        let closing = |at: usize| {
            self.has_words_at(at, "on everything")
                || is_in(&["everywhere", "throughout", "always"], self.at(at))
        };
        let last = self.words.len().saturating_sub(1);
        // "Bugs everywhere, please help".
        let asks =
            is_in(&["please", "pls"], self.at(last)) || self.at(last) == "always" && self.words[last].fresh;
        asks && !self.is(IMPERATIVE, start) && !self.has(PERSON) && (start + 1..self.words.len()).any(closing)
    }

    /// `English only`, `bullet points only, please`.
    fn is_all_there_is(&self, start: usize) -> bool {
        const OTHERS: [&str; 18] = [
            "adults", "cash", "first", "good", "guests", "kids", "last", "members", "not", "one", "ones",
            "part", "residents", "room", "second", "staff", "time", "two",
        ];
        let Some(only) = (start + 1..start + 4).find(|at| self.at(*at) == "only") else {
            return false;
        };
        let is_part = |at: usize| {
            let word = self.at(at);
            is_in(&OTHERS, word) || self.is(PERSON, at) || word.ends_with("ed")
        };
        let is_number = self.at(start).starts_with(|first: char| first.is_ascii_digit());
        self.ends_clause(only + 1)
            && !is_number
            && !(start..only).any(is_part)
            && (only == start + 1 || !self.is(IMPERATIVE, start))
    }

    /// `plain text, no markdown`, `tabs, not spaces`, `bullet points rather than paragraphs`.
    fn contrasts(&self, start: usize) -> bool {
        let end = self.words.len();
        let Some(other) = (start + 1..end.min(start + 6)).find(|at| {
            self.words[*at].fresh && is_in(&["no", "not"], self.at(*at))
                || self.has_words_at(*at, "rather than")
                || self.has_words_at(*at, "instead of")
        }) else {
            return false;
        };
        if (start..other).any(|at| self.is(PERSON, at) || self.at(at).ends_with("ed")) {
            return false;
        }
        match self.at(other) {
            "no" => is_in(EXTRAS, self.at(other + 1)),
            word => {
                let next = other + if word == "not" { 1 } else { 2 };
                other <= start + 2
                    && !self.is(IMPERATIVE, start)
                    && !is_in(AT_HAND, self.at(start))
                    && is_plural(self.at(other - 1))
                    && is_plural(self.at(end - 1))
                    && (next..next + 2).contains(&(end - 1))
            }
        }
    }
}
