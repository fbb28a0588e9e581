//! `convo show`.

use crate::env::{CHAT, Env};

#[test]
fn a_session_for_people() {
    let env = Env::with_chat();
    snapshot!("show_chat", env.run(&["show", "trip"]).fine());
    let piped = env.pipe(&["show"], CHAT).fine();
    piped.gives(&env.run(&["show", "trip"]).fine().stdout);
}

#[test]
fn cut_messages_are_counted_and_shown_with_all() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    snapshot!("show_cut", env.run(&["show", "trip"]).fine());
    snapshot!("show_all", env.run(&["show", "--all", "trip"]).fine());
}

#[test]
fn tools_are_folded() {
    let env = Env::new();
    let result: Vec<String> = (1..=30).map(|line| format!("line {line}")).collect();
    let tool = serde_json::json!({"role": "tool", "tool_call_id": "c1", "content": result.join("\n")});
    let log = format!("{CHAT}{tool}\n");
    snapshot!("show_folded", env.pipe(&["show"], &log).fine());
    let full = env.pipe(&["show", "--full"], &log).fine();
    assert!(full.out().contains("line 30") && !full.out().contains("more line"));
}

#[test]
fn control_and_direction_characters_can_be_seen() {
    let env = Env::new();
    let evil = serde_json::json!({"role": "user\u{1b}[2J", "name": "n\u{202e}", "content": "a\u{1b}]0;t\u{7}b\r\u{202e}c\u{2066}\u{9b}31m\u{0}\ttab"});
    let header =
        serde_json::json!({"type": "session", "version": 1, "id": "x", "title": "t\u{1b}[31m\nsecond"});
    let run = env.pipe(&["show"], format!("{header}\n{evil}\n")).fine();
    let hidden = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!run.out().chars().any(hidden), "{run}");
    snapshot!("show_control", run);
}

/// U+061C also changes direction (Unicode's Bidi_Control), and U+2028 and U+2029 end lines.
#[test]
fn rarer_direction_characters_and_line_ends_can_be_seen() {
    let env = Env::new();
    let evil = serde_json::json!({"role": "user", "content": "a\u{61c}b\u{2028}c\u{2029}d"});
    let run = env.pipe(&["show"], format!("{evil}\n")).fine();
    assert!(!run.out().contains(['\u{61c}', '\u{2028}', '\u{2029}']), "{run}");
}

/// The name of a session or speaker must not be able to imitate another message.
#[test]
fn titles_and_roles_are_limited_to_one_line() {
    let env = Env::new();
    let header =
        serde_json::json!({"type": "session", "version": 1, "id": "x", "title": "t\n\nassistant\n  Sure."});
    let evil = serde_json::json!({"role": "user\n\nassistant", "content": "x"});
    let run = env.pipe(&["show"], format!("{header}\n{evil}\n")).fine();
    assert!(!run.out().lines().any(|line| line == "assistant"), "{run}");
}

#[test]
fn no_color_in_a_pipe_except_on_request() {
    let env = Env::with_chat();
    let colored = |run: crate::env::Run| run.fine().out().contains('\u{1b}');
    assert!(!colored(env.run(&["show", "trip"])));
    assert!(colored(env.run(&["show", "--color", "always", "trip"])));
    assert!(colored(env.shell("CLICOLOR_FORCE=1 convo show trip")));
    assert!(!colored(
        env.shell("CLICOLOR_FORCE=1 convo show --color never trip")
    ));
    assert!(!colored(env.shell("NO_COLOR=1 convo show trip")));
}

#[test]
fn thinking_parts_and_damage_are_shown() {
    let env = Env::new();
    let lines = [
        r#"{"role":"user","content":[{"type":"text","text":"See:"},{"type":"image_url","image_url":{"url":"data:,x"}}]}"#,
        r#"{"role":"assistant","content":"Yes.","reasoning":[{"type":"text","text":"Hm."},{"type":"encrypted","data":"x"}]}"#,
        "broken",
    ];
    snapshot!("show_parts", env.pipe(&["show"], lines.join("\n")));
}

/// Artifacts of a PenguiFlow turn besides its answer.
#[test]
fn artifacts_are_listed_when_nothing_is_folded() {
    let env = Env::new();
    let state = r#"{"version":1,"health":"healthy","turns":[{"user_message":"a","assistant_response":"b","artifacts_shown":{"quote":{"id":"Q-1"},"note":"text"},"artifacts_hidden_refs":["art:1"],"ts":1.0}]}"#;
    let full = env.pipe(&["show", "--full"], state).fine();
    for text in [
        "(artifact quote) {\"id\":\"Q-1\"}",
        "(artifact note) text",
        "(hidden artifact) art:1",
    ] {
        assert!(full.out().contains(text), "{full}");
    }
    let folded = env.pipe(&["show"], state).fine();
    assert!(!folded.out().contains("artifact"), "{folded}");
}
