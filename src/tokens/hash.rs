//! The hash function of the token tables. The build script, which writes the tables, also compiles this file.

/// Odd constants with many bits set, so that every input bit affects many output bits.
const SPREAD: [u64; 3] = [
    0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f,
];

/// The two halves of the product, XORed.
#[inline(always)]
pub const fn fold(one: u64, other: u64) -> u64 {
    let product = one as u128 * other as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A hash of nine or more bytes; the same on every machine.
#[inline(always)]
pub fn hash(bytes: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return 0;
    };
    let (mut low, high) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    // The last word may overlap the previous one, which avoids a loop over single bytes.
    for word in bytes[8..]
        .chunks_exact(8)
        .take(bytes.len().saturating_sub(16).div_ceil(8))
    {
        let mut whole = [0; 8];
        whole.copy_from_slice(word);
        low = fold(low ^ SPREAD[2], u64::from_le_bytes(whole) ^ SPREAD[1]);
    }
    fold(
        fold(low ^ SPREAD[0], high ^ SPREAD[1]),
        bytes.len() as u64 ^ SPREAD[2],
    )
}

/// A hash of two numbers.
#[inline(always)]
#[allow(dead_code)] // not in the build script
pub const fn hash_of_two(one: u64, other: u64) -> u64 {
    fold(one ^ SPREAD[0], other ^ SPREAD[1])
}

/// Up to eight bytes as a number, in little-endian order.
pub fn short_key(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// A hash of such a number and its length in bytes.
#[inline(always)]
pub const fn short_hash(key: u64, length: u64) -> u64 {
    fold(key ^ SPREAD[0], (length << 56) ^ SPREAD[1])
}

/// Bytes per slot of the short tokens: the key, the rank in three bytes, the length, which is 0 in an empty slot.
pub const SHORT_SLOT: usize = 12;

/// The first slot to examine, of this number of slots.
#[inline(always)]
pub fn first_slot(hash: u64, slots: u32) -> usize {
    (((hash >> 32) * u64::from(slots)) >> 32) as usize
}

/// The part of a hash that a slot stores next to the offset of the token's bytes.
#[inline(always)]
pub fn mark(hash: u64) -> u32 {
    hash as u32 & ((1 << (32 - PLACE_BITS)) - 1)
}

/// Bits of a slot for the offset of an entry; the others are the mark.
pub const PLACE_BITS: u32 = 22;

/// Bytes before the token in its entry: its length, and its rank in three bytes, in little-endian order.
pub const ENTRY_HEAD: usize = 4;
