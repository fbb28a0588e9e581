//! Generates small talk between two friends, with occasional facts.

use crate::session::{Kind, Made};

pub fn session(seed: u64, turns: usize) -> Made {
    let mut made = Made::new(seed, turns);
    while !made.is_full() {
        let role = ["user", "assistant"][made.lines.len() % 2];
        let text = match made.chance.below(4) {
            0 => fact(&mut made),
            1 => nod(&mut made),
            _ => story(&mut made),
        };
        made.say(role, &text);
    }
    made
}

fn nod(made: &mut Made) -> String {
    let start = made
        .chance
        .one(&["Oh, I see,", "Yes, quite,", "How was", "Good, so", "Sounds like"]);
    format!("{start} {}.", made.words(2))
}

fn story(made: &mut Made) -> String {
    let start = made.chance.one(&[
        "I think it was",
        "You know,",
        "We had",
        "There was",
        "It felt like",
    ]);
    let end = made.chance.one(&[
        "and that was fun.",
        "which took ages.",
        "as usual.",
        "so we laughed a lot.",
    ]);
    let words = 5 + made.chance.below(8);
    format!("{start} {} {end}", made.words(words))
}

fn fact(made: &mut Made) -> String {
    let around = made.words(3);
    let number = 12 + made.chance.below(5000);
    match made.chance.below(6) {
        0 => {
            let name = made.name();
            let text = format!("Dr. {name}");
            made.fact(Kind::Name, text.clone());
            format!("I spoke with {text} about {around}.")
        }
        1 => {
            let text = format!("{number} crowns");
            made.fact(Kind::Number, text.clone());
            format!("It cost {text} for {around}, imagine.")
        }
        2 => {
            let day = 1 + made.chance.below(28);
            let month = made.chance.one(&["May", "June", "July", "October"]);
            let text = format!("{day} {month} 2027");
            made.fact(Kind::Date, text.clone());
            format!("The wedding by {around} is on {text}.")
        }
        3 => {
            let days = 2 + made.chance.below(8) as i64;
            let (phrase, days) = match made.chance.below(3) {
                0 => (format!("we picked up {around} yesterday"), -1),
                1 => (format!("they leave {around} tomorrow"), 1),
                _ => (format!("she called about {around} {days} days ago"), -days),
            };
            made.relative(&phrase, days);
            format!("By the way, {phrase}, and all went well.")
        }
        4 => {
            let text = format!("we decided to sell {around}");
            made.fact(Kind::Decision, text.clone());
            format!("In the end {text}.")
        }
        _ => {
            let name = made.name();
            made.fact(Kind::Name, name.clone());
            format!("My cousin {name} lives near {around}.")
        }
    }
}
