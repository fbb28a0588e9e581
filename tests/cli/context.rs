//! `convo context`.

use crate::env::{CHAT, Env, OPENAI};

#[test]
fn the_view_excludes_cut_messages() {
    let env = Env::with_chat();
    env.run(&["context", "trip"]).fine().gives(CHAT);
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    let view = env.run(&["context", "trip"]).fine();
    snapshot!("context_cut", view);
    // The same for a stream with the same events.
    let log = env.run(&["cat", "trip"]).fine().stdout;
    env.pipe(&["context"], &log).fine().gives(&view.stdout);
    env.write("log.jsonl", &log);
    env.run(&["context", "./log.jsonl"]).fine().gives(&view.stdout);
}

#[test]
fn in_the_shape_of_an_api() {
    let env = Env::with_chat();
    snapshot!(
        "context_openai",
        env.run(&["context", "trip", "--to", "openai-chat"])
    );
    for api in ["openai-responses", "anthropic", "gemini"] {
        snapshot!(
            format!("context_{api}"),
            env.run(&["context", "trip", "--to", api])
        );
    }
    snapshot!("context_jsonl", env.pipe(&["context", "--to", "jsonl"], OPENAI));
}

#[test]
fn a_summary_replaces_the_covered_messages() {
    let env = Env::new();
    let summary = r#"{"type":"summary","id":"evt_1","at":"2026-11-02T00:00:00Z","content":"They spoke of the weather.","covers":["m2","m5"]}"#;
    let log = format!("{CHAT}{summary}\n");
    let view = env.pipe(&["context"], &log).fine();
    snapshot!("context_summary", view);
    snapshot!(
        "context_summary_openai",
        env.pipe(&["context", "--to", "openai-chat"], &log)
    );
    snapshot!(
        "context_summary_anthropic",
        env.pipe(&["context", "--to", "anthropic"], &log)
    );
}

#[test]
fn an_event_with_a_missing_reference_is_reported() {
    let env = Env::new();
    let cut = r#"{"type":"truncate","id":"evt_1","at":"2026-11-02T00:00:00Z","before":"m99"}"#;
    snapshot!(
        "context_dangling",
        env.pipe(&["context"], format!("{CHAT}{cut}\n"))
    );
}

#[test]
fn errors() {
    let env = Env::with_chat();
    env.run(&["context", "nobody"])
        .status(66)
        .says("convo: nobody: no such session\n");
    env.run(&["context", "-i", "trip"])
        .status(2)
        .says("unexpected argument '-i'");
    env.run(&["context", "-o", "view.jsonl", "trip"]).fine().gives("");
    assert_eq!(env.read("view.jsonl"), CHAT);
}

#[test]
fn a_budget_makes_the_view_fit_and_changes_nothing() {
    let env = Env::new();
    let long = CHAT.replace("22 C, sunny", &"row of the table, 22 C and sunny. ".repeat(200));
    env.write("trip.jsonl", &long);
    env.run(&["migrate", "-q", "./trip.jsonl"]).status(0);
    let fitted = env.run(&["context", "trip", "--budget", "150"]).fine();
    assert!(
        fitted.stdout.len() < 1500 && fitted.out().contains("And tomorrow?"),
        "{fitted}"
    );
    let compacted = env
        .run(&["compact", "trip", "--budget", "150", "--stdout"])
        .status(0);
    let messages = |stream: &str| {
        stream
            .lines()
            .filter(|line| line.contains("\"role\""))
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(messages(fitted.out()), messages(compacted.out()));
    env.run(&["context", "trip"]).fine().gives(&long);
    for api in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
        let run = env
            .run(&["context", "trip", "--budget", "150", "--to", api])
            .fine();
        env.pipe(&["check", "--for", api, "--from", api], run.stdout)
            .status(0);
    }
    env.run(&["context", "trip", "--budget", "3"]).status(1).gives("");
    env.run(&["context", "trip", "--window", "gpt-4o"]).status(2);
    let run = env.run(&["context", "trip", "--budget", "50%"]).status(2);
    assert!(run.stderr.contains("a percentage in --budget requires --window"));
}

#[test]
fn printed_context_reads_back_equal() {
    let env = Env::new();
    let long = CHAT.replace("22 C, sunny", &"row of the table, 22 C and sunny. ".repeat(80));
    env.write("trip.jsonl", &long);
    env.run(&["migrate", "-q", "./trip.jsonl"]).status(0);
    env.run(&["compact", "trip", "--keep-last", "1", "--with", "extract"])
        .status(0);
    let native = env.run(&["context", "trip"]).fine();
    assert!(native.out().contains("\"type\":\"summary\""), "{native}");
    let sent = env.run(&["context", "trip", "--to", "openai-chat"]).fine();
    env.pipe(&["context", "--to", "openai-chat"], &native.stdout)
        .fine()
        .gives(sent.stdout);
}
