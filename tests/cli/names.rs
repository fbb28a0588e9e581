//! Tests `convo alias --picoclaw DIR`: names in a PicoClaw directory.

use crate::env::{Env, Run};

fn pair(env: &Env, key: &str, texts: &[&str], summary: &str, aliases: &[&str]) {
    let stem = key.replace([':', '/'], "_");
    let line = |text: &&str| {
        format!("{{\"role\":\"user\",\"content\":\"{text}\",\"created_at\":\"2026-03-01T09:00:00Z\"}}\n")
    };
    let log: String = texts.iter().map(line).collect();
    let names: Vec<String> = aliases.iter().map(|alias| format!("\"{alias}\"")).collect();
    env.write(&format!("s/{stem}.jsonl"), log);
    let sidecar = format!(
        "{{\"key\":\"{key}\",\"summary\":\"{summary}\",\"skip\":0,\"count\":{},\"aliases\":[{}]}}",
        texts.len(),
        names.join(",")
    );
    env.write(&format!("s/{stem}.meta.json"), sidecar);
}

#[must_use]
fn alias(env: &Env, arguments: &[&str]) -> Run {
    env.run(&[&["alias", "--picoclaw", "s"], arguments].concat())
}

const OLD: &str = "agent:main:direct:ann";

#[test]
fn a_name_resolves_to_one_session() {
    let env = Env::new();
    pair(&env, "plain", &["a"], "", &["plain", "nick"]);
    pair(&env, "legacy:key", &["b"], "", &[]);
    pair(&env, "new", &["c"], "", &["legacy:key", "shared"]);
    pair(&env, "newer", &["d"], "", &["shared"]);
    for (name, key) in [
        ("plain", "plain"),
        (" nick ", "plain"),
        ("legacy:key", "new"),
        ("newer", "newer"),
    ] {
        alias(&env, &["resolve", name]).fine().gives(format!("{key}\n"));
    }
    for name in ["", "NICK", "nobody"] {
        alias(&env, &["resolve", name]).status(66);
    }
    alias(&env, &["resolve", "shared"]).status(73).says("new, newer");
    let list = alias(&env, &["list"]).fine();
    assert_eq!(
        list.out(),
        "legacy:key\tnew\nnick\tplain\nplain\tplain\nshared\tnew,newer\n"
    );
    // A name in use is not reassigned.
    alias(&env, &["add", "nick", "newer"])
        .status(73)
        .says("already used by plain");
    alias(&env, &["add", "plain", "newer"]).status(73);
    alias(&env, &["add", "newer", "new"])
        .status(73)
        .says("is the key of a session");
    alias(&env, &["add", "--move", "nick", "newer"]).status(0);
    alias(&env, &["resolve", "nick"]).fine().gives("newer\n");
    alias(&env, &["remove", "shared"]).status(0);
    alias(&env, &["remove", "shared"]).status(66);
    alias(&env, &["add", "x", "nobody"]).status(66);
    assert!(
        env.run(&["context", "-q", "s/newer.jsonl"])
            .out()
            .contains("\"d\"")
    );
}

#[test]
fn a_history_is_moved_to_one_session_only() {
    let env = Env::new();
    pair(&env, OLD, &["one", "two"], " what was ", &[]);
    pair(&env, "sk_v1_a", &[], "", &["agent:main:main", OLD]);
    pair(&env, "agent:main:main", &["noise"], "", &[]);
    let old = || {
        (
            env.read("s/agent_main_direct_ann.jsonl"),
            env.read("s/agent_main_direct_ann.meta.json"),
        )
    };
    let before = old();
    for _ in 0..2 {
        alias(&env, &["promote", "sk_v1_a"])
            .status(0)
            .says("2 messages and a summary");
        assert_eq!(env.read("s/sk_v1_a.jsonl"), before.0);
        assert!(
            env.read("s/sk_v1_a.meta.json")
                .contains("\"summary\": \"what was\",")
        );
    }
    // Its own files are unchanged, and no others are created.
    assert_eq!(old(), before);
    alias(&env, &["promote", "sk_v1_b", OLD]).status(73);
    alias(&env, &["remove", OLD]).status(0);
    alias(&env, &["promote", "sk_v1_b", OLD])
        .status(1)
        .says("no history under older names; nothing was adopted");
    assert!(!env.work().join("s/sk_v1_b.jsonl").exists());
    // Hidden messages do not reappear either.
    env.run(&["truncate", "s/sk_v1_a.jsonl", "-i", "--all"]).status(0);
    alias(&env, &["promote", "sk_v1_a", OLD]).status(0);
    assert!(
        !env.run(&["context", "-q", "s/sk_v1_a.jsonl"])
            .out()
            .contains("\"one\"")
    );
}

#[test]
fn main_sessions_and_histories_block_a_promotion() {
    let env = Env::new();
    pair(&env, "agent:main:main", &["noise"], "", &[]);
    pair(&env, OLD, &["old"], "", &[]);
    pair(&env, "busy", &["now"], "", &[OLD]);
    pair(&env, "sk_v1_a", &[], "", &["agent:main:main"]);
    alias(&env, &["promote", "sk_v1_a"]).status(1);
    let hashed = "sk_v1_6d9217fe77c7f11d9cc992aabe81a2d09604e9c48babbda8fdad3791f9c19f3b";
    for main in ["agent:main:main", "Agent:other:MAIN", hashed] {
        alias(&env, &["promote", "sk_v1_a", main])
            .status(2)
            .says("main session");
    }
    alias(&env, &["promote", "busy"])
        .status(1)
        .says("not empty; history not adopted");
    assert_eq!(env.read("s/sk_v1_a.jsonl"), "");
    assert_eq!(env.read("s/busy.jsonl").lines().count(), 1);
}

#[test]
fn an_interrupted_promotion_is_completed() {
    let env = Env::new();
    pair(&env, OLD, &["one"], "was", &[]);
    pair(&env, "sk_v1_a", &[], "", &[OLD]);
    alias(&env, &["promote", "sk_v1_a"]).status(0);
    let done = env.read("s/sk_v1_a.jsonl");
    // The state after a process died after writing the record, or after the lines.
    for log in ["", done.as_str()] {
        pair(&env, "sk_v1_a", &[], "", &[OLD]);
        env.write("s/sk_v1_a.jsonl", log);
        alias(&env, &["promote", "sk_v1_a"]).status(0);
        assert_eq!(env.read("s/sk_v1_a.jsonl"), done);
        assert!(
            env.read("s/sk_v1_a.meta.json").contains("\"summary\": \"was\""),
            "{log:?}"
        );
    }
}

#[test]
fn a_name_with_a_control_character_is_refused() {
    let env = Env::new();
    pair(&env, "sk_v1_a", &["one"], "", &[]);
    let before = env.files();
    alias(&env, &["add", "a\nb", "sk_v1_a"]).status(77);
    assert_eq!(env.files(), before);
}
