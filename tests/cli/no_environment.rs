//! Tests every command without any environment variable: filters work, and the others name the option that is missing.

use crate::env::{CHAT, Env, Run};
use std::process::Command;

/// Calls that read standard input, files or nothing, and need no directory of the user.
const FILTERS: [&[&str]; 41] = [
    &["agents"],
    &["append", "-", "hello"],
    &["ask", "-", "hello", "--plain", "--with", "cmd:echo hi"],
    &["cat"],
    &["check"],
    &["check", "--for", "openai-chat", "--fix"],
    &["compact", "--budget", "5000"],
    &["completions", "bash"],
    &["context"],
    &["continue"],
    &["count"],
    &["detect"],
    &["diff", "chat.jsonl", "-"],
    &["drop", "--role", "system"],
    &["expand", "m2"],
    &["fork", "-"],
    &["join", "-"],
    &["keep", "--role", "user"],
    &["key", "--channel", "x", "--chat", "1"],
    &["list", "-"],
    &["man", "cat"],
    &["merge", "chat.jsonl", "-"],
    &["migrate"],
    &["migrate", "--output-dir", "out", "chat.jsonl"],
    &["new", "--stdout"],
    &["note", "-", "Later"],
    &["plugins"],
    &["redact"],
    &["redact", "-i", "chat.jsonl"],
    &["search", "Rain", "-"],
    &["search", "Rain", "chat.jsonl"],
    &["show"],
    &["slim", "codex.jsonl"],
    &["split", "--max-messages", "9"],
    &["summarize", "--keep-last", "1"],
    &["tag", "-", "+new"],
    &["title", "-", "New"],
    &["truncate", "--keep-last", "1"],
    &["truncate", "--keep-last", "1", "-i", "chat.jsonl"],
    &["undo"],
    &["usage", "-"],
];

/// Calls that read or write the store.
const STORES: [&[&str]; 18] = [
    &["alias", "list"],
    &["append", "chat", "hello"],
    &["cat", "chat"],
    &["compact", "@all", "--budget", "5000"],
    &["detect", "chat"],
    &["fsck"],
    &["gc"],
    &["join", "--through", "chat"],
    &["list"],
    &["migrate", "chat.jsonl"],
    &["new"],
    &["redact", "chat"],
    &["remove", "chat"],
    &["restore", "chat"],
    &["search", "Rain"],
    &["tag"],
    &["truncate", "chat", "--keep-last", "1"],
    &["usage"],
];

/// Calls with a status and a message of their own.
const OTHERS: [(&[&str], i32, &str); 5] = [
    (&["archive"], 78, "hint: select an archive with --to DIR"),
    (
        &["relocate", "/nonexistent/a", "/nonexistent/b"],
        66,
        "no such directory",
    ),
    (
        &["handoff", "-", "--to", "codex", "--project", "."],
        2,
        "no home directory",
    ),
    (&["restore"], 1, "nothing to undo"),
    (&["slim", "-i", "codex.jsonl"], 78, "hint: set one of them"),
];

fn bare(env: &Env, arguments: &[&str], set: Option<(&str, &str)>) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convo"));
    command
        .env_clear()
        .envs(set)
        .current_dir(env.work())
        .args(arguments);
    env.feed(command, CHAT.as_bytes())
}

#[test]
fn every_command_works_or_names_what_is_missing() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    let codex = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/codex");
    let codex = std::fs::read_dir(codex).unwrap().next().unwrap().unwrap().path();
    env.write("codex.jsonl", std::fs::read(codex).unwrap());
    for filter in FILTERS {
        let run = bare(&env, filter, None);
        assert_eq!(run.status, 0, "{filter:?}: {run}");
        let is_silent = run.stdout.is_empty() && run.stderr.is_empty();
        assert!(!is_silent || filter.contains(&"-i"), "{filter:?}: {run}");
    }
    for call in STORES {
        let run = bare(&env, call, None)
            .status(78)
            .says("neither HOME nor XDG_DATA_HOME is set");
        let hint = run
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("hint: "))
            .unwrap_or_default();
        assert!(hint.contains("--store DIR or CONVO_STORE"), "{call:?}: {run}");
        let is_both = matches!(call, ["search", ..] | ["usage"]);
        assert_eq!(
            hint.starts_with("read standard input with -"),
            is_both,
            "{call:?}: {run}"
        );
    }
    for (call, status, message) in OTHERS {
        bare(&env, call, None).status(status).says(message);
    }
    // Every command is among these calls.
    let help = env.run(&["--help"]).fine();
    let calls = FILTERS
        .iter()
        .chain(&STORES)
        .copied()
        .chain(OTHERS.map(|(call, ..)| call));
    let known: Vec<&str> = calls.map(|call| call[0]).collect();
    let listed = help
        .out()
        .lines()
        .take_while(|line| !line.starts_with("INPUT is"));
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split_once("  ")?.0.into());
    let names: Vec<&str> = names
        .filter(|name: &&str| !name.starts_with([' ', '-']))
        .collect();
    assert!(names.len() > 40, "{names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !known.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn one_variable_suffices() {
    let env = Env::new();
    let store = env.store();
    let store = Some(("CONVO_STORE", store.to_str().unwrap()));
    bare(&env, &["new", "--id", "chat"], store).status(0);
    bare(&env, &["list"], store).status(0);
    // A home is searched without a store and an archive.
    env.write("claude/projects/-w/8c1d5f6e-0000-4000-8000-000000000001.jsonl", concat!(
        r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"8c1d5f6e-0000-4000-8000-000000000001","timestamp":"2026-11-01T10:00:00Z","cwd":"/w","version":"2.0.0","message":{"role":"user","content":"Rain?"}}"#,
        "\n"
    ));
    let home = env.work().join("claude");
    let home = Some(("CLAUDE_CONFIG_DIR", home.to_str().unwrap()));
    let run = bare(&env, &["search", "Rain"], home).status(0);
    assert!(run.out().contains("Rain?"), "{run}");
}
