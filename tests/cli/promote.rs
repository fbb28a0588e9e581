//! `convo alias promote`.

use crate::env::Env;

const KEY: &str = "scope1.channel-telegram.sender-U1";

/// A session under an older name with a cut, a summary and two messages, and an empty one under the new key.
fn older() -> Env {
    let env = Env::new();
    env.run(&["new", "-q", "--key", "agent:main:direct:u1", "--title", "Old"])
        .fine();
    for (nth, text) in ["gone", "too", "kept", "well"].iter().enumerate() {
        let role = ["user", "assistant"][nth % 2];
        env.run(&["append", "-q", "agent:main:direct:u1", "-r", role, text])
            .fine();
    }
    env.run(&["truncate", "-q", "agent:main:direct:u1", "--keep-last", "1"])
        .status(0);
    env.run(&["new", "-q", "--key", KEY]).fine();
    env
}

fn messages(env: &Env, name: &str) -> String {
    env.run(&["context", name, "--to", "openai-chat"])
        .status(0)
        .out()
        .to_string()
}

fn log(env: &Env, id: &str) -> String {
    std::fs::read_to_string(env.log(id)).unwrap()
}

#[test]
fn the_history_continues_under_the_new_key() {
    let env = older();
    let shown = messages(&env, "agent:main:direct:u1");
    let done = env
        .run(&[
            "alias", "promote", KEY, "agent:main:main2", "agent:main:direct:u1",
        ])
        .status(0);
    snapshot!("alias_promote", done);
    assert_eq!(messages(&env, KEY), shown);
    // Its log is kept, and the older name resolves to the new session.
    snapshot!("alias_promote_new", env.run(&["cat", KEY]).fine());
    snapshot!(
        "alias_promote_old",
        env.run(&["cat", "key_agent_3amain_3adirect_3au1"]).fine()
    );
    env.run(&["append", "-q", "agent:main:direct:u1", "through the old name"])
        .fine();
    assert!(messages(&env, KEY).contains("through the old name"));
    let before = (log(&env, KEY), log(&env, "key_agent_3amain_3adirect_3au1"));
    // A repeated promotion counts nothing twice.
    env.run(&["alias", "promote", KEY, "agent:main:direct:u1"])
        .status(0)
        .says("unchanged: history of key_agent_3amain_3adirect_3au1 already adopted");
    assert_eq!(
        before,
        (log(&env, KEY), log(&env, "key_agent_3amain_3adirect_3au1"))
    );
    // Nor can another session adopt it.
    env.run(&["new", "-q", "--id", "second"]).fine();
    env.run(&["alias", "promote", "second", "agent:main:direct:u1"])
        .status(1)
        .says(&format!("history already adopted by {KEY}"));
    env.run(&["fsck"]).status(0);
}

#[test]
fn only_into_a_session_without_a_history() {
    let env = older();
    env.run(&["append", "-q", KEY, "mine"]).fine();
    let before = (log(&env, KEY), log(&env, "key_agent_3amain_3adirect_3au1"));
    let refused = env
        .run(&["alias", "promote", KEY, "agent:main:direct:u1"])
        .status(1);
    snapshot!("alias_promote_refused", refused);
    assert_eq!(
        before,
        (log(&env, KEY), log(&env, "key_agent_3amain_3adirect_3au1"))
    );
    // Truncated messages are not history.
    env.run(&["truncate", "-q", KEY, "--all"]).status(0);
    env.run(&["alias", "promote", "-q", KEY, "agent:main:direct:u1"])
        .fine();
    assert!(messages(&env, KEY).contains("kept") && !messages(&env, KEY).contains("mine"));
}

#[test]
fn never_from_a_main_session() {
    let env = older();
    let mains = [
        "agent:main:main",
        "agent:sales:main",
        " AGENT:Sales:Main ",
        "sk_v1_6d9217fe77c7f11d9cc992aabe81a2d09604e9c48babbda8fdad3791f9c19f3b",
        "scope1.main-session",
    ];
    for name in mains {
        env.run(&["alias", "promote", KEY, "agent:sales:x", name])
            .status(2)
            .says("an agent's main session");
    }
    // The hashed name of another agent is recognized by its other names.
    let sales = "sk_v1_07acf90f25660558d2275b3eb6697626ac1341a7c8e4b9b3b80a3cb7a22ec0ef";
    env.run(&["alias", "promote", KEY, "agent:sales:x", sales])
        .status(2);
    // They are skipped among the names of a session.
    env.run(&["new", "-q", "--key", "agent:main:main"]).fine();
    env.run(&["append", "-q", "agent:main:main", "cron noise"]).fine();
    let names = r#"{"key":"k2","scope":{},"aliases":["agent:main:main","agent:main:direct:u2"],"shared":["agent:main:main"]}"#;
    env.run(&["new", "-q", "--scope", names]).fine();
    env.run(&["alias", "promote", "k2"])
        .status(1)
        .says("no history under older names");
    env.run(&["alias", "promote", KEY])
        .status(1)
        .says("no older name to adopt a history from");
}

#[test]
fn the_names_in_the_header_are_enough() {
    let env = older();
    let scope = env
        .run(&[
            "key", "--json", "--channel", "telegram", "--chat", "C", "--chat-type", "direct", "--sender",
            "U1",
        ])
        .fine();
    let built = env.run(&["new", "--scope", scope.out()]).status(0);
    let id = built.out().trim_end().to_string();
    // An older name that is a session's own id is not reassigned, with a notice.
    built.says("agent:main:direct:u1: is the id of key_agent_3amain_3adirect_3au1");
    env.run(&["context", &id, "--to", "openai-chat"]).status(1);
    env.run(&["alias", "promote", "-q", &id]).fine();
    assert!(messages(&env, &id).contains("kept"));
    env.run(&["alias", "resolve", "agent:main:direct:u1"])
        .fine()
        .gives(format!("{id}\n"));
}

#[test]
fn an_interrupted_run_is_completed() {
    let env = older();
    let old = "key_agent_3amain_3adirect_3au1";
    let promised =
        format!(r#"{{"type":"link","id":"evt_9","at":"2026-11-20T18:02:03Z","promoted_to":"{KEY}"}}"#);
    let written = std::fs::read_to_string(env.log(old)).unwrap() + &promised + "\n";
    std::fs::write(env.log(old), written).unwrap();
    env.run(&["new", "-q", "--id", "second"]).fine();
    env.run(&["alias", "promote", "-q", "second", "agent:main:direct:u1"])
        .status(1);
    env.run(&["alias", "promote", "-q", KEY, "agent:main:direct:u1"])
        .fine();
    assert!(messages(&env, KEY).contains("kept"));
    assert_eq!(log(&env, old).matches("promoted_to").count(), 1);
    // A promotion to a session that gained its own history is undone.
    let env = older();
    let written = std::fs::read_to_string(env.log(old)).unwrap() + &promised + "\n";
    std::fs::write(env.log(old), written).unwrap();
    env.run(&["append", "-q", KEY, "mine"]).fine();
    env.run(&["alias", "promote", KEY, "agent:main:direct:u1"])
        .status(1);
    assert!(log(&env, old).contains(r#""of":"evt_9""#));
    env.run(&["new", "-q", "--id", "second"]).fine();
    env.run(&["alias", "promote", "-q", "second", "agent:main:direct:u1"])
        .fine();
    assert!(messages(&env, "second").contains("kept"));
}
