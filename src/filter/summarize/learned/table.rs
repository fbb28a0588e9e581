//! Writes the hash table of weights: for `build.rs`, and for tests of other tables.

use super::super::keys::word_key;
use super::slots::{SLOT, hash, pair, slot};
use std::collections::BTreeMap;

/// Parses the tables of two classes: the bias, then a weight and a feature per line. Returns the biases and the slots. Each
/// word of two neighbors has a slot, too, so that neighbors of a word without one need not be looked up.
pub fn table_of(tables: [&str; 2]) -> ([i32; 2], Vec<u8>) {
    let mut biases = [0; 2];
    let mut features: BTreeMap<u64, [i16; 2]> = BTreeMap::new();
    for (class, table) in tables.into_iter().enumerate() {
        for line in table.lines() {
            let Some((weight, feature)) = line.split_once(' ') else {
                biases[class] = line.parse().expect("a bias");
                continue;
            };
            let weights = features.entry(feature_hash(feature)).or_default();
            weights[class] = weight.parse().expect("a weight");
            for word in feature.split(' ') {
                features.entry(feature_hash(word)).or_default();
            }
        }
    }
    // At most two thirds of the slots are used: a search for a feature that is not there ends at an empty one.
    let mut slots = vec![0; SLOT * (features.len() * 3 / 2 + 1).next_power_of_two()];
    for (feature, [one, other]) in features {
        let (at, _, tag) = slot(&slots, feature);
        slots[at..at + 4].copy_from_slice(&tag.to_le_bytes());
        slots[at + 4..at + 6].copy_from_slice(&one.to_le_bytes());
        slots[at + 6..at + 8].copy_from_slice(&other.to_le_bytes());
    }
    (biases, slots)
}

/// The hash of a feature: a word, or two words with a space between.
pub fn feature_hash(feature: &str) -> u64 {
    match feature.split_once(' ') {
        Some((first, second)) => pair(hash(word_key(first)), hash(word_key(second))),
        None => hash(word_key(feature)),
    }
}
