//! Tests the plugin `convo sqlite`, which reads databases.

mod agents;
mod archive;
mod cursor;
mod goose;
mod homes;
mod live;
mod llm;
mod moved;
mod opencode;
mod relocate;
mod truth;

use crate::env::{Env, Run};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

const TABLE: &str = "CREATE TABLE snapshots (id TEXT PRIMARY KEY, parent_id TEXT, timestamp TEXT NOT NULL, payload BLOB NOT NULL, meta TEXT)";

fn payload(text: &str) -> String {
    format!(
        r#"{{"id":"session_a","created_at":"2026-08-20T09:00:00","last_active":"2026-08-20T09:00:05","metadata":{{}},"messages":[{{"role":"user","content":"{text}","category":"DIALOG","id":"msg_1","timestamp":"2026-08-20T09:00:05","metadata":{{}},"tokens":1}}]}}"#
    )
}

fn insert(
    database: &Connection,
    id: &str,
    parent: Option<&str>,
    time: &str,
    payload: &str,
    meta: Option<&str>,
) {
    let values = rusqlite::params![id, parent, time, payload.as_bytes(), meta];
    database
        .execute("INSERT INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5)", values)
        .unwrap();
}

/// A database with a snapshot, a branch of it, and a damaged one.
fn filled(env: &Env) -> PathBuf {
    let path = env.work().join("snapshots.db");
    let database = Connection::open(&path).unwrap();
    database.execute(TABLE, []).unwrap();
    insert(
        &database,
        "ab2",
        Some("ab1"),
        "2026-08-20T10:00:00",
        &payload("branched"),
        None,
    );
    insert(
        &database,
        "ab1",
        None,
        "2026-08-20T09:00:30.5",
        &payload("hello"),
        Some("{\"name\": \"first\"}"),
    );
    path
}

/// Runs the plugin as a command.
#[must_use]
fn convo(env: &Env, arguments: &[&str]) -> Run {
    let plugin = env.root().join("bin/convo-sqlite");
    if !plugin.is_symlink() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_convo-sqlite"), plugin).unwrap();
    }
    env.run(&[&["sqlite"], arguments].concat())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn snapshots_are_separate_sessions() {
    let env = Env::new();
    filled(&env);
    let run = convo(&env, &["snapshots.db"]).status(0);
    assert_eq!(
        run.stderr,
        "convo: snapshots.db: timestamps without time zone read as local time\n"
    );
    let objects = run.objects();
    let sessions: Vec<_> = objects.iter().filter(|line| line["type"] == "session").collect();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0]["id"], "snapshot_ab1");
    assert_eq!(sessions[0]["title"], "first");
    assert_eq!(
        sessions[0]["metadata"]["lineage"],
        serde_json::json!({"kind": "fork", "parent": "session_a", "at": "2026-08-20T09:00:30.5Z"})
    );
    assert_eq!(
        sessions[0]["metadata"]["penguin"]["snapshot"]["meta"]["name"],
        "first"
    );
    assert_eq!(
        sessions[1]["metadata"]["lineage"],
        serde_json::json!({"kind": "branch", "parent": "snapshot_ab1", "at": "2026-08-20T10:00:00Z"})
    );
    env.pipe(&["migrate"], &run.stdout).status(0).gives(&run.stdout);
    let only = convo(&env, &["snapshots.db", "--id", "ab2"]).status(0);
    assert_eq!(only.out().lines().count(), 2);
    assert!(only.out().contains("branched"));
}

#[test]
fn a_value_above_the_limit_is_not_read() {
    const LIMIT: i64 = 64 << 20;
    let env = Env::new();
    let path = filled(&env);
    let values = "('big', NULL, '2026-08-20T11:00:00', zeroblob(?1), NULL)";
    Connection::open(path)
        .unwrap()
        .execute(&format!("INSERT INTO snapshots VALUES {values}"), [LIMIT + 1])
        .unwrap();
    let plugin = env!("CARGO_BIN_EXE_convo-sqlite");
    // Not enough memory even for the value itself.
    let line = format!("ulimit -v {}; exec {plugin} snapshots.db", LIMIT >> 10);
    let run = env.shell(&line).status(65);
    assert!(run.stderr.contains("longer than 64 MiB"), "{run}");
}

