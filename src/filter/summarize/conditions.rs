//! Detects standing instructions with a condition or a reason: `when you ..., do ...`, `I'm on a Mac, so use ...`.

use super::forms::{DETERMINERS, is_plural};
use super::marks::{IMPERATIVE, NARRATION, ONCE, THING};
use super::one_task::{PEOPLE, PROGRAM};
use super::word_lists::{AT_HAND, CHOICES, MOMENTS, NOT_FORBIDDEN, REPORTED, is_in};
use super::words::Sentence;

/// Words of what an instruction is about on one occasion only.
const ONES: [&str; 14] = [
    "a", "an", "how", "it", "my", "that", "the", "these", "this", "those", "what", "where", "who", "why",
];

/// States of doubt.
const DOUBTS: [&str; 7] = [
    "blocked", "guessing", "sure", "certain", "stuck", "uncertain", "unsure",
];

impl Sentence {
    /// `when you ..., do ...`: a condition, a comma, an instruction.
    pub(super) fn condition(&self, at: usize) -> bool {
        let subject = self.at(at + 1);
        let conditional = match self.at(at) {
            // Before or after a specific thing means once.
            "before" | "after" => {
                is_in(&["you", "u", "i", "every", "each", "any", "all", "we"], subject)
                    || subject.ends_with("ing")
            }
            "when" | "whenever" | "if" | "unless" | "until" | "once" | "wherever" | "whatever" => true,
            "every" | "each" | "any" => subject == "time",
            "everytime" => true,
            "next" => subject == "time",
            "for" | "in" | "with" | "at" | "on" | "to" | "under" => {
                self.is_of_each(at + 1) || self.is_of_a_kind(at + 1)
            }
            "by" => subject == "default",
            "as" if self.has_words_at(at, "as soon as") => self.at(at + 3) != "possible",
            "as" => self.has_words_at(at, "as a rule") || self.has_words_at(at, "as a general rule"),
            _ => false,
        };
        let chance = [
            "have time", "get a chance", "have a moment", "have a minute", "get around to",
        ];
        if !conditional
            || self.is_for_one_time()
            || self.find(&chance).is_some()
            || self.is_of_the_next_step(at)
        {
            return false;
        }
        let mut after = at + 1..self.words.len();
        // "Before each commit run the linter": no comma, but each time.
        let each = self.is_of_each(at + 1);
        let comma = after.find(|index| {
            let begins = self.words[*index].fresh
                || each && (at + 3..at + 6).contains(index) && self.is(IMPERATIVE, *index);
            begins && self.instructs(*index)
        });
        let is_once = |index: usize| self.is(ONCE, index) && !self.has_words_at(index - 1, "as soon as");
        comma.is_some_and(|comma| {
            !(at + 1..comma).any(is_once) && !self.is_of_a_program(at, self.opening(comma))
        })
    }

    /// `warn me if a dish takes longer`, `let the players fail when they roll badly`: an instruction for whenever something of
    /// a kind happens.
    pub(super) fn reacts(&self, at: usize) -> bool {
        const FOUND_OUT: [&str; 18] = [
            "bring", "check", "compare", "confirm", "consider", "count", "decide", "describe", "determine",
            "discuss", "explain", "find", "identify", "investigate", "look", "see", "test", "verify",
        ];
        if !self.is(IMPERATIVE, at)
            || self.has(ONCE)
            || is_in(&FOUND_OUT, self.at(at))
            || is_in(&PROGRAM, self.at(at))
        {
            return false;
        }
        let is_condition = |index: &usize| is_in(&["when", "whenever", "if"], self.at(*index));
        let Some(when) = (at + 1..self.words.len()).find(is_condition) else {
            return false;
        };
        let is_kind = |index: usize| {
            self.at(index) == "the" && (is_in(&PEOPLE, self.at(index + 1)) || is_plural(self.at(index + 1)))
        };
        // "Transfer to a human".
        let is_one =
            |index: usize| is_in(&ONES, self.at(index)) && !is_kind(index) && self.at(index - 1) != "to";
        if (at + 1..when).any(is_one) || self.has_any(&["was", "were", "had", "did", "would", "there"]) {
            return false;
        }
        let verb = self.at(when + 2);
        match self.at(when + 1) {
            "a" | "an" | "any" | "someone" | "somebody" | "anyone" | "anybody" | "something" | "anything" => {
                true
            }
            "the" => is_in(&PEOPLE, verb),
            "my" => is_in(
                &[
                    "request", "question", "message", "prompt", "instructions", "argument",
                ],
                verb,
            ),
            "they" => {
                !is_in(&["want", "like", "wish", "need", "can"], verb)
                    && (at + 1..when).any(|index| is_kind(index) || is_plural(self.at(index)))
            }
            "you" => {
                let doubts = is_in(&DOUBTS, verb)
                    || is_in(&DOUBTS, self.at(when + 3))
                    || is_in(&DOUBTS, self.at(when + 4));
                doubts || is_in(&["don't", "can't", "cannot"], verb)
            }
            "you're" => is_in(&DOUBTS, verb) || is_in(&DOUBTS, self.at(when + 3)),
            subject => is_plural(subject),
        }
    }

