//! The sentences that a summary already quotes as standing instructions.

use super::handoff::GAP;
use super::sentences::{ranges, without_list_mark};
use std::borrow::Cow;
use std::collections::HashSet;

/// The standing instructions of a summary, and those that they replace, to find them among other texts.
pub(super) struct RegisteredSentences<'i> {
    texts: HashSet<&'i str>,
    /// Whether there is an instruction of each length. Few sentences are as long as one, and only these are compared.
    lengths: Vec<bool>,
}

impl<'i> RegisteredSentences<'i> {
    pub fn of(instructions: impl IntoIterator<Item = &'i str>) -> RegisteredSentences<'i> {
        let instructions: Vec<&str> = instructions.into_iter().collect();
        let longest = instructions.iter().map(|text| text.len()).max();
        let mut lengths = vec![false; longest.map_or(0, |longest| longest + 1)];
        instructions.iter().for_each(|text| lengths[text.len()] = true);
        RegisteredSentences {
            texts: instructions.into_iter().collect(),
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

    /// The other sentences of a text; none if there are none.
    pub fn remove_from<'t>(&self, text: Cow<'t, str>) -> Option<Cow<'t, str>> {
        if !self.has_sentence_of(&text) {
            return Some(text);
        }
        let (mut others, mut end) = (String::new(), 0);
        let mut is_adjacent = true;
        for range in ranges(&text) {
            let sentence = &text[range.clone()];
            is_adjacent &= !self.has(sentence);
            if self.has(sentence) {
                continue;
            }
            others.push_str(match is_adjacent {
                _ if others.is_empty() => "",
                true => &text[end..range.start],
                false => GAP,
            });
            others.push_str(sentence);
            (end, is_adjacent) = (range.end, true);
        }
        (!others.is_empty()).then_some(Cow::Owned(others))
    }
}
