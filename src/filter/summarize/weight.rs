//! What a term is worth: rare terms tell units apart, common ones do not. Integers only.

use std::collections::HashMap;

/// Bits behind the point of a weight.
const POINT: u32 = 20;

/// ln 2 * 2^64, rounded down.
const LN_2: u128 = 0xb172_17f7_d1cf_79ab;

/// `ln((N - n + 0.5)/(n + 0.5) + 1)`, the inverse document frequency of BM25 (Robertson and Spärck Jones, as
/// Lucene has it), times 2^20, rounded to the nearest integer. `units` is N, `having` is n.
///
/// The formula is `ln((2N + 2)/(2n + 1))`, a ratio of integers, and its logarithm is worked out in integers:
/// a library's `ln` may differ in the last place from one machine to the next, and then two machines would
/// choose differently.
pub fn weight(units: u64, having: u64) -> u64 {
    let over = 2 * u128::from(units) + 2;
    let under = 2 * u128::from(having) + 1;
    if over <= under {
        return 0;
    }
    // Difference of two logarithms to base 2 with 60 bits behind the point, then times ln 2.
    let difference = log2(over).saturating_sub(log2(under));
    let bits = difference * (LN_2 >> 4);
    let rounded = (bits + (1 << (120 - POINT - 1))) >> (120 - POINT);
    u64::try_from(rounded).unwrap_or(u64::MAX)
}

/// The weights of terms by how many of the units have each: most are had by as few as others.
pub fn weights(units: u64, having: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut known: HashMap<u64, u64> = HashMap::new();
    let mut one = |having| *known.entry(having).or_insert_with(|| weight(units, having));
    having.map(&mut one).collect()
}

/// Logarithm to base 2 with 60 bits behind the point, of a number from 1 to below 2^66. The digits come one by
/// one: a number in `[1, 2)` is squared; if that gives 2 or more the digit is 1, and it is halved.
fn log2(number: u128) -> u128 {
    let whole = number.ilog2();
    // 63 bits behind the point, so that the square fits.
    let mut rest = if whole <= 63 {
        number << (63 - whole)
    } else {
        number >> (whole - 63)
    };
    let mut digits = u128::from(whole);
    for _ in 0..60 {
        rest = (rest * rest) >> 63;
        digits <<= 1;
        if rest >= 1 << 64 {
            digits |= 1;
            rest >>= 1;
        }
    }
    digits
}
