//! The hash under which the tables hold a token's bytes. The build script, which writes the tables, compiles this
//! file too: both must agree.

/// Odd constants with many bits set, so that every input bit reaches many output bits.
const SPREAD: [u64; 3] = [
    0x9e37_79b9_7f4a_7c15,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
];

/// The two halves of the product, folded onto each other.
#[inline(always)]
pub const fn fold(one: u64, other: u64) -> u64 {
    let product = one as u128 * other as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A hash of nine bytes or more; the same on every machine.
#[inline(always)]
pub fn hash(bytes: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return 0;
    };
    let (mut low, high) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    // The last word may overlap the one before it: no loop over single bytes.
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

/// Up to eight bytes as a number, the first byte lowest.
pub fn short_key(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// A hash of such a number and how many bytes it had.
#[inline(always)]
pub const fn short_hash(key: u64, length: u64) -> u64 {
    fold(key ^ SPREAD[0], (length << 56) ^ SPREAD[1])
}

/// Bytes of a slot of the short tokens: the key, the rank in three bytes, the length, which is 0 in an empty one.
pub const SHORT_SLOT: usize = 12;

/// The first slot to look at, of so many.
#[inline(always)]
pub fn first_slot(hash: u64, slots: u32) -> usize {
    (((hash >> 32) * u64::from(slots)) >> 32) as usize
}

/// What a slot keeps of a hash, beside the place of the token's bytes.
#[inline(always)]
pub fn mark(hash: u64) -> u32 {
    hash as u32 & ((1 << (32 - PLACE_BITS)) - 1)
}

/// Bits of a slot that are the place of an entry; the others are the mark.
pub const PLACE_BITS: u32 = 22;

/// Bytes before a token's own in its entry: its length, and its rank in three bytes, the lowest first.
pub const ENTRY_HEAD: usize = 4;
