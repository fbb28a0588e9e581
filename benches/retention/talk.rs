//! Generates small talk between two friends, with occasional facts.

use crate::session::{Kind, Made};

pub fn session(seed: u64, turns: usize) -> Made {
    let mut built = Made::new(seed, turns);
    while !built.is_full() {
        let role = ["user", "assistant"][built.lines.len() % 2];
        let text = match built.chance.below(4) {
            0 => fact(&mut built),
            1 => nod(&mut built),
            _ => story(&mut built),
        };
        built.say(role, &text);
    }
    built
}

fn nod(built: &mut Made) -> String {
    let start = built
        .chance
        .one(&["Oh, I see,", "Yes, quite,", "How was", "Good, so", "Sounds like"]);
    format!("{start} {}.", built.words(2))
}

fn story(built: &mut Made) -> String {
    let start = built.chance.one(&[
        "I think it was", "You know,", "We had", "There was", "It felt like",
    ]);
    let end = built.chance.one(&[
        "and that was fun.", "which took ages.", "as usual.", "so we laughed a lot.",
    ]);
    let words = 5 + built.chance.below(8);
    format!("{start} {} {end}", built.words(words))
}

fn fact(built: &mut Made) -> String {
    let around = built.words(3);
    let number = 12 + built.chance.below(5000);
    match built.chance.below(6) {
        0 => {
            let name = built.name();
            let text = format!("Dr. {name}");
            built.fact(Kind::Name, text.clone());
            format!("I spoke with {text} about {around}.")
        }
        1 => {
            let text = format!("{number} crowns");
            built.fact(Kind::Number, text.clone());
            format!("It cost {text} for {around}, imagine.")
        }
        2 => {
            let day = 1 + built.chance.below(28);
            let month = built.chance.one(&["May", "June", "July", "October"]);
            let text = format!("{day} {month} 2027");
            built.fact(Kind::Date, text.clone());
            format!("The wedding by {around} is on {text}.")
        }
        3 => {
            let days = 2 + built.chance.below(8) as i64;
            let (phrase, days) = match built.chance.below(3) {
                0 => (format!("we picked up {around} yesterday"), -1),
                1 => (format!("they leave {around} tomorrow"), 1),
                _ => (format!("she called about {around} {days} days ago"), -days),
            };
            built.relative(&phrase, days);
            format!("By the way, {phrase}, and all went well.")
        }
        4 => {
            let text = format!("we decided to sell {around}");
            built.fact(Kind::Decision, text.clone());
            format!("In the end {text}.")
        }
        _ => {
            let name = built.name();
            built.fact(Kind::Name, name.clone());
            format!("My cousin {name} lives near {around}.")
        }
    }
}
