//! Tests Penguin session files: changes in place, writing into a directory, and display.

mod links;

use crate::env::{CHAT, Env, Run};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

/// A message in another encoding than Penguin's.
const ODD: &str = r#"{"role": "user", "content": "caf\u00E9 \/",
  "category":"DIALOG", "id": "m1", "timestamp": "2026-03-01T09:00:00.5", "metadata": {"n": NaN,  "x": 1.50}, "odd": 1}"#;

const PLAIN: &str = r#"{
      "role": "assistant",
      "content": "a1",
      "category": "DIALOG",
      "id": "m2",
      "timestamp": "2026-03-01T09:01:00",
      "metadata": {},
      "tokens": 7,
      "agent_id": null,
      "recipient_id": null,
      "message_type": "message"
    }"#;

const NAME: &str = "session_20260301_090000_0a1b2c3d";

fn document(messages: &[&str]) -> String {
    format!(
        "{{\n  \"id\": \"{NAME}\",\n  \"created_at\": \"2026-03-01T09:00:00\",\n  \"last_active\": \
         \"2026-03-01T09:01:00\",\n  \"metadata\": {{\n    \"message_count\": {},\n    \"title\": \"T\",\n    \
         \"token_count\": 7\n  }},\n  \"messages\": [\n    {}\n  ],\n  \"llm_request_lifecycles\": [],\n  \
         \"tool_call_records\": [],\n  \"tool_result_records\": []\n}}",
        messages.len(),
        messages.join(",\n    ")
    )
}

/// A directory with one session.
struct TestDir {
    env: Env,
}

impl TestDir {
    fn new(bytes: impl AsRef<[u8]>) -> TestDir {
        let env = Env::new();
        env.write(&format!("p/{NAME}.json"), bytes);
        TestDir { env }
    }

    fn usual() -> TestDir {
        TestDir::new(document(&[ODD, PLAIN]))
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.env.work().join(format!("p/{NAME}.json{ending}"))
    }

    #[must_use]
    fn run(&self, command: &str, options: &[&str]) -> Run {
        let path = format!("p/{NAME}.json");
        self.env.run(&[&[command, &path][..], options].concat())
    }

    fn text(&self, ending: &str) -> String {
        fs::read_to_string(self.path(ending)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.env.work().join("p")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Asserts that a change is rejected with this status and every byte is unchanged.
    #[track_caller]
    fn refuses(&self, status: i32, says: &str, command: &str, options: &[&str]) {
        let all = || {
            let read = |name: &String| fs::read(self.env.work().join("p").join(name)).unwrap();
            self.names()
                .iter()
                .map(|name| (name.clone(), read(name)))
                .collect::<Vec<_>>()
        };
        let before = all();
        self.run(command, options).status(status).says(says).gives("");
        assert!(all() == before, "something was changed");
    }
}

#[test]
fn unchanged_parts_keep_their_bytes_and_totals_are_updated() {
    let dir = TestDir::usual();
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o640)).unwrap();
    let before = dir.text("");
    dir.run("append", &["-i", "é"]).status(0).gives("");
    let after = dir.text("");
    let (rest, added) = after.split_once(PLAIN).unwrap();
    let expected = before
        .split_once(PLAIN)
        .unwrap()
        .0
        .replace(
            "\"last_active\": \"2026-03-01T09:01:00\"",
            "\"last_active\": \"2026-11-20T18:02:03\"",
        )
        .replace("\"message_count\": 2", "\"message_count\": 3");
    assert_eq!(rest, expected);
    assert!(
        added.starts_with(",\n    {\n      \"role\": \"user\",\n      \"content\": \"\\u00e9\",\n"),
        "{added}"
    );
    assert!(added.contains("\"timestamp\": \"2026-11-20T18:02:03\"") && added.contains("\"metadata\": {},"));
    assert!(added.ends_with("    }\n  ],\n  \"llm_request_lifecycles\": [],\n  \"tool_call_records\": [],\n  \"tool_result_records\": []\n}"));
    assert_eq!(dir.text(".bak"), before);
    assert_eq!(fs::metadata(dir.path("")).unwrap().mode() & 0o777, 0o640);
    assert_eq!(dir.names(), [format!("{NAME}.json"), format!("{NAME}.json.bak")]);

