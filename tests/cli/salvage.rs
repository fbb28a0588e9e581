//! Tests damaged Penguin sessions, reconstructed from a file and its backups.

use crate::env::{Env, Run};
use serde_json::Value;

/// The name of a session in Penguin's format.
const ID: &str = "session_20260820_130001_5bc8fbbc";

fn message(nth: usize, text: &str) -> Value {
    let role = if nth % 2 == 1 { "user" } else { "assistant" };
    serde_json::json!({
        "role": role, "content": format!("{text} {nth}"), "category": "DIALOG", "id": format!("msg_{nth:08x}"),
        "timestamp": format!("2026-08-20T13:00:{nth:02}Z"), "metadata": {"nested": {"role": "user", "content": "no message"}},
        "tokens": 0, "agent_id": null, "recipient_id": null, "message_type": "message",
    })
}

/// A session document with these messages in Penguin's encoding.
fn document(messages: &[Value]) -> String {
    let last = messages.len();
    let document = serde_json::json!({
        "id": ID, "created_at": "2026-08-20T13:00:01Z", "last_active": format!("2026-08-20T13:00:{last:02}Z"),
        "metadata": {"title": "A title"}, "messages": messages,
        "tool_call_records": [{"record_type": "call", "call_id": "c"}], "tool_result_records": [],
    });
    serde_json::to_string_pretty(&document).unwrap()
}

fn of(numbers: impl IntoIterator<Item = usize>) -> String {
    document(
        &numbers
            .into_iter()
            .map(|nth| message(nth, "text"))
            .collect::<Vec<_>>(),
    )
}

/// An environment with the files of the session, by suffix.
fn with(files: &[(&str, &[u8])]) -> Env {
    let env = Env::new();
    for (ending, bytes) in files {
        env.write(&format!("in/{ID}.json{ending}"), bytes);
    }
    env
}

/// The numbers of the stored messages.
fn stored(env: &Env) -> Vec<usize> {
    let run = env.run(&["cat", "-q", ID]);
    run.out()
        .lines()
        .filter_map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            usize::from_str_radix(line["id"].as_str()?.strip_prefix("msg_")?, 16).ok()
        })
        .collect()
}

fn row(run: &Run) -> Value {
    serde_json::from_str(run.out().lines().next().unwrap()).unwrap()
}

#[test]
fn a_truncated_file_is_completed_from_its_copies() {
    let (whole, bak, temp) = (of(1..=8), of(1..=6), of(1..=9));
    for tenth in 0..10 {
        let cut = &whole.as_bytes()[..whole.len() * tenth / 10];
        let env = with(&[("", cut), (".bak", bak.as_bytes())]);
        let run = env.run(&["migrate", "--json", "in"]).status(65);
        let all = stored(&env);
        assert!(
            all.len() >= 6 && all == (1..=all.len()).collect::<Vec<_>>(),
            "{tenth}: {all:?}\n{run}"
        );
        let here = (1..=8).filter(|nth| {
            let end = serde_json::to_string_pretty(&message(*nth, "text")).unwrap();
            let text = whole.find(&format!("text {nth}\"")).unwrap();
            text + end.len() + 100 < cut.len()
        });
        assert!(here.max().unwrap_or(0) <= all.len(), "{tenth}: {all:?}");
        let from = row(&run)["from"].as_object().unwrap().clone();
        let sum: u64 = from.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(sum as usize, all.len(), "{from:?}");
        // With a newer backup nothing is lost.
        let env = with(&[("", cut), (".bak", bak.as_bytes()), (".temp", temp.as_bytes())]);
        env.run(&["migrate", "in"]).status(65);
        assert_eq!(stored(&env), (1..=9).collect::<Vec<_>>(), "{tenth}");
        let again = env.run(&["migrate", "in"]).status(65);
        assert!(again.out().starts_with("skipped\t"), "{again}");
    }
}

#[test]
fn the_source_of_each_message_is_reported() {
    let whole = of([1, 2, 3, 5, 6]);
    let cut = &whole[..whole.find("\"text 6\"").unwrap()];
    let (bak, temp) = (of([1, 2, 4]), of([5, 9]));
    let env = with(&[
        ("", cut.as_bytes()),
        (".bak", bak.as_bytes()),
        (".temp", temp.as_bytes()),
    ]);
    let run = env.run(&["migrate", "--dry-run", "--json", "in"]).status(65);
    assert_eq!(row(&run)["sessions"][0]["messages"], 6);
    snapshot!("salvage", env.run(&["migrate", "in"]).status(65));
    // 4 follows 2 in its file, and 9 follows 5 in the other.
    assert_eq!(stored(&env), [1, 2, 4, 3, 5, 9]);
    let header = env
        .run(&["cat", "-q", ID])
        .out()
        .lines()
        .next()
        .unwrap()
        .to_string();
    let header: Value = serde_json::from_str(&header).unwrap();
    let expected = serde_json::json!({
        format!("{ID}.json"): 4, format!("{ID}.json.bak"): 1, format!("{ID}.json.temp"): 1,
    });
    assert_eq!(header["source"]["salvaged"], expected);
    assert_eq!(row(&env.run(&["migrate", "--json", "in"]))["from"], expected);
    // Data after the messages is only in the backups.
    assert_eq!(
        header["metadata"]["penguin"]["tool_call_records"][0]["call_id"],
        "c"
    );
    // Reading the file gives the same.
    let path = format!("in/{ID}.json");
    assert_eq!(
        env.run(&["cat", "-q", &path]).status(65).out(),
        env.run(&["cat", "-q", ID]).out()
    );
}

