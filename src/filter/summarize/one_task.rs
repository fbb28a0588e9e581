//! Recognizes sentences about one task or occasion, and those that repeat what others demand: they set no rule.

use super::forms::{OF_RULES, is_plural};
use super::marks::{CLAIM, CUE, MODAL, ONE_TIME, THIS_TIME, TODAY};
use super::patterns::Patterns;
use super::word_lists::{FIRST_PERSON, is_in};
use super::words::Sentence;
use std::sync::LazyLock;

/// Phrases about one occasion.
static OF_ONE_TIME: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(ONE_TIME.into_iter(), THIS_TIME));

/// What a rule holds for.
pub(super) const SESSIONS: &[&str] = &[
    "session", "project", "conversation", "convo", "chat", "thread", "discussion", "repository", "repo",
    "codebase",
];

/// What a prohibition holds for, too.
const KEPT_APART: &[&str] = &[
    "api", "branch", "class", "contract", "crate", "database", "directory", "file", "folder", "function",
    "interface", "library", "machine", "module", "package", "report", "server", "table",
];

/// Usual directories of a project: `check every file in src/` is one task.
const DIRECTORIES: [&str; 4] = ["src", "lib", "tests", "docs"];

/// Verbs of one task: they change a thing that is already there.
pub(super) const CHANGED: [&str; 9] = [
    "change", "compare", "convert", "make", "rename", "replace", "rewrite", "translate", "turn",
];

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
        if self.recurs() {
            return true;
        }
        (at + 2..self.words.len())
            .take_while(|index| !is_in(&RELATIVE, self.at(*index)) && (adds || !has_parts(*index)))
            .any(|index| {
                let of_these = is_in(&["of", "these", "those"], self.at(index + 1));
                is_many(index) && is_in(places, self.at(index - 1)) && !of_these
                    || is_in(&["whenever", "before"], self.at(index))
            })
    }

    /// `send me a list of the costs after every step`: on many occasions.
    pub(super) fn recurs(&self) -> bool {
        const OCCASIONS: [&str; 12] = [
            "before every", "before each", "after every", "after each", "each time", "every time",
            "whenever", "at every", "at each", "end of every", "end of each", "on every",
        ];
        self.has(CUE) && self.find(&OCCASIONS).is_some()
    }

    /// `make the header ...`, `list every planet`, `check every line of that log`: a task on things at hand.
    pub(super) fn is_task(&self, at: usize) -> bool {
        if self.recurs() {
            return false;
        }
        let (verb, next) = (self.at(at), self.at(at + 1));
        let at_hand = ["the", "this", "that", "it", "these", "those"];
        let collects = [
            "list", "find", "replace", "read", "count", "search", "fetch", "delete", "remove", "rename",
            "compare", "update", "verify", "convert", "fix", "open", "move", "merge",
        ];
        let ordinals = ["first", "second", "third", "last", "next", "two", "three"];
        let rest = at + 2..self.words.len();
        let shortens = ["summarize", "summarise", "condense", "translate", "shorten"];
        // "Go through every file".
        is_in(&["go", "look", "walk"], verb)
            || is_in(&["check", "confirm", "verify"], verb) && is_in(&["that", "if", "whether"], next)
            || is_in(&CHANGED, verb) && is_in(&at_hand, next)
            || is_in(&shortens, verb)
                && is_in(&at_hand, next)
                && !self.has_any(&["every", "each", "always", "any", "whenever"])
            || is_in(&["every", "each", "all"], next)
                && (is_in(&collects, verb) && !self.has_any(&["you", "your", "i"])
                    || rest.clone().any(|index| {
                        is_in(&at_hand[1..], self.at(index)) || is_in(&DIRECTORIES, self.at(index))
                    }))
            || self.is_of_the_first(at)
            || next == "only" && (at + 1..at + 4).any(|index| is_in(&ordinals, self.at(index)))
            || self.ends_with_this_one()
            || self.ends_with_a_file()
    }

    /// `... in utils.py`: about one file.
    fn ends_with_a_file(&self) -> bool {
        const EXTENSIONS: [&str; 12] = [
            "c", "cpp", "csv", "go", "html", "java", "js", "json", "md", "py", "rs", "ts",
        ];
        let end = self.words.len();
        end > 4
            && is_in(EXTENSIONS.as_slice(), self.at(end - 1))
            && is_in(&["in", "from", "of"], self.at(end - 3))
    }

    /// `... this email`: about one thing, rather than about the whole session.
    pub(super) fn ends_with_this_one(&self) -> bool {
        let end = self.words.len();
        end > 1 && is_in(&["that", "this"], self.at(end - 2)) && !is_in(SESSIONS, self.at(end - 1))
    }

    /// `... that button`, `... it`: a prohibition from a verb on that concerns one thing. A condition or a lasting thing
    /// makes it a rule: "don't modify this file".
    pub(super) fn forbids_one_thing(&self, verb: usize) -> bool {
        if self.has_any(&["before", "each", "every", "unless", "without"]) {
            return false;
        }
        // The sentence may name what `them` means: "the tests are the spec, don't change them".
        let named = verb > 3;
        let is_it = |index: usize| {
            is_in(&["it", "that", "this"], self.at(index)) || !named && self.at(index) == "them"
        };
        let ends = |index: usize| self.words.get(index).is_none_or(|word| word.fresh);
        let lasts = |index: usize| is_in(KEPT_APART, self.at(index)) || is_in(SESSIONS, self.at(index));
        let names_one = is_in(&["that", "this"], self.at(verb + 1)) && ends(verb + 3) && !lasts(verb + 2);
        (verb + 1..verb + 3).any(|index| is_it(index) && ends(index + 1))
            || names_one
            || self.ends_with_this_one() && !lasts(self.words.len() - 1)
    }

    /// Whether a word such as `any` or `each` belongs to a single task: "tell me if there are any", "split it ... of
    /// each", "any other".
    pub(super) fn is_of_one_task(&self, at: usize, cue: usize) -> bool {
        const OTHERS: [&str; 8] = ["more", "other", "others", "else", "of", "you", "we", ""];
        const AT_HAND: [&str; 6] = ["it", "this", "that", "these", "those", "some"];
        const ASKED: [&str; 6] = ["there", "there's", "whether", "has", "have", "had"];
        // "Each of the three functions".
        let of_these =
            self.at(cue + 1) == "of" && is_in(&["the", "these", "those", "them"], self.at(cue + 2));
        match self.at(cue) {
            "each" | "every" | "all" if of_these => true,
            "any" => is_in(&OTHERS, self.at(cue + 1)) || (at..cue).any(|index| is_in(&ASKED, self.at(index))),
            "each" => {
                self.at(cue - 1) != "before" && (is_in(&AT_HAND, self.at(at + 1)) || self.lists(at, cue))
            }
            // "Every once in a while."
            "every" => {
                self.lists(at, cue)
                    || is_in(
                        &["once", "now", "so", "other", "second", "third"],
                        self.at(cue + 1),
                    )
            }
            // "Show only the first ten."
            "only" => {
                let shows = is_in(
                    &["show", "print", "list", "give", "return", "display"],
                    self.at(at),
                );
                self.at(cue + 1) == "the"
                    && (shows || is_in(&["first", "second", "third", "last"], self.at(cue + 2)))
            }
            _ => false,
        }
    }

    /// `show the total for every month`: about many things at hand.
    fn lists(&self, at: usize, cue: usize) -> bool {
        let lists = [
            "list", "show", "print", "plot", "count", "calculate", "compare", "find", "draw",
        ];
        let places = ["for", "from", "in", "of"];
        is_in(&lists, self.at(at)) && is_in(&places, self.at(cue - 1)) && !self.has_any(&["you", "your"])
    }

    /// `keep the first two lines`, `only change the last paragraph`: about things at hand.
    pub(super) fn is_of_the_first(&self, at: usize) -> bool {
        let ordinals = ["first", "second", "third", "last", "next", "two", "three"];
        let near = at + 1..at + 5;
        let is_first = |index: usize| {
            self.at(index) == "the" && is_in(&ordinals, self.at(index + 1)) && self.at(index + 2) != "time"
        };
        // "Avoid that word in the second paragraph".
        let parts = [
            "paragraph", "line", "sentence", "column", "row", "section", "chapter", "half", "part", "page",
            "slide",
        ];
        let is_part = |index: usize| is_first(index) && is_in(&parts, self.at(index + 2));
        near.clone().any(is_first)
            || !self.has_any(&["each", "every", "any", "all"]) && (at..self.words.len()).any(is_part)
    }

    /// Whether the sentence is about one occasion: "don't commit yet", "only the second one this time".
    pub(super) fn is_for_one_time(&self) -> bool {
        self.has(TODAY) || self.all(THIS_TIME).any(|at| OF_ONE_TIME.begin_at(self, at))
    }

    /// `keep the title`, `keep the old one`: without a manner.
    pub(super) fn keeps_one_thing(&self, at: usize) -> bool {
        let ends = |index: &usize| self.words[*index].fresh || is_in(&["but", "and"], self.at(*index));
        let end = (at + 1..self.words.len()).find(ends).unwrap_or(self.words.len());
        let things = ["one", "ones", "version", "seat", "file", "name", "paragraph"];
        // "Keep only the rows where ...".
        self.has_words_at(at, "only the")
            || self.at(at) == "the" && (end <= at + 2 || end == at + 3 && is_in(&things, self.at(at + 2)))
    }

    /// `make sure the door is closed`: about one thing, which is not the reader's work.
    pub(super) fn is_sure_of_one(&self, at: usize) -> bool {
        let the = at + usize::from(self.at(at) == "that");
        let noun = the + 1..the + 4;
        matches!(self.at(the), "the" | "this" | "none" | "both")
            && !self.has(CUE)
            && !noun.clone().any(|index| is_plural(self.at(index)))
            && !self.is_of_the_work(the, noun.end)
    }

    /// Whether the sentence reports what others demand: "according to the landlord, ...", "Bob claims ...".
    pub(super) fn is_attributed(&self) -> bool {
        let from = self.opening(0);
        // What a client insists on binds, too.
        // "Warranty claims require ...".
        let binds = |at: usize| {
            self.at(at) == "insists" && OF_RULES.begin_at(self, from)
                || self.at(at) == "claims" && (self.is(MODAL, at + 1) || self.at(at + 1) == "require")
        };
        let says = (from + 1..from + 4).any(|at| self.is(CLAIM, at) && !binds(at));
        let begins_clause = |at: usize| self.words.get(at).is_some_and(|word| word.fresh);
        // "Error: you must ...".
        let is_logged = is_in(&["error", "fatal", "warning", "warn"], self.at(0)) && begins_clause(1);
        // "..., my aunt says".
        let last = self.words.len().saturating_sub(1);
        let mut ends = last.saturating_sub(3).max(from + 1)..=last;
        let is_remark = matches!(
            self.at(last),
            "said" | "says" | "think" | "guess" | "suppose" | "believe"
        );
        let remarks = ends.any(|at| {
            begins_clause(at)
                && (is_remark
                    || matches!(self.at(at), "said" | "says")
                    || self.has_words_at(at, "as they say")
                    || self.has_words_at(at, "in my opinion"))
        });
        // "..., sadly".
        const REGRETS: [&str; 7] = [
            "apparently", "fortunately", "luckily", "sadly", "supposedly", "thankfully", "unfortunately",
        ];
        let regrets =
            begins_clause(last) && is_in(&REGRETS, self.at(last)) && !is_in(&FIRST_PERSON, self.at(from));
        says || is_logged || remarks || regrets || self.has_words_at(from, "according to")
    }
}
