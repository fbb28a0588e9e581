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
const fn fold(one: u64, other: u64) -> u64 {
    let product = one as u128 * other as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A hash of bytes; the same on every machine.
#[inline(always)]
pub fn hash(bytes: &[u8]) -> u64 {
    let length = bytes.len() as u64;
    // Overlapping words instead of a loop over single bytes: most pieces are shorter than 16 bytes.
    let (low, high) = if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let (mut low, high) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        if let Some(middle) = bytes.get(8..bytes.len() - 8) {
            for word in middle.chunks(8) {
                let mut padded = [0; 8];
                padded[..word.len()].copy_from_slice(word);
                low = fold(low ^ SPREAD[2], u64::from_le_bytes(padded) ^ SPREAD[1]);
            }
        }
        (low, high)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (
            u32::from_le_bytes(*first).into(),
            u32::from_le_bytes(*last).into(),
        )
    } else if let [first, .., last] = bytes {
        (
            (*first).into(),
            u64::from(bytes[bytes.len() / 2]) << 8 | u64::from(*last),
        )
    } else {
        (bytes.first().copied().unwrap_or_default().into(), 0)
    };
    fold(fold(low ^ SPREAD[0], high ^ SPREAD[1]), length ^ SPREAD[2])
}

/// The first slot to look at, of so many.
#[inline(always)]
pub fn first_slot(hash: u64, slots: u32) -> usize {
    (((hash >> 32) * u64::from(slots)) >> 32) as usize
}

/// What a slot keeps of a hash, beside the place of the token's bytes.
#[inline(always)]
pub fn mark(hash: u64) -> u32 {
    hash as u32 & MARKS
}

/// Bits of a slot that are the place of an entry; the others are the mark.
pub const PLACE_BITS: u32 = 22;

/// The highest mark.
pub const MARKS: u32 = (1 << (32 - PLACE_BITS)) - 1;

/// Bytes before a token's own in its entry: its length, and its rank in three bytes, the lowest first.
pub const ENTRY_HEAD: usize = 4;
