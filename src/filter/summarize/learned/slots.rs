//! The hash table of weights: the place of each feature. `build.rs` writes the table with the same code.

use super::super::keys::WordKey;
use super::super::numbers::fold;

/// Seeds of the hash.
const SEEDS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Size of a slot: a tag, which identifies the feature, or 0 in an empty slot; and two weights.
pub const SLOT: usize = 8;

/// The offset of the slot of a feature in a table, or of the empty one for it, and its tag. The number of slots is a power
/// of two.
#[inline(always)]
pub fn slot(table: &[u8], feature: WordKey) -> (usize, u32) {
    let hash = fold(feature[0] ^ SEEDS[0], feature[1] ^ SEEDS[1]);
    let (tag, last) = ((hash >> 32) as u32 | 1, table.len() / SLOT - 1);
    let mut place = hash as usize & last;
    loop {
        let at = place * SLOT;
        let found = u32::from_le_bytes([table[at], table[at + 1], table[at + 2], table[at + 3]]);
        if found == tag || found == 0 {
            return (at, tag);
        }
        place = (place + 1) & last;
    }
}

/// The key of two neighbors, which is the key of no word: that of a word of ASCII text lacks the highest bit, and a
/// longer one begins with its letters.
pub fn pair(first: WordKey, second: WordKey) -> WordKey {
    // The first multiplication comes before XOR: otherwise pairs of short words share keys.
    let mixed = |nth: usize| {
        let first = first[nth].wrapping_mul(SEEDS[0]).rotate_left(23);
        (first ^ second[nth]).wrapping_mul(SEEDS[1])
    };
    [mixed(0), mixed(1) | 1 << 63]
}
