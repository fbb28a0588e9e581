//! Forms of standing instructions.

use super::marks::{
    BEGIN, BEGINNINGS, DUTY, FORM_OF_MANY, IMPERATIVE, KIND, NARRATION, OF_KINDS, OF_THINGS, OF_WORK, ONCE,
    PERSON, SMALL_TALK, TALK, THING,
};
use super::patterns::{Patterns, contracted};
use super::word_lists::{AT_HAND, MASS, NOT_FORBIDDEN, NOT_ORDERED, REPORTED, is_in};
use super::words::Sentence;
use std::sync::LazyLock;

/// Beginnings of rules, after polite words.
pub(super) static OF_RULES: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(BEGINNINGS.lines(), BEGIN));

/// Statements about all things of a kind, or about one thing for good, without a person as subject.
static DUTIES: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(OF_THINGS.lines(), DUTY));

/// Statements in the present tense about all things of a kind.
static CONVENTIONS: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(OF_KINDS.lines(), KIND));

/// Statements in the present tense about all things of a kind that the reader makes or handles.
static OF_THE_WORK: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(OF_WORK.lines(), KIND));

/// Words before specific things.
pub(super) const DETERMINERS: &[&str] = &[
    "the", "this", "that", "these", "those", "a", "an", "it", "them", "him", "her", "my", "his", "our",
    "your", "me", "some", "two", "three", "four", "five", "both", "more", "yes", "us", "thanks", "its",
    "their", "in", "to", "as", "with", "for", "on", "at",
];

/// Words after a kind that say which of its things are meant: "refunds over 100 euros".
const WHICH: &[&str] = &[
    "about", "above", "after", "before", "below", "for", "from", "in", "of", "over", "to", "under", "with",
    "without",
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

    /// Whether the sentence has one of the forms, starting at its first significant word.
    pub(super) fn has_form(&self, start: usize) -> bool {
        if self.is_for_one_time() {
            return false;
        }
        let is_once = |at: usize| at >= start && !self.has_words_at(at, "back to");
        let steps = |at: usize| self.at(at) == "then" && self.words[at].fresh;
        if self.all(ONCE).any(|at| is_once(at) && !steps(at)) {
            return false;
        }
        // "Constants come first, then types" is a rule, "write tests, then run them" a task.
        if self.all(ONCE).any(is_once) {
            return self.is_convention(start);
        }
        OF_RULES.begin_at(self, start)
            || self.is_duty(start)
            || self.is_convention(start)
            || self.is_habit_of_ours(start)
            || self.is_of_many(start)
            || self.forbids_many(start)
    }

    /// `tests go next to the code`, `all SQL goes through the builder`, `errors start with a lower-case letter`: a statement in
    /// the present tense about all things of a kind.
    fn is_convention(&self, start: usize) -> bool {
        let each = is_in(&["every", "each", "all", "any", "anything"], self.at(start));
        let first = self.at(start + usize::from(each));
        if !self.has(KIND)
            || self
                .all(NARRATION)
                .any(|at| self.at(at) != "they" || at < start + 4)
            || is_in(AT_HAND, self.at(start))
            || self.at(start + 1) == "of"
        {
            return false;
        }
        (start + 1..self.words.len().min(start + 5)).any(|at| {
            if !self.is(KIND, at) || self.is(PERSON, at) || is_in(DETERMINERS, self.at(at)) {
                return false;
            }
            // The kind is the word before the verb, or the first word of a longer name of it.
            let is_work = self.is(THING, at - 1) || self.is(THING, start);
            let is_many = |word: &str| is_plural(word) || is_work && word.ends_with('s') || is_in(MASS, word);
            let is_named = each
                || is_many(self.at(at - 1)) && !self.words[at].fresh
                || is_many(first) && (at <= start + 2 || is_in(WHICH, self.at(start + 1)));
            is_named
                && (CONVENTIONS.begin_at(self, at)
                    || is_work && (OF_THE_WORK.begin_at(self, at) || self.is_written_as(at)))
        })
    }

    /// `we never deploy on Fridays`, `we always squash before merging`, `we write tests with pytest`.
    fn is_habit_of_ours(&self, start: usize) -> bool {
        // What happens to somebody is not a convention.
        const HAPPENS: [&str; 8] = ["end", "find", "finish", "go", "look", "start", "wait", "work"];
        let long = usize::from(contracted(self, start + 1) == Some("don't"));
        let verb = self.at(start + long + 2);
        let firm = long > 0 || is_in(&["never", "always", "only", "don't"], self.at(start + 1));
        // "We name branches after the ticket".
        let names_many = || {
            self.is(IMPERATIVE, start + 1)
                && self.is(THING, start + 2)
                && is_plural(self.at(start + 2))
                && is_in(
                    &["after", "as", "by", "from", "in", "like", "per", "under", "with"],
                    self.at(start + 3),
                )
        };
        self.at(start) == "we"
            && (firm
                && self.is(IMPERATIVE, start + long + 2)
                && !is_in(NOT_ORDERED, verb)
                && !is_in(&HAPPENS, verb)
                || names_many())
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

    /// `no emojis`, `no function names longer than ...`.
    pub(super) fn forbids_many(&self, start: usize) -> bool {
        let is_zero = self.at(start) == "zero";
        if self.at(start) != "no" && !is_zero {
            return false;
        }
        let first = self.at(start + 1);
        let is_answer = self.words.get(start + 1).is_some_and(|word| word.fresh);
        if is_answer || is_in(NOT_FORBIDDEN, first) || is_in(REPORTED, first) {
            return false;
        }
        let many = |at: usize| {
            let word = self.at(at);
            let plural = word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("'s");
            word.len() > 3 && (plural || word.ends_with("ing"))
        };
        // A report: "no tests were run".
        if self.has_any(&[
            "were", "was", "had", "been", "ran", "left", "available", "found", "remaining",
        ]) {
            return false;
        }
        // "no sugar", "no mock data".
        let is_short = start == 0 && !is_zero && (2..=3).contains(&self.words.len());
        // "No commented-out code in commits".
        let last = self.words.len() - 1;
        let in_many = self.is(THING, last)
            && many(last)
            && last > start + 2
            && is_in(&["for", "from", "in", "on"], self.at(last - 1));
        is_short
            || in_many
            || many(start + 1)
            || many(start + 2) && first.len() > 2 && self.words.len() <= start + 8
    }
}

/// Whether a word looks like a plural.
pub(super) fn is_plural(word: &str) -> bool {
    let names_one = ["ss", "'s", "us", "is"].iter().any(|end| word.ends_with(end));
    word.len() > 3 && word.ends_with('s') && !names_one && !is_in(DETERMINERS, word) && !is_in(AT_HAND, word)
}