#[test]
fn sessions_of_a_database_are_listed_with_size() {
    let env = Env::new();
    filled(&env);
    let size = payload("hello").len();
    let larger = payload("branched").len();
    convo(&env, &["snapshots.db", "--list"]).fine().gives(format!(
        "ab1\t2026-08-20T09:00:30.5Z\t{size}\tfirst\nab2\t2026-08-20T10:00:00Z\t{larger}\t\n"
    ));
    let objects = convo(&env, &["snapshots.db", "--list", "--json"])
        .fine()
        .objects();
    assert_eq!(objects[0]["schema"], "convo.sqlite/1");
    assert_eq!(objects[1]["id"], "ab2");
    convo(&env, &["snapshots.db", "--id", "zz"])
        .status(66)
        .says("zz: no such session");
    convo(&env, &["snapshots.db", "--id", "ab"])
        .status(66)
        .says("ab: ambiguous: matches ab1, ab2");
    let same = convo(
        &env,
        &["snapshots.db", "--list", "--session", "ab1", "--session", "ab1"],
    )
    .fine();
    assert_eq!(same.out().lines().count(), 1);
    convo(&env, &["snapshots.db", "--list", "--from", "penguin-snapshots"]).fine();
    convo(&env, &["snapshots.db", "--from", "nobody"])
        .status(2)
        .says("unknown type of database 'nobody'\nhint: supported types: ");
    convo(&env, &["--help"]).status(0);
    convo(&env, &[]).status(2);
    assert!(env.run(&["plugins"]).fine().out().contains("sqlite\t"));
}

#[test]
fn a_damaged_snapshot_hides_no_other() {
    let env = Env::new();
    let path = filled(&env);
    insert(
        &Connection::open(&path).unwrap(),
        "aa",
        None,
        "2026-08-19T00:00:00",
        "not json",
        Some("{"),
    );
    let run = convo(&env, &["snapshots.db"])
        .status(65)
        .says("convo: snapshots.db: aa: ");
    assert!(run.out().contains("hello") && run.out().contains("branched"));
    let strict = convo(&env, &["snapshots.db", "--strict"]).status(65).says("aa: ");
    strict.gives("");
}

#[test]
fn tables_of_another_version_are_not_guessed_at() {
    let env = Env::new();
    let other = Connection::open(env.work().join("newer.db")).unwrap();
    other
        .execute(
            "CREATE TABLE snapshots (id, parent_id, timestamp, data, meta)",
            [],
        )
        .unwrap();
    convo(&env, &["newer.db"])
        .status(65)
        .gives("")
        .says("unknown version of snapshots of Penguin: the table snapshots has no column payload\n");
}

#[test]
fn a_truncated_database_is_reported() {
    let env = Env::new();
    let path = filled(&env);
    let whole = std::fs::read(&path).unwrap();
    for tenth in 0..10 {
        env.write("cut.db", &whole[..whole.len() * tenth / 10]);
        let run = convo(&env, &["cut.db"]);
        assert!([65, 74].contains(&run.status), "{tenth}: {run}");
        assert!(run.stderr.starts_with("convo: cut.db: "), "{run}");
    }
}

#[test]
fn a_locked_database_is_reported_after_waiting() {
    let env = Env::new();
    let database = Connection::open(filled(&env)).unwrap();
    database.execute_batch("BEGIN EXCLUSIVE").unwrap();
    convo(&env, &["snapshots.db"])
        .status(75)
        .gives("")
        .says("database is locked\nhint: ");
    database.execute_batch("ROLLBACK").unwrap();
    convo(&env, &["snapshots.db"]).status(0);
}

#[test]
fn a_read_only_directory() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::new();
    let path = filled(&env);
    let database = Connection::open(&path).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    insert(
        &database,
        "ab3",
        None,
        "2026-08-20T11:00:00",
        &payload("log"),
        None,
    );
    for (dir, files) in [
        ("file", &["snapshots.db"][..]),
        ("log", &["snapshots.db", "snapshots.db-wal"]),
        ("both", &["snapshots.db", "snapshots.db-wal", "snapshots.db-shm"]),
    ] {
        let to = env.work().join(dir);
        std::fs::create_dir(&to).unwrap();
        for name in files {
            std::fs::copy(env.work().join(name), to.join(name)).unwrap();
            std::fs::set_permissions(to.join(name), PermissionsExt::from_mode(0o444)).unwrap();
        }
        std::fs::set_permissions(&to, PermissionsExt::from_mode(0o555)).unwrap();
        let before = names(&to);
        let run = convo(&env, &[&format!("{dir}/snapshots.db")]).status(0);
        let expected = if dir == "file" { 2 } else { 3 };
        assert_eq!(
            run.out().matches("\"type\":\"session\"").count(),
            expected,
            "{dir}"
        );
        let reported = run.stderr.contains("no write-ahead log next to the database");
        assert_eq!(reported, dir == "file", "{run}");
        assert_eq!(names(&to), before);
        std::fs::set_permissions(&to, PermissionsExt::from_mode(0o755)).unwrap();
    }
}

