//! Word patterns of standing instructions: `a|b` matches one of these words, `!a|b` any other, `*` any word, `**` up
//! to five words, `~ing` a word with that ending, `$` the end; `,a` the same after a comma.

use super::keys::{Keys, key};
use super::marks::{
    BEGIN, BEGINNINGS, DUTY, FORM_OF_MANY, IMPERATIVE, KIND, NARRATION, OF_KINDS, OF_THINGS, ONCE, PERSON,
    SMALL_TALK, TALK,
};
use super::word_lists::{AT_HAND, CONTRACTIONS, NOT_FORBIDDEN, NOT_ORDERED, REPORTED, is_in};
use super::words::Sentence;
use std::sync::LazyLock;

/// Patterns indexed by first word, because few sentences begin like any of them, without that word.
pub(super) struct Patterns {
    /// The number of each first word plus one.
    words: Keys<u32>,
    /// The patterns that begin with each.
    all: Vec<Vec<&'static str>>,
    /// The mark of each first word.
    mark: u32,
}

impl Patterns {
    pub fn of(patterns: impl Iterator<Item = &'static str>, mark: u32) -> Patterns {
        let (mut words, mut all) = (Keys::for_about(0), Vec::<Vec<_>>::new());
        for pattern in patterns {
            let (first, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
            for word in first.split('|') {
                let key = key(word.as_bytes(), 0, word.len());
                debug_assert!(key.is_some(), "{word:?} is too long");
                let Some(key) = key else { continue };
                let number = words.get_or_insert_with(key, || all.len() as u32 + 1) as usize;
                if number > all.len() {
                    all.push(Vec::new());
                }
                all[number - 1].push(rest);
            }
        }
        Patterns { words, all, mark }
    }

    /// Whether a pattern matches at a word of the sentence.
    pub fn begin_at(&self, sentence: &Sentence, at: usize) -> bool {
        let contracted = |word: &str| self.begin_with(word).any(|rest| sentence.matches(at + 2, rest));
        self.rest_at(sentence, at).is_some()
            || sentence.is(self.mark, at) && sentence.contracted(at).is_some_and(contracted)
    }

    /// What follows the first word in the first pattern that matches at a word of the sentence.
    pub fn rest_at(&self, sentence: &Sentence, at: usize) -> Option<&'static str> {
        if !sentence.is(self.mark, at) {
            return None;
        }
        self.begin_with(sentence.at(at))
            .find(|rest| sentence.matches(at + 1, rest))
    }

    /// What follows a word in the patterns that begin with it.
    fn begin_with(&self, word: &str) -> impl Iterator<Item = &'static str> {
        let number = key(word.as_bytes(), 0, word.len()).map_or(0, |key| self.words.get(key) as usize);
        let own = number.checked_sub(1).and_then(|number| self.all.get(number));
        own.into_iter().flatten().copied()
    }
}

/// Beginnings of rules, after polite words.
pub(super) static OF_RULES: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(BEGINNINGS.lines(), BEGIN));

/// Statements about all things of a kind, or about one thing for good, without a person as subject.
static DUTIES: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(OF_THINGS.lines(), DUTY));

/// Statements in the present tense about all things of a kind.
static CONVENTIONS: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(OF_KINDS.lines(), KIND));

/// Words before specific things.
const DETERMINERS: &[&str] = &[
    "the", "this", "that", "these", "those", "a", "an", "it", "them", "him", "her", "my", "his", "our",
    "your", "me", "some", "two", "three", "four", "five", "both", "more", "yes", "us", "thanks", "its",
    "their", "in", "to", "as", "with", "for", "on", "at",
];

/// Words after a kind that say which of its things are meant: "refunds over 100 euros".
const WHICH: &[&str] = &[
    "above", "below", "for", "from", "in", "of", "over", "to", "under", "with", "without",
];

/// Phrases that only sound like rules: small talk, praise, encouragement, narration.
static OF_TALK: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(SMALL_TALK.lines(), TALK));