    dir.run("truncate", &["-i", "--keep-last", "1"]).status(0);
    let cut = dir.text("");
    assert!(
        !cut.contains("caf") && cut.contains("\"message_count\": 1"),
        "{cut}"
    );
    assert!(
        cut.contains("\"token_count\": 0") && cut.contains("\"title\": \"T\""),
        "{cut}"
    );
    assert_eq!(dir.text(".bak"), after);
}

#[test]
fn an_unchanged_file_is_not_written() {
    let dir = TestDir::usual();
    let inode = || fs::metadata(dir.path("")).unwrap().ino();
    let before = inode();
    dir.run("truncate", &["-i", "--keep-last", "9"]).status(0);
    dir.run("restore", &["-i"]).status(1);
    dir.run("compact", &["-i", "--budget", "9000"]).status(0);
    assert_eq!(inode(), before);
    assert_eq!(dir.names(), [format!("{NAME}.json")]);
    dir.run("truncate", &["-n", "--keep-last", "0"])
        .says("would drop");
    assert_eq!(inode(), before);
}

#[test]
fn a_backup_of_the_old_file_can_be_kept() {
    let dir = TestDir::usual();
    let before = dir.text("");
    dir.run("append", &["-i=.old", "x"]).status(0);
    assert_eq!(dir.text(".old"), before);
    assert_eq!(dir.text(".bak"), before);
    dir.refuses(73, "backup already exists", "append", &["-i=.old", "y"]);
    dir.run("append", &["-i=.bak", "y"]).status(0);
    assert!(dir.text(".bak").contains("\"x\"") && !dir.text(".bak").contains("\"y\""));
}

#[test]
fn a_damaged_file_is_not_overwritten() {
    let good = document(&[ODD, PLAIN]);
    let bad = &good[..good.len() - 300];
    let dir = TestDir::new(bad);
    dir.env.write(&format!("p/{NAME}.json.bak"), &good);
    dir.refuses(65, "damaged; the rewrite", "append", &["-i", "x"]);
    dir.run("append", &["-i=.damaged", "x"]).status(65);
    assert_eq!(dir.text(".damaged"), bad);
    assert_eq!(dir.text(".bak"), good);
    let now = dir.text("");
    assert!(
        now.contains("a1") && now.contains("\"x\"") && now.contains("NaN"),
        "{now}"
    );
    let run = dir.run("count", &[]);
    assert!(!run.stderr.contains("damaged"), "{run}");
    for bytes in [
        format!("\u{feff}{good}"),
        good.replace("caf", "caf\t"),
        good.replace("  ]", "  ,]"),
    ] {
        TestDir::new(bytes).refuses(65, "damaged; the rewrite", "append", &["-i", "x"]);
    }
    let mut bytes = good.clone().into_bytes();
    let at = good.find("caf").unwrap();
    bytes[at] = 0xff;
    TestDir::new(bytes).refuses(65, "damaged; the rewrite", "append", &["-i", "x"]);
}

#[test]
fn leftovers_of_a_killed_run_do_not_block_changes() {
    use sha2::{Digest, Sha256};
    let dir = TestDir::usual();
    let digest = Sha256::digest(format!("{NAME}.json"));
    let name: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let left = dir.env.work().join(format!("p/.convo-{name}.spare"));
    fs::hard_link(dir.path(""), &left).unwrap();
    fs::hard_link(dir.path(""), dir.path(".bak")).unwrap();
    dir.run("append", &["-i", "x"]).status(0);
    dir.run("append", &["-i", "y"]).status(0);
    assert!(!left.exists());
    assert!(dir.text(".bak").contains("\"x\"") && dir.text("").contains("\"y\""));
    fs::hard_link(dir.path(""), dir.path(".mine")).unwrap();
    dir.refuses(77, "hard links", "append", &["-i", "z"]);
}

