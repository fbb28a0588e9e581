//! Detects rules that later ones replace, by words alone: another answer to the same question, or a cue that
//! something changed together with most of the same words.

use super::changes::{CHANGES, QUESTIONS};
use super::marks::{ANSWER, CHANGE};
use super::terms::for_each_term;
use super::words::Sentence;
use std::collections::{BTreeSet, HashMap};

/// Words of rules that do not identify their subject.
const FRAME: &[&str] = &[
    "actually",
    "address",
    "always",
    "anything",
    "ask",
    "call",
    "change",
    "changed",
    "chat",
    "correction",
    "each",
    "every",
    "forget",
    "forward",
    "future",
    "give",
    "go",
    "going",
    "instead",
    "keep",
    "make",
    "may",
    "mind",
    "must",
    "need",
    "never",
    "now",
    "only",
    "onward",
    "plan",
    "please",
    "prefer",
    "put",
    "rather",
    "rule",
    "said",
    "say",
    "scrap",
    "session",
    "should",
    "sure",
    "tell",
    "today",
    "use",
    "used",
    "want",
    "write",
    "written",
    "longer",
    "allowed",
    "before",
    "without",
    "still",
    "again",
    "fine",
    "ok",
    "okay",
    "asking",
    "enough",
    "everywhere",
];

/// Words of answering, beginnings of terms: they do not say where a rule holds.
const ANSWERING: &[&str] = &[
    "answer",
    "answers",
    "reply",
    "repli",
    "replies",
    "respond",
    "respons",
    "response",
    "speak",
    "talk",
    "indentation",
    "indent",
    "temperature",
    "temperatur",
    "unit",
    "heading",
    "headings",
    "everywhere",
    "everyth",
    "everything",
    "manag",
    "package",
    "language",
    "languag",
    "text",
    "case",
    "name",
    "again",
    "back",
    "switch",
    "fine",
    "file",
    "session",
];

/// Negations.
const NEGATIONS: &[&str] = &[
    "never", "not", "don't", "no", "avoid", "stop", "nothing", "without", "refrain",
];

/// The properties of a sentence that determine what it replaces.
#[derive(Clone, Debug)]
pub struct SentenceTraits {
    terms: BTreeSet<String>,
    /// The terms that say where it holds: those without the answers and the words of answering.
    scope: BTreeSet<String>,
    /// Whether it holds under a condition only.
    is_conditional: bool,
    /// The questions that it answers, with the answers.
    answers: Vec<(usize, String)>,
    /// Whether it indicates a change.
    pub changes: bool,
    forbids: bool,
}

impl SentenceTraits {
    /// Parses a sentence.
    pub fn of(text: &str) -> SentenceTraits {
        let sentence = Sentence::read(text);
        let mut terms = BTreeSet::new();
        for_each_term(text, |term| {
            // Terms have no endings.
            let is_of = |word: &&str| {
                word.strip_prefix(term)
                    .is_some_and(|end| matches!(end, "" | "e" | "s" | "ing"))
            };
            if !FRAME.iter().any(is_of) {
                terms.insert(term.to_string());
            }
        });
        let all = 0..sentence.words.len();
        let answer = |(nth, values): (usize, &&[&str])| {
            let place = |value: &str| sentence.all(ANSWER).find(|at| sentence.has_words_at(*at, value));
            let named = values.iter().filter(|value| place(value).is_some());
            let value = named.max_by_key(|value| value.len())?;
            // A form of address is answered by the words after the phrase.
            let at = place(value)?;
            let after = if value.ends_with(" me") {
                sentence.at(at + 2)
            } else {
                ""
            };
            Some((nth, format!("{value} {after}")))
        };
        let answers: Vec<(usize, String)> = QUESTIONS.iter().enumerate().filter_map(answer).collect();
        let mut scope = terms.clone();
        scope.retain(|term| {
            let names = |value: &str| value.split(' ').any(|word| word.starts_with(term.as_str()));
            !ANSWERING.contains(&term.as_str()) && !answers.iter().any(|(_, value)| names(value))
        });
        let contrast = |at: usize| sentence.words[at].fresh && sentence.at(at) == "not";
        SentenceTraits {
            is_conditional: sentence.has_any(&["when", "whenever", "if", "unless", "while"]),
            answers,
            scope,
            changes: sentence.lifts()
                || all.clone().any(contrast)
                || sentence
                    .all(CHANGE)
                    .any(|at| CHANGES.iter().any(|cue| sentence.matches(at, cue))),
            forbids: all.clone().any(|at| NEGATIONS.contains(&sentence.at(at))),
            terms,
        }
    }

    /// Whether a later sentence replaces this one.
    pub fn is_overruled_by(&self, later: &SentenceTraits) -> bool {
        let answered = |(question, value): &(usize, String)| {
            later
                .answers
                .iter()
                .any(|(other, now)| other == question && now != value)
        };
        // An answer for some things only does not replace the one for all.
        let is_narrower = !later.scope.is_subset(&self.scope) || later.is_conditional && !self.is_conditional;
        if self.answers.iter().any(answered) && (later.changes || !is_narrower) {
            return true;
        }
        if !later.changes || self.terms.is_empty() {
            return false;
        }
        let common = self.terms.intersection(&later.terms).count();
        let shorter = self.terms.len().min(later.terms.len());
        let missing = self.terms.len() - common;
        common * 2 >= self.terms.len()
            || (self.forbids != later.forbids && common >= 2 && common * 2 >= shorter)
            || (common >= 2 && common * 3 >= shorter * 2 && missing <= 2)
    }
}

/// For each claim, given oldest first, the later one that replaces it.
pub fn overruled(claims: &[SentenceTraits]) -> Vec<Option<usize>> {
    let mut replaced = vec![None; claims.len()];
    let mut by_term: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_question: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, claim) in claims.iter().enumerate() {
        let mut earlier: BTreeSet<usize> = BTreeSet::new();
        for (question, _) in &claim.answers {
            earlier.extend(newest(by_question.get(question)));
            by_question.entry(*question).or_default().push(at);
        }
        for term in &claim.terms {
            if claim.changes {
                earlier.extend(newest(by_term.get(term.as_str())));
            }
            by_term.entry(term).or_default().push(at);
        }
        for other in earlier {
            if replaced[other].is_none() && claims[other].is_overruled_by(claim) {
                replaced[other] = Some(at);
            }
        }
    }
    replaced
}

/// Maximum number of earlier rules to compare per word.
const MAX_COMPARED: usize = 256;

fn newest(places: Option<&Vec<usize>>) -> impl Iterator<Item = usize> + '_ {
    places
        .into_iter()
        .flat_map(|places| places.iter().rev().take(MAX_COMPARED).copied())
}
