//! Tests `convo migrate --to FORMAT --out DIR`: writes sessions as files of another system.

use crate::env::{CHAT, Env};
use std::os::unix::fs::PermissionsExt;

/// A PicoClaw log with an invalid line, a message with only reasoning, and a sidecar that skips two lines.
const LOG: &str = concat!(
    r#"{"role":"user","content":"a \u003c b","created_at":"2026-03-01T09:00:00Z"}"#,
    "\n",
    r#"{"role":"assistant","content":"b","created_at":"2026-03-01T09:01:00Z"}"#,
    "\nno json\n",
    r#"{"role":"user","content":"c","created_at":"2026-03-01T09:02:00Z","media":["media://1"]}"#,
    "\n",
    r#"{"role":"assistant","content":"","created_at":"2026-03-01T09:03:00Z","reasoning_content":"hm"}"#,
    "\n",
    r#"{"role":"assistant","content":"d","created_at":"2026-03-01T09:03:00Z","x-own":{"n":1e400}}"#,
    "\n",
);

const SIDECAR: &str = r#"{
  "key": "agent:main:direct:u1",
  "summary": "a \u0026 b",
  "skip": 2,
  "count": 6,
  "created_at": "2026-03-01T09:00:00Z",
  "updated_at": "2026-03-01T09:03:00.25Z",
  "scope": {
    "version": 1,
    "agent_id": "main",
    "channel": "telegram",
    "account": "default",
    "dimensions": [
      "sender"
    ],
    "values": {
      "sender": "u1"
    }
  },
  "aliases": [
    "agent:main:main",
    "agent:main:telegram:direct:u1"
  ],
  "x-own": {
    "k": []
  }
}"#;

const STEM: &str = "agent_main_direct_u1";

fn with_pair() -> Env {
    let env = Env::new();
    env.write(&format!("from/{STEM}.jsonl"), LOG);
    env.write(&format!("from/{STEM}.meta.json"), SIDECAR);
    env
}

/// Reads the two files in a directory.
fn pair(env: &Env, dir: &str) -> (String, String) {
    let read = |ending: &str| env.read(&format!("{dir}/{STEM}{ending}"));
    (read(".jsonl"), read(".meta.json"))
}

#[test]
fn a_pair_is_restored_byte_for_byte() {
    let env = with_pair();
    env.run(&["migrate", "-q", "from"]).status(65); // the invalid line
    let run = env
        .run(&["migrate", "--to", "picoclaw", "--out", "to", "--all"])
        .status(65);
    assert!(!run.stderr.contains(" represent"), "{run}");
    assert_eq!(pair(&env, "to"), (LOG.to_string(), SIDECAR.to_string()));
    for name in [".jsonl", ".meta.json"] {
        let about = std::fs::metadata(env.work().join(format!("to/{STEM}{name}"))).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
    // From the files directly too; a repeated run changes nothing.
    let run = env
        .run(&["migrate", "--to", "picoclaw", "--out", "again", "from"])
        .status(65);
    assert!(run.out().starts_with("migrated\t"), "{run}");
    assert_eq!(pair(&env, "again"), (LOG.to_string(), SIDECAR.to_string()));
    let run = env
        .run(&["migrate", "--to", "picoclaw", "--out", "again", "from"])
        .status(65);
    assert!(run.out().starts_with("skipped\t"), "{run}");
}

#[test]
fn hidden_messages_are_below_the_skip_count() {
    let env = Env::with_chat();
    env.run(&["truncate", "trip", "--keep-last", "1"]).status(0);
    let run = env
        .run(&["migrate", "--to", "picoclaw", "--out", "to", "trip"])
        .status(0);
    snapshot!("migrate_to_picoclaw", run);
    let log = env.read("to/trip.jsonl");
    let texts: Vec<String> = log
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["content"].as_str().unwrap().to_string()
        })
        .collect();
    // The system's instruction is kept in view, and every message is still in the log.
    let cut = ["Weather in Paris?", "", "22 C, sunny", "22 C and sunny."];
    assert_eq!(texts[..4], cut);
    assert_eq!(texts[4..], ["You are terse.", "And tomorrow?", "Rain."]);
    let sidecar = env.read("to/trip.meta.json");
    assert!(sidecar.contains("\"skip\": 4,\n  \"count\": 7,"), "{sidecar}");
    let view = env.run(&["context", "-q", "to/trip.jsonl"]).status(0);
    assert_eq!(view.out().matches("\"role\"").count(), 3, "{view}");
}

