//! Numbers the terms of many texts, in parallel with a deterministic result.

use super::keys::{Keys, WordKey, folded_word, word_end, word_of, word_start};
use super::numbers::TermNumbers;
use super::prior_weight::{WordMarks, has_name, is_name};
use super::terms::{TextElement, for_each_folded_piece};
use crate::model::threads::each_piece;
use std::cell::Cell;
use std::ops::Range;

/// Numbers the terms of a range of texts, in order of first appearance.
#[derive(Default)]
pub struct TextReader {
    /// All terms that were ever read.
    numbers: TermNumbers,
    /// Short words of ASCII text.
    short: Keys<KnownWord>,
    /// Other words.
    words: TermNumbers,
    /// For each of those the number of its term plus one; 0 for stop words.
    meant: Vec<u32>,
    /// Where each term was last.
    last: Vec<Appearance>,
    /// The number of terms of this range.
    count: u32,
    /// The number of texts of earlier ranges.
    before: u32,
}

/// The last appearance of a term.
#[derive(Clone, Copy, Default)]
struct Appearance {
    /// The text, counted over all ranges from 1.
    text: u32,
    /// The number of the term in its range.
    number: u32,
}

/// A known word.
#[derive(Clone, Copy, Default)]
struct KnownWord {
    /// The number of its term plus one; 0 for a stop word.
    term: u32,
    marks: WordMarks,
}

/// Bytes of text per different word, about.
const PER_WORD: usize = 24;

/// Up to this many bytes of text, terms are read with the words that this thread has read before: sessions repeat words, and
/// small ones have few of each.
const SMALL: usize = 1 << 20;

/// Most terms that a thread keeps, which bounds its memory, and most texts, which are counted.
const MOST_KEPT: (usize, u32) = (1 << 14, 1 << 30);

thread_local! {
    static READER: Cell<Option<Box<TextReader>>> = const { Cell::new(None) };
}

impl TextReader {
    fn for_about(bytes: usize) -> TextReader {
        TextReader {
            numbers: TermNumbers::for_about(bytes / PER_WORD),
            short: Keys::for_about(bytes / PER_WORD),
            ..TextReader::default()
        }
    }

    /// Begins another range after one of this many texts.
    fn next_range(&mut self, texts: usize) {
        self.before += texts as u32;
        self.count = 0;
    }

    /// Appends the terms of a text, each once per `thing`; returns the marks of the text.
    pub fn read(&mut self, thing: usize, text: &str, found: &mut Vec<u32>) -> WordMarks {
        let thing = self.before + thing as u32 + 1;
        if text.is_ascii() {
            return self.read_ascii(thing, text, found);
        }
        let mut marks = WordMarks::NAMED.when(has_name(text));
        // Normalization composes nothing across white space.
        for piece in text.split_ascii_whitespace() {
            if piece.is_ascii() {
                marks = marks | self.read_ascii(thing, piece, found);
                continue;
            }
            for_each_folded_piece(piece, &mut |piece| {
                let number = match piece {
                    TextElement::Word(word) => self.word(word),
                    TextElement::Pair(pair) => self.numbers.of(pair) + 1,
                };
                self.found(thing, number, found);
            });
            marks = marks | WordMarks::of(piece);
        }
        marks
    }

    fn read_ascii(&mut self, thing: u32, text: &str, found: &mut Vec<u32>) -> WordMarks {
        let bytes = text.as_bytes();
        let mut marks = WordMarks::default();
        let mut next = self.next_word(bytes, 0);
        while let Some((start, mut at, key)) = next {
            let is_joined_word = is_joined(bytes, at);
            // The memory of the next word is read while this one is looked up.
            if !is_joined_word {
                next = self.next_word(bytes, at);
            }
            // An upper-case letter.
            let capital = bytes[start] & 0x20 == 0;
            marks = marks | WordMarks::NAMED.when(capital && is_name(bytes, start));
            let known = match key.filter(|_| !is_joined_word) {
                Some(key) => self.short.get_or_insert_with(key, || {
                    let word = word_of(key);
                    let lower = std::str::from_utf8(&word[..at - start]).unwrap_or_default();
                    KnownWord {
                        term: term(&mut self.numbers, lower),
                        marks: WordMarks::of_word(lower),
                    }
                }),
                None => {
                    let mut joined = text[start..at].to_ascii_lowercase();
                    let mut marks = WordMarks::of_word(&text[start..at]);
                    while is_joined(bytes, at) {
                        let part = at + 1;
                        at = word_end(bytes, part);
                        joined.push_str(&text[part..at].to_ascii_lowercase());
                        marks = marks | WordMarks::of_word(&text[part..at]);
                    }
                    if is_joined_word {
                        next = self.next_word(bytes, at);
                    }
                    let term = self.word(&joined);
                    KnownWord { term, marks }
                }
            };
            self.found(thing, known.term, found);
            marks = marks | known.marks;
        }
        // An underscore joins words to one, which has other marks.
        match memchr::memchr(b'_', bytes) {
            None => marks,
            Some(_) => WordMarks::of(text),
        }
    }

