//! Tests sessions of Qwen Code: every command, branches, changes that preserve the other lines, and new sessions.

use crate::agents::put;
use crate::env::{CHAT, Env};

const FILE: &str = r#"{"uuid":"a1","parentUuid":null,"sessionId":"s1","timestamp":"2026-08-20T06:00:01.000Z","type":"user","cwd":"/kites","version":"0.22.0","message":{"role":"user","parts":[{"text":"How strong is the wind?"}]}}
{"uuid":"a2","parentUuid":"a1","sessionId":"s1","timestamp":"2026-08-20T06:00:02.000Z","type":"assistant","cwd":"/kites","version":"0.22.0","message":{"role":"model","parts":[{"functionCall":{"id":"w1","name":"wind","args":{"pier": "north"}}}]}}
{"uuid":"a3","parentUuid":"a2","sessionId":"s1","timestamp":"2026-08-20T06:00:03.000Z","type":"tool_result","cwd":"/kites","version":"0.22.0","message":{"role":"user","parts":[{"functionResponse":{"id":"w1","name":"wind","response":{"output":"11 kn"}}}]}}
{"uuid":"a4","parentUuid":"a3","sessionId":"s1","timestamp":"2026-08-20T06:00:04.000Z","type":"assistant","cwd":"/kites","version":"0.22.0","message":{"role":"model","parts":[{"text":"11 knots."}]}}
{"uuid":"a5","parentUuid":"a4","sessionId":"s1","timestamp":"2026-08-20T06:00:05.000Z","type":"user","cwd":"/kites","version":"0.22.0","message":{"role":"user","parts":[{"text":"And the tide?"}]}}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("s1.jsonl", FILE);
    super::every_command_takes(&env, "s1.jsonl", "qwen-code", FILE, r#"{\"pier\": \"north\"}"#);
}

#[test]
fn in_place_the_first_kept_line_has_no_parent() {
    let env = Env::new();
    env.write("s1.jsonl", FILE);
    env.run(&["truncate", "--keep-last", "1", "-i", "s1.jsonl"])
        .status(0);
    let last = FILE
        .lines()
        .last()
        .unwrap()
        .replace(r#""parentUuid":"a4""#, r#""parentUuid":null"#);
    assert_eq!(env.read("s1.jsonl"), last + "\n");
}

#[test]
fn a_branch_is_a_session_after_the_main_one() {
    let env = Env::new();
    let branch = FILE
        .lines()
        .last()
        .unwrap()
        .replace("a5", "b5")
        .replace("tide", "rain");
    env.write("s1.jsonl", format!("{FILE}{branch}\n"));
    let run = env.run(&["cat", "--to", "native", "s1.jsonl"]).fine();
    assert!(
        run.out()
            .contains(r#""lineage":{"kind":"branch","parent":"s1","at":"a4"}"#),
        "{run}"
    );
    let shown = env.run(&["show", "s1.jsonl", "--session", "1"]).fine();
    assert!(
        shown.out().contains("rain") && !shown.out().contains("tide"),
        "{shown}"
    );
}

#[test]
fn any_session_is_written_and_reread() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "qwen-code"], CHAT).fine();
    env.write("made.jsonl", built.out());
    assert_eq!(env.run(&["detect", "made.jsonl"]).fine().out(), "qwen-code\n");
    let texts = env
        .run(&["cat", "-q", "--to", "openai-chat", "made.jsonl"])
        .fine();
    assert!(texts.out().contains("22 C, sunny"));
}

#[test]
fn a_session_in_its_home_has_a_name() {
    let env = Env::new();
    put(
        &env,
        ".qwen/projects/-kites/chats/s1-0001.jsonl",
        &FILE.replace("\"s1\"", "\"s1-0001\""),
        1,
    );
    let rows = env.run(&["list", "--agents", "--json"]).fine().objects();
    assert_eq!(
        (&rows[0]["name"], &rows[0]["project"]),
        (&"qwen-code:s1-0001".into(), &"/kites".into())
    );
    env.run(&["search", "-c", "tide"]).fine();
    let shown = env.run(&["show", "qwen:@last"]).fine();
    assert!(shown.out().contains("And the tide?"));
}