#[test]
fn a_whole_session_is_not_salvaged() {
    let (whole, temp) = (of(1..=2), of(1..=3));
    let env = with(&[("", whole.as_bytes()), (".temp", temp.as_bytes())]);
    let run = env.run(&["migrate", "--json", "in"]).status(0);
    assert!(row(&run).get("from").is_none(), "{run}");
    assert_eq!(stored(&env), [1, 2]);
    assert!(!env.run(&["cat", ID]).out().contains("salvaged"));
}

#[test]
fn different_content_of_an_id_is_reported_and_the_best_kept() {
    let whole = of(1..=4);
    let cut = &whole[..whole.rfind("\"role\"").unwrap()];
    let bak = document(&[message(1, "text"), message(2, "other")]);
    let env = with(&[("", cut.as_bytes()), (".bak", bak.as_bytes())]);
    env.run(&["migrate", "in"]).status(65).says(&format!(
        "{ID}.json.bak has different content of these messages, not read: msg_00000002"
    ));
    let out = env.run(&["cat", "-q", ID]).out().to_string();
    assert!(out.contains("text 2") && !out.contains("other 2"));
}

#[test]
fn a_file_without_content_is_read_from_its_copy() {
    let bak = of(1..=3);
    for primary in [
        Some(vec![0; 4096]),
        Some(Vec::new()),
        Some(b"x".to_vec()),
        Some(b"{\"id".to_vec()),
        None,
    ] {
        let mut files: Vec<(&str, &[u8])> = vec![(".bak", bak.as_bytes())];
        files.extend(primary.as_ref().map(|bytes| ("", bytes.as_slice())));
        let env = with(&files);
        let run = env.run(&["migrate", "in"]).status(65);
        run.says(&format!("3 messages from {ID}.json.bak"));
        assert_eq!(stored(&env), [1, 2, 3], "{primary:?}");
        let read = env.run(&["cat", "-q", &format!("in/{ID}.json")]).status(65);
        assert_eq!(read.out(), env.run(&["cat", "-q", ID]).out());
    }
}

#[test]
fn messages_after_the_damage_are_recovered() {
    let whole = of(1..=9);
    let at = whole.find("\"text 5\"").unwrap();
    let mut damaged = whole.clone().into_bytes();
    damaged[at + 7..at + 40].fill(0);
    let env = with(&[("", &damaged)]);
    let run = env.run(&["migrate", "in"]).status(65);
    run.says("8 messages from it").says("skipped ");
    assert_eq!(stored(&env), [1, 2, 3, 4, 6, 7, 8, 9]);
    // A backup that has the messages fills the gap.
    env.write(&format!("in/{ID}.json.bak"), of(4..=5));
    let run = env.run(&["migrate", "--out", "out", "in"]).status(65);
    run.says(&format!("1 from {ID}.json.bak (msg_00000005)"));
    let out = env.read(&format!("out/{ID}.jsonl"));
    let found: Vec<usize> = (1..=9)
        .map(|nth| out.find(&format!("\"text {nth}\"")).unwrap())
        .collect();
    assert!(found.is_sorted(), "{found:?}");
}

#[test]
fn a_notice_replaces_lost_content() {
    let env = with(&[("", b"{{{"), (".bak", &[0; 9]), (".temp", b"")]);
    let dry = env
        .run(&["migrate", "-n", "in"])
        .status(65)
        .says("nothing written")
        .says("1 notice");
    assert!(
        dry.out()
            .starts_with(&format!("would-notice\tin/{ID}.json\t{ID}\t1"))
            && !env.store().exists()
    );
    env.run(&["migrate", "--strict", "--out", "strict", "in"])
        .status(65);
    assert!(!env.work().join(format!("strict/{ID}.jsonl")).exists());
    snapshot!("salvage_notice", env.run(&["migrate", "in"]).status(65));
    snapshot!("salvage_notice_stored", env.run(&["cat", ID]).status(0));
    // It is not an instruction, and reading the file itself adds nothing.
    env.run(&["cat", &format!("in/{ID}.json")]).status(65).gives("");
    env.run(&["show", &format!("in/{ID}.json")]).status(65).gives("");
    let again = env.run(&["migrate", "--mark", "in"]).status(65);
    assert!(again.out().starts_with("skipped\t"), "{again}");
    assert!(
        env.work().join(format!("in/{ID}.json")).exists(),
        "what is lost stays where it is"
    );
    // Readable again, it is reported and not replaced.
    env.write(&format!("in/{ID}.json"), of(1..=2));
    let run = env.run(&["migrate", "in"]).status(73);
    assert!(run.out().starts_with("conflict\t"), "{run}");
    assert!(env.run(&["cat", ID]).out().contains("recovery_notice"));
}