impl Sentence {
    /// Whether the sentence is small talk and sets no rule.
    pub(super) fn is_small_talk(&self, start: usize) -> bool {
        // A limit is meant: "feel free to ask me before big changes".
        OF_TALK.begin_at(self, start) && !self.phrase() && !self.has_any(&["before", "unless", "without"])
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
            if self.is(PERSON, at) || is_in(DETERMINERS, self.at(at)) {
                return false;
            }
            // The kind is the word before the verb, or the first word of a longer name of it.
            let is_named = each
                || is_plural(self.at(at - 1)) && !self.words[at].fresh
                || is_plural(first) && (at <= start + 2 || is_in(WHICH, self.at(start + 1)));
            is_named && CONVENTIONS.begin_at(self, at)
        })
    }

    /// `we never deploy on Fridays`, `we always squash before merging`.
    fn is_habit_of_ours(&self, start: usize) -> bool {
        // What happens to somebody is not a convention.
        const HAPPENS: [&str; 8] = ["end", "find", "finish", "go", "look", "start", "wait", "work"];
        let long = usize::from(self.contracted(start + 1) == Some("don't"));
        let verb = self.at(start + long + 2);
        self.at(start) == "we"
            && (long > 0 || is_in(&["never", "always", "only", "don't"], self.at(start + 1)))
            && self.is(IMPERATIVE, start + long + 2)
            && !is_in(NOT_ORDERED, verb)
            && !is_in(&HAPPENS, verb)
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
        let is_task = || prints || writes && (start + 2..start + 5).any(for_one);
        verb && !is_task() && (plural(start + 1) || bare(start + 1) && plural(start + 2))
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
        if self.has_any(&["were", "was", "had", "been", "ran"]) {
            return false;
        }
        // "no sugar", "no mock data".
        let is_short = start == 0 && !is_zero && (2..=3).contains(&self.words.len());
        is_short || many(start + 1) || many(start + 2) && first.len() > 2 && self.words.len() <= start + 8
    }

    /// Whether a pattern matches at a word.
    pub(super) fn matches(&self, at: usize, pattern: &str) -> bool {
        let (word, rest) = first_of(pattern, b' ');
        if word.is_empty() {
            return true;
        }
        if word == "**" {
            return (1..=5).any(|many| at + many <= self.words.len() && self.matches(at + many, rest));
        }
        let word = match word.strip_prefix(',') {
            Some(_) if self.words.get(at).is_none_or(|own| !own.fresh) => return false,
            Some(word) => word,
            None => word,
        };
        let own = self.at(at);
        let is = match (word, word.strip_prefix('!'), word.strip_prefix('~')) {
            ("*", ..) => !own.is_empty(),
            (_, Some(others), _) => !own.is_empty() && !is_any(own, others),
            (_, _, Some(ending)) => own.len() > ending.len() + 1 && own.ends_with(ending),
            _ => is_any(if own.is_empty() { "$" } else { own }, word),
        };
        let contracted = || self.contracted(at).is_some_and(|own| is_any(own, word));
        is && self.matches(at + 1, rest) || word.contains('\'') && contracted() && self.matches(at + 2, rest)
    }

    /// The contraction of two words: "i'm" of "I am".
    fn contracted(&self, at: usize) -> Option<&'static str> {
        let (first, second) = (self.at(at), self.at(at + 1));
        let of = |of: &&[&str; 3]| of[1] == second && of[0] == first;
        let found = is_in(&["am", "are", "not", "would"], second).then(|| CONTRACTIONS.iter().find(of));
        found.flatten().map(|of| of[2])
    }
}

/// Whether a word looks like a plural.
pub(super) fn is_plural(word: &str) -> bool {
    let names_one = ["ss", "'s", "us", "is"].iter().any(|end| word.ends_with(end));
    word.len() > 3 && word.ends_with('s') && !names_one && !is_in(DETERMINERS, word) && !is_in(AT_HAND, word)
}

/// Whether a word is one of those that `|` separates.
fn is_any(word: &str, mut known: &str) -> bool {
    while !known.is_empty() {
        let (first, rest) = first_of(known, b'|');
        if first == word {
            return true;
        }
        known = rest;
    }
    false
}

/// The text before the first separator and the text after it. Faster than `split_once` for a few letters.
fn first_of(text: &str, separator: u8) -> (&str, &str) {
    match text.bytes().position(|byte| byte == separator) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    }
}
