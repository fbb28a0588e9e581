//! Ranks sessions by a query: BM25 over their words, without an index.

use super::texts::{TextKind, each_text};
use crate::model::message::Role;
use crate::model::record::RecordKind;
use crate::model::session::Session;
use std::collections::HashMap;

/// Saturation of repeated words. Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
/// Beyond", 2009, as `B`.
const K1: f64 = 1.2;

/// Influence of the length of a text.
const B: f64 = 0.75;

/// Weight of a word of the user.
const USER: f64 = 2.0;

/// The words of a query in lower case, without duplicates.
#[derive(Clone, Debug)]
pub struct Question {
    words: Vec<String>,
}

/// Occurrences of the query's words in a text, and its total number of words.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tally {
    counts: Vec<f64>,
    length: f64,
}

/// A message with words of the query.
#[derive(Clone, Debug)]
struct MessageCandidate {
    position: u64,
    message: Option<String>,
    text: String,
    tally: Tally,
}

/// The term counts of one session.
#[derive(Clone, Debug)]
pub struct TermCounts {
    whole: Tally,
    messages: u64,
    candidates: Vec<MessageCandidate>,
}

/// A session by its rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Index of the session in the input of [`rank`].
    pub session: usize,
    /// Higher is better; above 0.
    pub score: f64,
    /// Number of its best message, from 1.
    pub position: u64,
    /// The id of that message, if the record has one.
    pub message: Option<String>,
    /// The first line of that message with a word of the query.
    pub text: String,
}

/// Maximum characters of a message's text that are kept.
const MAX_CHARACTERS: usize = 400;

/// Maximum number of candidate messages per session.
const MAXIMUM: usize = 64;

/// The words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl Question {
    /// Parses a query; `None` if it has no words.
    pub fn new(text: &str) -> Option<Question> {
        let mut all: Vec<String> = words(text).collect();
        all.sort();
        all.dedup();
        (!all.is_empty()).then_some(Question { words: all })
    }

    /// Counts the words in a session.
    pub fn count(&self, session: &Session) -> TermCounts {
        let places: HashMap<&str, usize> = self
            .words
            .iter()
            .enumerate()
            .map(|(nth, word)| (word.as_str(), nth))
            .collect();
        let empty = || Tally {
            counts: vec![0.0; self.words.len()],
            length: 0.0,
        };
        let mut counted = TermCounts {
            whole: empty(),
            messages: 0,
            candidates: Vec::new(),
        };
        for (index, traits) in session.messages() {
            let record = session.record(index);
            let RecordKind::Message(message) = &record.kind else {
                continue;
            };
            counted.messages += 1;
            let mut tally = empty();
            let mut shown = None;
            let weight = if traits.role == Role::User { USER } else { 1.0 };
            each_text(message, &mut |part, _, text| {
                if part == TextKind::Reasoning {
                    return;
                }
                for line in text.lines() {
                    let mut has_word = false;
                    for word in words(line) {
                        tally.length += 1.0;
                        if let Some(nth) = places.get(word.as_str()) {
                            tally.counts[*nth] += weight;
                            has_word = true;
                        }
                    }
                    if has_word && shown.is_none() {
                        shown = Some(line.trim().chars().take(MAX_CHARACTERS).collect::<String>());
                    }
                }
            });
            counted.whole.length += tally.length;
            for (sum, count) in counted.whole.counts.iter_mut().zip(&tally.counts) {
                *sum += count;
            }
            if let Some(text) = shown {
                counted.candidates.push(MessageCandidate {
                    position: counted.messages,
                    message: message.id().map(|id| id.into_owned()),
                    text,
                    tally,
                });
                counted.thin();
            }
        }
        counted
    }
}

impl TermCounts {
    /// Drops the candidates with the fewest distinct words if there are too many.
    fn thin(&mut self) {
        if self.candidates.len() < 2 * MAXIMUM {
            return;
        }
        let different =
            |one: &MessageCandidate| one.tally.counts.iter().filter(|count| **count > 0.0).count();
        self.candidates
            .sort_by_key(|one| (std::cmp::Reverse(different(one)), one.position));
        self.candidates.truncate(MAXIMUM);
    }
}