#[test]
fn older_files_checkpoints_and_indexes_are_refused() {
    let older = r#"{"messages":[{"role":"user","content":"x","category":"CONVERSATION"}],"metadata":{"session_id":"one"}}"#;
    TestDir::new(older).refuses(2, "older Penguin conversations", "append", &["-i", "x"]);
    let checkpoint = format!(
        r#"{{"metadata":{{"id":"cp_1","session_id":"{NAME}"}},"session":{}}}"#,
        document(&[PLAIN])
    );
    let dir = TestDir::new(checkpoint);
    dir.refuses(2, "Penguin checkpoints", "append", &["-i", "x"]);
    let run = dir.run("cat", &["-q"]).status(0);
    let header = &run.objects()[0];
    assert_eq!(header["id"], "cp_1");
    assert_eq!(
        header["metadata"]["lineage"],
        serde_json::json!({"kind": "fork", "parent": NAME})
    );
    for (index, what) in [
        (
            r#"{"cp_1":{"id":"cp_1","session_id":"s","message_id":"m"}}"#,
            "index of checkpoints",
        ),
        (
            r#"{"s":{"created_at":"2026","message_count":1,"token_count":0}}"#,
            "index of sessions",
        ),
    ] {
        dir.env.pipe(&["cat"], index).status(65).says(what);
    }
}

#[test]
fn a_summary_remains_after_new_messages() {
    let env = Env::new();
    let summary = r#"{"type":"summary","id":"evt_1","at":"2026-11-02T00:00:00Z","content":"They met.","covers":["m2","m5"],"by":"x"}"#;
    env.write("chat.jsonl", format!("{CHAT}{summary}\n"));
    env.run(&[
        "cat", "chat.jsonl", "--to", "penguin", "--strict", "-o", "trip.json",
    ])
    .fine();
    env.run(&["append", "-i", "trip.json", "Snow?"]).fine();
    let text = env.read("trip.json");
    assert!(
        text.contains("\"category\": \"CONTEXT\"") && text.contains("\"type\": \"summary\""),
        "{text}"
    );
    assert_eq!(text.matches("summary_event").count(), 1, "{text}");
    let lines = env.run(&["cat", "-q", "trip.json"]).objects();
    let event = lines.iter().find(|line| line["type"] == "summary").unwrap();
    assert_eq!(
        (&event["content"], &event["here"], &event["by"]),
        (&"They met.".into(), &true.into(), &"x".into())
    );
    let texts = lines
        .iter()
        .filter(|line| line["role"] == "user")
        .map(|line| &line["content"]);
    assert_eq!(texts.collect::<Vec<_>>(), ["And tomorrow?", "Snow?"]);
}

#[test]
fn a_native_session_is_converted_and_restored() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    env.run(&[
        "cat", "chat.jsonl", "--to", "penguin", "--strict", "-o", "trip.json",
    ])
    .fine();
    let back = env.run(&["cat", "-q", "trip.json"]).objects();
    let was: Vec<serde_json::Value> = CHAT
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(back.len(), was.len());
    for (now, was) in back[1..].iter().zip(&was[1..]) {
        for (name, value) in was.as_object().unwrap() {
            assert_eq!(now[name], *value, "{name}");
        }
    }
    assert_eq!(
        (&back[0]["id"], &back[0]["title"]),
        (&was[0]["id"], &was[0]["title"])
    );
    let again = env.run(&["cat", "-q", "trip.json"]);
    env.pipe(&["cat", "--to", "penguin"], &again.stdout)
        .fine()
        .gives(env.read("trip.json"));
}

#[test]
fn two_sessions_do_not_fit_one_document() {
    let env = Env::new();
    let two = [CHAT, &CHAT.replace("trip", "trap")].concat();
    env.pipe(&["cat", "--to", "penguin"], two)
        .status(2)
        .says("penguin: only one session per file");
}

