//! Short words as numbers, which are found and compared eight bytes at a time.

use super::numbers::{SEED, fold};
use std::hint::black_box;

/// Maximum bytes of a word that is a key.
const LONGEST: usize = 16;

/// The bytes of a word, padded with zeros; no word contains a zero byte.
pub type WordKey = [u64; 2];

/// The same byte in all eight positions.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The bit in which an ASCII letter differs from its other case. It is set in every lower-case letter and digit.
const LOWER: u64 = EACH * 0x20;

/// The index of the first letter or digit at or after `at`.
#[inline(always)]
pub fn word_start(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    rest.iter()
        .position(u8::is_ascii_alphanumeric)
        .map(|offset| at + offset)
}

/// The index after the letters and digits at `at`, in ASCII text.
#[inline(always)]
pub fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let others = !letters_and_digits(u64::from_le_bytes(*eight)) & (EACH << 7);
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
        at += 1;
    }
    at
}

/// The highest bit of each ASCII byte that is a letter or digit. No sum carries into the next byte.
#[inline(always)]
fn letters_and_digits(bytes: u64) -> u64 {
    let from = |bytes: u64, first: u8| bytes + EACH * u64::from(0x80 - first);
    let lower = bytes | LOWER;
    (from(lower, b'a') & !from(lower, b'z' + 1)) | (from(bytes, b'0') & !from(bytes, b'9' + 1))
}

/// The end of the word of ASCII letters and digits at `start`, and the key of its lower case; none if it is too long.
#[inline(always)]
pub fn folded_word(bytes: &[u8], start: usize) -> (usize, Option<WordKey>) {
    // Most words are short, and one read is enough.
    if let Some(eight) = bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        let others = !letters_and_digits(eight) & (EACH << 7);
        if others != 0 {
            let first = others & others.wrapping_neg();
            let own = (first >> 7) - 1;
            let end = start + first.trailing_zeros() as usize / 8;
            return (end, Some([(eight | LOWER) & own, 0]));
        }
    }
    let end = word_end(bytes, start);
    let folded = key(bytes, start, end).map(|[one, other]| {
        let own = |bytes: usize| match bytes {
            0 => 0,
            bytes => u64::MAX >> (64 - 8 * bytes.min(8)),
        };
        let length = end - start;
        [
            one | LOWER & own(length),
            other | LOWER & own(length.saturating_sub(8)),
        ]
    });
    (end, folded)
}

/// The key of a part of a text; none if it is empty or too long.
#[inline(always)]
pub fn key(bytes: &[u8], start: usize, end: usize) -> Option<WordKey> {
    let length = end
        .checked_sub(start)
        .filter(|length| (1..=LONGEST).contains(length))?;
    let sixteen = match bytes.get(start..).and_then(|rest| rest.first_chunk::<LONGEST>()) {
        Some(sixteen) => u128::from_le_bytes(*sixteen) & (u128::MAX >> (8 * (LONGEST - length))),
        None => {
            let mut padded = [0; LONGEST];
            padded[..length].copy_from_slice(bytes.get(start..end)?);
            u128::from_le_bytes(padded)
        }
    };
    Some([sixteen as u64, (sixteen >> 64) as u64])
}

/// The key of a word; of a longer one, its beginning and a bit that no key of ASCII text has.
pub fn word_key(word: &str) -> WordKey {
    let key = key(word.as_bytes(), 0, word.len().min(LONGEST)).unwrap_or_default();
    [key[0], key[1] | u64::from(word.len() > LONGEST) << 63]
}

/// The bytes of a word, padded with zeros.
pub fn word_of(key: WordKey) -> [u8; LONGEST] {
    let [one, other] = key.map(u128::from);
    (one | other << 64).to_le_bytes()
}

/// One of 64 bits for each key.
#[inline(always)]
pub fn key_bit(key: WordKey) -> u64 {
    1 << (fold(key[0] ^ key[1], SPREAD) >> 58)
}

/// A map by key.
#[derive(Debug)]
pub struct Keys<V> {
    /// A hash table; a key of zeros is empty. The number of slots is a power of two, or 0.
    slots: Vec<(WordKey, V)>,
    len: usize,
    seed: u64,
}

