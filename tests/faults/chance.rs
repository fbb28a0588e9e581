//! Pseudorandom numbers from a seed, so that a finding can be reproduced.

/// Steele, Lea and Flood's SplitMix64.
pub struct Chance(u64);

impl Chance {
    /// A separate sequence for each name, independent of other draws.
    pub fn new(seed: u64, name: &str) -> Chance {
        let mixed = name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Chance(mixed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    pub fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}

/// At most `most` of these, evenly spread, including the first and the last.
pub fn spread<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most || most < 2 {
        return all.iter().take(most.max(1)).cloned().collect::<Vec<_>>();
    }
    (0..most)
        .map(|nth| all[nth * (all.len() - 1) / (most - 1)].clone())
        .collect()
}
