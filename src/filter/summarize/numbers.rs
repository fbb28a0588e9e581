//! Numbers texts in order of first appearance.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// A string interner.
#[derive(Debug, Default)]
pub struct TermNumbers {
    /// The concatenated texts.
    texts: String,
    /// The end of each text.
    ends: Vec<u32>,
    hashes: Vec<u64>,
    /// Hash table of text numbers plus one; 0 is empty.
    places: Vec<u32>,
}

/// The most texts for which memory is reserved.
const MOST_AT_ONCE: usize = 1 << 12;

impl TermNumbers {
    /// An empty interner with memory for about this many texts.
    pub fn for_about(texts: usize) -> TermNumbers {
        let texts = texts.min(MOST_AT_ONCE);
        TermNumbers {
            texts: String::with_capacity(8 * texts),
            ends: Vec::with_capacity(texts),
            hashes: Vec::with_capacity(texts),
            places: vec![0; (2 * texts + 2).next_power_of_two()],
        }
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of a text, assigned on first use.
    pub fn of(&mut self, text: &str) -> u32 {
        self.hashed(hash(text), text)
    }

    /// The number of a known text.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.find_slot(hash(text), text).ok()
    }

    /// The text of a number.
    pub fn text(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start as usize..self.ends[number] as usize]
    }

    /// The number of a text, or the free slot for it.
    fn find_slot(&self, hash: u64, text: &str) -> Result<u32, usize> {
        let last = self.places.len().wrapping_sub(1);
        let mut place = hash as usize & last;
        while let Some(number) = self.places.get(place).and_then(|number| number.checked_sub(1)) {
            if self.hashes[number as usize] == hash && self.text(number as usize) == text {
                return Ok(number);
            }
            place = (place + 1) & last;
        }
        Err(place)
    }

    fn hashed(&mut self, hash: u64, text: &str) -> u32 {
        if self.places.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        match self.find_slot(hash, text) {
            Ok(number) => number,
            Err(place) => {
                let number = self.len() as u32;
                self.places[place] = number + 1;
                self.texts.push_str(text);
                self.ends.push(self.texts.len() as u32);
                self.hashes.push(hash);
                number
            }
        }
    }

    fn grow(&mut self) {
        let last = (self.places.len() * 2).max(64) - 1;
        self.places = vec![0; last + 1];
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut place = *hash as usize & last;
            while self.places[place] != 0 {
                place = (place + 1) & last;
            }
            self.places[place] = number as u32 + 1;
        }
    }

    /// Adds the texts of another interner; returns the new number of each of its texts.
    pub fn absorb(&mut self, other: &TermNumbers) -> Vec<u32> {
        (0..other.len())
            .map(|number| self.hashed(other.hashes[number], other.text(number)))
            .collect()
    }
}

/// The hash seed, random in each run to prevent prepared collisions.
pub(super) static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

fn hash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut state = *SEED ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state = fold(state ^ u64::from_le_bytes(*word), SPREAD);
    }
    let rest = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    fold(state ^ rest, SPREAD)
}

/// An odd constant with many bits set.
const SPREAD: u64 = 0xa076_1d64_78bd_642f;

/// Folds the halves of a product with XOR.
#[inline(always)]
pub(super) fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}
