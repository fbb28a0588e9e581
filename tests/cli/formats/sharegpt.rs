//! Tests training sets: every record is a session, and an unchanged one keeps its bytes.

use crate::env::{CHAT, Env};

const SET: &str = r#"[
  {
    "conversations": [
      { "from": "human", "value": "one" },
      { "from": "gpt", "value": "caf\u00e9" }
    ],
    "system": "Be terse.",
    "cost": 5e-06
  },
  {
    "conversations": [
      { "from": "human", "value": "first" },
      { "from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"x\": 1}}" },
      { "from": "observation", "value": "found" },
      { "from": "gpt", "value": "second" },
      { "from": "human", "value": "third" },
      { "from": "gpt", "value": "fourth", "weight": 1 }
    ],
    "tools": "[{\"name\": \"f\"}]"
  }
]
"#;

#[test]
fn every_record_is_a_session() {
    let env = Env::new();
    env.write("set.json", SET);
    env.run(&["detect", "set.json"]).fine().gives("sharegpt\n");
    let lines = env.run(&["cat", "set.json"]).fine().objects();
    let ids: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "session")
        .map(|line| &line["key"])
        .collect();
    assert_eq!(ids, ["set#1", "set#2"]);
    let chat = env
        .run(&["cat", "-q", "--to", "openai-chat", "--session", "2", "set.json"])
        .fine();
    assert!(chat.out().contains(r#""tool_call_id":"call_2_1""#), "{chat}");
    env.run(&["check", "--for", "openai-chat", "set.json"]).status(0);
    env.run(&["count", "set.json"]).fine();
    env.run(&["compact", "--budget", "4000", "set.json"]).status(0);
    env.run(&["show", "set.json"]).fine();
    env.run(&["cat", "--to", "sharegpt", "set.json"])
        .fine()
        .gives(SET);
}

#[test]
fn a_cut_removes_turns_and_changes_nothing_else() {
    let env = Env::new();
    env.write("set.json", SET);
    env.run(&["truncate", "--keep-last", "1", "-i", "set.json"])
        .status(0);
    let start = SET
        .find("      { \"from\": \"human\", \"value\": \"first\"")
        .unwrap();
    let end = SET
        .find("      { \"from\": \"human\", \"value\": \"third\"")
        .unwrap();
    let cut = format!("{}{}", &SET[..start], &SET[end..]);
    assert_eq!(env.read("set.json"), cut);
    env.run(&["truncate", "--keep-last", "1", "-i", "set.json"])
        .status(0);
    assert_eq!(env.read("set.json"), cut);
    env.run(&["append", "-r", "user", "--session", "1", "-i", "set.json", "more"])
        .status(0);
    let after = env.read("set.json");
    assert!(after.contains(r#"{"from":"human","value":"more"}"#), "{after}");
    assert!(
        after.contains(r#"{ "from": "gpt", "value": "caf\u00e9" }"#) && after.contains("5e-06"),
        "{after}"
    );
    env.run(&["cat", "--to", "sharegpt", "set.json"])
        .fine()
        .gives(&after);
}

#[test]
fn any_sessions_are_a_set_of_lines() {
    let env = Env::new();
    let two = format!("{CHAT}{}", CHAT.replacen("\"trip\"", "\"trap\"", 1));
    let set = env.pipe(&["cat", "-q", "--to", "sharegpt"], &two).fine();
    assert_eq!(set.out().lines().count(), 2);
    assert!(set.out().contains(r#""from":"function_call""#), "{set}");
    env.write("set.jsonl", set.out());
    env.run(&["check", "--for", "openai-chat", "set.jsonl"]).status(0);
    env.run(&["cat", "--to", "sharegpt", "set.jsonl"])
        .fine()
        .gives(set.out());
    env.pipe(&["cat", "--strict", "--to", "sharegpt"], CHAT)
        .status(65)
        .gives("");
}

#[test]
fn damage_is_reported_and_the_next_record_is_read() {
    let env = Env::new();
    let records = env.pipe(&["cat", "-q", "--to", "sharegpt"], CHAT).fine();
    let record = records.out();
    env.write(
        "set.jsonl",
        format!("{record}{}{record}", record.replacen("\"from\"", "from\"", 1)),
    );
    let run = env
        .run(&["cat", "set.jsonl"])
        .status(65)
        .says("set.jsonl:2: byte ");
    assert_eq!(run.out().matches(r#""content":"Weather"#).count(), 2, "{run}");
    env.write("alpaca.json", r#"[{"instruction":"a","input":"","output":"b"}]"#);
    env.run(&["count", "alpaca.json"]).status(65).says("Alpaca");
}
