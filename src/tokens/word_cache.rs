//! Cache of merged pieces: texts repeat words, and a lookup takes a tenth of the time of merging. It only returns
//! counts that merging produced; a newer piece replaces another one in the same slot.

use super::hash::hash_of_two;
use super::table::RankTable;
use std::cell::RefCell;

/// Maximum bytes of a cached piece.
pub const LONGEST: usize = 16;

/// Number of slots: half a megabyte, of which only used pages are allocated.
const PLACES: usize = 1 << 14;

/// A piece and its number of tokens; none in an unused slot, since no piece is empty.
#[derive(Clone, Copy, Default)]
struct CachedWord {
    bytes: [u64; 2],
    length: u8,
    tokens: u8,
    /// Address of the vocabulary.
    table: usize,
}

thread_local! {
    static PIECES: RefCell<Vec<CachedWord>> = const { RefCell::new(Vec::new()) };
}

/// Tokens of the piece of a text between two offsets, at most [`LONGEST`] bytes long: the cached count, else that of
/// `merge`.
#[inline(always)]
pub fn tokens(table: &RankTable, text: &[u8], from: usize, to: usize, merge: impl FnOnce() -> u64) -> u64 {
    let bytes = read(text, from, to);
    let length = (to - from) as u8;
    let table = std::ptr::from_ref(table) as usize;
    let place = hash_of_two(bytes[0], bytes[1] ^ u64::from(length)) as usize % PLACES;
    PIECES.with_borrow_mut(|pieces| {
        if pieces.is_empty() {
            *pieces = vec![CachedWord::default(); PLACES];
        }
        let known = &mut pieces[place];
        if known.bytes != bytes || known.length != length || known.table != table {
            *known = CachedWord {
                bytes,
                length,
                tokens: merge() as u8,
                table,
            };
        }
        known.tokens.into()
    })
}

/// The bytes of the piece as two numbers, padded with zeros.
#[inline(always)]
fn read(text: &[u8], from: usize, to: usize) -> [u64; 2] {
    let mut bytes = [0; LONGEST];
    match text.get(from..).and_then(|rest| rest.first_chunk::<LONGEST>()) {
        Some(sixteen) => {
            let whole = u128::from_le_bytes(*sixteen) & (u128::MAX >> (8 * (LONGEST - (to - from))));
            return [whole as u64, (whole >> 64) as u64];
        }
        None => bytes[..to - from].copy_from_slice(&text[from..to]),
    }
    let whole = u128::from_le_bytes(bytes);
    [whole as u64, (whole >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::table::{CL100K, O200K};

    #[test]
    fn a_piece_is_merged_once_for_each_vocabulary_and_found_by_all_its_bytes() {
        let text = b"xabcdefghijklmnop".as_slice();
        let merged = |table, from, to, tokens| tokens_of(table, text, from, to, Some(tokens));
        let known = |table, from, to| tokens_of(table, text, from, to, None);
        assert_eq!(merged(&CL100K, 1, 4, 8), 8);
        assert_eq!(merged(&O200K, 1, 4, 7), 7);
        assert_eq!(merged(&O200K, 1, 5, 9), 9);
        assert_eq!(merged(&O200K, 1, 17, 10), 10);
        // The same bytes near the end of a text, where sixteen bytes cannot be read at once.
        assert_eq!(tokens_of(&O200K, b"abc", 0, 3, None), known(&O200K, 1, 4));
        assert_eq!(tokens_of(&O200K, b"abc\0", 0, 4, Some(11)), 11);
        assert_eq!(known(&O200K, 1, 4), 7);
        assert_eq!(known(&O200K, 1, 17), 10);
    }

    /// As [`tokens`]; without a number, the count must be cached.
    fn tokens_of(table: &RankTable, text: &[u8], from: usize, to: usize, merged: Option<u64>) -> u64 {
        tokens(table, text, from, to, || merged.expect("it is known"))
    }
}
