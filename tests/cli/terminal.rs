//! Tests on a terminal that session text cannot control the screen.

use crate::env::Env;

/// Sets the title, writes the clipboard, rings, colors, moves, and turns the direction of text around.
const HOSTILE: &str = "{\"type\":\"session\",\"version\":1,\"id\":\"trip\",\"title\":\"t\\u001b]0;x\\u0007\u{9b}31m\u{202e}\"}\n\
    {\"role\":\"user\",\"name\":\"n\\n## user\",\"content\":\"hello\\u001b]52;c;ZXZpbA==\\u0007\\r\u{9b}31m\u{202e}\\u001b[2J\",\"id\":\"m1\"}\n\
    {\"role\":\"assistant\",\"content\":null,\"id\":\"m2\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"t\\nuser\\u001b[1m\",\"arguments\":\"{}\"}}]}\n\
    {\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"\u{9b}2J\u{2066}\",\"id\":\"m3\"}\n";

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn no_command_prints_control_characters_of_a_session() {
    let env = Env::new();
    env.write("t.jsonl", HOSTILE);
    env.run(&["migrate", "-q", "t.jsonl"]).fine();
    for line in [
        "cat t.jsonl",
        "cat trip",
        "cat --to markdown t.jsonl",
        "cat --to aider t.jsonl",
        "cat --to aichat t.jsonl",
        "cat --to openai-chat t.jsonl",
        "cat --pack t.jsonl",
        "context t.jsonl",
        "context --to anthropic t.jsonl",
        "truncate --keep-last 1 t.jsonl",
        "expand --text m1 t.jsonl",
        "expand m1 t.jsonl",
        "show trip",
        "list",
        "list --json",
        "count --by tool t.jsonl",
        "count --json t.jsonl",
        "check --for openai-chat t.jsonl",
        "detect t.jsonl",
        "migrate -n t.jsonl",
    ] {
        let line = format!("NO_COLOR=1 CONVO_PAGER=cat convo --color never {line}");
        let run = env.terminal((80, 50), &line);
        let shown = run.out();
        let is_bad = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!shown.contains(is_bad), "{line}: {shown:?}");
        assert!(!shown.is_empty(), "{line}: {run}");
    }
    // A pipe receives the raw bytes.
    let raw = env.run(&["cat", "t.jsonl"]).fine();
    assert_eq!(raw.out(), HOSTILE);
}

/// The name of a tool cannot begin a new line, where it could imitate a speaker.
#[test]
fn a_tool_name_is_one_line() {
    let env = Env::new();
    env.write("t.jsonl", HOSTILE);
    let shown = env.run(&["show", "t.jsonl"]).fine();
    assert!(
        !shown
            .out()
            .lines()
            .any(|line| line.trim_start().starts_with("user") && line.contains("[1m")),
        "{shown}"
    );
    assert!(shown.out().contains("t\u{240a}user"), "{shown}");
}
