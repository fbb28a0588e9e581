//! Tests the message limit as a setting of a session and of the configuration, and `continue --when`.

use crate::env::{CHAT, Env};

fn config(env: &Env, text: &str) {
    let dir = env.root().join("config/convo");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
}

fn turns(env: &Env, name: &str, count: usize) {
    for nth in 0..count {
        env.run(&["append", "-q", name, &format!("q{nth}")]).fine();
        env.run(&["append", "-q", name, "-r", "assistant", &format!("a{nth}")])
            .fine();
    }
}

fn ids(env: &Env) -> Vec<String> {
    let mut ids: Vec<String> = env
        .run(&["list"])
        .fine()
        .out()
        .lines()
        .filter_map(|line| line.split('\t').next().map(str::to_string))
        .collect();
    ids.sort();
    ids
}

#[test]
fn a_limit_of_the_session_applies_to_its_chain() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--max-messages", "4"]).fine();
    let header = std::fs::read_to_string(env.log("chat")).unwrap();
    assert!(header.contains("\"max_messages\":4"), "{header}");
    turns(&env, "chat", 5);
    // Each continuation begins with a marker and the unfinished exchange.
    assert_eq!(ids(&env), ["chat", "chat.1", "chat.2", "chat.3"]);
    // An option overrides the setting; 0 means no limit.
    for (role, text) in [("user", "more"), ("assistant", "fine")].repeat(2) {
        env.run(&["append", "-q", "chat.3", "-r", role, text, "--max-messages", "0"])
            .fine();
    }
    assert_eq!(ids(&env).len(), 4);
    env.run(&["append", "-q", "chat", "more"]).fine();
    assert_eq!(ids(&env).len(), 5);
    let stream =
        "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n".repeat(4);
    env.run(&["new", "--id", "other", "--max-messages", "4"]).fine();
    env.pipe(&["append", "-q", "other", "--stream"], stream).fine();
    assert_eq!(ids(&env).len(), 8);
}

#[test]
fn the_configured_limit_applies_without_a_limit_of_the_session() {
    let env = Env::new();
    config(&env, "max-messages = 4\n");
    env.run(&["new", "--id", "a"]).fine();
    env.run(&["new", "--id", "b", "--max-messages", "6"]).fine();
    env.run(&["new", "--id", "c", "--max-messages", "0"]).fine();
    env.run(&["new", "--id", "d", "--memory", "keep_last=9"]).fine();
    for name in ["a", "b", "c", "d"] {
        turns(&env, name, 3);
    }
    assert_eq!(ids(&env), ["a", "a.1", "b", "c", "d"]);
    for wrong in ["max-messages = 2", "max-messages = -1", "max-messages = \"4\""] {
        config(&env, wrong);
        env.run(&["append", "a", "x"]).status(78);
    }
}

#[test]
fn ask_respects_the_limit_of_the_session() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--max-messages", "4"]).fine();
    for _ in 0..3 {
        env.run(&[
            "ask",
            "-q",
            "chat",
            "why?",
            "--with",
            "cmd:cat >/dev/null; echo because",
        ])
        .status(0);
    }
    assert_eq!(ids(&env), ["chat", "chat.1"]);
}

#[test]
fn an_invalid_limit_is_refused() {
    let env = Env::new();
    for wrong in ["1", "2", "-1", "many", ""] {
        env.run(&["new", "--id", "x", "--max-messages", wrong]).status(2);
    }
    env.run(&[
        "new", "--id", "x", "--max-messages", "5", "--memory", "keep_last=2",
    ])
    .status(2);
    assert!(!env.store().join("sessions").exists() || ids(&env).is_empty());
}

#[test]
fn continue_when_a_condition_holds() {
    let env = Env::with_chat(); // 7 messages
    let run = |arguments: &[&str]| env.run(&[&["continue", "trip"], arguments].concat());
    let not = run(&["--when", "messages>=8"]).status(0);
    assert_eq!(not.out(), "trip\n");
    assert!(
        not.stderr
            .contains("unchanged: the condition of --when does not hold"),
        "{not}"
    );
    let not = run(&["--json", "--when", "tokens>=100000 && messages>=1"]).status(0);
    assert!(not.out().contains("\"continued\":false"), "{not}");
    assert_eq!(ids(&env), ["trip"]);
    run(&["--when", "fraction>=0.5"]).status(2);
    run(&["--when", "words>=5"]).status(2);
    run(&["--window", "gpt-4o"]).status(2);
    run(&["--when", "fraction<0.5 && exchanges==2", "--window", "gpt-4o"])
        .fine()
        .gives("trip.1\n");
    assert_eq!(ids(&env), ["trip", "trip.1"]);
}

#[test]
fn a_stream_is_unchanged_if_the_condition_is_false() {
    let env = Env::new();
    let run = env.pipe(&["continue", "--when", "messages>=8"], CHAT).status(0);
    assert_eq!(run.out(), CHAT);
    let run = env.pipe(&["continue", "--when", "messages>=7"], CHAT).status(0);
    assert!(run.out().contains("\"continued_from\":\"trip\""), "{run}");
}
