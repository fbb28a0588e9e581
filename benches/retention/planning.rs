//! Generates plans with dates: who does what, when, and at what price.

use crate::session::{Kind, Made};

pub fn session(seed: u64, turns: usize) -> Made {
    let mut built = Made::new(seed ^ 0x91a7, turns);
    while !built.is_full() {
        let ask = built.words(4);
        let question = built.chance.one(&[
            "What about", "Have you looked at", "Where do we stand with", "Who has",
        ]);
        built.say("user", &format!("{question} {ask}?"));
        let mut sentences = Vec::new();
        for _ in 0..1 + built.chance.below(3) {
            let sentence = match built.chance.below(3) {
                0 => plan(&mut built),
                _ => remark(&mut built),
            };
            sentences.push(sentence);
        }
        built.say("assistant", &sentences.join(" "));
    }
    built
}

fn remark(built: &mut Made) -> String {
    let start = built.chance.one(&[
        "There is still", "It depends on", "That belongs to", "I would look at",
    ]);
    let words = 4 + built.chance.below(6);
    format!("{start} {}.", built.words(words))
}

fn plan(built: &mut Made) -> String {
    let what = built.words(3);
    let number = 100 + built.chance.below(90_000);
    match built.chance.below(6) {
        0 => {
            let text = format!(
                "2026-{:02}-{:02}",
                6 + built.chance.below(6),
                1 + built.chance.below(28)
            );
            built.fact(Kind::Date, text.clone());
            format!("The deadline for {what} is {text}.")
        }
        1 => {
            let day = 1 + built.chance.below(28);
            let month = built.chance.one(&["June", "August", "September", "November"]);
            let text = format!("{month} {day}");
            built.fact(Kind::Date, format!("{text} for {what}"));
            format!("We meet on {text} for {what}.")
        }
        2 => {
            let days = 2 + built.chance.below(9) as i64;
            let (phrase, days) = match built.chance.below(4) {
                0 => (format!("the hall with {what} is free tomorrow"), 1),
                1 => (format!("the permit for {what} came yesterday"), -1),
                2 => (format!("the invoice for {what} is due in {days} days"), days),
                _ => (format!("{what} was paid {days} days ago"), -days),
            };
            built.relative(&phrase, days);
            format!("Note that {phrase}.")
        }
        3 => {
            let name = built.name();
            let text = format!("{name} takes over {what}");
            built.fact(Kind::Name, text.clone());
            format!("So {text}.")
        }
        4 => {
            let text = format!("{number} euros");
            built.fact(Kind::Number, text.clone());
            format!("The estimate for {what} is {text}.")
        }
        _ => {
            let text = format!("we go with {what}");
            built.fact(Kind::Decision, text.clone());
            format!("After all that {text}, and not with the other offer.")
        }
    }
}
