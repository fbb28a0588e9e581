//! Tests changes of databases by `convo relocate`.

use super::convo;
use crate::agents::truth::Sample;
use crate::env::{Env, Run};
use crate::relocate::files;
use rusqlite::Connection;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

fn path(env: &Env, name: &str) -> PathBuf {
    env.root().join("home").join(name)
}

const CODEX: &str = ".codex/state_5.sqlite";
const OPENCODE: &str = ".local/share/opencode/opencode.db";
const GOOSE: &str = ".local/share/goose/sessions/sessions.db";

/// Makes a file look not recently changed.
fn settle(env: &Env, name: &str) {
    let file = std::fs::File::options()
        .write(true)
        .open(path(env, name))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_500_000))
        .unwrap();
}

fn make(env: &Env, name: &str, script: &str) {
    std::fs::create_dir_all(path(env, name).parent().unwrap()).unwrap();
    let database = Connection::open(path(env, name)).unwrap();
    database.execute_batch(script).unwrap();
    database.close().unwrap();
    settle(env, name);
}

/// Homes with a database each, one of which has a write-ahead log.
fn homes() -> Env {
    let env = Env::new();
    make(
        &env,
        CODEX,
        "CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, cwd TEXT, title TEXT);
         CREATE TABLE seen (at TEXT);
         CREATE TRIGGER changed AFTER UPDATE ON threads BEGIN INSERT INTO seen VALUES ('now'); END;
         INSERT INTO threads VALUES ('a', '/r', '/src/api', 'about /src/api'), ('b', '/r', '/src/api/web', ''),
           ('c', '/r', '/src/api-docs', '');",
    );
    make(
        &env,
        OPENCODE,
        "PRAGMA journal_mode = WAL;
         CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL, vcs TEXT);
         CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT);
         CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT);
         INSERT INTO project VALUES ('p', '/src/api', 'git');
         INSERT INTO session VALUES ('s', 'p', 'x', '/src/api', 't', '1'), ('u', 'p', 'x', '/', 't', '1');
         INSERT INTO message VALUES ('m', 's', '{\"path\":\"/src/api/a.rs\"}');",
    );
    make(
        &env,
        GOOSE,
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, session_type TEXT, working_dir TEXT);
         CREATE TABLE messages (id INTEGER PRIMARY KEY, content_json TEXT);
         INSERT INTO sessions VALUES ('g', 'user', '/src/other');
         INSERT INTO messages VALUES (1, 'in /src/api');",
    );
    std::fs::create_dir_all(env.root().join("new/api")).unwrap();
    // The plugin is on PATH from now on.
    convo(&env, &["--help"]).status(0);
    env
}

fn run(env: &Env, arguments: &[&str]) -> Run {
    let mut command = env.command(&[&["relocate"], arguments].concat());
    command.env_remove("XDG_DATA_HOME");
    env.wait(command)
}

fn bytes(env: &Env) -> [Vec<u8>; 3] {
    [CODEX, OPENCODE, GOOSE].map(|name| std::fs::read(path(env, name)).unwrap())
}

/// File names in the journal directory.
fn journals(env: &Env) -> Vec<String> {
    super::names(&path(env, ".local/state/convo/relocate"))
}

fn column(env: &Env, name: &str, query: &str) -> Vec<String> {
    let database = Connection::open(path(env, name)).unwrap();
    let mut statement = database.prepare(query).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn databases_follow_their_project_and_undo_restores_them() {
    let env = homes();
    let new = env.root().join("new/api").display().to_string();
    let (before, old) = (files(&env), bytes(&env));
    let planned = run(&env, &["-n", "/src/api", &new]).status(0);
    assert!(files(&env) == before);
    assert!(planned.out().contains("codex\t2\tthreads.cwd\t"), "{planned}");
    assert!(
        planned
            .out()
            .contains("opencode\t2\tproject.worktree, session.directory\t")
            || planned
                .out()
                .contains("opencode\t2\tsession.directory, project.worktree\t"),
        "{planned}"
    );
    assert!(!planned.out().contains("goose"), "{planned}");
    let done = run(&env, &["/src/api", &new]).status(0);
    assert_eq!(planned.out(), done.out());
    let after = files(&env);
    let changed: Vec<&String> = after
        .iter()
        .filter(|(name, bytes)| before.get(*name) != Some(*bytes))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, [CODEX, OPENCODE], "{changed:?}");
    let below = format!("{new}/web");
    let directories = column(&env, CODEX, "SELECT cwd FROM threads ORDER BY id");
    assert_eq!(directories, [new.as_str(), &below, "/src/api-docs"]);
    assert_eq!(
        column(&env, CODEX, "SELECT title FROM threads WHERE id = 'a'"),
        ["about /src/api"]
    );
    assert!(column(&env, CODEX, "SELECT at FROM seen").is_empty());
    let directories = column(&env, OPENCODE, "SELECT directory FROM session ORDER BY id");
    assert_eq!(directories, [new.as_str(), "/"]);
    assert_eq!(
        column(&env, OPENCODE, "SELECT worktree FROM project"),
        [new.as_str()]
    );
    assert_eq!(
        column(&env, OPENCODE, "SELECT data FROM message"),
        ["{\"path\":\"/src/api/a.rs\"}"]
    );
    assert_eq!(journals(&env).len(), 1, "{:?}", journals(&env));
    run(&env, &["--undo"]).status(0);
    assert!(bytes(&env) == old);
}

