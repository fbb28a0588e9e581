//! `convo migrate`.

use crate::env::{BARE, CHAT, Env, OPENAI};
use std::path::Path;

/// A PicoClaw legacy document.
const LEGACY: &str = r#"{"key":"agent:main:main","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}],"summary":"They met.","created":"2026-03-01T09:00:00Z","updated":"2026-03-01T09:05:00Z"}"#;

/// A Penguin document.
const PENGUIN: &str = r#"{"id":"session_1","created_at":"2026-03-01T09:00:00","last_active":"2026-03-01T09:00:00","messages":[{"role":"user","content":"hello","category":"DIALOG","id":"m1","timestamp":"2026-03-01T09:00:00","metadata":{}}],"metadata":{}}"#;

fn with_sources() -> Env {
    let env = Env::new();
    env.write("old/a.json", LEGACY);
    env.write("old/b.jsonl", BARE);
    env.write("old/c.json", OPENAI);
    env.write("old/deep/d.jsonl", CHAT);
    env.write("old/notes.txt", "no session");
    env
}

fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_string(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_directory_is_imported() {
    let env = with_sources();
    let sources = contents(&env.work().join("old"));
    snapshot!("migrate", env.run(&["migrate", "old"]).status(0));
    snapshot!(
        "migrate_stored",
        env.shell("for id in $(convo list | cut -f1); do convo cat $id; done")
    );
    env.run(&["cat", "agent:main:main"]).status(0);
    assert_eq!(contents(&env.work().join("old")), sources, "the sources stay");
    env.run(&["migrate", "-r", "old"]).status(0);
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn a_second_import_changes_nothing() {
    let env = with_sources();
    env.run(&["migrate", "-r", "old"]).status(0);
    let stored = contents(&env.store().join("sessions"));
    assert_eq!(stored.len(), 4);
    snapshot!("migrate_again", env.run(&["migrate", "-r", "old"]).status(0));
    assert_eq!(contents(&env.store().join("sessions")), stored);
    // The same after the session continued.
    for id in ["b", "trip"] {
        env.run(&["append", id, "more"]).fine();
    }
    let stored = contents(&env.store().join("sessions"));
    let run = env.run(&["migrate", "-r", "old"]).status(0);
    assert_eq!(run.out().matches("skipped\t").count(), 4, "{run}");
    assert_eq!(contents(&env.store().join("sessions")), stored);
}

#[test]
fn a_dry_run_writes_nothing() {
    let env = with_sources();
    snapshot!(
        "migrate_dry_run",
        env.run(&["migrate", "-n", "-r", "old"]).status(0)
    );
    assert!(!env.store().exists());
    env.run(&["migrate", "-n", "--out", "native", "old"]).status(0);
    assert!(!env.work().join("native").exists());
    env.run(&["migrate", "-q", "old"]).status(0);
    let run = env.run(&["migrate", "-n", "-r", "old"]).status(0);
    assert_eq!(
        (
            run.out().matches("skipped").count(),
            run.out().matches("would-migrate").count()
        ),
        (4, 0)
    );
}

#[test]
fn as_objects() {
    let env = with_sources();
    env.write("old/empty.json", "");
    snapshot!(
        "migrate_json",
        env.run(&["migrate", "--json", "-r", "old"]).status(65)
    );
}

#[test]
fn files_are_written_to_a_directory() {
    let env = with_sources();
    env.run(&["migrate", "-q", "--out", "native", "-r", "old"])
        .status(0);
    assert_eq!(env.read("native/trip.jsonl"), CHAT);
    assert!(!env.read("native/b.jsonl").contains("_crc") && env.read("native/b.jsonl").ends_with(BARE));
    assert!(!env.store().exists());
    let before = contents(&env.work().join("native"));
    let run = env.run(&["migrate", "--out", "native", "-r", "old"]).status(0);
    assert_eq!(run.out().matches("skipped").count(), 4);
    assert_eq!(contents(&env.work().join("native")), before);
}

#[test]
fn standard_input_is_converted_to_standard_output() {
    let env = Env::new();
    snapshot!("migrate_pipe", env.pipe(&["migrate"], LEGACY).status(0));
    env.pipe(&["migrate", "-q", "-"], CHAT).fine().gives(CHAT);
    env.pipe(&["migrate", "--out", "x"], CHAT).status(2);
    env.pipe(&["migrate", "--mark", "-"], CHAT).status(2);
    assert!(!env.store().exists());
}

#[test]
fn one_key_in_two_files_is_a_conflict_of_these_files() {
    let env = with_sources();
    env.write("old/z.json", LEGACY.replace("hello", "other"));
    let sources = contents(&env.work().join("old"));
    snapshot!("migrate_two_of_a_key", env.run(&["migrate", "old"]).status(73));
    env.run(&["cat", "agent:main:main"]).status(66);
    env.run(&["cat", "b"]).fine();
    assert_eq!(contents(&env.work().join("old")), sources);
}

#[test]
fn copies_of_one_session_are_imported_once() {
    let env = Env::new();
    env.write("a.jsonl", CHAT);
    env.write("b.jsonl", CHAT);
    let run = env.run(&["migrate", "a.jsonl", "b.jsonl", "a.jsonl"]).status(0);
    run.gives("migrated\ta.jsonl\ttrip\t7\nskipped\tb.jsonl\ttrip\t7\n");
}

#[test]
fn an_existing_name_with_other_content_is_a_conflict() {
    let env = Env::with_chat();
    let other = CHAT.replace("Rain.", "Sun.");
    env.write("trip.jsonl", &other);
    env.write("bare.jsonl", BARE);
    snapshot!(
        "migrate_conflict",
        env.run(&["migrate", "trip.jsonl", "bare.jsonl"]).status(73)
    );
    env.run(&["cat", "trip"]).fine().gives(CHAT);
    assert_eq!(env.read("trip.jsonl"), other);
    env.run(&["cat", "bare"]).fine();
}

#[test]
fn one_damaged_file_does_not_stop_the_rest() {
    let env = with_sources();
    env.write("old/broken.json", r#"{"key":"x","messages":[{"role":"user","#);
    env.write("old/lines.jsonl", format!("{BARE}broken\n"));
    env.write("old/package.json", "{\"name\":\"a package\"}");
    snapshot!("migrate_damaged", env.run(&["migrate", "old"]).status(65));
    env.run(&["cat", "b"]).fine();
    let lines = env.run(&["cat", "lines"]).status(65);
    assert!(lines.out().ends_with(&format!("{BARE}broken\n")), "{lines}");
    let strict = env
        .run(&["migrate", "--strict", "--out", "strict", "old"])
        .status(65);
    assert!(
        strict.out().contains("damaged\told/lines.jsonl") && !env.work().join("strict/lines.jsonl").exists()
    );
    assert!(env.work().join("strict/b.jsonl").exists());
}

#[test]
fn sources_are_marked_only_after_their_import() {
    let env = with_sources();
    env.write("old/s.jsonl", BARE);
    env.write("old/s.meta.json", r#"{"key":"s","skip":0,"count":2}"#);
    env.write("old/empty.json", "");
    env.run(&["migrate", "-q", "--mark", "old"]).status(65);
    let names: Vec<_> = contents(&env.work().join("old"))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let marked = [
        "a.json.migrated", "b.jsonl.migrated", "c.json.migrated", "empty.json", "notes.txt",
        "s.jsonl.migrated", "s.meta.json.migrated",
    ];
    assert_eq!(names, marked);
    env.run(&["migrate", "-q", "old"])
        .status(65)
        .gives("not-a-session\told/empty.json\t-\t0\n");
}

/// An export contains the header of a conversion, but lines added since are not in the store.
#[test]
fn an_exported_header_does_not_cover_added_lines() {
    let env = with_sources();
    env.run(&["migrate", "-q", "old/a.json"]).status(0);
    let export = env.run(&["cat", "agent:main:main"]).fine().out().to_string();
    assert!(export.contains("\"sha256\":"));
    env.write("export/a.jsonl", &export);
    // An unchanged export, or its beginning, is recognized.
    let id = env.run(&["list"]).out().split('\t').next().unwrap().to_string();
    env.run(&["append", &id, "more"]).fine();
    env.run(&["migrate", "export"])
        .status(0)
        .gives(format!("skipped\texport/a.jsonl\t{id}\t2\n"));
    // The source of the conversion is still recognized.
    env.run(&["migrate", "old/a.json"]).status(0);
    let longer = format!("{export}{{\"role\":\"user\",\"content\":\"only here\"}}\n");
    env.write("export/a.jsonl", &longer);
    for arguments in [&["migrate", "export"][..], &["migrate", "--mark", "export"]] {
        env.run(arguments)
            .status(73)
            .says("has different content")
            .gives(format!("conflict\texport/a.jsonl\t{id}\t3\n"));
    }
    assert_eq!(env.read("export/a.jsonl"), longer);
    assert!(!env.run(&["cat", &id]).out().contains("only here"));
}

/// Checks that a run killed between its renames and repeated gives the same result as one run. `names` are the files
/// of one session, in the order of renaming; `operand` names the session.
fn killed_between_renames(operand: &str, names: &[&str], setup: impl Fn(&Env)) {
    let state = |env: &Env| {
        let old = contents(&env.work().join("old"));
        (old, contents(&env.store().join("sessions")))
    };
    let whole = Env::new();
    setup(&whole);
    let run = whole.run(&["migrate", "-q", "--mark", "old"]);
    assert!(matches!(run.status, 0 | 65), "{run}");
    let whole = state(&whole);
    let marked: Vec<_> = whole.0.iter().map(|(name, _)| name.clone()).collect();
    let mut expected: Vec<_> = names.iter().map(|name| format!("{name}.migrated")).collect();
    expected.sort();
    assert_eq!(marked, expected);
    for operand in ["old", operand] {
        let env = Env::new();
        setup(&env);
        env.run(&["migrate", "-q", "old"]).status(run.status);
        let from = format!("old/{}", names[0]);
        let to = format!("{from}.migrated");
        std::fs::rename(env.work().join(from), env.work().join(to)).unwrap();
        let killed = state(&env);
        env.run(&["migrate", operand])
            .status(0)
            .gives("")
            .says("already imported and renamed; skipped (rename the rest with --mark)");
        assert_eq!(state(&env), killed);
        env.run(&["migrate", "--mark", operand])
            .status(0)
            .gives("")
            .says("nothing to do");
        assert_eq!(state(&env), whole, "{operand}");
    }
}

#[test]
fn a_run_killed_between_renames_is_completed_by_the_next() {
    killed_between_renames("old/few.jsonl", &["few.jsonl", "few.meta.json"], |env| {
        env.write("old/few.jsonl", BARE);
        env.write(
            "old/few.meta.json",
            r#"{"key":"few","summary":"S","skip":1,"count":2}"#,
        );
    });
    let other = |what| PENGUIN.replace("hello", what);
    let primary = "old/session_1.json";
    let names = ["session_1.json", "session_1.json.bak", "session_1.json.temp"];
    killed_between_renames(primary, &names, |env| {
        env.write(primary, PENGUIN);
        env.write("old/session_1.json.bak", other("before"));
        env.write("old/session_1.json.temp", other("behind"));
    });
    // A session of which only backups remain: the last backup must not count as another version.
    killed_between_renames(primary, &names[1..], |env| {
        env.write("old/session_1.json.bak", other("before"));
        env.write("old/session_1.json.temp", other("behind"));
    });
}

#[test]
fn data_of_a_sidecar_is_imported() {
    let env = Env::new();
    let log = r#"{"role":"user","content":"one","created_at":"2026-03-01T09:00:00Z","odd":{"n":1e400}}
{"role":"assistant","content":"two","created_at":"2026-03-01T09:01:00Z"}
{"role":"user","content":"three","created_at":"2026-03-01T09:02:00Z"}
"#;
    let sidecar = r#"{"key":"agent:main:x","summary":"One and two.","skip":2,"count":3,"created_at":"2026-03-01T09:00:00Z","updated_at":"2026-03-01T09:02:00Z","scope":{"agent_id":"main"},"aliases":["other:x"]}"#;
    env.write("pc/x.jsonl", log);
    env.write("pc/x.meta.json", sidecar);
    env.run(&["migrate", "-q", "pc"]).status(0);
    snapshot!("migrate_sidecar", env.run(&["cat", "agent:main:x"]).fine());
    snapshot!(
        "migrate_sidecar_view",
        env.run(&["context", "other:x", "--to", "openai-chat"])
    );
}

/// PicoClaw leaves this when everything was summarized.
#[test]
fn an_empty_log_with_a_sidecar_is_a_session() {
    let env = Env::new();
    env.write("pc/x.jsonl", "");
    env.write(
        "pc/x.meta.json",
        r#"{"key":"x","summary":"All of it.","skip":0,"count":0}"#,
    );
    env.run(&["migrate", "-q", "pc"]).status(0);
    assert!(env.run(&["context", "x"]).status(0).out().contains("All of it."));
}

#[test]
fn threads_change_only_the_duration() {
    let env = Env::new();
    for nth in 0..300 {
        env.write(
            &format!("many/s{nth}.jsonl"),
            BARE.replace("hi", &nth.to_string()),
        );
    }
    let one = env
        .run(&["migrate", "--jobs", "1", "--out", "one", "many"])
        .status(0);
    let eight = env
        .run(&["migrate", "--jobs", "8", "--out", "eight", "many"])
        .status(0);
    assert_eq!(one.stdout, eight.stdout);
    assert_eq!(
        contents(&env.work().join("one")),
        contents(&env.work().join("eight"))
    );
    env.run(&["migrate", "--jobs", "0", "many"]).status(2);
}

#[test]
fn errors() {
    let env = with_sources();
    let run = env
        .run(&["migrate", "nofolder", "old/b.jsonl", "nofile.json"])
        .status(66);
    snapshot!("migrate_some_fail", run);
    env.run(&["migrate", "--from", "nope", "old"]).status(2);
    env.run(&["migrate", "--mark", "-n", "old"]).status(2);
}