#[test]
fn a_killed_run_is_completed_and_later_appends_are_kept() {
    let env = with_pair();
    let migrate = ["migrate", "-q", "--to", "picoclaw", "--out", "to", "from"];
    env.run(&migrate).status(65);
    std::fs::remove_file(env.work().join(format!("to/{STEM}.meta.json"))).unwrap();
    let run = env.run(&migrate).status(65);
    assert!(run.out().starts_with("migrated\t"), "{run}");
    assert_eq!(pair(&env, "to"), (LOG.to_string(), SIDECAR.to_string()));
    // PicoClaw continued the session: there is nothing to do.
    let more = format!("{LOG}{}\n", r#"{"role":"user","content":"e"}"#);
    env.write(&format!("to/{STEM}.jsonl"), &more);
    env.write(
        &format!("to/{STEM}.meta.json"),
        SIDECAR.replace("\"count\": 6", "\"count\": 7"),
    );
    let run = env.run(&migrate).status(65);
    assert!(run.out().starts_with("skipped\t"), "{run}");
    // Another file with that name is not replaced.
    env.write(&format!("to/{STEM}.jsonl"), "other\n");
    let run = env.run(&migrate).status(73);
    assert!(
        run.out().starts_with("conflict\t")
            && run
                .stderr
                .contains(&format!("the file {STEM}.jsonl has different content")),
        "{run}"
    );
    assert_eq!(env.read(&format!("to/{STEM}.jsonl")), "other\n");
}

#[test]
fn two_keys_of_one_file_are_a_conflict_of_both() {
    let env = Env::new();
    for (id, key) in [("one", "a:b"), ("two", "a/b"), ("three", "c")] {
        let head = format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"key\":\"{key}\"}}\n");
        env.write(
            &format!("in/{id}.jsonl"),
            head + "{\"role\":\"user\",\"content\":\"x\"}\n",
        );
    }
    let run = env
        .run(&["migrate", "--to", "picoclaw", "--out", "to", "in"])
        .status(73);
    assert_eq!(run.out().matches("conflict\t").count(), 2, "{run}");
    assert!(
        run.stderr.contains("has the same target file a_b.meta.json"),
        "{run}"
    );
    assert!(env.work().join("to/c.jsonl").is_file() && !env.work().join("to/a_b.jsonl").exists());
}

#[test]
fn a_key_without_a_valid_file_name_is_refused_alone() {
    let env = Env::new();
    let long = "k".repeat(250);
    for (id, key) in [
        ("one", ".."),
        ("two", "a\\u0007b"),
        ("three", &long),
        ("four", "good"),
    ] {
        let head = format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"key\":\"{key}\"}}\n");
        env.write(
            &format!("in/{id}.jsonl"),
            head + "{\"role\":\"user\",\"content\":\"x\"}\n",
        );
    }
    let run = env
        .run(&["migrate", "--to", "picoclaw", "--out", "to", "in"])
        .status(77);
    assert_eq!(run.out().matches("failed\t").count(), 3, "{run}");
    let names: Vec<_> = std::fs::read_dir(env.work().join("to")).unwrap().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn strict_skips_sessions_with_losses() {
    let env = Env::new();
    env.write("in/trip.jsonl", CHAT); // the format has no place for its title and ids
    env.write(
        "in/plain.jsonl",
        concat!(
            r#"{"type":"session","version":1,"id":"plain","created_at":"2026-11-01T10:00:00Z"}"#,
            "\n{\"role\":\"user\",\"content\":\"hi\"}\n"
        ),
    );
    let run = env
        .run(&["migrate", "--strict", "--to", "picoclaw", "--out", "to", "in"])
        .status(65);
    assert!(
        run.stderr
            .contains("trip.jsonl: picoclaw: lossy conversion; nothing was written (--strict)"),
        "{run}"
    );
    assert!(env.work().join("to/plain.jsonl").is_file() && !env.work().join("to/trip.jsonl").exists());
    let dry = env
        .run(&["migrate", "-n", "--to", "picoclaw", "--out", "dry", "in"])
        .status(0);
    assert!(
        dry.out().contains("would-migrate\tin/trip.jsonl") && !env.work().join("dry").exists(),
        "{dry}"
    );
}

#[test]
fn stored_sessions_are_exported_with_their_aliases() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "holiday", "trip"]).status(0);
    env.run(&["migrate", "-q", "--to", "picoclaw", "--out", "to", "holiday"])
        .status(0);
    let sidecar = env.read("to/trip.meta.json");
    assert!(
        sidecar.contains("\"aliases\": [\n    \"holiday\"\n  ]"),
        "{sidecar}"
    );
    // Other formats, including the native one, are one file per session.
    for (to, name) in [
        ("openai-chat", "trip.json"),
        ("jsonl", "trip.jsonl"),
        ("native", "trip.jsonl"),
    ] {
        env.run(&["migrate", "-q", "--to", to, "--out", to, "trip"])
            .status(0);
        assert!(env.work().join(to).join(name).is_file(), "{to}");
    }
    assert_eq!(env.read("native/trip.jsonl"), CHAT);
    let run = env
        .run(&["migrate", "--to", "picoclaw", "--out", "to", "nobody"])
        .status(66);
    assert!(run.stderr.contains("nobody"), "{run}");
    let run = env.run(&["migrate", "--to", "picoclaw", "./x.jsonl"]).status(2);
    assert!(run.stderr.contains("--output-dir"), "{run}");
}