impl<V: Copy + Default> Default for Keys<V> {
    fn default() -> Keys<V> {
        Keys::for_about(0)
    }
}

impl<V: Copy + Default> Keys<V> {
    /// An empty map with slots for about this many keys.
    pub fn for_about(keys: usize) -> Keys<V> {
        Keys {
            slots: vec![Default::default(); (2 * keys).next_power_of_two().clamp(64, 1 << 16)],
            len: 0,
            seed: *SEED,
        }
    }

    /// Reads the memory of a key: independent reads take the time of one.
    #[inline(always)]
    pub fn touch(&self, key: WordKey) {
        black_box(self.slots[self.first_place(key)].0[0]);
    }

    /// The first slot that may be that of a key.
    #[inline(always)]
    fn first_place(&self, key: WordKey) -> usize {
        fold(key[0] ^ self.seed, key[1] ^ SPREAD) as usize & (self.slots.len() - 1)
    }

    /// The slot of a key, or the empty one for it.
    #[inline(always)]
    fn place(&self, key: WordKey) -> usize {
        let last = self.slots.len() - 1;
        let mut place = self.first_place(key);
        while self.slots[place].0 != key && self.slots[place].0 != [0; 2] {
            place = (place + 1) & last;
        }
        place
    }

    /// The value of a key; the default one if it is unknown.
    #[inline(always)]
    pub fn get(&self, key: WordKey) -> V {
        self.slots[self.place(key)].1
    }

    /// The value of a key; that of `first` when it is new.
    #[inline(always)]
    pub fn get_or_insert_with(&mut self, key: WordKey, first: impl FnOnce() -> V) -> V {
        let place = self.place(key);
        if self.slots[place].0 == key {
            return self.slots[place].1;
        }
        let value = first();
        self.insert(place, key, value);
        value
    }

    /// The value of a key; the default one when it is new.
    pub fn value_mut(&mut self, key: WordKey) -> &mut V {
        self.get_or_insert_with(key, V::default);
        let place = self.place(key);
        &mut self.slots[place].1
    }

    #[cold]
    fn insert(&mut self, place: usize, key: WordKey, value: V) {
        self.slots[place] = (key, value);
        self.len += 1;
        if 2 * self.len > self.slots.len() {
            let slots = vec![Default::default(); 2 * self.slots.len()];
            for slot in std::mem::replace(&mut self.slots, slots) {
                if slot.0 != [0; 2] {
                    let place = self.place(slot.0);
                    self.slots[place] = slot;
                }
            }
        }
    }
}

/// An odd constant with many bits set.
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn words_are_those_between_other_characters(text in "[\\x00-\\x7f]{0,40}|[a-zA-Z0-9]{0,20}( [a-zA-Z0-9]{0,20}){0,4}") {
            let bytes = text.as_bytes();
            let (mut found, mut at) = (Vec::new(), 0);
            while let Some(start) = word_start(bytes, at) {
                let folded;
                (at, folded) = folded_word(bytes, start);
                prop_assert_eq!(at, word_end(bytes, start));
                found.push(&text[start..at]);
                let lower = text[start..at].to_ascii_lowercase();
                prop_assert_eq!(folded, key(lower.as_bytes(), 0, lower.len()));
            }
            let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
            prop_assert_eq!(found, words.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_map_returns_the_first_value_of_each_key() {
        let words: Vec<String> = (0..3000u64)
            .map(|nth| format!("{:x}", nth * nth % 1009))
            .collect();
        let (mut keys, mut known) = (Keys::for_about(0), HashMap::new());
        for (nth, word) in words.iter().enumerate() {
            let key = key(word.as_bytes(), 0, word.len()).unwrap();
            let first = *known.entry(word).or_insert(nth + 1);
            assert_eq!(keys.get_or_insert_with(key, || nth + 1), first);
            assert_eq!(keys.get(key), first);
        }
        assert_eq!(keys.get(key(b"seventeen", 0, 9).unwrap()), 0);
    }

    #[test]
    fn long_words_are_no_keys() {
        assert!(key(b"sixteen letters.", 0, 16).is_some());
        assert_eq!(key(b"seventeen letters", 0, 17), None);
        assert_ne!(key(b"ab", 0, 1), key(b"ab", 0, 2));
    }
}
