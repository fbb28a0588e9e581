//! The hash table of weights: the place of each feature. `build.rs` writes the table with the same code.

use super::super::keys::WordKey;
use super::super::numbers::fold;

/// Seeds of the hash.
const SEEDS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Size of a slot: a tag, which identifies the feature, or 0 in an empty slot; and two weights.
pub const SLOT: usize = 8;

/// The hash of a word.
#[inline(always)]
pub fn hash(word: WordKey) -> u64 {
    fold(word[0] ^ SEEDS[0], word[1] ^ SEEDS[1])
}

/// The hash of two neighbors with these hashes.
#[inline(always)]
pub fn pair(first: u64, second: u64) -> u64 {
    fold(first ^ SEEDS[1], second.rotate_left(32) ^ SEEDS[0])
}

/// The offset of the slot of a feature with this hash in a table, or of the empty one for it; whether the table has the
/// feature; and its tag. The number of slots is a power of two.
#[inline(always)]
pub fn slot(table: &[u8], hash: u64) -> (usize, bool, u32) {
    let (slots, _) = table.as_chunks::<SLOT>();
    let (tag, last) = ((hash >> 32) as u32 | 1, slots.len() - 1);
    let mut place = hash as usize & last;
    loop {
        // One read of eight bytes.
        let found = u64::from_le_bytes(slots[place]) as u32;
        if found == tag || found == 0 {
            return (place * SLOT, found == tag, tag);
        }
        place = (place + 1) & last;
    }
}
