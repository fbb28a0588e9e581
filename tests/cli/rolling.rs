//! Tests that reading a long session from a checkpoint gives the same as reading the whole log.

use crate::env::{Env, Run};
use std::path::PathBuf;

/// Turns until the log is long enough for checkpoints, and a few that use them.
const TURNS: usize = 34;

fn exchange(turn: usize) -> (String, String) {
    let words = "the sorter on line seven stopped beside gate ".repeat(26);
    let rule = match turn % 9 {
        2 => " From now on, always name the gate.",
        5 => " Please never restart line five.",
        _ => "",
    };
    (
        format!("In case {turn} {words}{turn}.{rule}"),
        format!("Case {turn}: {words}{}.", turn * 7),
    )
}

fn checkpoint(env: &Env) -> PathBuf {
    env.store().join("cache/chat.view")
}

/// Runs the same in both places; the second deletes its checkpoints.
fn both(places: &[Env; 2], arguments: &[&str]) -> Run {
    let _ = std::fs::remove_dir_all(places[1].store().join("cache"));
    let [one, other] = places.each_ref().map(|env| env.run(arguments));
    assert_eq!(
        (one.status, one.out(), &one.stderr),
        (other.status, other.out(), &other.stderr),
        "{arguments:?}"
    );
    one
}

fn logs(places: &[Env; 2]) -> [Vec<u8>; 2] {
    places
        .each_ref()
        .map(|env| std::fs::read(env.log("chat")).unwrap())
}

fn roll(memory: &[&str], each: &[&[&str]]) -> [Env; 2] {
    let places = [Env::new(), Env::new()];
    both(&places, &[&["new", "--id", "chat"], memory].concat());
    let mut used = 0;
    for turn in 0..TURNS {
        let (user, model) = exchange(turn);
        both(&places, &["append", "chat", "-r", "user", &user]);
        for arguments in each {
            both(&places, arguments).fine();
        }
        both(&places, &["append", "chat", "-r", "assistant", &model]);
        used += usize::from(checkpoint(&places[0]).is_file());
        let [one, other] = logs(&places);
        assert!(one == other, "turn {turn}");
    }
    assert!(used > 5, "there was a checkpoint {used} times");
    places
}

#[test]
fn a_loop_with_checkpoints_equals_one_without() {
    let summarize = ["summarize", "chat", "-q", "--when", "tokens>=2500"];
    let context = ["context", "chat"];
    let sent = ["context", "chat", "--to", "openai-chat"];
    let places = roll(&[], &[&summarize, &context, &sent]);
    for to in ["anthropic", "gemini", "openai-responses", "penguin", "picoclaw"] {
        both(&places, &["context", "chat", "--to", to]);
    }
    both(&places, &["summarize", "chat", "--request"]);
    both(
        &places,
        &[
            "summarize", "chat", "--with", "cmd:echo It all went well.", "--when", "tokens>=10",
        ],
    );
    both(
        &places,
        &["summarize", "chat", "--rolling=off", "--summary-budget", "300"],
    );
    both(&places, &["restore", "chat"]);
    both(&places, &["context", "chat"]);
    both(&places, &["summarize", "chat", "--budget", "100"]).status(1);
    both(&places, &["truncate", "chat", "--keep-last", "1"]);
    both(&places, &["context", "chat"]);
    both(&places, &["summarize", "chat", "--keep-last", "1"]);
    both(&places, &["gc", "chat"]);
    both(&places, &["context", "chat"]);
    let [one, other] = logs(&places);
    assert!(one == other);
}

#[test]
fn retention_with_checkpoints_equals_retention_without() {
    let summarize = ["summarize", "chat", "-q", "--budget", "4000"];
    let due = ["summarize", "chat", "-q"];
    let memory = ["--memory", "rolling_summary,keep_last=3,total=3000"];
    let places = roll(&memory, &[&due, &["context", "chat"]]);
    both(&places, &summarize);
    let [one, other] = logs(&places);
    assert!(one == other);
}

#[test]
fn hidden_messages_are_not_read_and_read_ones_are_checked() {
    let summarize = ["summarize", "chat", "-q", "--when", "tokens>=2500"];
    let [env, _] = roll(&[], &[&summarize]);
    env.run(&["summarize", "chat", "-q", "--keep-last", "1"]).fine();
    env.run(&["append", "chat", &exchange(50).0.repeat(25)]).fine();
    env.run(&summarize).fine();
    let context = env.run(&["context", "chat"]).fine();
    let log = std::fs::read(env.log("chat")).unwrap();
    let text = String::from_utf8(log.clone()).unwrap();
    // A message in the middle, which a summary covers.
    let middle = text.find("Case 8:").unwrap();
    let damaged = text.replacen("Case 8:", "Case 9:", 1);
    std::fs::write(env.log("chat"), &damaged).unwrap();
    env.run(&["context", "chat"]).fine().gives(context.stdout.clone());
    env.run(&["cat", "chat"]).status(65);
    env.run(&["fsck", "chat"]).status(1);
    assert!(middle > 0);
    // The newest message, which is in the view.
    let newest = text.rfind("In case 50").unwrap();
    let mut bytes = log.clone();
    bytes[newest + 8] = b'6';
    std::fs::write(env.log("chat"), &bytes).unwrap();
    env.run(&["context", "chat"]).status(65);
    // Regardless of the cache.
    std::fs::write(env.log("chat"), &log).unwrap();
    let kept = std::fs::read(checkpoint(&env)).unwrap();
    for nth in 0..40 {
        let mut wrong = kept.clone();
        let at = nth * kept.len() / 40;
        wrong[at] ^= 1 << (nth % 8);
        std::fs::write(checkpoint(&env), &wrong).unwrap();
        env.run(&["context", "chat"]).fine().gives(context.stdout.clone());
    }
    std::fs::write(checkpoint(&env), &kept[..kept.len() / 2]).unwrap();
    env.run(&["context", "chat"]).fine().gives(context.stdout.clone());
}
