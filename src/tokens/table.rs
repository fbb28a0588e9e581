//! A vocabulary as it lies in the program: looked up in place, never loaded.

use super::hash::{ENTRY_HEAD, PLACE_BITS, first_slot, hash, mark};

/// Tokens by their bytes. The build script tells how it was written.
#[derive(Debug)]
pub struct Table {
    slots: &'static [u8],
    entries: &'static [u8],
    /// Slots that a hash can begin at.
    begin: u32,
    /// Length of the longest token.
    longest: usize,
    /// Tokens of this rank and higher are not in the vocabulary.
    below: u32,
}

macro_rules! table {
    ($name:literal, $below:expr) => {
        Table::new(
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".entries")),
            $below,
        )
    };
}

pub static O200K: Table = table!("o200k_base", u32::MAX);
pub static CL100K: Table = table!("cl100k_base", u32::MAX);
pub static P50K: Table = table!("p50k_base", u32::MAX);
/// The ranks before the one of `<|endoftext|>` are those of `r50k_base`.
pub static R50K: Table = table!("p50k_base", 50_256);

/// Slots behind those that a hash can begin at; `SPARE` of the build script.
const SPARE: u32 = 64;

impl Table {
    const fn new(slots: &'static [u8], entries: &'static [u8], below: u32) -> Table {
        Table {
            slots,
            entries,
            begin: (slots.len() / 4) as u32 - SPARE,
            longest: 128,
            below,
        }
    }

    /// The rank of these bytes; none when they are no token.
    #[inline]
    pub fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest {
            return None;
        }
        let hash = hash(bytes);
        let from = first_slot(hash, self.begin) * 4;
        for slot in self.slots.get(from..)?.chunks_exact(4) {
            let slot = u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]);
            if slot == 0 {
                return None;
            }
            if slot >> PLACE_BITS == mark(hash) {
                let place = (slot & ((1 << PLACE_BITS) - 1)) as usize;
                let &[length, low, middle, high] = self.entries.get(place..)?.first_chunk::<ENTRY_HEAD>()?;
                let own = place + ENTRY_HEAD;
                if usize::from(length) == bytes.len()
                    && self.entries.get(own..own + bytes.len()) == Some(bytes)
                {
                    let rank = u32::from_le_bytes([low, middle, high, 0]);
                    return (rank < self.below).then_some(rank);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_the_vocabularies_is_found_under_its_rank() {
        let vocabularies = [
            (&O200K, tiktoken_rs::o200k_base_singleton(), 199_998),
            (&CL100K, tiktoken_rs::cl100k_base_singleton(), 100_256),
            (&P50K, tiktoken_rs::p50k_base_singleton(), 50_281),
            (&R50K, tiktoken_rs::r50k_base_singleton(), 50_256),
        ];
        for (table, core, ranks) in vocabularies {
            for rank in (0..ranks).filter(|rank| ranks != 50_281 || *rank != 50_256) {
                let token = core.decode_bytes(&[rank]).unwrap();
                assert_eq!(table.rank(&token), Some(rank), "{token:?}");
                assert!(token.len() <= table.longest);
            }
        }
        assert_eq!(P50K.rank(b"<|endoftext|>"), None);
        assert_eq!((P50K.rank(b"   ").is_some(), R50K.rank(b"   ")), (true, None));
        assert_eq!(O200K.rank(b""), None);
        assert_eq!(O200K.rank(&[b' '; 129]), None);
    }
}
