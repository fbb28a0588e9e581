//! Sessions of user messages alone.

use crate::env::Env;
use serde_json::{Value, json};
use std::fmt::Write;

/// User messages without a reply.
fn notes(count: usize) -> String {
    (0..count).fold(String::new(), |mut session, nth| {
        let text = format!("Note {nth}: the shed needs {} bolts.", nth * 3);
        let _ = writeln!(
            session,
            "{}",
            json!({"role": "user", "id": format!("u{nth}"), "content": text})
        );
        session
    })
}

#[test]
fn the_oldest_messages_are_summarized_and_can_be_printed() {
    let env = Env::new();
    env.run(&["new", "-q", "--id", "s"]).fine();
    env.pipe(&["append", "-q", "s", "--stream"], notes(100)).fine();
    env.run(&["compact", "-q", "s", "--budget", "400"]).fine();
    let count = env.run(&["count", "--json", "s"]).fine();
    let count: Value = serde_json::from_str(count.out().lines().next().unwrap()).unwrap();
    assert!(
        count["view"]["tokens"]["total"].as_u64().unwrap() <= 400,
        "{count}"
    );
    let view = env.run(&["context", "s"]).fine();
    let quotes = |run: &crate::env::Run, nth: usize| run.out().contains(&format!("Note {nth}:"));
    assert!(quotes(&view, 99) && view.out().contains("[summary of "), "{view}");
    for to in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
        let sent = env.run(&["context", "s", "--to", to]).fine();
        env.pipe(&["check", "--for", to, "--from", to], &sent.stdout)
            .status(0);
    }
    // Nothing is lost: neither a dropped message nor the range of the summary.
    let dropped = (0..100).rfind(|nth| !quotes(&view, *nth)).unwrap();
    let id = format!("u{dropped}");
    let text = env.run(&["expand", "--text", "s", &id]).fine();
    assert!(quotes(&text, dropped), "{text}");
    let list = env.run(&["restore", "--list", "s"]).fine();
    let event = list.out().split('\t').next().unwrap().to_string();
    let all = env.run(&["expand", "s", &event]).fine();
    assert!(quotes(&all, 0) && quotes(&all, dropped), "{all}");
    env.run(&["compact", "-q", "s", "--budget", "400"]).fine();
    assert_eq!(env.run(&["context", "s"]).fine().out(), view.out());
}

#[test]
fn many_tiny_messages_fit_a_budget() {
    let env = Env::new();
    let run = env
        .pipe(&["compact", "-q", "--budget", "2000"], notes(20_000))
        .fine();
    assert!(
        run.out().contains("Note 19999:") && run.out().contains("[summary of "),
        "{run}"
    );
}
