//! Invented conversations, reproducible by seed: small talk with facts.

use super::dialogue::{Dialogue, Turn};
pub use crate::chance::{Chance, ranked, word};
use convo::model::message::Role;

const FEELINGS: [&str; 8] = [
    "nice", "a bit difficult", "better than before", "slow", "fun", "not so bad", "quite a lot of work",
    "surprising",
];
/// Generates a conversation in which half of the turns state something; a random quarter of those is asked for later
/// and looks like the others.
pub fn dialogue(seed: u64, turns: usize) -> Dialogue {
    let mut chance = Chance::new(seed);
    let mut built = Vec::new();
    let mut questions = Vec::new();
    for index in 0..turns {
        let role = if index % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        let has_fact = chance.below(2) == 0;
        if has_fact && chance.below(4) == 0 {
            questions.push(vec![index]);
        }
        let text = if has_fact {
            small_talk(&mut chance)
        } else {
            nod(&mut chance)
        };
        let day = 1 + index * 28 / turns;
        let time = format!("2026-05-{day:02}T{:02}:00:00Z", 8 + index % 12);
        built.push(Turn::new(format!("t{index}"), role, role.name(), text, time));
    }
    Dialogue {
        turns: built,
        questions,
    }
}

/// A filler of a few common words.
fn nod(chance: &mut Chance) -> String {
    let mut text = chance
        .one(&["Oh,", "Yes,", "I know,", "That is", "How was", "Good,"])
        .to_string();
    for _ in 0..1 + chance.below(4) {
        text.push_str(&format!(
            " {} {}",
            chance.one(&["the", "a", "your", "to"]),
            common(chance)
        ));
    }
    match chance.below(2) {
        0 => text + "?",
        _ => format!("{text}, {}!", chance.one(&FEELINGS)),
    }
}

/// One of the sixty-three most common words.
fn common(chance: &mut Chance) -> String {
    ranked((1 << chance.below(6)) + chance.below(1 << 5) % 32)
}

/// A turn with an average number of words, so that planted facts do not stand out.
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