impl Tally {
    /// The BM25 score with these word weights.
    fn score(&self, weights: &[f64], usual: f64) -> f64 {
        let norm = K1 * (1.0 - B + B * self.length / usual.max(1.0));
        let words = self.counts.iter().zip(weights).filter(|(count, _)| **count > 0.0);
        words
            .map(|(count, weight)| weight * count * (K1 + 1.0) / (count + norm))
            .sum()
    }
}

/// The sessions that contain a word of the query, best first; ties are in input order.
pub fn rank(sessions: &[TermCounts]) -> Vec<Ranked> {
    let Some(words) = sessions.first().map(|first| first.whole.counts.len()) else {
        return Vec::new();
    };
    let total = sessions.len() as f64;
    let having = |nth: usize| sessions.iter().filter(|one| one.whole.counts[nth] > 0.0).count() as f64;
    let weights: Vec<f64> = (0..words)
        .map(|nth| (1.0 + (total - having(nth) + 0.5) / (having(nth) + 0.5)).ln())
        .collect();
    let length: f64 = sessions.iter().map(|one| one.whole.length).sum();
    let messages: u64 = sessions.iter().map(|one| one.messages).sum();
    let (usual, usual_message) = (length / total, length / (messages.max(1) as f64));
    let mut ranked: Vec<Ranked> = sessions
        .iter()
        .enumerate()
        .filter_map(|(session, one)| {
            let scored = one
                .candidates
                .iter()
                .map(|own| (own.tally.score(&weights, usual_message), own));
            let (best, message) = scored
                .max_by(|(one, a), (other, b)| one.total_cmp(other).then(b.position.cmp(&a.position)))?;
            Some(Ranked {
                session,
                score: one.whole.score(&weights, usual) + best,
                position: message.position,
                message: message.message.clone(),
                text: message.text.clone(),
            })
        })
        .collect();
    ranked.sort_by(|one, other| {
        other
            .score
            .total_cmp(&one.score)
            .then(one.session.cmp(&other.session))
    });
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(messages: &[(&str, &str)]) -> Session {
        let mut session = Session::default();
        for (role, text) in messages {
            session.push_new(
                serde_json::json!({"role": role, "content": text})
                    .to_string()
                    .as_bytes(),
            );
        }
        session
    }

    fn ranked(question: &str, sessions: &[Session]) -> Vec<(usize, u64)> {
        let question = Question::new(question).unwrap();
        let counted: Vec<TermCounts> = sessions.iter().map(|session| question.count(session)).collect();
        rank(&counted)
            .into_iter()
            .map(|one| (one.session, one.position))
            .collect()
    }

    #[test]
    fn rare_words_and_short_sessions_count_more() {
        let filler = "the tray of the belt is at the gate of the dock ".repeat(40);
        let sessions = [
            session(&[
                ("user", "Which port does the gateway use?"),
                ("assistant", "8080."),
            ]),
            session(&[("user", &filler), ("assistant", "the port")]),
            session(&[("user", &filler)]),
            session(&[("user", "nothing of it")]),
        ];
        let found = ranked("which PORT for the gateway", &sessions);
        assert_eq!(found[0], (0, 1));
        assert!(found.iter().all(|(session, _)| *session != 3), "{found:?}");
        // The rarest word decides, in any position.
        assert_eq!(ranked("8080", &sessions), [(0, 2)]);
        assert_eq!(ranked("zebra", &sessions), []);
        assert!(Question::new(" ?! ").is_none());
    }

    #[test]
    fn words_of_a_user_count_more_and_equal_sessions_keep_their_order() {
        let sessions = [
            session(&[("assistant", "a lease of it")]),
            session(&[("user", "a lease of it")]),
            session(&[("user", "a lease of it")]),
        ];
        assert_eq!(ranked("lease", &sessions), [(1, 1), (2, 1), (0, 1)]);
    }
}
