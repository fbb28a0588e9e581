//! Detects standing instructions that are not imperatives: preferences, duties, requests.

use super::marks::{CUE, IMPERATIVE, MODAL, ONCE, PREFERENCE, THING};
use super::word_lists::{AT_HAND, NOT_DEMANDED, is_in};
use super::words::Sentence;

impl Sentence {
    /// `I want you to ...`, `I expect every ...`, `you must not ...`.
    pub fn preference(&self, at: usize) -> bool {
        if !self.is(PREFERENCE, at) {
            return false;
        }
        if self.is_urged(at) {
            return true;
        }
        const PREFERENCES: [&str; 13] = [
            "i want", "i only want", "i need", "i prefer", "i expect", "i would like", "i'd like",
            "i would prefer", "i'd prefer", "i'd rather", "i would rather", "i don't want", "i do not want",
        ];
        let preferences = PREFERENCES.iter().filter(|_| self.at(at).starts_with('i'));
        if let Some(preference) = preferences
            .into_iter()
            .find(|preference| self.has_words_at(at, preference))
        {
            let next = at + preference.split(' ').count();
            let that = usize::from(self.at(next) == "that");
            let object = self.at(next + that);
            let negative = preference.ends_with("not want") || preference.ends_with("don't want");
            let not_all = [
                "", "about", "by", "from", "in", "on", "ready", "that", "to", "we", "you",
            ];
            let everything = object == "everything" && !is_in(&not_all, self.at(next + that + 1));
            let all = is_in(&["you", "all", "every", "each", "no", "only"], object)
                || preference.contains("only")
                || everything;
            let known = self.has(ONCE) || self.at(next + 1) == "to" && self.at(next + 2) == "know";
            // Things at hand: "all the ingredients", "all of them", "all orders from March".
            let of_these = matches!(self.at(next + that + 1), "the" | "of" | "this" | "these");
            let at_hand = object == "all" && of_these
                || is_in(&["all", "each", "every"], object) && self.has_any(&["from"]);
            let asks = object == "you" && self.at(next + that + 1) == "to" && !preference.contains("expect");
            if asks && !negative {
                return self.asks_for_a_habit(next + that + 2) && !known;
            }
            return (all || (negative && object == "any")) && !known && !at_hand;
        }
        let names = ["agent", "ai", "assistant", "bot", "chatbot", "model"];
        let assistant = self.at(at) == "the" && is_in(&names, self.at(at + 1));
        let at = at + usize::from(assistant);
        let bound = ["not", "never", "forbidden"];
        if self.at(at) == "you're" {
            return is_in(&bound, self.at(at + 1))
                && is_in(&["to", "allowed", "permitted", "supposed"], self.at(at + 2));
        }
        if self.at(at) != "you" && !assistant {
            return false;
        }
        let next = self.at(at + 2);
        match self.at(at + 1) {
            "must" | "should" | "may" | "shall" | "can" => {
                let is_advice = self.at(at + 1) == "can" && next == "always";
                !is_advice
                    && is_in(&["not", "never", "always", "only"], next)
                    && !is_in(&["be", "have", "remember", "know"], self.at(at + 3))
                    || self.at(at + 1) != "can"
                        && self.is(IMPERATIVE, at + 2)
                        && next != "always"
                        && !is_in(NOT_DEMANDED, next)
            }
            "cannot" | "can't" | "mustn't" | "shouldn't" => {
                self.is(IMPERATIVE, at + 2) && !is_in(NOT_DEMANDED, next)
            }
            "have" | "need" => next == "to" && self.is(IMPERATIVE, at + 3) && self.is_rule(at + 3),
            "are" => {
                is_in(&bound, next) && is_in(&["to", "allowed", "permitted", "supposed"], self.at(at + 3))
            }
            _ => false,
        }
    }

    /// `... you to never ...`, `... you to answer in French`, rather than `... you to write the notes`.
    fn asks_for_a_habit(&self, at: usize) -> bool {
        is_in(
            &["not", "never", "always", "only", "be", "act", "play", "stop"],
            self.at(at),
        ) || self.manner_within(at)
            || self.is(IMPERATIVE, at) && self.is_rule(at)
    }

