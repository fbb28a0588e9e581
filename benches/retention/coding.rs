//! Generates programming sessions: questions, tool calls with long results, answers that name files.

use crate::chance::word;
use crate::session::{Kind, Made};

pub fn session(seed: u64, turns: usize) -> Made {
    let mut built = Made::new(seed ^ 0xc0de, turns);
    while !built.is_full() {
        let what = built.words(4);
        let ask = built.chance.one(&[
            "Why does it fail at", "Can you look into", "What uses", "How do we test",
        ]);
        built.say("user", &format!("{ask} {what}?"));
        for _ in 0..1 + built.chance.below(3) {
            call(&mut built);
        }
        let answer = answer(&mut built);
        built.say("assistant", &answer);
    }
    built
}

fn path(built: &mut Made) -> String {
    let dir = built.chance.one(&["src", "tests", "lib/core", "crates/io/src"]);
    let name = word(&mut built.chance, 4);
    let end = built.chance.one(&["rs", "py", "toml", "ts"]);
    format!("{dir}/{name}.{end}")
}

fn call(built: &mut Made) {
    let path = path(built);
    let lines = 6 + built.chance.below(25);
    let mut result = String::new();
    for line in 0..lines {
        let words = built.words(3);
        result.push_str(&format!("{:>4}  {words}\n", line + 1));
    }
    match built.chance.below(3) {
        0 => built.call("read_file", &format!(r#"{{"path":"{path}"}}"#), &result),
        1 => {
            let text = format!(
                "{} passed, {} failed",
                10 + built.chance.below(400),
                built.chance.below(9)
            );
            result.push_str(&text);
            built.fact(Kind::Number, text);
            built.call("run", &format!(r#"{{"command":"test {path}"}}"#), &result);
        }
        _ => {
            let text = format!("{path}:{}", 1 + built.chance.below(900));
            result.insert_str(0, &format!("{text}: error here\n"));
            built.fact(Kind::Path, text);
            built.call("grep", r#"{"pattern":"error"}"#, &result);
        }
    }
}

fn answer(built: &mut Made) -> String {
    let around = built.words(4);
    match built.chance.below(5) {
        0 => {
            let path = path(built);
            built.fact(Kind::Path, path.clone());
            format!("The cause is in {path}, where {around} is wrong.")
        }
        1 => {
            let number = 200 + built.chance.below(60_000);
            let text = format!("port {number}");
            built.fact(Kind::Number, text.clone());
            format!("It listens on {text} because of {around}.")
        }
        2 => {
            let text = format!("we keep {around}");
            built.fact(Kind::Decision, text.clone());
            format!("Decided: {text} and drop the other way.")
        }
        3 => {
            let name = built.name();
            let text = format!("{name} owns it");
            built.fact(Kind::Name, text.clone());
            format!("As for {around}, {text}.")
        }
        _ => format!("It is a matter of {around}, nothing more."),
    }
}
