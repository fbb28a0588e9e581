//! Cache of what a word means to the selection: sessions repeat words, and small ones have few of each.

use super::keys::Key;
use super::numbers::fold;
use super::prior_weight::Marks;
use super::terms::TextElement;
use std::cell::RefCell;

/// Number of slots: an eighth of a megabyte.
const PLACES: usize = 1 << 12;

/// A word; an unused slot has the key of an empty one.
#[derive(Clone, Copy, Default)]
struct CachedWord {
    key: Key,
    /// Length of its term, which is its beginning; 0 for a stop word.
    term: u8,
    marks: Marks,
}

thread_local! {
    static WORDS: RefCell<Vec<CachedWord>> = const { RefCell::new(Vec::new()) };
}

/// The length of the term of a word of ASCII text, and the marks of the word. `key` is that of its lower case.
pub fn of(key: Key, word: &str) -> (usize, Marks) {
    let place = fold(key[0] ^ SPREAD, key[1] ^ !SPREAD) as usize % PLACES;
    WORDS.with_borrow_mut(|words| {
        if words.is_empty() {
            *words = vec![CachedWord::default(); PLACES];
        }
        let known = &mut words[place];
        if known.key != key {
            let lower = word.to_ascii_lowercase();
            let term = TextElement::Word(&lower).term().map_or(0, str::len);
            *known = CachedWord {
                key,
                term: term as u8,
                marks: Marks::of_word(word),
            };
        }
        (known.term.into(), known.marks)
    })
}

/// An odd constant with many bits set.
const SPREAD: u64 = 0xe703_7ed1_a0b4_28db;
