//! Writes the hash table of weights: for `build.rs`, and for tests of other tables.

use super::super::keys::word_key;
use super::slots::{SLOT, hash, pair, slot};

/// Parses the tables of two classes: the bias, then a weight and a feature per line. Returns the biases and the slots. Each
/// word of two neighbors has a slot, too, so that neighbors of a word without one need not be looked up.
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
            let at = added(&mut slots, feature) + 2 * class;
            slots[at..at + 2].copy_from_slice(&weight.to_le_bytes());
            let words = feature
                .split_once(' ')
                .map_or([""; 2], |(first, second)| [first, second]);
            words
                .into_iter()
                .filter(|word| !word.is_empty())
                .for_each(|word| {
                    added(&mut slots, word);
                });
        }
    }
    (biases, slots)
}

/// Adds a feature unless the table has it; returns the offset of its weights.
fn added(slots: &mut [u8], feature: &str) -> usize {
    let (at, _, tag) = slot(slots, feature_hash(feature));
    slots[at..at + 4].copy_from_slice(&tag.to_le_bytes());
    at + 4
}

/// The hash of a feature: a word, or two words with a space between.
pub fn feature_hash(feature: &str) -> u64 {
    match feature.split_once(' ') {
        Some((first, second)) => pair(hash(word_key(first)), hash(word_key(second))),
        None => hash(word_key(feature)),
    }
}