#[test]
fn a_notice_is_for_sessions_of_penguin_only() {
    let env = Env::new();
    env.write("in/other.json", "{\"broken\":");
    env.write("in/empty.json", "");
    env.write("in/session_20260820_emptyfile.json", "");
    let run = env.run(&["migrate", "in"]).status(65);
    assert!(!run.out().contains("notice"), "{run}");
    assert!(!env.store().join("sessions").exists() || env.run(&["list"]).out().is_empty());
    // An index next to them identifies the format; a valid file is read as it is.
    env.write("in/session_index.json", "{}");
    env.write("in/package.json", "{\"name\":\"a package\"}");
    env.write("in/text.json", "no JSON");
    let run = env.run(&["migrate", "in"]).status(65);
    let outcomes: Vec<&str> = run
        .out()
        .lines()
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    assert_eq!(
        outcomes,
        ["notice", "notice", "not-a-session", "notice", "not-a-session"],
        "{run}"
    );
    // The option has the same effect.
    let env = Env::new();
    env.write("in/some.json", "{\"broken\":");
    env.write("in/package.json", "{\"name\":\"a package\"}");
    let run = env.run(&["migrate", "--from", "penguin", "in"]).status(65);
    assert_eq!(
        run.out(),
        "damaged\tin/package.json\t-\t0\nnotice\tin/some.json\tsome\t1\n"
    );
}

#[test]
fn a_notice_is_replaced_by_a_session_of_its_id() {
    let env = with(&[("", b"\0")]);
    env.write("in/copy.json", of(1..=2));
    let run = env.run(&["migrate", "in"]).status(65);
    assert!(
        run.out().starts_with("migrated\t") && run.out().contains("\nskipped\t"),
        "{run}"
    );
    assert_eq!(stored(&env), [1, 2]);
    std::fs::remove_file(env.work().join("in/copy.json")).unwrap();
    let run = env.run(&["migrate", "in"]).status(65);
    assert!(run.out().starts_with("skipped\t"), "{run}");
    assert_eq!(stored(&env), [1, 2]);
}

#[test]
fn the_recovery_session_of_penguin_is_kept_with_the_salvaged() {
    let whole = of(1..=4);
    let env = with(&[("", &whole.as_bytes()[..whole.len() * 2 / 3])]);
    let recovery = serde_json::json!({
        "id": "recovery_20260821_090000", "created_at": "2026-08-21T09:00:00Z", "last_active": "2026-08-21T09:00:00Z",
        "metadata": {"recovered_from": ID},
        "messages": [{
            "role": "system", "content": "The session could not be loaded.", "category": "SYSTEM", "id": "msg_aaaaaaaa",
            "timestamp": "2026-08-21T09:00:00Z", "metadata": {"type": "recovery_notice"},
        }],
    });
    env.write("in/recovery_20260821_090000.json", recovery.to_string());
    let run = env.run(&["migrate", "in"]).status(65);
    assert_eq!(run.out().matches("migrated\t").count(), 2, "{run}");
    assert_eq!(stored(&env), [1, 2]);
    let cat = env.run(&["cat", "recovery_20260821_090000"]).status(0);
    assert!(cat.out().contains("recovered_from") && cat.out().contains("could not be loaded"));
}

/// The file must not be read repeatedly.
#[test]
fn a_hostile_file_takes_bounded_time() {
    let size: usize = 2 << 20;
    let nested = "\n    {\"role\":\"x\",\"content\":[\n    {\"role\":\"x\",\"content\":1},";
    for (piece, tail, size) in [
        ("{", "", size),
        (",{\"role\":[", "", size),
        (nested, "", size),
        ("\n    {\"role\":1,\"content\":", "}", size / 2),
        // An endless list of messages, each with a finding.
        ("{\"role\":1,\"content\":1,\"category\":1}X", "", size / 20),
    ] {
        let times = size / piece.len();
        let (begin, end) = (piece.repeat(times), tail.repeat(times));
        let text = format!(
            "{{\"id\":\"s\",\"created_at\":\"2026-01-01T00:00:00Z\",\"messages\":[\n    {begin}1{end}x"
        );
        let env = Env::new();
        env.write("s.json", text);
        // Quadratic time would exceed the time limit.
        env.run(&["migrate", "-q", "--from", "penguin", "s.json"])
            .status(65);
    }
}
