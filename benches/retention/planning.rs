//! Generates plans with dates: who does what, when, and at what price.

use crate::session::{Kind, Made};

pub fn session(seed: u64, turns: usize) -> Made {
    let mut made = Made::new(seed ^ 0x91a7, turns);
    while !made.is_full() {
        let ask = made.words(4);
        let question = made.chance.one(&[
            "What about",
            "Have you looked at",
            "Where do we stand with",
            "Who has",
        ]);
        made.say("user", &format!("{question} {ask}?"));
        let mut said = Vec::new();
        for _ in 0..1 + made.chance.below(3) {
            let sentence = match made.chance.below(3) {
                0 => plan(&mut made),
                _ => remark(&mut made),
            };
            said.push(sentence);
        }
        made.say("assistant", &said.join(" "));
    }
    made
}

fn remark(made: &mut Made) -> String {
    let start = made.chance.one(&[
        "There is still",
        "It depends on",
        "That belongs to",
        "I would look at",
    ]);
    let words = 4 + made.chance.below(6);
    format!("{start} {}.", made.words(words))
}

fn plan(made: &mut Made) -> String {
    let what = made.words(3);
    let number = 100 + made.chance.below(90_000);
    match made.chance.below(6) {
        0 => {
            let text = format!(
                "2026-{:02}-{:02}",
                6 + made.chance.below(6),
                1 + made.chance.below(28)
            );
            made.fact(Kind::Date, text.clone());
            format!("The deadline for {what} is {text}.")
        }
        1 => {
            let day = 1 + made.chance.below(28);
            let month = made.chance.one(&["June", "August", "September", "November"]);
            let text = format!("{month} {day}");
            made.fact(Kind::Date, format!("{text} for {what}"));
            format!("We meet on {text} for {what}.")
        }
        2 => {
            let days = 2 + made.chance.below(9) as i64;
            let (phrase, days) = match made.chance.below(4) {
                0 => (format!("the hall with {what} is free tomorrow"), 1),
                1 => (format!("the permit for {what} came yesterday"), -1),
                2 => (format!("the invoice for {what} is due in {days} days"), days),
                _ => (format!("{what} was paid {days} days ago"), -days),
            };
            made.relative(&phrase, days);
            format!("Note that {phrase}.")
        }
        3 => {
            let name = made.name();
            let text = format!("{name} takes over {what}");
            made.fact(Kind::Name, text.clone());
            format!("So {text}.")
        }
        4 => {
            let text = format!("{number} euros");
            made.fact(Kind::Number, text.clone());
            format!("The estimate for {what} is {text}.")
        }
        _ => {
            let text = format!("we go with {what}");
            made.fact(Kind::Decision, text.clone());
            format!("After all that {text}, and not with the other offer.")
        }
    }
}
