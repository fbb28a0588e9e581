//! Tests changes of PicoClaw session files in place.

mod refused;
mod reshaped;

use crate::env::{Env, Run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const LOG: &str = concat!(
    r#"{"role":"user","content":"u1","created_at":"2026-03-01T09:00:00Z"}"#,
    "\n",
    r#"{"role":"assistant","content":"a1","created_at":"2026-03-01T09:01:00Z"}"#,
    "\nbroken\n",
    r#"{"role":"user","content":"u2","created_at":"2026-03-01T09:02:00Z"}"#,
    "\n",
    r#"{"role":"assistant","content":"a2","created_at":"2026-03-01T09:03:00Z"}"#,
    "\n",
);

/// A sidecar as PicoClaw writes it, with unknown members.
fn sidecar(skip: u64, count: u64, updated: &str) -> String {
    format!(
        "{{\n  \"key\": \"\\u0073\",\n  \"summary\": \"caf\\u00e9\",\n  \"skip\": {skip},\n  \
         \"count\": {count},\n  \"created_at\": \"2026-03-01T09:00:00.5Z\",\n  \"updated_at\": \"{updated}\",\n  \
         \"aliases\": [\n    \"a\"\n  ],\n  \"x-own\": {{\"n\":  1.50}}\n}}"
    )
}

const BEFORE: &str = "2026-03-01T09:03:00Z";
const NOW: &str = "2026-11-20T18:02:03Z";

/// A directory with a session of these files, and their original bytes.
struct Pair {
    env: Env,
}

impl Pair {
    fn new(log: impl AsRef<[u8]>, sidecar: impl AsRef<[u8]>) -> Pair {
        let env = Env::new();
        env.write("p/s.jsonl", log);
        env.write("p/s.meta.json", sidecar);
        Pair { env }
    }

    fn usual() -> Pair {
        Pair::new(LOG, sidecar(0, 5, BEFORE))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.env.work().join("p").join(name)
    }

    #[must_use]
    fn run(&self, command: &str, options: &[&str]) -> Run {
        self.env.run(&[&[command, "p/s.jsonl", "-i"], options].concat())
    }

    #[must_use]
    fn stream(&self, messages: &str, options: &[&str]) -> Run {
        let arguments = [&["append", "p/s.jsonl", "-i", "--stream"], options].concat();
        self.env.pipe(&arguments, messages)
    }

    fn log(&self) -> Vec<u8> {
        fs::read(self.path("s.jsonl")).unwrap()
    }

    fn sidecar(&self) -> String {
        self.env.read("p/s.meta.json")
    }

    /// The bytes appended to `before`.
    #[track_caller]
    fn added(&self, before: impl AsRef<[u8]>) -> String {
        let log = self.log();
        let added = log
            .strip_prefix(before.as_ref())
            .expect("the log keeps what it had");
        String::from_utf8(added.to_vec()).unwrap()
    }

    /// The texts in the view.
    fn view(&self) -> Vec<String> {
        let run = self.env.run(&["context", "-q", "--from=picoclaw", "p/s.jsonl"]);
        let messages = run.objects().into_iter().filter(|line| line["role"].is_string());
        messages
            .map(|line| line["content"].as_str().unwrap().to_string())
            .collect()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Asserts that a change is rejected with this status and every byte is unchanged.
    #[track_caller]
    fn refuses(&self, status: i32, says: &str, change: impl FnOnce(&Pair) -> Run) {
        let before = (self.log(), fs::read(self.path("s.meta.json")).ok(), self.names());
        change(self).status(status).says(says).gives("");
        let after = (self.log(), fs::read(self.path("s.meta.json")).ok(), self.names());
        assert!(before == after, "something was changed");
    }
}

#[test]
fn a_message_adds_a_line_and_updates_the_sidecar() {
    let pair = Pair::usual();
    pair.run("append", &["a<b \u{2028}\"\\\n\u{1b}\u{e9}"])
        .fine()
        .gives("");
    assert_eq!(
        pair.added(LOG),
        concat!(
            r#"{"role":"user","content":"a\u003cb \u2028\"\\\n\u001b"#,
            "\u{e9}",
            r#"","created_at":"2026-11-20T18:02:03Z"}"#,
            "\n"
        )
    );
    assert_eq!(pair.sidecar(), sidecar(0, 6, NOW));
    let log = pair.log();
    pair.run("append", &["-r", "note-taker", "b"]).fine();
    assert_eq!(
        pair.added(log),
        "{\"role\":\"note-taker\",\"content\":\"b\",\"created_at\":\"2026-11-20T18:02:03Z\"}\n"
    );
    assert_eq!(pair.names(), ["s.jsonl", "s.meta.json"]);
}

#[test]
fn messages_with_calls_have_the_member_order_of_picoclaw() {
    let pair = Pair::usual();
    let messages = concat!(
        r#"{"tool_calls":[{"function":{"arguments":"{\"a\":\"<\"}","name":"f"},"type":"function","id":"c"}],"content":null,"role":"assistant","timestamp":"2026-03-02T00:00:00.250+01:00","model":"m","reasoning":[{"type":"text","text":"why"}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r"},{"type":"text","text":"s"}]}"#,
        "\n",
        r#"{"role":"developer","content":"be brief"}"#,
        "\n",
    );
    pair.stream(messages, &[]).fine();
    assert_eq!(
        pair.added(LOG),
        concat!(
            r#"{"role":"assistant","content":"","model_name":"m","created_at":"2026-03-02T00:00:00.25+01:00","reasoning_content":"why","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":\"\u003c\"}"}}]}"#,
            "\n",
            r#"{"role":"tool","content":"r\ns","created_at":"2026-11-20T18:02:03Z","tool_call_id":"c"}"#,
            "\n",
            r#"{"role":"system","content":"be brief","created_at":"2026-11-20T18:02:03Z"}"#,
            "\n",
        )
    );
    assert_eq!(pair.sidecar(), sidecar(0, 8, NOW));
}

#[test]
fn losses_are_reported_and_refused_by_strict() {
    let message = r#"{"role":"user","content":"a","id":"mine","category":"context","name":"n"}"#;
    let pair = Pair::usual();
    pair.refuses(65, "--strict", |pair| pair.stream(message, &["--strict"]));
    pair.stream(message, &[])
        .status(0)
        .says("ids (1)")
        .says("names (1)")
        .says("categories (1)");
    assert!(
        pair.added(LOG)
            .starts_with(r#"{"role":"user","content":"a","created_at""#)
    );
    // An event in a stream does not apply to this session.
    let log = pair.log();
    let event = r#"{"type":"truncate","id":"evt_1","at":"2026-01-01T00:00:00Z","before":null}"#;
    let header = r#"{"type":"session","version":1,"id":"x"}"#;
    pair.stream(
        &format!("{header}\n{event}\n{{\"role\":\"user\",\"content\":\"b\"}}\n"),
        &[],
    )
    .status(0)
    .says("1 truncate");
    assert_eq!(pair.added(log).lines().count(), 1);
    assert_eq!(pair.view(), ["u1", "a1", "u2", "a2", "a", "b"]);
    // A message with only reasoning, which PicoClaw drops silently.
    let log = pair.log();
    pair.stream(
        r#"{"role":"assistant","content":" ","reasoning_content":"hm"}"#,
        &[],
    )
    .status(0)
    .says("only reasoning");
    assert!(pair.added(log).contains(r#""reasoning_content":"hm""#));
    assert_eq!(pair.view().len(), 6);
}

#[test]
fn an_unterminated_last_line_is_terminated() {
    let whole = r#"{"role":"user","content":"whole"}"#;
    for (tail, shown) in [
        (&br#"{"role":"user","content":"to"#[..], None),
        (whole.as_bytes(), Some("whole")),
        (b"\0\0\0\0", None),
        (b"\xe2\x82", None),
    ] {
        let log = [LOG.as_bytes(), tail].concat();
        let pair = Pair::new(&log, sidecar(3, 5, BEFORE));
        pair.run("append", &["new"])
            .status(0)
            .says("the last line is truncated");
        assert!(
            pair.added(&log)
                .starts_with("\n{\"role\":\"user\",\"content\":\"new\"")
        );
        assert_eq!(pair.sidecar(), sidecar(3, 7, NOW));
        let view: Vec<&str> = ["u2", "a2"].into_iter().chain(shown).chain(["new"]).collect();
        assert_eq!(pair.view(), view);
    }
}

#[test]
fn a_skip_beyond_the_end_hides_no_added_message() {
    let pair = Pair::new(LOG, sidecar(9, 9, BEFORE));
    pair.refuses(65, "skips 4 lines more", |pair| {
        pair.run("append", &["--strict", "new"])
    });
    pair.run("append", &["new"]).status(65).says("skips 4 lines more");
    assert_eq!(pair.sidecar(), sidecar(5, 6, NOW));
    assert_eq!(pair.view(), ["new"]);
    pair.run("append", &["more"]).fine();
    assert_eq!(pair.view(), ["new", "more"]);
}

#[test]
fn a_cut_changes_only_the_sidecar() {
    for (options, skip, view) in [
        (&["--keep-last", "1"][..], 3, &["u2", "a2"][..]),
        (&["--keep-messages", "1"], 3, &["u2", "a2"]),
        (&["--keep-last", "0"], 5, &[]),
        (&["--all"], 5, &[]),
    ] {
        let pair = Pair::usual();
        let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(pair.path("s.jsonl")).unwrap());
        let before = inode();
        pair.run("truncate", options).status(65).gives(""); // one line is not a message
        assert_eq!(
            (pair.sidecar(), pair.log(), inode()),
            (sidecar(skip, 5, NOW), LOG.into(), before)
        );
        assert_eq!(pair.view(), view);
    }
    let pair = Pair::usual();
    let all = pair.env.run(&["context", "-q", "p/s.jsonl"]).objects();
    let u2 = all.iter().find(|line| line["content"] == "u2").unwrap();
    let id = u2["id"].as_str().unwrap().to_string();
    pair.run("truncate", &["--before", &id]).status(65);
    assert_eq!(pair.sidecar(), sidecar(3, 5, NOW));
    // A cut never splits an exchange, whatever was requested.
    let calls = concat!(
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f","arguments":""}}]}"#,
        "\n",
        r#"{"role":"tool","content":"r","tool_call_id":"c"}"#,
        "\n",
    );
    let pair = Pair::new(format!("{LOG}\n{calls}"), sidecar(0, 7, BEFORE));
    pair.run("truncate", &["--keep-messages", "1"]).status(65);
    assert_eq!(
        (pair.sidecar(), pair.view()),
        (
            sidecar(3, 7, NOW),
            ["u2", "a2", "", "r"].map(String::from).to_vec()
        )
    );
    // A repeated cut changes and writes nothing.
    let pair = Pair::usual();
    fs::write(pair.path("s.meta.json"), sidecar(3, 1, BEFORE)).unwrap();
    pair.run("truncate", &["--keep-last", "5"]).status(0);
    assert_eq!(pair.sidecar(), sidecar(3, 1, BEFORE));
    // Messages appended after a cut are in the view.
    pair.run("truncate", &["--all"]).status(0);
    pair.run("append", &["new"]).fine();
    assert_eq!(pair.view(), ["new"]);
}

#[test]
fn a_missing_sidecar_is_created() {
    let built = |created: &str, skip, count| {
        format!(
            "{{\n  \"key\": \"s\",\n  \"summary\": \"\",\n  \"skip\": {skip},\n  \"count\": {count},\n  \
             \"created_at\": \"{created}\",\n  \"updated_at\": \"{NOW}\"\n}}"
        )
    };
    let mode = |pair: &Pair| {
        fs::metadata(pair.path("s.meta.json"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    let pair = Pair::usual();
    fs::remove_file(pair.path("s.meta.json")).unwrap();
    pair.run("append", &["x", "--from=picoclaw"]).fine();
    assert_eq!(
        (pair.sidecar(), mode(&pair)),
        (built("2026-03-01T09:00:00Z", 0, 6), 0o600)
    );
    let pair = Pair::new("", "");
    fs::remove_file(pair.path("s.meta.json")).unwrap();
    pair.run("append", &["x", "--from=picoclaw"]).fine();
    assert_eq!(pair.sidecar(), built(NOW, 0, 1));
    let pair = Pair::new("{\"role\":\"user\",\"content\":\"x\"}\n", "");
    fs::remove_file(pair.path("s.meta.json")).unwrap();
    pair.run("truncate", &["--all", "--from=picoclaw"]).status(0);
    assert_eq!(pair.sidecar(), built(NOW, 1, 1));
    // An invalid time is replaced, and the file mode is kept.
    let pair = Pair::new(
        LOG,
        sidecar(0, 5, BEFORE).replace("2026-03-01T09:00:00.5Z", "0001-01-01T00:00:00Z"),
    );
    fs::set_permissions(pair.path("s.meta.json"), fs::Permissions::from_mode(0o644)).unwrap();
    pair.run("append", &["x"]).fine();
    assert!(
        pair.sidecar()
            .contains("\"created_at\": \"2026-03-01T09:00:00Z\"")
    );
    assert_eq!(mode(&pair), 0o644);
}

#[test]
fn an_append_without_a_writable_sidecar_succeeds() {
    let pair = Pair::usual();
    // A foreign file in place of the new sidecar is not treated as a leftover.
    pair.run("append", &["x"]).fine();
    let log = pair.log();
    let name = &convo::model::key::sha256(b"s.meta.json")[..16];
    fs::create_dir(pair.path(&format!(".convo-{name}"))).unwrap();
    pair.run("append", &["y"]).status(0).says("stored the lines");
    assert_eq!(pair.added(log).lines().count(), 1);
    assert_eq!(pair.sidecar(), sidecar(0, 6, NOW));
    pair.refuses(77, "not a regular file", |pair| {
        pair.run("truncate", &["--all", "-q"])
    });
}

#[test]
fn concurrent_appends_are_all_stored() {
    let pair = Pair::usual();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let pair = &pair;
            scope.spawn(move || {
                for nth in 0..10 {
                    pair.run("append", &[&format!("{writer}-{nth}")]).fine();
                    if nth == 5 {
                        let options = convo::store::foreign::Compaction {
                            lock_timeout: std::time::Duration::from_secs(10),
                            now: NOW.into(),
                            force: false,
                        };
                        let cut = pair.run("truncate", &["--keep-messages", "50", "-q"]);
                        assert!(matches!(cut.status, 0 | 65), "{cut}"); // 65: it has a damaged line
                        let log = pair.path("s.jsonl");
                        convo::store::foreign::compact(&log, convo::format::Format::Picoclaw, &options)
                            .unwrap();
                    }
                }
            });
        }
    });
    let archive = fs::read_to_string(pair.path(".convo/archive/s.jsonl")).unwrap_or_default();
    let all = archive + std::str::from_utf8(&pair.log()).unwrap();
    for writer in 0..4 {
        for nth in 0..10 {
            assert_eq!(
                all.matches(&format!("\"{writer}-{nth}\"")).count(),
                1,
                "{writer}-{nth}"
            );
        }
    }
    assert_eq!(all.matches("reasoning_content").count(), 0);
    assert_eq!(pair.sidecar(), sidecar(0, 45, NOW));
}
