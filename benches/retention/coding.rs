//! Generates programming sessions: questions, tool calls with long results, answers that name files.

use crate::chance::word;
use crate::session::{Kind, Made};

pub fn session(seed: u64, turns: usize) -> Made {
    let mut made = Made::new(seed ^ 0xc0de, turns);
    while !made.is_full() {
        let what = made.words(4);
        let ask = made.chance.one(&[
            "Why does it fail at",
            "Can you look into",
            "What uses",
            "How do we test",
        ]);
        made.say("user", &format!("{ask} {what}?"));
        for _ in 0..1 + made.chance.below(3) {
            call(&mut made);
        }
        let answer = answer(&mut made);
        made.say("assistant", &answer);
    }
    made
}

fn path(made: &mut Made) -> String {
    let folder = made.chance.one(&["src", "tests", "lib/core", "crates/io/src"]);
    let name = word(&mut made.chance, 4);
    let end = made.chance.one(&["rs", "py", "toml", "ts"]);
    format!("{folder}/{name}.{end}")
}

fn call(made: &mut Made) {
    let path = path(made);
    let lines = 6 + made.chance.below(25);
    let mut result = String::new();
    for line in 0..lines {
        let words = made.words(3);
        result.push_str(&format!("{:>4}  {words}\n", line + 1));
    }
    match made.chance.below(3) {
        0 => made.call("read_file", &format!(r#"{{"path":"{path}"}}"#), &result),
        1 => {
            let text = format!(
                "{} passed, {} failed",
                10 + made.chance.below(400),
                made.chance.below(9)
            );
            result.push_str(&text);
            made.fact(Kind::Number, text);
            made.call("run", &format!(r#"{{"command":"test {path}"}}"#), &result);
        }
        _ => {
            let text = format!("{path}:{}", 1 + made.chance.below(900));
            result.insert_str(0, &format!("{text}: error here\n"));
            made.fact(Kind::Path, text);
            made.call("grep", r#"{"pattern":"error"}"#, &result);
        }
    }
}

fn answer(made: &mut Made) -> String {
    let around = made.words(4);
    match made.chance.below(5) {
        0 => {
            let path = path(made);
            made.fact(Kind::Path, path.clone());
            format!("The cause is in {path}, where {around} is wrong.")
        }
        1 => {
            let number = 200 + made.chance.below(60_000);
            let text = format!("port {number}");
            made.fact(Kind::Number, text.clone());
            format!("It listens on {text} because of {around}.")
        }
        2 => {
            let text = format!("we keep {around}");
            made.fact(Kind::Decision, text.clone());
            format!("Decided: {text} and drop the other way.")
        }
        3 => {
            let name = made.name();
            let text = format!("{name} owns it");
            made.fact(Kind::Name, text.clone());
            format!("As for {around}, {text}.")
        }
        _ => format!("It is a matter of {around}, nothing more."),
    }
}
