//! Portable pseudorandom numbers and invented words.

/// SplitMix64 (Steele, Lea, Flood 2014): small, and identical on all machines.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const CONSONANTS: [&str; 16] = [
    "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v", "z", "br", "st", "kl",
];
const VOWELS: [&str; 4] = ["a", "e", "i", "o"];

/// An invented word; a few are common and most are rare, as in any language. `rare` skips the most common ones: ranks
/// below this power of two.
pub fn word(chance: &mut Chance, rare: usize) -> String {
    let magnitude = rare + chance.below(12 - rare);
    ranked((1 << magnitude) + chance.below(1 << magnitude))
}

/// The invented word with this rank.
pub fn ranked(mut rank: usize) -> String {
    let mut word = String::new();
    while rank > 0 || word.len() < 4 {
        word.push_str(CONSONANTS[rank % 16]);
        word.push_str(VOWELS[rank / 16 % 4]);
        rank /= 64;
    }
    word + "n"
}
