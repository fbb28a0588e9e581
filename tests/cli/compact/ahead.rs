//! Several sessions of a stream are planned at once: results, messages and waiting are those of one session at a time.

use crate::env::Env;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

/// Sessions of different sizes: some fit the budget, some cannot reach it, and some name an unknown tokenizer or have a
/// damaged line.
fn sessions() -> Vec<String> {
    let session = |nth: usize| {
        let tokenizer = if nth % 7 == 3 {
            r#","tokenizer":"lost""#
        } else {
            ""
        };
        let mut lines = vec![format!(
            r#"{{"type":"session","version":1,"id":"s{nth}"{tokenizer}}}"#
        )];
        if nth % 11 == 4 {
            lines.push("damaged".to_string());
        }
        if nth % 5 == 2 {
            let rules = "Every seed has its own bed in the garden. ".repeat(30);
            lines.push(format!(r#"{{"role":"system","content":"{rules}"}}"#));
        }
        for turn in 0..nth * 7 % 13 * 2 {
            let role = ["user", "assistant"][turn % 2];
            let text = format!("Seed {} of bed {nth} needs water on day {turn}. ", turn * nth);
            let text = text.repeat(1 + (turn + nth) % 4);
            lines.push(format!(r#"{{"role":"{role}","content":"{text}"}}"#));
        }
        lines.join("\n") + "\n"
    };
    (0..150).map(session).collect()
}

#[test]
fn sessions_planned_at_once_are_those_planned_alone() {
    let env = Env::new();
    let compact = |input: &str| {
        // A pipe is not read ahead.
        let file = env.write("sessions.jsonl", input);
        let file = file.to_str().unwrap();
        let mut command = env.command(&["compact", "--budget", "200", "--explain", file]);
        let mut ahead = env.command(&["compact", "--budget", "200", file]);
        // With a seed, and for an explanation, sessions are planned one after another.
        command.env_remove("CONVO_SEED");
        ahead.env_remove("CONVO_SEED");
        (env.feed(command, b""), env.feed(ahead, b""))
    };
    let sessions = sessions();
    let (one, ahead) = compact(&sessions.concat());
    assert_eq!(ahead.status, one.status);
    assert_eq!(ahead.out(), one.out());
    let messages = |text: &str| -> Vec<String> {
        let own = text
            .lines()
            .filter(|line| line.starts_with("convo: ") || line.starts_with("hint: "));
        own.map(str::to_string).collect()
    };
    let (one, ahead) = (messages(&one.stderr), messages(&ahead.stderr));
    assert_eq!(ahead, one);
    let count = |text: &str| ahead.iter().filter(|line| line.contains(text)).count();
    assert_eq!(
        (count("unknown tokenizer"), count("cannot reach 200 tokens")),
        (21, 30)
    );
    assert!(count("compacted from") > 50 && count("fit the budget") > 10);
    let alone: String = sessions
        .iter()
        .map(|session| compact(session).1.out().to_string())
        .collect();
    assert_eq!(compact(&sessions.concat()).1.out(), alone);
}

/// A program that waits for a session before it sends the next one must not wait forever.
#[test]
fn a_complete_session_does_not_wait_for_more_input() {
    let env = Env::new();
    let mut command = env.command(&["compact", "-q", "--budget", "1000000"]);
    let mut child = command
        .env_remove("CONVO_SEED")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut read = vec![0; 100_000];
        while stdout.read_exact(&mut read).is_ok() && sender.send(()).is_ok() {}
    });
    let header = |nth: usize| format!("{{\"type\":\"session\",\"version\":1,\"id\":\"s{nth}\"}}\n");
    stdin.write_all(header(0).as_bytes()).unwrap();
    for nth in 1..4 {
        // The output passes large lines on at once.
        let message = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x ".repeat(70_000));
        // The next session has begun, but it is not complete.
        let begun = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "y ".repeat(20_000));
        stdin
            .write_all((message + &header(nth) + &begun).as_bytes())
            .unwrap();
        let answer = receiver.recv_timeout(Duration::from_secs(20));
        assert_eq!(answer, Ok(()), "session {nth}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
