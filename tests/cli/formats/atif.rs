//! Tests ATIF trajectories: every command, changes that preserve the other steps, and new steps.

use crate::env::{CHAT, Env};

const FILE: &str = r#"{
  "schema_version": "ATIF-v1.4",
  "session_id": "s1",
  "agent": {"name": "harbor", "version": "1"},
  "steps": [
    {"step_id": 1, "source": "user", "message": "How strong is the wind?"},
    {"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "w1", "function_name": "wind", "arguments": {"pier": "north"}}], "observation": {"results": [{"source_call_id": "w1", "content": "11 kn"}]}},
    {"step_id": 3, "source": "agent", "message": "11 knots."},
    {"step_id": 4, "source": "user", "message": "And the tide?"}
  ]
}
"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("trajectory.json", FILE);
    super::every_command_takes(&env, "trajectory.json", "atif", FILE, r#"{\"pier\": \"north\"}"#);
}

#[test]
fn in_place_steps_are_renumbered() {
    let env = Env::new();
    env.write("trajectory.json", FILE);
    env.run(&["truncate", "--keep-last", "1", "-i", "trajectory.json"])
        .status(0);
    let head = &FILE[..FILE.find("    {\"step_id\": 1").unwrap()];
    let last = r#"{"step_id":1,"source": "user","message": "And the tide?"}"#;
    assert_eq!(
        env.read("trajectory.json"),
        format!("{head}    {last}\n  ]\n}}\n")
    );
}

#[test]
fn any_session_is_written_and_reread() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "atif"], CHAT).fine();
    env.write("made.json", built.out());
    assert_eq!(env.run(&["detect", "made.json"]).fine().out(), "atif\n");
    let document: serde_json::Value = serde_json::from_str(built.out()).unwrap();
    let steps = document["steps"].as_array().unwrap();
    let numbers: Vec<_> = steps
        .iter()
        .map(|step| step["step_id"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=steps.len() as u64).collect::<Vec<_>>());
    let results = steps
        .iter()
        .find_map(|step| step["observation"]["results"].as_array());
    assert!(results.unwrap()[0]["source_call_id"].is_string(), "{built}");
    let texts = env.run(&["cat", "-q", "--to", "openai-chat", "made.json"]).fine();
    assert!(texts.out().contains("22 C, sunny"));
}

#[test]
fn many_trajectories_are_one_per_line() {
    let env = Env::new();
    let line = FILE.split_whitespace().collect::<Vec<_>>().join(" ");
    env.write(
        "set.jsonl",
        format!("{line}\n{}\n", line.replace("\"s1\"", "\"s2\"")),
    );
    let run = env.run(&["cat", "--to", "native", "set.jsonl"]).fine();
    let records = run.objects();
    let headers = records.iter().filter(|record| record["type"] == "session");
    let ids: Vec<_> = headers.map(|header| header["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["s1", "s2"]);
}

#[test]
fn an_object_without_steps_is_refused() {
    let env = Env::new();
    let file = r#"{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","version":"1"}}"#;
    env.write("bare.json", file);
    env.run(&["cat", "bare.json"]).status(65);
    env.write("other.json", FILE.replace("ATIF-v1.4", "BTIF-v1.4"));
    env.run(&["cat", "other.json"]).status(65);
}
