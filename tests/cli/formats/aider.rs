//! Chat histories of aider.

use crate::env::{CHAT, Env};

const HISTORY: &str = "
# aider chat started at 2026-06-01 10:00:00

> aider v1  

#### ask  
#### more  

answer

> Tokens: 2 sent.  

# aider chat started at 2026-06-02 10:00:00

#### again?  

yes
";

#[test]
fn a_history_is_detected_and_counted() {
    let env = Env::new();
    env.write("history.md", HISTORY);
    env.run(&["detect", "history.md"]).fine().gives("aider\n");
    let run = env
        .run(&["count", "--json", "history.md"])
        .status(0)
        .says("timestamps without time zone read as local time")
        .says("a log without ids, timestamps and tool calls; quotes (> ) and headings (#### ) in replies are ambiguous");
    let counted = run.objects();
    assert_eq!(counted.len(), 2);
    assert_eq!(
        counted[0]["log"]["roles"],
        serde_json::json!({"assistant": 1, "user": 1})
    );
    let second = env.run(&["cat", "-q", "--session", "2", "--to", "openai-chat", "history.md"]);
    let messages: serde_json::Value = serde_json::from_str(second.fine().out()).unwrap();
    let expected =
        serde_json::json!([{"role": "user", "content": "again?"}, {"role": "assistant", "content": "yes"}]);
    assert_eq!(messages, expected);
    env.run(&["check", "-q", "--for", "anthropic", "history.md"])
        .status(0);
    env.run(&["show", "history.md"]).status(0);
    // A guessed format is reported as a guess.
    env.write("notes.md", "#### ask  \n\nanswer\n");
    env.run(&["count", "notes.md"])
        .status(0)
        .says("no start line of an aider session; read as chat history because of lines with ####");
}

#[test]
fn changing_a_history_in_place_is_refused() {
    let env = Env::new();
    env.write("history.md", HISTORY);
    env.run(&["truncate", "--keep-last", "0", "-i", "history.md"])
        .status(2)
        .says("aider files cannot be rewritten in place");
    assert_eq!(env.read("history.md"), HISTORY);
    let cut = env.run(&[
        "truncate", "-q", "--keep-last", "0", "--session", "1", "history.md",
    ]);
    assert!(!cut.status(0).out().contains("answer"));
    env.run(&["migrate", "-q", "history.md"]).fine();
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 2);
    env.run(&["migrate", "-q", "history.md"]).fine();
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 2);
}

#[test]
fn any_session_and_several_sessions_are_written() {
    let env = Env::new();
    let run = env
        .pipe(&["cat", "--to", "aider"], CHAT)
        .status(0)
        .says("parts (");
    assert!(run.out().contains("\n#### Weather in Paris?  \n"), "{run}");
    env.pipe(&["cat", "--strict", "--to", "aider"], CHAT)
        .status(65)
        .gives("");
    env.write("history.md", HISTORY);
    let both = env.run(&["cat", "-q", "--to", "aider", "history.md"]).status(0);
    assert_eq!(both.out().matches("# aider chat started at 2026-06-0").count(), 2);
    env.write("again.md", both.out());
    let texts = |name: &str| {
        let run = env.run(&["cat", "-q", "--to", "jsonl", name]);
        run.objects()
            .iter()
            .map(|line| line["content"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts("again.md"), texts("history.md"));
}

#[test]
fn damage_is_reported_with_its_line() {
    let env = Env::new();
    env.write("history.md", [HISTORY.as_bytes(), b"a\xffb\n"].concat());
    env.run(&["count", "history.md"])
        .status(65)
        .says("history.md:18: byte ");
    env.run(&["count", "--strict", "history.md"]).status(65);
}
