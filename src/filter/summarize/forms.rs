//! Forms of standing instructions as patterns of words: `a|b` is one of these, `!a|b` any other, `*` any word, `**` up to five, `~ing` a
//! word with that ending.

use super::instructions::Sentence;
use super::marks::{DUTY, OF_THINGS, ONCE, PERSON};
use super::vocabulary::{NOT_FORBIDDEN, is_in};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Patterns, one a line, by their first words: few sentences begin like any of them.
struct Patterns {
    by_word: HashMap<&'static str, Vec<&'static str>>,
    /// Those that begin with no word in particular.
    open: Vec<&'static str>,
}

impl Patterns {
    fn of(text: &'static str) -> Patterns {
        let mut by_word: HashMap<_, Vec<_>> = HashMap::new();
        let mut open = Vec::new();
        for pattern in text.lines() {
            let first = pattern.split(' ').next().unwrap_or_default();
            if first.starts_with(['*', '!', '~']) {
                open.push(pattern);
                continue;
            }
            for word in first.split('|') {
                by_word.entry(word).or_default().push(pattern);
            }
        }
        Patterns { by_word, open }
    }

    /// Whether one of them begins at a word of the sentence.
    fn begin_at(&self, sentence: &Sentence, at: usize) -> bool {
        let own = self.by_word.get(sentence.at(at)).into_iter().flatten();
        own.chain(&self.open).any(|pattern| sentence.matches(at, pattern))
    }
}

/// What a rule begins with, polite words aside.
static BEGINNINGS: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(include_str!("rules_begin.txt")));

/// What is said of all things of a kind, or of one for good: nobody is its subject.
static DUTIES: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(OF_THINGS));

/// Verbs of form: what they are done to in the plural, they are done to always.
const OF_FORM: &[&str] = &[
    "use",
    "write",
    "put",
    "keep",
    "name",
    "mark",
    "sort",
    "wrap",
    "spell",
    "number",
    "tag",
    "format",
    "prefix",
    "suffix",
    "cite",
    "quote",
    "round",
    "express",
    "label",
    "indent",
    "capitalise",
    "capitalize",
    "abbreviate",
    "number",
    "order",
    "phrase",
    "avoid",
];

/// What stands before things at hand.
const DETERMINERS: &[&str] = &[
    "the", "this", "that", "these", "those", "a", "an", "it", "them", "him", "her", "my", "his", "our",
    "your", "me", "some", "two", "three", "four", "five", "both", "more", "yes", "us", "thanks", "its",
    "their", "in", "to", "as", "with", "for", "on", "at",
];

/// What only sounds like a rule: small talk, praise, encouragement, what is told.
static SMALL_TALK: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(include_str!("small_talk.txt")));

impl Sentence {
    /// Whether it is small talk and sets no rule, whatever it sounds like.
    pub(super) fn is_small_talk(&self, start: usize) -> bool {
        SMALL_TALK.begin_at(self, start) && !self.phrase()
    }

    /// Whether one of the forms is there, from its first word of weight on.
    pub(super) fn has_form(&self, start: usize) -> bool {
        if self.has(ONCE) {
            return false;
        }
        BEGINNINGS.begin_at(self, start)
            || self.is_duty(start)
            || self.is_of_many(start)
            || self.forbids_many(start)
    }

    fn is_duty(&self, start: usize) -> bool {
        let subject = (start..self.words.len().min(start + 8)).take_while(|at| !self.is(PERSON, *at));
        // The first word is of the subject.
        self.has(DUTY)
            && subject
                .skip(1)
                .any(|at| self.is(DUTY, at) && DUTIES.begin_at(self, at))
    }

    /// `name branches after the ticket`: plural, and no article.
    fn is_of_many(&self, start: usize) -> bool {
        let verb = is_in(OF_FORM, self.at(start));
        let plural = |at: usize| {
            let word = self.at(at);
            word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !is_in(DETERMINERS, word)
        };
        let bare = |at: usize| !self.at(at).is_empty() && !is_in(DETERMINERS, self.at(at));
        verb && (plural(start + 1) || bare(start + 1) && plural(start + 2))
    }

    /// `no emojis`, `no function names longer than ...`.
    fn forbids_many(&self, start: usize) -> bool {
        if self.at(start) != "no" || is_in(NOT_FORBIDDEN, self.at(start + 1)) {
            return false;
        }
        let many = |at: usize| {
            let word = self.at(at);
            word.len() > 3 && (word.ends_with('s') && !word.ends_with("ss") || word.ends_with("ing"))
        };
        many(start + 1) || many(start + 2) && self.words.len() <= start + 8
    }

    /// Whether a pattern begins at a word.
    pub(super) fn matches(&self, at: usize, pattern: &str) -> bool {
        let (word, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
        if word.is_empty() {
            return true;
        }
        if word == "**" {
            return (1..=5).any(|many| at + many <= self.words.len() && self.matches(at + many, rest));
        }
        let own = self.at(at);
        let is = match (word, word.strip_prefix('!'), word.strip_prefix('~')) {
            ("*", ..) => !own.is_empty(),
            (_, Some(others), _) => !own.is_empty() && others.split('|').all(|other| other != own),
            (_, _, Some(ending)) => own.len() > ending.len() + 1 && own.ends_with(ending),
            _ => word.split('|').any(|known| known == own),
        };
        is && self.matches(at + 1, rest)
    }
}