    /// The next word of ASCII text: where it begins and ends, and its key, of which memory is read.
    #[inline(always)]
    fn next_word(&self, bytes: &[u8], at: usize) -> Option<(usize, usize, Option<WordKey>)> {
        let start = word_start(bytes, at)?;
        let (end, key) = folded_word(bytes, start);
        key.into_iter().for_each(|key| self.short.touch(key));
        Some((start, end, key))
    }

    /// Appends a term, given as its number plus one, unless the text has contained it before.
    #[inline(always)]
    fn found(&mut self, thing: u32, term: u32, found: &mut Vec<u32>) {
        let Some(number) = term.checked_sub(1) else { return };
        if self.last.len() <= number as usize {
            self.last.resize(number as usize + 1, Appearance::default());
        }
        let last = &mut self.last[number as usize];
        if last.text == thing {
            return;
        }
        if last.text <= self.before {
            last.number = self.count;
            self.count += 1;
        }
        last.text = thing;
        found.push(last.number);
    }

    /// The number of the term of a word in lower case, plus one; 0 for a stop word.
    fn word(&mut self, word: &str) -> u32 {
        let number = self.words.of(word) as usize;
        if number == self.meant.len() {
            self.meant.push(term(&mut self.numbers, word));
        }
        self.meant[number]
    }
}

/// Whether an apostrophe joins the next letters and digits to those before it.
#[inline(always)]
fn is_joined(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'\'') && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
}

fn term(numbers: &mut TermNumbers, word: &str) -> u32 {
    TextElement::Word(word)
        .term()
        .map_or(0, |term| numbers.of(term) + 1)
}

/// Numbers the terms of `count` texts in parallel: `each` reads a range of them, and `take` gets the results in order,
/// with the function that replaces local numbers with global ones. Returns the number of terms.
pub fn read_all<T: Send>(
    (count, bytes): (usize, usize),
    each: impl Fn(Range<usize>, &mut TextReader) -> T + Sync,
    mut take: impl FnMut(T, &dyn Fn(u32) -> u32),
) -> usize {
    if bytes <= SMALL {
        let mut reader = READER.take().unwrap_or_default();
        let read = each(0..count, &mut reader);
        let terms = reader.count as usize;
        reader.next_range(count);
        if reader.numbers.len() <= MOST_KEPT.0 && reader.before < MOST_KEPT.1 {
            READER.set(Some(reader));
        }
        take(read, &|number| number);
        return terms;
    }
    let mut all = TermNumbers::default();
    let read = |range: Range<usize>| {
        let mut reader = TextReader::for_about(bytes / count.max(1) * range.len());
        let read = each(range, &mut reader);
        (reader.numbers, read)
    };
    each_piece(count, bytes, read, |(numbers, piece)| {
        if all.len() == 0 {
            all = numbers;
            take(piece, &|number| number);
        } else {
            let now = all.absorb(&numbers);
            take(piece, &|number| now[number as usize]);
        }
    });
    all.len()
}

#[cfg(test)]
mod tests {
    use super::super::terms::for_each_term;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terms_have_the_same_numbers_however_the_work_is_split() {
        let texts: Vec<String> = (0..900)
            .map(|nth: u32| format!("seed {} roof {} garden {}", nth % 7, nth * nth % 311, nth))
            .collect();
        let read = |bytes| {
            let mut all = Vec::new();
            let count = read_all(
                (texts.len(), bytes),
                |range, reader| {
                    let read = |nth: usize| {
                        let mut terms = Vec::new();
                        reader.read(nth, &texts[nth], &mut terms);
                        terms
                    };
                    range.map(read).collect::<Vec<_>>()
                },
                |mut things, now| {
                    things.iter_mut().flatten().for_each(|term| *term = now(*term));
                    all.append(&mut things);
                },
            );
            (all, count)
        };
        let one = read(0);
        assert_eq!(one, read(usize::MAX));
        // The words are known to the thread.
        assert_eq!(one, read(0));
        let mut numbers = TermNumbers::default();
        for (nth, terms) in one.0.iter().enumerate() {
            let mut own = Vec::new();
            for_each_term(&texts[nth], |term| own.push(numbers.of(term)));
            own.dedup();
            let mut seen = std::collections::HashSet::new();
            own.retain(|term| seen.insert(*term));
            assert_eq!(*terms, own);
        }
        assert_eq!(one.1, numbers.len());
        assert_eq!(numbers.find("garden"), Some(2));
        assert_eq!(numbers.find("door"), None);
    }

    proptest! {
        #[test]
        fn terms_and_marks_are_those_of_any_text(
            pieces in prop::collection::vec(prop::sample::select(&["I", "'m", "we", " ", " ", ",", "a", "Anna", "Met", "used", "_", "12", "may", "May ", "'", "it's", "\u{e9}", "\u{6771}\u{4eac}", "averyveryverylongword", "\u{2019}s", ". "][..]), 0..24),
        ) {
            let text = pieces.concat();
            let (mut reader, mut found) = (TextReader::for_about(0), Vec::new());
            prop_assert_eq!(reader.read(0, &text, &mut found), WordMarks::of(&text), "{:?}", text);
            let (mut numbers, mut own) = (TermNumbers::default(), Vec::new());
            for_each_term(&text, |term| own.push(numbers.of(term)));
            let mut seen = std::collections::HashSet::new();
            own.retain(|term| seen.insert(*term));
            prop_assert_eq!(found, own, "{:?}", text);
        }
    }
}
