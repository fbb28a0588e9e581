//! Corrects single-bit damage with the help of checksums.
//!
//! A cyclic redundancy check is linear: the difference of two texts determines the difference of their checksums. Two
//! different single-bit flips within 2^31 bits change CRC-32C differently, so a single flipped bit can be located
//! from the checksum difference alone.

use crate::error::{Error, Position, Result};
use crate::store::log::{LogChain, SEAL, digits_of, hex, seal};
use crate::store::patched::{Edit, Patched};
use std::ops::Range;

/// CRC-32C (Castagnoli), reflected; as in RFC 3720, appendix B.4.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The longest range in bytes that is searched for a flipped bit. Other damage looks like a single bit in one of 2^32
/// / 8n cases: at this length in 1 of 32,768.
const LONGEST: u64 = 16 * 1024;

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

/// The difference of two checksum states before some bytes, from their difference after them.
pub(super) fn unwind(mut difference: u32, length: u64) -> u32 {
    for _ in 0..length {
        let entry = INVERSE[(difference >> 24) as usize];
        difference = ((difference ^ TABLE[usize::from(entry)]) << 8) | u32::from(entry);
    }
    difference
}

/// Locates the bit whose flip changes the checksum of `length` bytes by `difference`: byte and bit.
fn flipped_bit(difference: u32, length: usize) -> Option<(usize, u32)> {
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
/// checksum itself changed; returns as many bytes in place of those, and the position. `before` is the chain state after
/// the last valid line. None for other damage.
pub(super) fn correct_range(
    before: LogChain,
    log: &Patched<'_>,
    stretch: Range<u64>,
    shown: &str,
) -> Result<Option<(Edit, u64)>> {
    let of_byte = |at: u64, byte| {
        let bytes = vec![byte];
        Ok(Some((
            Edit {
                at: at..at + 1,
                bytes,
            },
            at,
        )))
    };
    let bytes = |range: Range<u64>| log.bytes(range).map_err(|error| Error::io(shown, error));
    let is_ended = bytes(stretch.end.saturating_sub(1)..stretch.end)? == b"\n";
    let end = stretch.end - u64::from(is_ended);
    let Some(comma) = end
        .checked_sub(SEAL as u64)
        .filter(|comma| *comma >= stretch.start)
    else {
        return Ok(None);
    };
    let mut after = before;
    let pass = |bytes: &[u8]| {
        after.pass(bytes);
        Ok(())
    };
    log.slice(stretch.start..comma).each_block(pass, shown)?;
    let (right, tail) = (seal(hex(after.state())), bytes(comma..end)?);
    let differing = || right.iter().zip(&tail).filter(|(one, other)| one != other);
    let off: u32 = differing().map(|(one, other)| (one ^ other).count_ones()).sum();
    let stored =
        digits_of(&tail).and_then(|digits| u32::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok());
    // If most bytes of the checksum match the chain, the other bytes of the checksum are the damage.
    if off == 1 || stored.is_none() && is_ended {
        let first = right.iter().zip(&tail).position(|(one, other)| one != other);
        let edit = Edit {
            at: comma..end,
            bytes: right.to_vec(),
        };
        return Ok(first.map(|first| (edit, comma + first as u64)));
    }
    if let Some(stored) = stored
        && comma - stretch.start <= LONGEST
    {
        let covered = bytes(stretch.start..comma)?;
        if let Some((byte, bit)) = flipped_bit(after.state() ^ stored, covered.len()) {
            let at = stretch.start + byte as u64;
            return of_byte(at, covered[byte] ^ (1 << bit));
        }
    }
    // A changed newline, which joined two lines.
    let mut chain = before;
    let mut lines = log.lines(Position {
        line: 0,
        offset: stretch.start,
    });
    while let Some((line, place)) = lines.next_line().map_err(|error| Error::io(shown, error))? {
        let mut done = 0;
        for at in SEAL..line.len() {
            if (line[at] ^ b'\n').count_ones() != 1 || digits_of(&line[..at]).is_none() {
                continue;
            }
            chain.pass(&line[done..at - SEAL]);
            done = at - SEAL;
            if seal(hex(chain.state())) == line[done..at] {
                return of_byte(place.offset + at as u64, b'\n');
            }
        }
        chain.pass(&line[done..]);
        if place.offset + line.len() as u64 >= stretch.end {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::log::Verdict;
    use crate::store::log::tests::{stored, verdicts};
    use std::io::Write;

    #[test]
    fn unwinding_reverses_the_checksum() {
        for bytes in [&b""[..], b"x", b"{\"role\":\"user\"}\n\xff\0"] {
            for state in [0, 1, 0xdead_beef, u32::MAX] {
                let after = |state| crc32c::crc32c_append(state, bytes);
                let difference = after(state) ^ after(7);
                assert_eq!(unwind(difference, bytes.len() as u64), state ^ 7);
            }
        }
    }

    fn corrected(before: LogChain, log: &[u8], stretch: Range<usize>) -> Option<Vec<u8>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(log).unwrap();
        let log = Patched::new(Some(&file), log.len() as u64);
        let stretch = stretch.start as u64..stretch.end as u64;
        let (edit, _) = correct_range(before, &log, stretch, "").unwrap()?;
        Some(log.edited(&[edit]).bytes(0..log.len()).unwrap())
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
            let (mut chain, mut base, mut from, mut at) = (LogChain::default(), LogChain::default(), 0, 0);
            let mut back = None;
            for line in damaged.split_inclusive(|byte| *byte == b'\n') {
                let verdict = chain.verify(line);
                at += line.len();
                match verdict {
                    Verdict::Unchecked => continue,
                    Verdict::Sealed => (base, from) = (chain, at),
                    Verdict::Broken => {
                        back = corrected(base, &damaged, from..at);
                        break;
                    }
                }
            }
            damaged = match back {
                Some(back) => back,
                // The last newline: the result is a line without newline.
                None if bit / 8 == log.len() - 1 => corrected(base, &damaged, from..log.len()).unwrap(),
                None => panic!(
                    "bit {bit} of byte {} is not found: {:?}",
                    bit / 8,
                    verdicts(&damaged)
                ),
            };
            assert_eq!(damaged, log, "bit {bit}");
        }
    }

    #[test]
    fn more_than_one_bit_is_not_guessed() {
        let log = stored(&["{\"role\":\"user\",\"content\":\"a b c d e f\"}"]);
        for at in 20..30 {
            let mut damaged = log.clone();
            damaged[at] ^= 3;
            assert_eq!(corrected(LogChain::default(), &damaged, 0..damaged.len()), None);
        }
    }
}
