//! The terms of a rule that identify its subject.

use super::terms::for_each_term;
use super::word_lists::is_in;
use super::words::Sentence;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Words of rules that do not identify their subject.
const FRAME: &[&str] = &[
    "actually", "address", "always", "anything", "ask", "call", "change", "changed", "chat", "correction",
    "each", "every", "forget", "forward", "future", "give", "go", "going", "instead", "keep", "make", "may",
    "mind", "must", "need", "never", "now", "only", "onward", "plan", "please", "prefer", "put", "rather",
    "rule", "said", "say", "scrap", "session", "should", "sure", "tell", "today", "use", "used", "want",
    "write", "written", "longer", "allowed", "before", "without", "still", "again", "fine", "ok", "okay",
    "asking", "enough", "everywhere", "suggest", "recommend", "show", "mention", "include", "after", "avoid",
    "one", "id", "let", "per", "until", "whenever",
];

/// Words of answering, beginnings of terms: they do not say where a rule holds.
pub(super) const ANSWERING: &[&str] = &[
    "answer", "answers", "reply", "repli", "replies", "respond", "respons", "response", "speak", "talk",
    "indentation", "indent", "under", "below", "within", "most", "maximum", "limit", "word", "words",
    "temperature", "temperatur", "unit", "units", "heading", "headings", "everywhere", "everyth",
    "everything", "manag", "package", "language", "languag", "text", "case", "name", "again", "back",
    "switch", "continue", "continu", "fine", "file", "files", "names", "messages", "message", "session",
    "eat", "day",
];

impl Sentence {
    /// Whether only the sentence before explains what this one is about: `only give it when I ask`.
    pub(super) fn refers_back(&self) -> bool {
        let pronouns = ["it", "them", "that", "this", "those", "these"];
        let opening = self.opening(0);
        let names = |at: usize| !self.is_number(at) && !term_hashes(self, at..at + 1).is_empty();
        (opening + 1..opening + 4).any(|at| is_in(&pronouns, self.at(at)))
            && !(0..self.words.len()).any(names)
    }
}

/// Whether a term is one of a word that does not identify the subject of a rule. Terms have no endings.
pub(super) fn is_of_frame(term: &str) -> bool {
    let is_of = |word: &&str| {
        word.strip_prefix(term)
            .is_some_and(|end| matches!(end, "" | "e" | "s" | "ing"))
    };
    FRAME.iter().any(is_of)
}

/// The hashes of the terms of these words.
pub(super) fn term_hashes(sentence: &Sentence, words: Range<usize>) -> Vec<u64> {
    let mut hashes = Vec::new();
    for at in words {
        for_each_term(sentence.at(at), |term| {
            if !is_of_frame(term) && !ANSWERING.contains(&term) {
                hashes.push(hash_of(term));
            }
        });
    }
    hashes
}

/// A hash of the whole term: long terms may begin alike.
pub(super) fn hash_of(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}
