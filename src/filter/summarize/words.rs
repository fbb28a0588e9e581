//! A sentence split into words, in which standing instructions are detected.

use super::keys::{WordKey, word_end, word_key};
use super::marks::marks;
use super::word_lists::is_in;
use std::cell::Cell;
use std::ops::Range;

/// Maximum characters of an instruction; longer sentences are skipped, which bounds the work.
const LONGEST: usize = 400;

/// The key of the end of a sentence.
pub(super) const END: WordKey = [u64::MAX; 2];

/// A word of a sentence.
pub(super) struct Word {
    /// Its position in the text.
    range: Range<usize>,
    /// By which patterns compare it.
    key: WordKey,
    /// Whether a comma, semicolon, colon, dash or bracket precedes it.
    pub fresh: bool,
    /// Its marks.
    marks: u32,
}

/// A sentence split into words.
#[derive(Default)]
pub(super) struct Sentence {
    /// The words in lower case with straight apostrophes; hyphens are kept. There may be other text between them.
    text: String,
    /// The words.
    pub words: Vec<Word>,
    /// The union of the marks of its words.
    marks: u32,
    /// Whether the sentence ends like a question.
    pub question: bool,
    /// The learned scores of [`LearnedScores`](super::learned::LearnedScores), once they are known.
    pub learned_scores: Cell<Option<[i32; 2]>>,
    /// Whether it has a cue that it changes a rule, once that is known.
    pub any_cue: Cell<Option<bool>>,
}

impl Sentence {
    /// Parses a text, unless it is too long for an instruction.
    pub(super) fn of(text: &str) -> Option<Sentence> {
        let mut sentence = Sentence::default();
        sentence.becomes(text).then_some(sentence)
    }

    /// Replaces the sentence with another text, unless that is too long for an instruction; whether it did.
    pub(super) fn becomes(&mut self, text: &str) -> bool {
        let is_long = text.len() > LONGEST && text.chars().nth(LONGEST).is_some();
        if !is_long {
            self.text.clear();
            self.words.clear();
            self.marks = 0;
            self.learned_scores.set(None);
            self.any_cue.set(None);
            self.split(text);
        }
        !is_long
    }

    /// Splits a text into words.
    pub(super) fn read(text: &str) -> Sentence {
        let mut sentence = Sentence::default();
        sentence.split(text);
        sentence
    }

    fn split(&mut self, text: &str) {
        self.words.reserve(text.len() / 5);
        match text.is_ascii() {
            true => self.read_ascii(text),
            false => self.read_any(text),
        }
        let asks = text
            .trim_end_matches(|c: char| !c.is_alphanumeric() && c != '?')
            .ends_with('?');
        self.question = asks && !self.asks_for_agreement();
    }

    /// `use tabs, ok?`, `keep it light, will you?`: an order rather than a question.
    fn asks_for_agreement(&self) -> bool {
        let last = self.words.len().saturating_sub(1);
        let from = last.saturating_sub(usize::from(self.at(last) == "you"));
        let tags = ["ok", "okay", "alright", "will", "would"];
        from > 0 && self.words[from].fresh && is_in(&tags, self.at(from))
    }

    fn read_any(&mut self, text: &str) {
        let sentence = self;
        let (mut inside, mut fresh) = (false, false);
        for c in text.chars() {
            let c = if c == '\u{2019}' { '\'' } else { c };
            let belongs = c.is_alphanumeric() || c == '_' || (inside && matches!(c, '\'' | '-'));
            if belongs && !inside {
                sentence.end_word();
                let start = sentence.text.len();
                sentence.words.push(Word {
                    range: start..start,
                    key: END,
                    fresh: std::mem::take(&mut fresh),
                    marks: 0,
                });
            }
            if belongs {
                match c.is_ascii() {
                    true => sentence.text.push(c.to_ascii_lowercase()),
                    false => sentence.text.extend(c.to_lowercase()),
                }
            } else {
                fresh |= matches!(c, ',' | ';' | ':' | '(' | '\u{2014}' | '\u{2013}');
            }
            inside = belongs;
        }
        sentence.end_word();
    }