#[test]
fn files_without_sessions_are_refused() {
    let env = Env::new();
    convo(&env, &["none.db"]).status(66);
    env.write("text.db", "text");
    convo(&env, &["text.db"])
        .status(65)
        .gives("")
        .says("not an SQLite database");
    convo(&env, &["."]).status(77);
    env.write("half.db", b"SQLite format 3\0and no more");
    convo(&env, &["half.db"]).status(65).gives("");
    let other = Connection::open(env.work().join("other.db")).unwrap();
    other.execute("CREATE TABLE things (id)", []).unwrap();
    convo(&env, &["other.db"])
        .status(65)
        .says("tables: things\nhint: supported types: llm, ");
    env.run(&["cat", "other.db"])
        .status(65)
        .says("hint: read it with: convo sqlite FILE");
}

#[test]
fn the_write_ahead_log_is_read_and_no_file_created() {
    let env = Env::new();
    let path = filled(&env);
    let database = Connection::open(&path).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(database);
    // Everything is in the file itself.
    let dir = env.work();
    assert_eq!(names(&dir), ["snapshots.db"]);
    let whole = |run: Run| run.out().matches("\"type\":\"session\"").count();
    assert_eq!(whole(convo(&env, &["snapshots.db"]).status(0)), 2);
    assert_eq!(names(&dir), ["snapshots.db"]);
    // A program is using the database.
    let database = Connection::open(&path).unwrap();
    insert(
        &database,
        "ab3",
        None,
        "2026-08-20T11:00:00",
        &payload("in the log"),
        None,
    );
    let busy = names(&dir);
    assert_eq!(busy, ["snapshots.db", "snapshots.db-shm", "snapshots.db-wal"]);
    assert_eq!(whole(convo(&env, &["snapshots.db"]).status(0)), 3);
    assert_eq!(names(&dir), busy);
    // The program died and left its log.
    std::fs::create_dir(env.work().join("left")).unwrap();
    for name in ["snapshots.db", "snapshots.db-wal"] {
        std::fs::copy(dir.join(name), dir.join("left").join(name)).unwrap();
    }
    drop(database);
    assert_eq!(whole(convo(&env, &["left/snapshots.db"]).status(0)), 3);
    assert_eq!(names(&dir.join("left")), ["snapshots.db", "snapshots.db-wal"]);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_snapshots_of_a_workspace() {
    let case = crate::sample_data::path("penguin/16_agents_workspace");
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap();
    let env = Env::new();
    let path = case.join("snapshots/snapshots.db");
    let run = convo(&env, &[path.to_str().unwrap()]).status(0);
    let listed = convo(&env, &[path.to_str().unwrap(), "--list", "--json"])
        .fine()
        .objects();
    let snapshots = expected["snapshots"].as_array().unwrap();
    assert_eq!(listed.len(), snapshots.len());
    for (row, snapshot) in listed.iter().zip(snapshots) {
        let id = snapshot["id"].as_str().unwrap();
        assert_eq!(row["id"], snapshot["id"]);
        assert_eq!(row["title"], snapshot["meta"]["name"]);
        assert_eq!(
            row["time"],
            format!("{}Z", snapshot["timestamp"].as_str().unwrap())
        );
        let one = convo(&env, &[path.to_str().unwrap(), "--id", id]).status(0);
        let messages = one
            .objects()
            .iter()
            .filter(|line| line["role"].is_string())
            .count();
        assert_eq!(messages as u64, snapshot["messages"].as_u64().unwrap());
    }
    assert_eq!(
        run.objects()
            .iter()
            .filter(|line| line["type"] == "session")
            .count(),
        snapshots.len()
    );
    eprintln!("penguin snapshots: {} agree, 0 differ, 0 fail", snapshots.len());
}
