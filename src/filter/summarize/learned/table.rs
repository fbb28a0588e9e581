//! Writes the hash table of weights: for `build.rs`, and for tests of other tables.

use super::super::keys::{WordKey, word_key};
use super::slots::{SLOT, pair, slot};

/// Parses the tables of two classes: the bias, then a weight and a feature per line. Returns the biases and the slots.
pub fn table_of(tables: [&str; 2]) -> ([i32; 2], Vec<u8>) {
    let features: usize = tables.iter().map(|table| table.lines().count()).sum();
    let (mut biases, mut slots) = ([0; 2], vec![0; SLOT * (2 * features).next_power_of_two()]);
    for (class, table) in tables.into_iter().enumerate() {
        for line in table.lines() {
            let Some((weight, feature)) = line.split_once(' ') else {
                biases[class] = line.parse().expect("a bias");
                continue;
            };
            let weight: i16 = weight.parse().expect("a weight");
            let (at, tag) = slot(&slots, feature_key(feature));
            slots[at..at + 4].copy_from_slice(&tag.to_le_bytes());
            let at = at + 4 + 2 * class;
            slots[at..at + 2].copy_from_slice(&weight.to_le_bytes());
        }
    }
    (biases, slots)
}

/// The key of a feature: a word, or two words with a space between.
pub fn feature_key(feature: &str) -> WordKey {
    match feature.split_once(' ') {
        Some((first, second)) => pair(word_key(first), word_key(second)),
        None => word_key(feature),
    }
}
