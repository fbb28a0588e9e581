//! The weight of a term: rare terms distinguish units, common ones do not. Uses integers only.

use std::collections::HashMap;

/// Fraction bits of a weight.
const POINT: u32 = 20;

/// ln 2 * 2^64, rounded down.
const LN_2: u128 = 0xb172_17f7_d1cf_79ab;

/// `ln((N - n + 0.5)/(n + 0.5) + 1)`, the inverse document frequency of BM25 (Robertson and Spärck Jones, as in
/// Lucene), times 2^20, rounded to the nearest integer. `units` is N, `having` is n.
///
/// The formula equals `ln((2N + 2)/(2n + 1))`, a ratio of integers, and its logarithm is computed in integers: a
/// library's `ln` may differ in the last digit between machines, which would change the selection.
pub fn weight(units: u64, having: u64) -> u64 {
    weight_among(log2(2 * u128::from(units) + 2), having)
}

/// The same, given `log2(2N + 2)`.
fn weight_among(units: u128, having: u64) -> u64 {
    // The difference of two base-2 logarithms with 60 fraction bits, times ln 2.
    let difference = units.saturating_sub(log2(2 * u128::from(having) + 1));
    let bits = difference * (LN_2 >> 4);
    let rounded = (bits + (1 << (120 - POINT - 1))) >> (120 - POINT);
    u64::try_from(rounded).unwrap_or(u64::MAX)
}

/// The weights of terms by number of units that contain each; cached, because many terms have equal numbers.
pub fn weights(units: u64, having: impl Iterator<Item = u64>) -> Vec<u64> {
    let units = log2(2 * u128::from(units) + 2);
    // Most numbers are small.
    let mut small = [None; 64];
    let mut known: HashMap<u64, u64> = HashMap::new();
    let mut one = |having: u64| {
        let weight = || weight_among(units, having);
        match usize::try_from(having).ok().and_then(|nth| small.get_mut(nth)) {
            Some(known) => *known.get_or_insert_with(weight),
            None => *known.entry(having).or_insert_with(weight),
        }
    };
    having.map(&mut one).collect()
}

/// Base-2 logarithm with 60 fraction bits, for numbers from 1 to below 2^66. Computed bit by bit: a number in
/// `[1, 2)` is squared; if the result is 2 or more the bit is 1, and the number is halved.
fn log2(number: u128) -> u128 {
    let whole = number.ilog2();
    // 63 fraction bits, so that the square fits.
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
