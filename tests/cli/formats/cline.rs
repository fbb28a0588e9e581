//! Tests Cline's newer store: every command, changes that preserve the other messages, and no conversion to it.

use crate::agents::put;
use crate::env::{CHAT, Env};

const FILE: &str = r#"{
	"version": 1,
	"agent": "lead",
	"sessionId": "17_kites",
	"messages": [
		{"id":"u1","role":"user","content":[{"type":"text","text":"How strong is the wind?"}],"ts":1786000000100},
		{"id":"a1","role":"assistant","content":[{"type":"tool_use","id":"w1","name":"wind","input":{"pier": "north"}}],"modelInfo":{"id":"elm-3","provider":"p"}},
		{"id":"u2","role":"user","content":[{"type":"tool_result","tool_use_id":"w1","content":"11 kn","is_error":false}]},
		{"id":"a2","role":"assistant","content":[{"type":"text","text":"11 knots."}]},
		{"id":"u3","role":"user","content":[{"type":"text","text":"And the tide?"}]}
	]
}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("17_kites.messages.json", FILE);
    super::every_command_reads(
        &env, "17_kites.messages.json", "cline", r#"{\"pier\": \"north\"}"#,
    );
}

#[test]
fn in_place_other_messages_keep_their_bytes() {
    let env = Env::new();
    env.write("s.json", FILE);
    env.run(&["truncate", "--keep-last", "1", "-i", "s.json"])
        .status(0);
    let lines: Vec<&str> = FILE.lines().collect();
    let kept = [&lines[..5], &lines[9..]].concat().join("\n") + "\n";
    assert_eq!(env.read("s.json"), kept);
}

/// The previous summary remained next to the one that includes it.
#[test]
fn a_new_summary_replaces_the_previous_one() {
    let env = Env::new();
    let compaction = FILE
        .replace(
            r#""version": 1,"#,
            r#""version": 1, "system_prompt": "You know the sea.","#,
        )
        .replace(
            r#""text":"How strong is the wind?"}]"#,
            r#""text":"An earlier summary."}], "metadata":{"kind":"compaction"}"#,
        );
    env.write("s.json", &compaction);
    env.run(&[
        "summarize", "--keep-last", "1", "--with", "cmd:echo Windy.", "-i", "s.json",
    ])
    .status(0);
    let after = env.read("s.json");
    assert!(
        after.contains("Windy.") && !after.contains("An earlier summary."),
        "{after}"
    );
    assert_eq!(after.matches("You know the sea.").count(), 1, "{after}");
    assert!(after.contains(FILE.lines().nth(9).unwrap()), "{after}");
}

#[test]
fn sessions_from_elsewhere_are_refused() {
    let env = Env::new();
    env.pipe(&["cat", "--to", "cline"], CHAT)
        .status(2)
        .says("Cline lists sessions by manifests");
}

#[test]
fn sessions_in_its_home_have_the_title_of_their_manifest() {
    let env = Env::new();
    let dir = ".cline/data/sessions/17_kites";
    let agent = FILE.replace("17_kites", "17_kites__agent");
    let manifest = r#"{"session_id":"17_kites","cwd":"/kites","metadata":{"title":"Wind"}}"#;
    for (name, text) in [
        ("17_kites.messages.json", FILE),
        ("17_kites.json", manifest),
        ("17_kites__agent.messages.json", &agent),
    ] {
        put(&env, format!("{dir}/{name}"), text, 1);
    }
    let listed = env.run(&["list", "--agents", "--json"]).fine();
    let rows = listed.objects();
    assert_eq!(rows.len(), 1, "{listed}");
    assert_eq!(
        (&rows[0]["program"], &rows[0]["title"]),
        (&"cline".into(), &"Wind".into())
    );
    assert_eq!(
        (&rows[0]["project"], &rows[0]["subagents"]),
        (&"/kites".into(), &1.into())
    );
    env.run(&["title", "cline:17_kites"]).fine().gives("Wind\n");
    env.run(&["search", "-c", "tide"]).fine();
}