    /// Whether the words up to the next comma refer to each of many things: `each ...`, `the end of every ...`.
    fn is_of_each(&self, at: usize) -> bool {
        let many = ["every", "each", "any", "all", "anything", "everything", "anyone"];
        let phrase = (at..self.words.len()).take_while(|index| *index == at || !self.words[*index].fresh);
        phrase.take(6).any(|index| is_in(&many, self.at(index)))
    }

    /// Whether the words up to the next comma are things of a kind, without an article: `internal memos, use ...`. What is
    /// ordered is not one thing.
    fn is_of_a_kind(&self, at: usize) -> bool {
        let end = (at + 1..self.words.len().min(at + 5)).find(|index| self.words[*index].fresh);
        end.is_some_and(|end| {
            let is_joined = |index: usize| {
                index > at && is_in(&["about", "for", "from", "in", "to", "with"], self.at(index))
            };
            let is_one = |index: usize| is_in(DETERMINERS, self.at(index)) || is_in(AT_HAND, self.at(index));
            let is_bare = (at..end).all(|index| is_joined(index) || !is_one(index));
            let one = is_in(DETERMINERS, self.at(self.opening(end) + 1));
            is_bare
                && (self.is(THING, end - 1) || is_plural(self.at(end - 1)) && !one)
                && self.at(end - 1) != "starters"
        })
    }

    /// Whether an instruction begins at an index.
    pub(super) fn instructs(&self, at: usize) -> bool {
        let from = self.opening(at);
        // "Before running anything, get my approval".
        let gets_approval =
            self.at(from) == "get" && is_in(&["my", "approval", "permission"], self.at(from + 1));
        self.is(IMPERATIVE, from) || gets_approval || self.order(from) || self.preference(from)
    }

    /// `I'm on a Mac, so no apt-get`, `we're vegetarians, so leave out the bacon`: a lasting fact and what follows from it.
    pub(super) fn is_reason(&self, start: usize) -> bool {
        const SPEAKERS: [&str; 9] = ["i", "i'm", "i've", "i'll", "we", "we're", "my", "our", "there's"];
        const AT_HAND: [&str; 13] = [
            "it", "this", "that", "them", "him", "her", "one", "first", "second", "third", "last", "next",
            "here",
        ];
        let is_setting = matches!(self.at(start), "this" | "the") && self.has_any(&["is", "are"]);
        if !is_in(&SPEAKERS, self.at(start)) && !is_setting || self.has(ONCE) {
            return false;
        }
        let last = self.words.len() - 1;
        // "..., explain things accordingly".
        let adapts = |at: usize| self.words[at].fresh && self.at(last) == "accordingly";
        let Some(so) = (start + 2..=last).find(|at| self.at(*at) == "so" || adapts(*at)) else {
            return false;
        };
        let is_past = |at: usize| self.is(NARRATION, at) && !matches!(self.at(at), "i" | "they");
        if (start + 1..so).any(|at| is_past(at) || is_in(MOMENTS, self.at(at))) {
            return false;
        }
        let from = self.opening(so);
        let next = self.at(from + 1);
        match self.at(from) {
            "no" => {
                (self.has_words_at(from, "no more than")
                    || !is_in(NOT_FORBIDDEN, next) && !is_in(REPORTED, next))
                    && !self.has_any(&["me", "us"])
            }
            "nothing" => !next.is_empty(),
            "only" => !next.is_empty(),
            "everything" => is_in(&["must", "should", "has", "needs"], next),
            _ if self.is_verbless(from) || self.ends_with_limit(from) => true,
            verb => {
                let keeps = verb == "keep" && is_in(&["it", "them"], next) && !self.at(from + 2).is_empty();
                keeps
                    || is_in(CHOICES, verb)
                        && !next.is_empty()
                        && !(from + 1..from + 4).any(|at| is_in(&AT_HAND, self.at(at)))
            }
        }
    }
}