#[test]
fn a_directory_gets_its_index_last() {
    let env = Env::new();
    env.write("a.jsonl", CHAT);
    let next = CHAT
        .replace(r#""id":"trip""#, r#""id":"next","continued_from":"trip""#)
        .replace(r#","title":"Trip""#, "");
    env.write("b.jsonl", next);
    let migrate = [
        "migrate", "-q", "--to", "penguin", "--out", "p", "a.jsonl", "b.jsonl",
    ];
    env.run(&migrate).status(0);
    let list: serde_json::Value = serde_json::from_str(&env.read("p/session_index.json")).unwrap();
    let expected = serde_json::json!({
        "next": {
            "created_at": "2026-11-01T10:00:00", "last_active": "2026-11-01T10:05:02", "message_count": 7,
            "token_count": 0, "title": "Weather in Paris?", "continued_from": "trip", "total_chain_tokens": 0
        },
        "trip": {
            "created_at": "2026-11-01T10:00:00", "last_active": "2026-11-01T10:05:02", "message_count": 7,
            "token_count": 0, "title": "Trip"
        }
    });
    assert_eq!(list, expected);
    // Existing files are listed too; files that are not sessions are not.
    env.write(&format!("p/{NAME}.json"), document(&[ODD, PLAIN]));
    env.write("p/notes.json", "{}");
    env.run(&migrate).status(0);
    let list: serde_json::Value = serde_json::from_str(&env.read("p/session_index.json")).unwrap();
    let names: Vec<&String> = list.as_object().unwrap().keys().collect();
    assert_eq!(names, ["next", NAME, "trip"]);
    assert_eq!(list[NAME]["token_count"], 7);
    let inode = || {
        fs::metadata(env.work().join("p/session_index.json"))
            .unwrap()
            .ino()
    };
    let before = inode();
    env.run(&migrate).status(0);
    assert_eq!(inode(), before);
}

#[test]
fn internal_messages_are_hidden_from_people_only() {
    let hidden = PLAIN
        .replace("m2", "m3")
        .replace("\"a1\"", "\"private\"")
        .replace("\"DIALOG\"", "\"INTERNAL\"");
    let marked = PLAIN.replace("m2", "m4").replace("\"a1\"", "\"marked\"").replace(
        "\"metadata\": {}",
        "\"metadata\": {\"visibility\": \" Internal \"}",
    );
    let dir = TestDir::new(document(&[PLAIN, &hidden, &marked]));
    let shown = dir.run("show", &["-q"]).status(0);
    assert!(
        shown.out().contains("a1") && !shown.out().contains("private") && !shown.out().contains("marked"),
        "{shown}"
    );
    for command in ["cat", "context"] {
        let run = dir.run(command, &["-q"]);
        assert!(
            run.out().contains("private") && run.out().contains("marked"),
            "{run}"
        );
    }
    let run = dir.run("context", &["-q", "--to", "penguin-context"]);
    assert_eq!(run.out().lines().count(), 5, "{run}");
    dir.run("cat", &["--from", "penguin-context"]).status(2);
}

#[test]
fn times_are_local() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    let mut command = env.command(&["cat", "chat.jsonl", "--to", "penguin"]);
    command.env("TZ", "Asia/Tokyo");
    let run = env.wait(command);
    assert!(
        run.out().contains("\"created_at\": \"2026-11-01T19:00:00\""),
        "{run}"
    );
    assert!(
        run.out().contains("\"timestamp\": \"2026-11-01T19:05:02\""),
        "{run}"
    );
}

#[test]
fn an_unchanged_unusual_time_keeps_its_notation() {
    for odd in [
        "\"2026-08-20 09:00:02\"",
        "\"20260820T090002\"",
        "\"2026-08-20T09:00:02+02:00\"",
        "1755680402",
    ] {
        let env = Env::new();
        let message = r#"{"role": "user", "content": "a", "category": "DIALOG", "id": "m1", "timestamp": "2026-08-20T09:00:06", "metadata": {}}"#;
        let document = format!(
            r#"{{"id": "session_1", "created_at": {odd}, "metadata": {{}}, "messages": [{message}]}}"#
        );
        let file = env.write("session_1.json", document);
        let run = env.run(&["append", file.to_str().unwrap(), "-i", "b", "--from", "penguin"]);
        assert!([0, 65].contains(&run.status), "{run}");
        let now = env.read("session_1.json");
        assert!(
            now.contains(&format!("\"created_at\": {odd}")) && now.contains("\"b\""),
            "{now}"
        );
    }
}