#[test]
fn a_database_with_a_log_is_refused_and_nothing_is_changed() {
    let env = homes();
    let new = env.root().join("new/api").display().to_string();
    let database = Connection::open(path(&env, OPENCODE)).unwrap();
    database.execute("UPDATE session SET title = 'new'", []).unwrap();
    settle(&env, OPENCODE);
    let before = bytes(&env);
    assert!(files(&env).contains_key(&format!("{OPENCODE}-wal")));
    let planned = run(&env, &["-n", "/src/api", &new])
        .status(75)
        .says("opencode.db: a program has the database open, or was killed");
    assert!(planned.out().contains("opencode\t2\t"), "{planned}");
    assert!(bytes(&env) == before);
    run(&env, &["/src/api", &new])
        .status(75)
        .says("opencode.db: a program has the database open, or was killed");
    assert!(bytes(&env) == before);
    drop(database);
    settle(&env, OPENCODE);
    run(&env, &["/src/api", &new]).status(0);
    // The database was used since.
    let database = Connection::open(path(&env, CODEX)).unwrap();
    database.execute("UPDATE threads SET title = 'new'", []).unwrap();
    database.close().unwrap();
    settle(&env, CODEX);
    let before = bytes(&env);
    run(&env, &["--undo"]).status(75).says("changed since");
    assert!(bytes(&env) == before);
}

#[test]
fn a_log_of_an_ended_program_does_not_block() {
    let env = homes();
    let new = env.root().join("new/api").display().to_string();
    // The state after a process that exited without closing its database.
    let database = Connection::open(path(&env, OPENCODE)).unwrap();
    database
        .execute("UPDATE session SET title = 'new' WHERE id = 's'", [])
        .unwrap();
    let left = [OPENCODE.to_string(), format!("{OPENCODE}-wal")].map(|name| {
        let bytes = std::fs::read(path(&env, &name)).unwrap();
        (name, bytes)
    });
    drop(database);
    for (name, bytes) in &left {
        std::fs::write(path(&env, name), bytes).unwrap();
        settle(&env, name);
    }
    assert!(!left[1].1.is_empty());
    run(&env, &["-n", "/src/api", &new]).status(0);
    assert!(std::fs::read(path(&env, &left[1].0)).unwrap() == left[1].1);
    run(&env, &["/src/api", &new]).status(0);
    assert!(!path(&env, &left[1].0).exists());
    let query = "SELECT directory || ' ' || title FROM session WHERE id = 's'";
    assert_eq!(column(&env, OPENCODE, query), [format!("{new} new")]);
    settle(&env, OPENCODE);
    run(&env, &["--undo"]).status(0);
    assert_eq!(column(&env, OPENCODE, query), ["/src/api new"]);
}

#[test]
fn a_plugin_that_fails_changes_nothing() {
    let env = homes();
    let new = env.root().join("new/api").display().to_string();
    let plugin = env.root().join("bin/convo-sqlite");
    std::fs::remove_file(&plugin).unwrap();
    let script = "#!/bin/sh\ncase \"$1\" in --list) printf '{\"member\":\"threads.cwd\",\"rows\":1}\\n';; *) echo oops >&2; exit 74;; esac\n";
    std::fs::write(&plugin, script).unwrap();
    std::fs::set_permissions(&plugin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let before = files(&env);
    run(&env, &["/src/api", &new])
        .status(74)
        .says("convo-sqlite failed: oops");
    assert!(files(&env) == before);
    assert!(journals(&env).is_empty(), "{:?}", journals(&env));
}

/// The documented members of the sample databases change.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn databases_of_homes_change_as_expected() {
    let sample = Sample::new();
    let env = &sample.env;
    convo(env, &["--help"]).status(0);
    let new = env.root().join("work/api");
    std::fs::create_dir_all(&new).unwrap();
    let new = new.to_str().unwrap();
    let old = sample.truth["relocate"]["old"].as_str().unwrap();
    let before = bytes(env);
    let run = sample.run(&["relocate", old, new]).status(0);
    for (name, member, rows) in [
        (CODEX, "SELECT cwd FROM threads", 1),
        (OPENCODE, "SELECT directory FROM session", 1),
        (OPENCODE, "SELECT worktree FROM project", 1),
        (GOOSE, "SELECT working_dir FROM sessions", 1),
    ] {
        let values = column(env, name, member);
        let is_new = |value: &&String| *value == new || value.starts_with(&format!("{new}/"));
        assert_eq!(
            values.iter().filter(is_new).count(),
            rows,
            "{name} {member}: {run}"
        );
        let is_old = |value: &&String| *value == old || value.starts_with(&format!("{old}/"));
        assert_eq!(values.iter().filter(is_old).count(), 0, "{name} {member}");
    }
    sample.run(&["relocate", "--undo"]).status(0);
    assert!(bytes(env) == before);
}
