//! Forms of standing instructions.

use super::marks::{
    BEGIN, BEGINNINGS, DUTY, FORM_OF_MANY, IMPERATIVE, OF_THINGS, ONCE, PERSON, SMALL_TALK, TALK,
};
use super::patterns::Patterns;
use super::word_lists::{AT_HAND, MASS, is_in};
use super::words::Sentence;
use std::sync::LazyLock;

/// Beginnings of rules, after polite words.
pub(super) static OF_RULES: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(BEGINNINGS.lines(), BEGIN));

/// Statements about all things of a kind, or about one thing for good, without a person as subject.
static DUTIES: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(OF_THINGS.lines(), DUTY));

/// Words before specific things.
pub(super) const DETERMINERS: &[&str] = &[
    "the", "this", "that", "these", "those", "a", "an", "it", "them", "him", "her", "my", "his", "our",
    "your", "me", "some", "two", "three", "four", "five", "both", "more", "yes", "us", "thanks", "its",
    "their", "in", "to", "as", "with", "for", "on", "at",
];

/// Phrases that only sound like rules: small talk, praise, encouragement, narration.
static OF_TALK: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(SMALL_TALK.lines(), TALK));

impl Sentence {
    /// Whether the sentence is small talk and sets no rule.
    pub(super) fn is_small_talk(&self, start: usize) -> bool {
        // A limit is meant: "feel free to ask me before big changes".
        OF_TALK.begin_at(self, start)
            && !self.phrase()
            && !self.has_any(&["before", "unless", "whenever", "without"])
    }

    /// Whether the sentence is about what the reader does.
    pub(super) fn addresses_the_reader(&self) -> bool {
        const READER: [&str; 9] = [
            "your", "show me", "tell me", "ask me", "let me", "my name", "any file", "every reply",
            "every answer",
        ];
        let last = self.words.len().saturating_sub(1);
        self.find(&READER).is_some() || (0..last).any(|at| self.at(at) == "you")
    }

    /// Whether the sentence has one of the forms, starting at its first significant word.
    pub(super) fn has_form(&self, start: usize) -> bool {
        if self.is_for_one_time() {
            return false;
        }
        let is_once = |at: usize| at >= start && !self.has_words_at(at, "back to");
        if self.all(ONCE).any(is_once) {
            return false;
        }
        OF_RULES.begin_at(self, start) || self.is_duty(start) || self.is_of_many(start)
    }

    fn is_duty(&self, start: usize) -> bool {
        // A task with a thing: "add a check: the name must ...".
        if self.is(IMPERATIVE, start)
            && matches!(self.at(start + 1), "a" | "an" | "the" | "me" | "my" | "this")
        {
            return false;
        }
        let subject = (start..self.words.len().min(start + 8)).take_while(|at| !self.is(PERSON, *at));
        // Skip the first word, which belongs to the subject.
        self.has(DUTY)
            && subject
                .skip(1)
                .any(|at| DUTIES.begin_at(self, at) && !self.is_state_at_hand(at))
    }

    /// `name branches after the ticket`: a plural without an article.
    fn is_of_many(&self, start: usize) -> bool {
        let verb = self.is(FORM_OF_MANY, start);
        let plural = |at: usize| is_plural(self.at(at));
        let bare = |at: usize| !self.at(at).is_empty() && !is_in(DETERMINERS, self.at(at));
        // "Sort products by price and print them", "write tests for the parser".
        let last = self.words.len().saturating_sub(1);
        let prints = is_in(&["it", "them"], self.at(last))
            && is_in(
                &["list", "print", "return", "save", "send", "show"],
                self.at(last.saturating_sub(1)),
            );
        let writes = is_in(&["put", "sort", "write"], self.at(start));
        let for_one =
            |at: usize| self.at(at) == "for" && is_in(&["the", "this", "that", "my"], self.at(at + 1));
        let is_task =
            || prints || self.is_of_the_first(start) || writes && (start + 2..start + 5).any(for_one);
        // "Write dialogue without tags", "flag anything that looks like personal data".
        let is_mass = || {
            is_in(MASS, self.at(start + 1))
                && is_in(&["as", "in", "like", "with", "without"], self.at(start + 2))
                || is_in(&["anything", "everything"], self.at(start + 1))
        };
        verb && !is_task()
            && (plural(start + 1)
                || bare(start + 1) && (plural(start + 2) || bare(start + 2) && plural(start + 3))
                || is_mass())
    }
}

/// Whether a word looks like a plural.
pub(super) fn is_plural(word: &str) -> bool {
    let names_one = ["ss", "'s", "us", "is"].iter().any(|end| word.ends_with(end));
    word.len() > 3 && word.ends_with('s') && !names_one && !is_in(DETERMINERS, word) && !is_in(AT_HAND, word)
}
