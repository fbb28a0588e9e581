//! A vocabulary that is compiled into the program, and looked up without loading.

use super::hash::{ENTRY_HEAD, PLACE_BITS, SHORT_SLOT, first_slot, hash, mark, short_hash, short_key};

/// No rank: the bytes are not a token.
pub const NONE: u32 = u32::MAX;

/// Token ranks by bytes. The build script describes the layout.
#[derive(Debug)]
pub struct RankTable {
    pairs: &'static [u8],
    short: &'static [u8],
    /// Number of slots of short tokens that a hash can select.
    short_begin: u32,
    slots: &'static [u8],
    entries: &'static [u8],
    /// Number of slots that a hash can select.
    begin: u32,
    /// Only ranks below this one are in the vocabulary.
    below: u32,
}

macro_rules! table {
    ($name:literal, $below:expr) => {
        RankTable::new(
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".short")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".entries")),
            $below,
        )
    };
}

pub static O200K: RankTable = table!("o200k_base", u32::MAX);
pub static CL100K: RankTable = table!("cl100k_base", u32::MAX);
pub static P50K: RankTable = table!("p50k_base", u32::MAX);
/// The ranks below that of `<|endoftext|>` are those of `r50k_base`.
pub static R50K: RankTable = table!("p50k_base", 50_256);

/// Extra slots after those that a hash can select; `SPARE` of the build script.
const SPARE: u32 = 64;

/// Maximum length of a token of any vocabulary.
const LONGEST: usize = 128;

impl RankTable {
    const fn new(
        pairs: &'static [u8],
        short: &'static [u8],
        slots: &'static [u8],
        entries: &'static [u8],
        below: u32,
    ) -> RankTable {
        RankTable {
            pairs,
            short,
            short_begin: (short.len() / SHORT_SLOT) as u32 - SPARE,
            slots,
            entries,
            begin: (slots.len() / 4) as u32 - SPARE,
            below,
        }
    }

    #[inline(always)]
    fn known(&self, rank: u32) -> u32 {
        if rank < self.below { rank } else { NONE }
    }

    /// The rank of two bytes.
    #[inline(always)]
    pub fn pair(&self, first: u8, second: u8) -> u32 {
        let at = 3 * (usize::from(first) << 8 | usize::from(second));
        match self.pairs.get(at..at + 3) {
            Some(&[0xff, 0xff, 0xff]) | None => NONE,
            Some(rank) => self.known(u32::from_le_bytes([rank[0], rank[1], rank[2], 0])),
        }
    }

    /// The rank of these bytes of a text. Surrounding bytes are irrelevant, but allow eight bytes to be read at once.
    #[inline(always)]
    pub fn rank(&self, text: &[u8], from: usize, to: usize) -> u32 {
        let length = to - from;
        // Empty and long tokens: no token is empty, which is detected on this rarer path.
        if length.wrapping_sub(1) >= 8 {
            return self.long(&text[from..to]);
        }
        let key = match text
            .get(from..from + 8)
            .and_then(|eight| eight.first_chunk::<8>())
        {
            Some(eight) => u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * length)),
            None => short_key(&text[from..to]),
        };
        self.short(key, length)
    }

    #[inline(always)]
    fn short(&self, key: u64, length: usize) -> u32 {
        let from = first_slot(short_hash(key, length as u64), self.short_begin) * SHORT_SLOT;
        for slot in self.short[from..].as_chunks::<SHORT_SLOT>().0 {
            let (Some(own), [.., a, b, c, own_length]) = (slot.first_chunk::<8>(), slot) else {
                break;
            };
            if u64::from_le_bytes(*own) == key && usize::from(*own_length) == length {
                return self.known(u32::from_le_bytes([*a, *b, *c, 0]));
            }
            if *own_length == 0 {
                break;
            }
        }
        NONE
    }

    fn long(&self, bytes: &[u8]) -> u32 {
        if bytes.len() > LONGEST {
            return NONE;
        }
        let hash = hash(bytes);
        let from = first_slot(hash, self.begin) * 4;
        for slot in self.slots[from..].chunks_exact(4) {
            let slot = u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]);
            if slot == 0 {
                break;
            }
            if slot >> PLACE_BITS == mark(hash) {
                let entry = self
                    .entries
                    .get((slot & ((1 << PLACE_BITS) - 1)) as usize..)
                    .unwrap_or_default();
                if let Some((&[length, a, b, c], rest)) = entry.split_first_chunk::<ENTRY_HEAD>()
                    && usize::from(length) == bytes.len()
                    && rest.starts_with(bytes)
                {
                    return self.known(u32::from_le_bytes([a, b, c, 0]));
                }
            }
        }
        NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rank without and with surrounding text, to test both ways of reading.
    fn whole(table: &RankTable, bytes: &[u8]) -> u32 {
        let rank = table.rank(bytes, 0, bytes.len());
        let around = [b"xy", bytes, b"0123456789"].concat();
        assert_eq!(table.rank(&around, 2, 2 + bytes.len()), rank);
        rank
    }

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
                assert_eq!(whole(table, &token), rank, "{token:?}");
                assert!(token.len() <= LONGEST);
                if let [first, second] = token[..] {
                    assert_eq!(table.pair(first, second), rank);
                }
            }
        }
        assert_eq!(whole(&P50K, b"<|endoftext|>"), NONE);
        assert_ne!(whole(&P50K, b"   "), NONE);
        for blanks in [&[b' '; 3][..], &[b' '; 20]] {
            assert_eq!(whole(&R50K, blanks), NONE);
        }
        assert_eq!(whole(&O200K, b""), NONE);
        assert_eq!(whole(&O200K, &[b' '; 129]), NONE);
        assert_eq!(whole(&O200K, b"a\0"), NONE);
        let pairs = (0..=u16::MAX).map(u16::to_be_bytes);
        let wrong = pairs.filter(|&[a, b]| {
            [&O200K, &CL100K, &P50K, &R50K]
                .iter()
                .any(|table| table.pair(a, b) != whole(table, &[a, b]))
        });
        assert_eq!(wrong.count(), 0);
    }
}
