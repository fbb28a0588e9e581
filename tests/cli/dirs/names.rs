//! Tests names in a PicoClaw directory, and the lines counted there.

use crate::env::Env;
use convo::model::scope::signature::main_key;

/// A sidecar with this key and further members.
fn sidecar(key: &str, count: u64, more: &str) -> String {
    format!(
        r#"{{"key":"{key}","summary":"","skip":0,"count":{count},"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"{more}}}"#
    )
}

fn line(role: &str, text: &str) -> String {
    format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n")
}

/// A session under a main key, and a session that lists this key among its aliases.
fn shared(agent: &str, target: &str, more: &str) -> (Env, String) {
    let env = Env::new();
    let main = main_key(agent);
    std::fs::create_dir(env.work().join("d")).unwrap();
    env.write(&format!("d/{main}.jsonl"), line("user", "of everybody"));
    env.write(&format!("d/{main}.meta.json"), sidecar(&main, 1, ""));
    let more = format!(r#","aliases":["{main}"]{more}"#);
    env.write(&format!("d/{target}.meta.json"), sidecar(target, 0, &more));
    (env, main)
}

/// A hashed key does not reveal its agent; the scope and other sessions do.
#[test]
fn no_history_is_moved_from_a_main_session_of_an_agent() {
    let scope = r#","scope":{"version":1,"agent_id":"ops","channel":"slack","account":"default","dimensions":null,"values":null}"#;
    let (env, main) = shared("ops", "target", scope);
    let promote = ["alias", "--picoclaw", "d", "promote", "target"];
    env.run(&promote)
        .status(1)
        .says("no history under older names; nothing was adopted");
    env.run(&[&promote[..], &[&main]].concat())
        .status(2)
        .says("agent's main session");
    assert!(!env.work().join("d/target.jsonl").exists());

    let (env, _) = shared("other", "target", scope);
    let other = sidecar("third", 0, r#","aliases":["agent:other:direct:u1"]"#);
    env.write("d/third.meta.json", other);
    env.run(&promote)
        .status(1)
        .says("no history under older names; nothing was adopted");
    // An agent that no session names is unknown, so the name is an ordinary alias.
    std::fs::remove_file(env.work().join("d/third.meta.json")).unwrap();
    env.run(&promote).status(0).says("1 message");
}

#[test]
fn an_unreadable_sidecar_without_a_log_is_repaired() {
    let env = Env::new();
    std::fs::create_dir(env.work().join("d")).unwrap();
    env.write("d/a.jsonl", line("user", "hi"));
    env.write("d/a.meta.json", sidecar("a", 1, r#","aliases":["one"]"#));
    env.write("d/b.meta.json", "{broken");
    let alias = |action: &[&str]| env.run(&[&["alias", "--picoclaw", "d"], action].concat());
    for (action, status) in [
        (&["resolve", "one"][..], 65),
        (&["list"], 65),
        (&["resolve", "none"], 66),
    ] {
        alias(action)
            .status(status)
            .says("d/b.meta.json: unreadable sidecar (");
    }
    alias(&["resolve", "one"]).gives("a\n");
    env.run(&["fsck", "-q", "d", "--repair"])
        .status(0)
        .gives("d/b.meta.json: sidecar: unreadable (missing member name): PicoClaw cannot use the session; quarantined: no log next to it\n");
    assert_eq!(env.read("d/.convo/quarantine/b.meta.json"), "{broken");
    env.run(&["fsck", "-q", "d"]).fine().gives("");
    alias(&["resolve", "one"]).fine().gives("a\n");
}

/// PicoClaw reads `null` and `{}` as empty messages and counts them.
#[test]
fn an_empty_message_counts_as_a_kept_line() {
    let lines = [
        line("user", "m1"),
        line("assistant", "m2"),
        line("user", "m3"),
        "null\n".to_string(),
        line("assistant", "m4"),
        "{}\n".to_string(),
    ];
    for (keep, skip) in [(1, 2), (2, 2), (3, 2), (4, 2), (5, 0), (6, 0), (7, 0)] {
        let env = Env::new();
        env.write("k.jsonl", lines.concat());
        env.write("k.meta.json", sidecar("k", 6, ""));
        let keep = keep.to_string();
        env.run(&["truncate", "-q", "-i", "k.jsonl", "--keep-messages", &keep])
            .status(65);
        let now: serde_json::Value = serde_json::from_str(&env.read("k.meta.json")).unwrap();
        assert_eq!(now["skip"], skip, "{keep}");
    }
    let env = Env::new();
    env.write("k.jsonl", lines.concat());
    env.write("k.meta.json", sidecar("k", 6, ""));
    env.run(&["truncate", "-q", "-i", "k.jsonl", "--keep-messages", "0"])
        .status(65);
    assert!(env.read("k.meta.json").contains("\"skip\": 6"));
}

#[test]
fn a_document_with_a_summary_alone_becomes_a_pair() {
    let env = Env::new();
    env.write(
        "s.json",
        r#"{"key":"s:1","messages":[],"summary":"All that was.","created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z"}"#,
    );
    env.run(&["migrate", "-q", "--to", "picoclaw", "--out", "out", "s.json"])
        .status(0);
    assert_eq!(env.read("out/s_1.jsonl"), "");
    assert!(env.read("out/s_1.meta.json").contains("All that was."));
    env.run(&["fsck", "-q", "out"]).fine().gives("");
    env.run(&["migrate", "-q", "--to", "picoclaw", "--out", "out", "s.json"])
        .status(0);
    env.run(&["append", "-q", "-i", "out/s_1.jsonl", "hi"]).fine();
}
