//! Reads the answers of a rule to questions with one answer at a time, such as the language of replies.

use super::changes::{QUESTIONS, VARYING};
use super::marks::ANSWER;
use super::revoking::{NEGATIONS, OMISSIONS};
use super::word_lists::is_in;
use super::words::Sentence;

/// An answer to a question with one answer at a time.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub question: usize,
    pub value: String,
    /// Whether the sentence forbids this value.
    is_forbidden: bool,
}

impl Answer {
    /// Whether the answer differs between people or occasions, so that another one replaces it only for the same ones.
    pub fn varies(&self) -> bool {
        QUESTIONS
            .get(self.question)
            .is_some_and(|values| VARYING.contains(&values[0]))
    }

    /// Whether an answer cannot hold together with a later one.
    pub fn contradicts(&self, later: &Answer) -> bool {
        self.question == later.question
            && match self.value == later.value {
                true => self.is_forbidden != later.is_forbidden,
                false => !self.is_forbidden && !later.is_forbidden,
            }
    }
}

/// The answers of a sentence, and all values that it names, with their places.
pub(super) fn answers_of(sentence: &Sentence) -> (Vec<Answer>, Vec<(&str, usize)>) {
    let place = |value: &str| sentence.all(ANSWER).find(|at| sentence.has_words_at(*at, value));
    let mut all_named = Vec::new();
    let mut answers = Vec::new();
    for (question, values) in QUESTIONS.iter().enumerate() {
        let named: Vec<(&str, usize)> = values
            .iter()
            .filter_map(|value| Some((*value, place(value)?)))
            .collect();
        let answer = |(value, at): (&str, usize), is_forbidden| {
            // A form of address is answered by the words after the phrase.
            let after = if value.ends_with(" me") {
                sentence.at(at + 2)
            } else {
                ""
            };
            Answer {
                question,
                value: format!("{value} {after}"),
                is_forbidden,
            }
        };
        // "Use tabs, not spaces" answers with tabs, "never use npm or yarn" with both.
        let demanded = named
            .iter()
            .filter(|(_, at)| !is_forbidden(sentence, values, *at));
        match demanded.max_by_key(|(value, _)| value.len()) {
            Some(best) => answers.push(answer(*best, false)),
            None => answers.extend(named.iter().map(|named| answer(*named, true))),
        }
        all_named.extend(named);
    }
    if let Some((at, value)) = number_of_words(sentence) {
        all_named.push((value, at));
        answers.push(Answer {
            question: QUESTIONS.len(),
            value: value.to_string(),
            is_forbidden: false,
        });
    }
    (answers, all_named)
}

/// The most words that a text may have, and where the sentence names the number: "under 100 words".
fn number_of_words(sentence: &Sentence) -> Option<(usize, &str)> {
    let is_number = |at: &usize| {
        sentence.at(*at).bytes().all(|byte| byte.is_ascii_digit()) && sentence.at(*at + 1) == "words"
    };
    let at = (0..sentence.words.len()).find(is_number)?;
    let is_minimum = sentence.has_any(&["least", "minimum", "over", "above"]);
    (!is_minimum).then(|| (at, sentence.at(at)))
}

/// Whether the words before an answer, up to a comma, forbid it: "never in French", "rather than tabs". A comma between
/// answers to the same question separates items of a list.
fn is_forbidden(sentence: &Sentence, values: &[&str], at: usize) -> bool {
    let is_value = |index: &usize| {
        let word = sentence.at(*index);
        values.iter().any(|value| value.rsplit(' ').next() == Some(word))
    };
    let is_item = |index: &usize| index.checked_sub(1).is_some_and(|before| is_value(&before));
    let begins_clause = |index: &usize| sentence.words[*index].fresh && !is_item(index);
    let clause = (0..=at).rev().find(begins_clause);
    let rejects = matches!(sentence.at(at.wrapping_sub(1)), "than" | "of" | "over");
    let negates = |word: &str| NEGATIONS.contains(&word) || is_in(OMISSIONS, word);
    rejects || (clause.unwrap_or(0)..at).any(|index| negates(sentence.at(index)))
}