    /// `it is important that you never ...`, `I'd appreciate it if you always ...`: urged, for more than one
    /// occasion.
    fn is_urged(&self, at: usize) -> bool {
        const WEIGHT: [&str; 7] = [
            "important", "essential", "crucial", "vital", "critical", "imperative", "forbidden",
        ];
        let after = match self.at(at) {
            "it's" => at + 1,
            "it" if self.at(at + 1) == "is" => at + 2,
            "it'd" | "i'd" => return self.is_preference_if(at + 1),
            "it" | "i" if self.at(at + 1) == "would" => return self.is_preference_if(at + 2),
            _ => return false,
        };
        // "It is important to me that the tone stays formal".
        let lasts = |index: usize| is_in(&["stay", "stays", "remain", "remains"], self.at(index));
        let keeps = self.has_any(&["that"]) && !self.has(ONCE) && (after + 1..self.words.len()).any(lasts);
        // "It's crucial that citations follow APA".
        let things = self.at(after + 1) == "that" && self.is(THING, after + 2) && !self.has(ONCE);
        let forbids = is_in(&["forbidden", "prohibited"], self.at(after))
            && self.at(after + 1) == "to"
            && self.is(IMPERATIVE, after + 2)
            && self.has(THING);
        forbids || is_in(&WEIGHT, self.at(after)) && (keeps || things || self.is_lasting(after + 1))
    }

    /// `be great if you always ...`, `help me if you always ...`.
    fn is_preference_if(&self, at: usize) -> bool {
        let preferences = is_in(&["be", "love", "appreciate", "help", "prefer"], self.at(at));
        // "... if you kept it short", "... if you could avoid jargon".
        let keeps = |you: usize| {
            let verb = you + 1 + usize::from(self.at(you + 1) == "could");
            let stops = is_in(&["stop", "stopped"], self.at(verb)) && self.at(verb + 1).ends_with("ing");
            let not = self.at(verb) == "didn't"
                && self.is(IMPERATIVE, verb + 1)
                && !is_in(NOT_DEMANDED, self.at(verb + 1));
            stops
                || not
                || is_in(
                    &["keep", "kept", "avoid", "avoided", "stick", "stuck"],
                    self.at(verb),
                ) && !self.has(ONCE)
        };
        let mut near = at + 1..at + 4;
        preferences
            && near.any(|index| {
                self.at(index) == "if"
                    && (self.has_words_at(index + 1, "your answers")
                        || self.has_words_at(index + 1, "your replies")
                        || self.is_lasting(index + 1)
                        || self.at(index + 1) == "you" && keeps(index + 1))
            })
    }

    /// Whether the sentence refers to the reader's actions on more than one occasion.
    fn is_lasting(&self, at: usize) -> bool {
        let rest = at..self.words.len();
        let reader = rest.clone().any(|index| is_in(&["you", "your"], self.at(index)));
        reader && rest.clone().any(|index| self.is(CUE, index)) && !self.has(ONCE)
    }

