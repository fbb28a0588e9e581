//! Detects standing instructions with a condition: `when you ..., do ...`.

use super::forms::{DETERMINERS, is_plural};
use super::marks::{IMPERATIVE, ONCE, THING};
use super::word_lists::{AT_HAND, is_in};
use super::words::Sentence;

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
}
