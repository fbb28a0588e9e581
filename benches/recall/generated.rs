//! Invented conversations, the same for the same seed: small talk with facts in between.

use super::dialogue::{Dialogue, Turn};
use convo::model::message::Role;

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
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

const FEELINGS: [&str; 8] = [
    "nice",
    "a bit difficult",
    "better than before",
    "slow",
    "fun",
    "not so bad",
    "quite a lot of work",
    "surprising",
];
const PEOPLE: [&str; 12] = [
    "Aldo", "Berit", "Chioma", "Dmitri", "Eluned", "Farid", "Greta", "Hiroko", "Iker", "Jasna", "Kofi",
    "Lumi",
];
const THINGS: [&str; 10] = [
    "locker",
    "passport",
    "policy",
    "parcel",
    "allergy",
    "invoice",
    "flat",
    "violin",
    "permit",
    "appointment",
];

/// An invented word; a few are common and most are rare, as in any language. `rare` leaves the commonest out:
/// ranks below a power of two.
pub fn word(chance: &mut Chance, rare: usize) -> String {
    const CONSONANTS: [&str; 16] = [
        "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v", "z", "br", "st", "kl",
    ];
    const VOWELS: [&str; 4] = ["a", "e", "i", "o"];
    let magnitude = rare + chance.below(12 - rare);
    let mut rank = (1 << magnitude) + chance.below(1 << magnitude);
    let mut word = String::new();
    while rank > 0 || word.len() < 4 {
        word.push_str(CONSONANTS[rank % 16]);
        word.push_str(VOWELS[rank / 16 % 4]);
        rank /= 64;
    }
    word + "n"
}

/// So many turns, of which every fourth or so tells a fact; every second fact is what a question asks for.
pub fn dialogue(seed: u64, turns: usize) -> Dialogue {
    let mut chance = Chance::new(seed);
    let mut made = Vec::new();
    let mut questions = Vec::new();
    for index in 0..turns {
        let role = if index % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        let text = if chance.below(4) == 0 {
            // Nobody asks for half of them: to look like a fact does not make it one that is asked for.
            if chance.below(2) == 0 {
                questions.push(vec![index]);
            }
            fact(&mut chance)
        } else {
            small_talk(&mut chance)
        };
        let day = 1 + index * 28 / turns;
        let time = format!("2026-05-{day:02}T{:02}:00:00Z", 8 + index % 12);
        made.push(Turn::new(format!("t{index}"), role, role.name(), text, time));
    }
    Dialogue {
        turns: made,
        questions,
    }
}

/// A turn as full of words as any: what is planted must not stand out by having some.
fn small_talk(chance: &mut Chance) -> String {
    const JOINTS: [&str; 10] = [
        "the", "a", "and the", "with", "of my", "near", "but no", "so", "in that", "or",
    ];
    const STARTS: [&str; 6] = ["I think", "Well,", "You know,", "It was", "We had", "Maybe"];
    let mut text = chance.one(&STARTS).to_string();
    for _ in 0..2 + chance.below(9) {
        text.push_str(&format!(" {} {}", chance.one(&JOINTS), word(chance, 0)));
    }
    match chance.below(4) {
        0 => text + "?",
        1 => format!("{text}, that is {}.", chance.one(&FEELINGS)),
        2 => format!("{text} on {}.", chance.one(&["Monday", "Friday", "Sunday"])),
        _ => text + ".",
    }
}

/// A fact that stands nowhere else.
pub fn fact(chance: &mut Chance) -> String {
    let (person, thing) = (chance.one(&PEOPLE), chance.one(&THINGS));
    let number = 1000 + chance.below(9000);
    match chance.below(5) {
        0 => format!("By the way, the number of the {thing} of {person} is {number}."),
        1 => format!(
            "{person} told me that the {thing} has to be renewed by {} June.",
            1 + number % 30
        ),
        2 => format!("I paid {number} kroner for the {thing}, {person} has the receipt."),
        3 => format!(
            "We moved the {thing} to {person}, street number {}, second floor.",
            number % 200
        ),
        _ => format!(
            "My sister {person} cannot come because of her {thing}, she is back in {} weeks.",
            2 + number % 9
        ),
    }
}
