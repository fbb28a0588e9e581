//! Corrects single-bit damage with the help of checksums.
//!
//! A cyclic redundancy check is linear: the difference of two texts determines the difference of their checksums. Two
//! different single-bit flips within 2^31 bits change CRC-32C differently, so a single flipped bit can be located
//! from the checksum difference alone.

use crate::store::log::{Chain, SEAL, digits_of, hex, seal};

/// CRC-32C (Castagnoli), reflected; as in RFC 3720, appendix B.4.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The longest range in bytes that is searched for a flipped bit. Other damage looks like a single bit in one of 2^32
/// / 8n cases: at this length in 1 of 32,768.
const LONGEST: usize = 16 * 1024;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = (rest >> 1) ^ (POLYNOMIAL & (rest & 1).wrapping_neg());
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
}

/// The index of the table entry with this top byte, which is unique.
const INVERSE: [u8; 256] = inverse();

const fn inverse() -> [u8; 256] {
    let mut inverse = [0; 256];
    let mut entry = 0;
    while entry < 256 {
        inverse[(TABLE[entry] >> 24) as usize] = entry as u8;
        entry += 1;
    }
    inverse
}

/// The checksum state before some bytes, from the state after them.
pub(super) fn unwind(behind: u32, bytes: &[u8]) -> u32 {
    let mut state = !behind;
    for byte in bytes.iter().rev() {
        let entry = INVERSE[(state >> 24) as usize];
        state = ((state ^ TABLE[usize::from(entry)]) << 8) | u32::from(entry ^ *byte);
    }
    !state
}

/// Locates the bit whose flip changes the checksum of `length` bytes by `difference`: byte and bit.
fn place(difference: u32, length: usize) -> Option<(usize, u32)> {
    let mut effects: [u32; 8] = std::array::from_fn(|bit| TABLE[1 << bit]);
    for byte in (0..length).rev() {
        if let Some(bit) = effects.iter().position(|effect| *effect == difference) {
            return Some((byte, bit as u32));
        }
        for effect in &mut effects {
            *effect = (*effect >> 8) ^ TABLE[(*effect & 0xff) as usize];
        }
    }
    None
}

/// Corrects a range of a log that ends with a line with a wrong checksum, if one bit of it or a few bytes of the
/// checksum itself changed; returns the corrected bytes and the position. `before` is the chain state after the last
/// valid line. None for other damage.
pub(super) fn mend(before: Chain, stretch: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (ended, newline) = stretch
        .strip_suffix(b"\n")
        .map_or((stretch, 0), |ended| (ended, 1));
    let covered = ended.len().checked_sub(SEAL)?;
    let mut behind = before;
    behind.pass(&ended[..covered]);
    let expected = hex(behind.state());
    let right = seal(expected);
    let mut mended = stretch.to_vec();
    let off: u32 = right
        .iter()
        .zip(&ended[covered..])
        .map(|(one, other)| (one ^ other).count_ones())
        .sum();
    if off == 1 {
        let at = right
            .iter()
            .zip(&ended[covered..])
            .position(|(one, other)| one != other)?;
        mended[covered..covered + SEAL].copy_from_slice(&right);
        return Some((mended, covered + at));
    }
    if digits_of(ended).is_none() && newline == 1 {
        // Most bytes of the checksum match the chain, so the other bytes of the checksum are the damage.
        mended[covered..covered + SEAL].copy_from_slice(&right);
        let at = right
            .iter()
            .zip(&ended[covered..])
            .position(|(one, other)| one != other)?;
        return Some((mended, covered + at));
    }
    if let Some(stored) = digits_of(ended) {
        let stored = u32::from_str_radix(std::str::from_utf8(&stored).ok()?, 16).ok()?;
        if covered <= LONGEST
            && let Some((byte, bit)) = place(behind.state() ^ stored, covered)
        {
            mended[byte] ^= 1 << bit;
            return Some((mended, byte));
        }
    }
    // A changed newline, which joined two lines.
    let mut chain = before;
    let mut done = 0;
    for at in SEAL..ended.len() + 1 - newline {
        let candidate = stretch
            .get(at)
            .is_some_and(|byte| (byte ^ b'\n').count_ones() == 1);
        if !candidate || digits_of(&stretch[..at]).is_none() {
            continue;
        }
        chain.pass(&stretch[done..at - SEAL]);
        done = at - SEAL;
        if seal(hex(chain.state())) == stretch[done..at] {
            mended[at] = b'\n';
            return Some((mended, at));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::log::Verdict;
    use crate::store::log::tests::{stored, verdicts};

    #[test]
    fn the_way_back_is_the_way_forth() {
        for bytes in [&b""[..], b"x", b"{\"role\":\"user\"}\n\xff\0"] {
            for state in [0, 1, 0xdead_beef, u32::MAX] {
                assert_eq!(unwind(crc32c::crc32c_append(state, bytes), bytes), state);
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_found_and_flipped_back() {
        let log = stored(&[
            "{\"role\":\"user\",\"content\":\"J*\"}",
            "{\"type\":\"note\"}",
            "{\"role\":\"tool\"}",
        ]);
        for bit in 0..log.len() * 8 {
            let mut damaged = log.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The range from the last valid line to the damaged one.
            let (mut chain, mut base, mut from, mut at) = (Chain::default(), Chain::default(), 0, 0);
            let mut back = None;
            for line in damaged.split_inclusive(|byte| *byte == b'\n') {
                let verdict = chain.verify(line);
                at += line.len();
                match verdict {
                    Verdict::Unchecked => continue,
                    Verdict::Sealed => (base, from) = (chain, at),
                    Verdict::Broken => {
                        back = mend(base, &damaged[from..at]).map(|(mended, _)| (from, at, mended));
                        break;
                    }
                }
            }
            let (from, to, mended) = match back {
                Some(back) => back,
                // The last newline: the result is a line without newline.
                None if bit / 8 == log.len() - 1 => {
                    let (mended, _) = mend(base, &damaged[from..]).unwrap();
                    (from, damaged.len(), mended)
                }
                None => panic!(
                    "bit {bit} of byte {} is not found: {:?}",
                    bit / 8,
                    verdicts(&damaged)
                ),
            };
            damaged.splice(from..to, mended);
            assert_eq!(damaged, log, "bit {bit}");
        }
    }

    #[test]
    fn more_than_one_bit_is_not_guessed() {
        let log = stored(&["{\"role\":\"user\",\"content\":\"a b c d e f\"}"]);
        for at in 20..30 {
            let mut damaged = log.clone();
            damaged[at] ^= 3;
            assert_eq!(mend(Chain::default(), &damaged), None);
        }
    }
}
