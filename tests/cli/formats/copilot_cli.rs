//! Tests event logs of GitHub Copilot: every command, changes that preserve the other lines, and no conversion to
//! them.

use crate::agents::put;
use crate::env::{CHAT, Env};

const FILE: &str = r#"{"type":"session.start","data":{"sessionId":"s1","producer":"copilot-agent","startTime":"2026-08-03T07:00:00.000Z","context":{"cwd":"/kites"}},"id":"e1","timestamp":"2026-08-03T07:00:00.000Z","parentId":null}
{"type":"user.message","data":{"content":"How strong is the wind?","attachments":[]},"id":"e2","timestamp":"2026-08-03T07:00:01.000Z","parentId":"e1"}
{"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"w1","name":"wind","arguments":{"pier": "north"},"type":"function"}]},"id":"e3","timestamp":"2026-08-03T07:00:02.000Z","parentId":"e2"}
{"type":"tool.execution_start","data":{"toolCallId":"w1","toolName":"wind","arguments":{"pier": "north"}},"id":"e4","timestamp":"2026-08-03T07:00:03.000Z","parentId":"e3"}
{"type":"tool.execution_complete","data":{"toolCallId":"w1","success":true,"result":{"content":"11 kn"}},"id":"e5","timestamp":"2026-08-03T07:00:04.000Z","parentId":"e4"}
{"type":"assistant.message","data":{"messageId":"m2","content":"11 knots.","toolRequests":[]},"id":"e6","timestamp":"2026-08-03T07:00:05.000Z","parentId":"e5"}
{"type":"user.message","data":{"content":"And the tide?","attachments":[]},"id":"e7","timestamp":"2026-08-03T07:00:06.000Z","parentId":"e6"}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("events.jsonl", FILE);
    super::every_command_reads(&env, "events.jsonl", "copilot-cli", r#"{\"pier\": \"north\"}"#);
}

#[test]
fn in_place_events_of_removed_calls_are_removed() {
    let env = Env::new();
    env.write("events.jsonl", FILE);
    env.run(&["truncate", "--keep-last", "1", "-i", "events.jsonl"])
        .status(0);
    let lines: Vec<&str> = FILE.lines().collect();
    let last = lines[6].replace(r#""parentId":"e6""#, r#""parentId":"e1""#);
    assert_eq!(env.read("events.jsonl"), format!("{}\n{last}\n", lines[0]));
}

#[test]
fn sessions_from_elsewhere_are_refused() {
    let env = Env::new();
    env.pipe(&["cat", "--to", "copilot-cli"], CHAT)
        .status(2)
        .says("Copilot keeps an index");
}

#[test]
fn a_session_in_its_home_has_a_name() {
    let env = Env::new();
    put(&env, ".copilot/session-state/s1-0001/events.jsonl", FILE, 1);
    let workspace = "id: s1-0001\ncwd: /elsewhere\nname: \"Wind \\u0026 tide\"\n";
    put(
        &env,
        ".copilot/session-state/s1-0001/workspace.yaml",
        workspace,
        1,
    );
    let rows = env.run(&["list", "--agents", "--json"]).fine().objects();
    assert_eq!(
        (&rows[0]["name"], &rows[0]["project"], &rows[0]["title"]),
        (
            &"copilot-cli:s1-0001".into(),
            &"/kites".into(),
            &"Wind & tide".into()
        )
    );
    env.run(&["search", "-c", "tide"]).fine();
    let shown = env.run(&["show", "copilot:@last"]).fine();
    assert!(shown.out().contains("And the tide?"));
}
