//! The sentences that a summary already quotes as standing instructions.

use super::sentences::{ranges, without_list_mark};
use std::collections::HashSet;

/// The standing instructions of a summary, and those that they replace, to find them among other texts.
pub(super) struct RegisteredSentences<'i> {
    texts: HashSet<&'i str>,
    /// Whether there is an instruction of each length. Few sentences are as long as one, and only these are compared.
    lengths: Vec<bool>,
}

impl<'i> RegisteredSentences<'i> {
    pub fn of(instructions: impl IntoIterator<Item = &'i String>) -> RegisteredSentences<'i> {
        let instructions: Vec<&String> = instructions.into_iter().collect();
        let longest = instructions.iter().map(|text| text.len()).max();
        let mut lengths = vec![false; longest.map_or(0, |longest| longest + 1)];
        instructions.iter().for_each(|text| lengths[text.len()] = true);
        RegisteredSentences {
            texts: instructions.into_iter().map(String::as_str).collect(),
            lengths,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether this text, without the mark of a list, is an instruction.
    pub fn has(&self, text: &str) -> bool {
        let is_one = |text: &str| self.lengths.get(text.len()) == Some(&true) && self.texts.contains(text);
        is_one(text) || is_one(without_list_mark(text))
    }

    /// Whether a sentence of this text is an instruction.
    pub fn has_sentence_of(&self, text: &str) -> bool {
        !self.is_empty() && ranges(text).into_iter().any(|range| self.has(&text[range]))
    }
}