    /// Like `split` for ASCII text, whose words need no copy each.
    fn read_ascii(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.make_ascii_lowercase();
        let bytes = self.text.as_bytes();
        let (mut at, mut fresh) = (0, false);
        while let Some(byte) = bytes.get(at) {
            if !byte.is_ascii_alphanumeric() && *byte != b'_' {
                fresh |= matches!(byte, b',' | b';' | b':' | b'(');
                at += 1;
                continue;
            }
            let start = at;
            loop {
                at = word_end(bytes, at);
                match bytes.get(at) {
                    Some(b'_' | b'\'' | b'-') => at += 1,
                    _ => break,
                }
            }
            let key = word_key(&self.text[start..at]);
            let marks = marks(key);
            self.marks |= marks;
            self.words.push(Word {
                range: start..at,
                key,
                fresh: std::mem::take(&mut fresh),
                marks,
            });
        }
    }

    fn end_word(&mut self) {
        if let Some(word) = self.words.last_mut() {
            word.range.end = self.text.len();
            word.key = word_key(&self.text[word.range.clone()]);
            word.marks = marks(word.key);
            self.marks |= word.marks;
        }
    }

    /// The word at an index; empty after the end.
    pub fn at(&self, index: usize) -> &str {
        self.words
            .get(index)
            .map_or("", |word| &self.text[word.range.clone()])
    }

    /// Whether the word at an index is a number, or begins with one.
    pub fn is_number(&self, index: usize) -> bool {
        self.at(index).starts_with(|first: char| first.is_ascii_digit())
    }

    /// The key of the word at an index; [`END`] after the end.
    pub fn key(&self, index: usize) -> WordKey {
        self.words.get(index).map_or(END, |word| word.key)
    }

    /// The words before an index, in lower case.
    pub fn text_before(&self, index: usize) -> &str {
        self.words
            .get(index)
            .map_or(&self.text, |word| &self.text[..word.range.start])
    }

    /// Whether the word at an index has a mark.
    pub fn is(&self, mark: u32, index: usize) -> bool {
        self.words.get(index).is_some_and(|word| word.marks & mark > 0)
    }

    /// Whether any word has a mark.
    pub fn has(&self, mark: u32) -> bool {
        self.marks & mark > 0
    }

    /// The indexes of words with a mark.
    pub fn all(&self, mark: u32) -> impl Iterator<Item = usize> {
        let end = if self.has(mark) { self.words.len() } else { 0 };
        (0..end).filter(move |at| self.is(mark, *at))
    }

    /// Whether these consecutive words begin at an index.
    pub fn has_words_at(&self, index: usize, words: &str) -> bool {
        let mut rest = words;
        for at in index.. {
            // Most words differ in their first letter.
            let own = self.at(at);
            if own.as_bytes().first() != rest.as_bytes().first() {
                return false;
            }
            match rest.strip_prefix(own) {
                Some("") => return true,
                Some(more) if more.starts_with(' ') => rest = &more[1..],
                _ => return false,
            }
        }
        false
    }

    /// The index of the first of these phrases.
    pub fn find(&self, phrases: &[&str]) -> Option<usize> {
        (0..self.words.len()).find(|at| phrases.iter().any(|phrase| self.has_words_at(*at, phrase)))
    }

    /// Whether any word is in a list.
    pub fn has_any(&self, list: &[&str]) -> bool {
        (0..self.words.len()).any(|at| is_in(list, self.at(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_of_ascii_text_are_those_of_any_text(
            pieces in prop::collection::vec(prop::sample::select(&["Never", "don't", "a", "_", "-", "'", " ", ", ", ": ", "(", "12", "?", ".", "use ", "from now on"][..]), 0..24),
        ) {
            let text = pieces.concat();
            let ascii = Sentence::read(&text);
            // A character at the end that is not ASCII and no part of a word.
            let other = Sentence::read(&format!("{text}\u{a0}"));
            let words = |sentence: &Sentence| -> Vec<(String, bool, u32)> {
                let words = sentence.words.iter().enumerate();
                words.map(|(at, word)| (sentence.at(at).to_string(), word.fresh, word.marks)).collect()
            };
            prop_assert_eq!(words(&ascii), words(&other), "{:?}", text);
            prop_assert_eq!((ascii.marks, ascii.question), (other.marks, other.question), "{:?}", text);
        }
    }
}
