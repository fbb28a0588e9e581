//! Tests sessions of goose: lines and exports, changes in place, conversion from any session.

use crate::env::{CHAT, Env};

const LINES: &str = include_str!("../../../src/format/goose/tests/session.jsonl");

#[test]
fn unchanged_lines_keep_their_bytes() {
    let env = Env::new();
    env.write("tray.jsonl", LINES);
    env.run(&["detect", "tray.jsonl"]).fine().gives("goose\n");
    let lines = env.run(&["cat", "tray.jsonl"]).fine().objects();
    assert_eq!(lines[0]["title"], "Trays");
    assert_eq!(lines[0]["metadata"]["cwd"], "/w");
    assert_eq!(lines.iter().filter(|line| line["role"] == "tool").count(), 3);
    assert_eq!(lines.last().unwrap()["strategy"], "goose");
    env.run(&["cat", "--to", "goose", "tray.jsonl"])
        .fine()
        .gives(LINES);
    let stream = env.run(&["cat", "tray.jsonl"]).fine();
    let built = env
        .pipe(&["cat", "--to", "goose", "--strict"], stream.out())
        .fine();
    let objects = |text: &str| -> Vec<serde_json::Value> {
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(objects(built.out()), objects(LINES));
}

#[test]
fn a_cut_hides_messages_and_an_append_adds_a_line() {
    let env = Env::new();
    env.write("tray.jsonl", LINES);
    env.run(&["truncate", "--keep-last", "1", "-i", "tray.jsonl"])
        .status(0);
    let after = env.read("tray.jsonl");
    assert_eq!(after.lines().count(), LINES.lines().count());
    assert_eq!(after.matches("\"agentVisible\":false").count(), 11);
    assert_eq!(after.lines().last(), LINES.lines().last());
    env.run(&["truncate", "--keep-last", "1", "-i", "tray.jsonl"])
        .status(0);
    assert_eq!(env.read("tray.jsonl"), after);
    env.run(&["append", "-i", "tray.jsonl", "One more"]).fine();
    let grown = env.read("tray.jsonl");
    assert!(grown.contains("\"message_count\":13"), "{grown}");
    let (before, now) = (
        after.split_once('\n').unwrap().1,
        grown.split_once('\n').unwrap().1,
    );
    assert!(now.starts_with(before) && now.contains("One more"));
}

/// `undo` reported success and left the messages hidden.
#[test]
fn messages_that_goose_hid_are_shown_again() {
    let env = Env::new();
    env.write("tray.jsonl", LINES);
    let count = |env: &Env| {
        let view = env.run(&["cat", "-q", "--to", "jsonl", "tray.jsonl"]);
        view.out().lines().count()
    };
    let before = count(&env);
    env.run(&["undo", "-i", "tray.jsonl"])
        .status(0)
        .says("undid compact");
    assert_eq!(count(&env), before + 5);
}

#[test]
fn a_summary_is_for_the_model_alone() {
    let env = Env::new();
    let long = CHAT.replace("22 C and sunny.", &"It is 22 C and sunny. ".repeat(20));
    let export = env.pipe(&["cat", "-q", "--to", "goose"], long).fine();
    env.write("chat.json", export.out());
    env.run(&[
        "summarize", "--keep-last", "1", "--with", "cmd:echo It rains.", "-i", "chat.json",
    ])
    .status(0);
    assert!(env.read("chat.json").contains("It rains."));
    let document: serde_json::Value = serde_json::from_str(&env.read("chat.json")).unwrap();
    assert_eq!(
        document["message_count"].as_u64().unwrap() as usize,
        document["conversation"].as_array().unwrap().len()
    );
    env.run(&["compact", "--budget", "20", "-i", "chat.json"])
        .status(0);
    env.run(&["check", "--for", "openai-chat", "chat.json"]).status(0);
}

#[test]
fn any_session_is_an_export_or_lines() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "goose"], CHAT).fine();
    let document: serde_json::Value = serde_json::from_str(built.out()).unwrap();
    assert_eq!(document["conversation"][2]["content"][0]["type"], "toolResponse");
    env.write("made.json", built.out());
    env.run(&["detect", "made.json"]).fine().gives("goose\n");
    let chat = env.run(&["cat", "-q", "--to", "openai-chat", "made.json"]).fine();
    assert!(chat.out().contains("22 C, sunny"));
    let lines = env.pipe(&["cat", "-q", "--to", "goose-jsonl"], CHAT).fine();
    assert!(
        lines
            .out()
            .starts_with("{\"working_dir\":\"/\",\"description\":\"Trip\",\"message_count\":6")
    );
    env.pipe(&["detect"], lines.out()).fine().gives("goose\n");
    // The format has no place for instructions.
    env.pipe(&["cat", "--to", "goose", "--strict"], CHAT)
        .status(65)
        .says("messages (1)");
}

#[test]
fn damage_is_reported_with_its_line_and_preserved() {
    let env = Env::new();
    env.write(
        "tray.jsonl",
        LINES.replace("{\"id\":\"msg_d\"", "{\"id\":msg_d\""),
    );
    env.run(&["count", "tray.jsonl"])
        .status(65)
        .says("tray.jsonl:7: byte ");
    env.write("other.json", "{\"working_dir\":\"/\",\n\"conversation\":3}");
    env.run(&["count", "--from", "goose", "other.json"])
        .status(65)
        .says("no conversation");
}
