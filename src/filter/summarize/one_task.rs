//! Recognizes sentences about one task or occasion, which set no rule.

use super::marks::{ONE_TIME, THIS_TIME, TODAY};
use super::word_lists::is_in;
use super::words::Sentence;

/// Usual directories of a project: `check every file in src/` is one task.
const DIRECTORIES: [&str; 4] = ["src", "lib", "tests", "docs"];

impl Sentence {
    /// `add a check that ...`, `draft me a toast, ...`: makes one thing, whose properties are not rules.
    pub(super) fn makes_one_thing(&self, at: usize) -> bool {
        let object = at + 1 + usize::from(matches!(self.at(at + 1), "me" | "us"));
        matches!(self.at(object), "a" | "an")
    }

    /// Whether the thing that a verb makes is one for each of many occasions, outside a relative clause: `add a test for every
    /// function`. One thing made of many does not count: `draw a diagram of all modules`.
    pub(super) fn is_for_each(&self, at: usize) -> bool {
        const RELATIVE: [&str; 5] = ["that", "which", "who", "whose", "where"];
        const PLACES: [&str; 13] = [
            "for", "after", "before", "per", "under", "above", "with", "in", "at", "on", "of", "to",
            "between",
        ];
        let adds = ["add", "put", "include", "leave", "attach", "append", "insert"];
        let adds = is_in(&adds, self.at(at));
        let places = if adds { &PLACES[..] } else { &PLACES[..10] };
        let is_many = |index: usize| match self.at(index) {
            "every" | "each" => true,
            "any" => adds,
            "all" => adds || self.at(index - 1) == "for",
            _ => false,
        };
        // `a page with a button for each user`, `a table of the prices at each shop`: one thing with many parts.
        let has_parts = |index: usize| match self.at(index) {
            "of" => true,
            "with" => !is_many(index + 1),
            _ => false,
        };
        (at + 2..self.words.len())
            .take_while(|index| !is_in(&RELATIVE, self.at(*index)) && (adds || !has_parts(*index)))
            .any(|index| {
                let of_these = is_in(&["of", "these", "those"], self.at(index + 1));
                is_many(index) && is_in(places, self.at(index - 1)) && !of_these
                    || is_in(&["whenever", "before"], self.at(index))
            })
    }

    /// `make the header ...`, `list every planet`, `check every line of that log`: a task on things at hand.
    pub(super) fn is_task(&self, at: usize) -> bool {
        let (verb, next) = (self.at(at), self.at(at + 1));
        let at_hand = ["the", "this", "that", "it", "these", "those"];
        let changes = [
            "make", "change", "rewrite", "replace", "convert", "rename", "turn", "compare",
        ];
        let collects = [
            "list", "find", "replace", "read", "count", "search", "fetch", "delete", "remove", "rename",
        ];
        let ordinals = ["first", "second", "third", "last", "next", "two", "three"];
        let rest = at + 2..self.words.len();
        let shortens = ["summarize", "summarise", "condense", "translate", "shorten"];
        is_in(&changes, verb) && is_in(&at_hand, next)
            || is_in(&shortens, verb)
                && is_in(&at_hand, next)
                && !self.has_any(&["every", "each", "always", "any", "whenever"])
            || is_in(&["every", "each", "all"], next)
                && (is_in(&collects, verb) && !self.has_any(&["you", "your", "i"])
                    || rest.clone().any(|index| {
                        is_in(&at_hand[1..], self.at(index)) || is_in(&DIRECTORIES, self.at(index))
                    }))
            || matches!(next, "the" | "only")
                && (at + 1..at + 4).any(|index| is_in(&ordinals, self.at(index)))
            || is_in(&["that", "this"], self.at(self.words.len().saturating_sub(2)))
    }

    /// Whether a word such as `any` or `each` belongs to a single task: "tell me if there are any", "split it ... of
    /// each", "any other".
    pub(super) fn is_of_one_task(&self, at: usize, cue: usize) -> bool {
        const OTHERS: [&str; 8] = ["more", "other", "others", "else", "of", "you", "we", ""];
        const AT_HAND: [&str; 6] = ["it", "this", "that", "these", "those", "some"];
        const ASKED: [&str; 6] = ["there", "there's", "whether", "has", "have", "had"];
        match self.at(cue) {
            "any" => is_in(&OTHERS, self.at(cue + 1)) || (at..cue).any(|index| is_in(&ASKED, self.at(index))),
            "each" => is_in(&AT_HAND, self.at(at + 1)),
            // "Every once in a while."
            "every" => is_in(&["once", "now", "so"], self.at(cue + 1)),
            // "Show only the first ten."
            "only" => {
                self.at(cue + 1) == "the" && is_in(&["first", "second", "third", "last"], self.at(cue + 2))
            }
            _ => false,
        }
    }

    /// `keep the first two lines`, `only change the last paragraph`: about things at hand.
    pub(super) fn is_of_the_first(&self, at: usize) -> bool {
        let ordinals = ["first", "second", "third", "last"];
        let near = at + 1..at + 5;
        near.clone()
            .any(|index| self.at(index) == "the" && is_in(&ordinals, self.at(index + 1)))
    }

    /// Whether the sentence is about one occasion: "don't commit yet", "only the second one this time".
    pub(super) fn is_for_one_time(&self) -> bool {
        self.has(TODAY)
            || self
                .all(THIS_TIME)
                .any(|at| ONE_TIME.iter().any(|phrase| self.has_words_at(at, phrase)))
    }

    /// `before you continue, ...`, `if the file exists, delete it`: a condition of the next step.
    pub(super) fn is_of_the_next_step(&self, at: usize) -> bool {
        let steps = ["continue", "proceed", "start", "begin", "leave", "go"];
        let next = self.at(at) == "before"
            && self.at(at + 1) == "you"
            && is_in(&steps, self.at(at + 2))
            && self.words.get(at + 3).is_some_and(|word| word.fresh);
        // "When you're done, ...", "once it works, ...", "if you find the bug, ...".
        let is_done = is_in(&["you're", "your"], self.at(at + 1))
            && is_in(&["done", "finished", "ready", "through"], self.at(at + 2))
            || self.at(at) == "once" && is_in(&["it", "that", "this"], self.at(at + 1))
            || self.has_words_at(at, "if you find the");
        let end = self.words.len();
        let of_it = is_in(&["the", "this", "that"], self.at(at + 1))
            && is_in(&["it", "this", "that", "them"], self.at(end - 1))
            && end >= 2
            && self.words[end - 2].fresh;
        next || is_done || self.at(at) == "if" && of_it
    }
}