    /// `every answer should ...`, `all names must ...`, `nothing ... without my ...`: a statement about all of a
    /// kind.
    pub fn duty(&self, at: usize) -> bool {
        if self.at(at) == "nothing" {
            let measure = [
                "over", "above", "under", "below", "longer", "more", "less", "except",
            ];
            return self.find(&["without my", "without asking", "unless i"]).is_some()
                || is_in(&measure, self.at(at + 1));
        }
        if !self.has(MODAL) {
            return false;
        }
        // With these words, any statement applies to each one.
        let each = is_in(&["every", "each", "any", "anything", "everything"], self.at(at))
            && self.at(at + 1) != "of";
        let is_modal = |index: usize| {
            is_in(
                &["must", "should", "shall", "may", "shouldn't", "mustn't"],
                self.at(index),
            ) || each && (is_in(&["needs", "requires"], self.at(index)) || self.has_words_at(index, "has to"))
        };
        let Some(modal) = (at + 1..self.words.len().min(at + 9)).find(|index| is_modal(*index)) else {
            return false;
        };
        // What holds elsewhere: "in Germany, shops must close".
        let clause = self.at(at) == "in"
            && (at + 2..at + 4).any(|index| self.words.get(index).is_some_and(|word| word.fresh));
        if clause && !(at + 2..modal).any(|index| self.is(THING, index) || self.at(index) == "you") {
            return false;
        }
        // A requirement of the thing to be built: "the daemon must restart", "users must never see ...".
        let is_product = self.at(at) == "the" && !self.is_of_the_work(at, modal)
            || is_in(
                &[
                    "users", "admins", "customers", "players", "clients", "visitors", "people", "kids",
                    "children", "parents", "men", "women",
                ],
                self.at(at),
            );
        if is_product {
            return false;
        }
        let may = self.at(modal) == "may" && self.at(modal + 1) != "not";
        let general = each
            || (at..modal).all(|index| !is_in(AT_HAND, self.at(index)))
            || self.is_lasting_state(at, modal);
        // What a person should have done is not a rule; what a thing should have is one.
        const PERFECT: [&str; 16] = [
            "been", "come", "done", "forgotten", "found", "gone", "got", "had", "known", "left", "lost",
            "made", "said", "seen", "taken", "told",
        ];
        let done = self.at(modal + 2);
        let has = self.at(modal + 1) == "have" && (done.ends_with("ed") || is_in(&PERFECT, done));
        // A guess: "everything should be fine", "this should never happen".
        let is_guess = self.at(modal + 1) == "be"
            && is_in(
                &["fine", "ok", "okay", "working", "green", "good"],
                self.at(modal + 2),
            )
            || self.has_words_at(modal + 1, "never happen");
        general && !may && !has && !is_guess && !self.at(modal + 1).is_empty()
    }

    /// Whether the subject of a duty is the reader's work or its style, rather than the thing that is built.
    pub(super) fn is_of_the_work(&self, at: usize, modal: usize) -> bool {
        const WORK: [&str; 35] = [
            "tone", "style", "reply", "replies", "answer", "answers", "code", "tests", "test", "total",
            "budget", "deadline", "text", "summary", "report", "poem", "speech", "letter", "article",
            "essay", "comments", "commit", "commits", "branch", "messages", "message", "build", "docs",
            "documentation", "api", "language", "output", "coverage", "title", "meals",
        ];
        (at..modal).any(|index| is_in(&WORK, self.at(index)))
    }

    /// `the tone must stay formal throughout`: about one thing, but for good.
    fn is_lasting_state(&self, at: usize, modal: usize) -> bool {
        let people = [
            "i", "he", "she", "it", "they", "we", "you", "says", "said", "told", "who",
        ];
        let lasts = ["throughout", "always", "never", "everywhere"];
        (at..modal).all(|index| !is_in(&people, self.at(index)))
            && (modal + 1..self.words.len()).any(|index| is_in(&lasts, self.at(index)))
    }

    /// `could you always ...?`
    pub fn asked(&self, at: usize) -> bool {
        let may_ask = is_in(&["can", "could", "would", "will"], self.at(at));
        let from = at + 2 + usize::from(is_in(&["please", "mind"], self.at(at + 2)));
        if may_ask && self.at(at + 1) == "we" {
            let stops = self.at(from) == "stop" && self.at(from + 1).ends_with("ing");
            return stops || is_in(&["always", "never"], self.at(from));
        }
        let asks = may_ask && self.at(at + 1) == "you";
        let lasting = [
            "each time", "every time", "in all", "in every", "from now", "in general",
        ];
        let keeps = is_in(&["keep", "keeping", "make"], self.at(from))
            && self.at(from + 1) == "your"
            && is_in(
                &["answers", "replies", "responses", "messages", "explanations"],
                self.at(from + 2),
            );
        // A question about what the reader can do: "can you always see this?".
        let able =
            is_in(NOT_DEMANDED, self.at(from + 1)) || is_in(&["hear", "tell", "find"], self.at(from + 1));
        asks && (is_in(&["always", "never", "only", "stop"], self.at(from)) && !able
            || keeps
            || self.phrase()
            || self.find(&lasting).is_some())
    }
}
