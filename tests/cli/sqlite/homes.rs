//! Homes whose sessions are in databases, read by every command that reads those in files.

use crate::agents::truth::{Sample, homes_and_sessions, searches};
use crate::env::{Env, Run};
use rusqlite::Connection;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const TABLES: &str = "PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
      version TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);";

/// Milliseconds since 1970: twelve hours before the time of the tests.
pub const THEN: i64 = 1_795_160_000_000;

pub fn path(env: &Env) -> PathBuf {
    env.root().join("data/opencode/opencode.db")
}

/// Adds a session with a question and a reply.
pub fn add(database: &Connection, id: &str, parent: Option<&str>, time: i64, text: &str) {
    let session = "INSERT INTO session VALUES (?1, 'p', ?2, '/src/api', ?3, '1', ?4, ?4, NULL)";
    database
        .execute(
            session,
            rusqlite::params![id, parent, format!("About {id}"), time],
        )
        .unwrap();
    for (nth, (role, text)) in [("user", text), ("assistant", "Yes.")].into_iter().enumerate() {
        say(database, id, time + nth as i64 * 1000, role, text);
    }
}

pub fn say(database: &Connection, id: &str, time: i64, role: &str, text: &str) {
    let count = "SELECT count(*) FROM message WHERE session_id = ?1";
    let nth: i64 = database.query_row(count, [id], |row| row.get(0)).unwrap();
    let message = format!("msg_{id}_{nth}");
    let data = match role {
        "user" => format!(r#"{{"role":"user","time":{{"created":{time}}}}}"#),
        role => format!(r#"{{"role":"{role}","time":{{"created":{time}}},"modelID":"m1","finish":"stop"}}"#),
    };
    let values = rusqlite::params![message, id, time, data];
    database
        .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", values)
        .unwrap();
    let part = serde_json::json!({"type": "text", "text": text}).to_string();
    let values = rusqlite::params![format!("prt_{id}_{nth}"), message, id, part];
    database
        .execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4)", values)
        .unwrap();
}

/// A home of opencode: two sessions, and one that the first started. The connection holds the log open.
pub fn opencode() -> (Env, Connection) {
    let env = Env::new();
    std::fs::create_dir_all(path(&env).parent().unwrap()).unwrap();
    let database = Connection::open(path(&env)).unwrap();
    database.execute_batch(TABLES).unwrap();
    add(&database, "ses_one", None, THEN, "Where is the lease?");
    add(&database, "ses_two", None, THEN + 60_000, "What about Ä?");
    add(
        &database,
        "ses_child",
        Some("ses_one"),
        THEN,
        "Look for the lease.",
    );
    (env, database)
}

/// Sets the times of files to some before the tests, and waits until a change has another time.
pub fn settle(env: &Env) {
    for file in std::fs::read_dir(path(env).parent().unwrap()).unwrap() {
        let file = std::fs::File::options()
            .write(true)
            .open(file.unwrap().path())
            .unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_160_100))
            .unwrap();
    }
    std::thread::sleep(Duration::from_millis(3100));
}

/// Puts a program in the place of the plugin.
pub fn replace_plugin(env: &Env, script: &str) -> PathBuf {
    let plugin = env.root().join("bin/convo-sqlite");
    std::fs::write(&plugin, script).unwrap();
    std::fs::set_permissions(&plugin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    plugin
}

pub fn rows(run: &Run) -> Vec<Vec<String>> {
    let fields = |line: &str| line.split('\t').map(str::to_string).collect();
    run.out().lines().map(fields).collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn homes_and_sessions_of_the_sample_match_the_expected_lists() {
    homes_and_sessions(&Sample::with_plugin());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn searches_of_the_sample_find_the_expected_matches() {
    searches(&Sample::with_plugin());
}

#[test]
fn sessions_of_a_database_are_listed() {
    let (env, database) = opencode();
    database
        .execute("UPDATE session SET time_archived = 1 WHERE id = 'ses_two'", [])
        .unwrap();
    let columns = "name,messages,model,project,created,updated,archived,subagents,running,title";
    let run = env
        .run(&["list", "--agents", "--subagents", "--columns", columns])
        .fine();
    let sessions = rows(&run);
    assert_eq!(
        sessions[0],
        [
            "opencode:ses_two", "2", "m1", "/src/api", "2026-11-20T07:34:20Z", "2026-11-20T07:34:21Z", "yes",
            "0", "no", "About ses_two"
        ],
        "{run}"
    );
    let names: Vec<&str> = sessions.iter().map(|row| row[0].as_str()).collect();
    let child = "opencode:ses_one.agent-ses_child";
    assert_eq!(names.len(), 3);
    assert!(
        names.contains(&child) && names.contains(&"opencode:ses_one"),
        "{run}"
    );
    let first = sessions.iter().find(|row| row[0] == "opencode:ses_one").unwrap();
    assert_eq!((first[6].as_str(), first[7].as_str()), ("no", "1"));
    let home = &env.run(&["agents", "--json"]).fine().objects()[0];
    assert_eq!(
        (&home["sessions"], &home["subagents"]),
        (&2.into(), &1.into()),
        "{home}"
    );
    assert_eq!(
        (&home["readable"], &home["running"]),
        (&true.into(), &0.into()),
        "{home}"
    );
    let counted = env
        .run(&["list", "--agents", "--tokens", "--columns", "name,tokens"])
        .fine();
    assert!(
        rows(&counted)
            .iter()
            .all(|row| row[1].parse::<u64>().unwrap() > 0)
    );
}

#[test]
fn a_session_that_changed_just_now_runs_while_its_database_has_a_log() {
    let (env, database) = opencode();
    // A minute before the time of the tests.
    add(&database, "ses_new", None, 1_795_197_663_000, "Now.");
    let running = |env: &Env| {
        let run = env.run(&["list", "--agents", "--columns", "name,running"]).fine();
        let rows = rows(&run).into_iter().filter(|row| row[1] == "yes");
        rows.map(|row| row[0].clone()).collect::<Vec<_>>()
    };
    assert_eq!(running(&env), ["opencode:ses_new"]);
    database.close().unwrap();
    assert_eq!(running(&env), [""; 0]);
}

#[test]
fn a_list_starts_no_plugin_for_an_unchanged_database() {
    let (env, database) = opencode();
    settle(&env);
    let list = |env: &Env| env.run(&["list", "--agents"]);
    let first = list(&env).fine();
    // It comes before the one next to the program.
    let plugin = replace_plugin(&env, "#!/bin/sh\nexit 74\n");
    let second = list(&env).fine();
    assert_eq!(first.out(), second.out());
    say(&database, "ses_one", THEN + 120_000, "user", "More.");
    let third = list(&env)
        .status(69)
        .says("opencode/opencode.db: convo-sqlite failed:");
    assert_eq!(third.out(), "");
    std::fs::remove_file(plugin).unwrap();
    let fourth = list(&env).fine();
    assert!(fourth.out().contains("opencode:ses_one\t3\t"), "{fourth}");
    // Nor does it change when the log is moved into the database.
    let query = |database: &Connection| database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    query(&database).unwrap();
    assert_eq!(list(&env).fine().out(), fourth.out());
}

#[test]
fn without_the_plugin_databases_are_reported() {
    let (env, _database) = opencode();
    let run = env.run_without_plugins(&["list", "--agents"]).status(0);
    assert_eq!(run.out(), "");
    let run = run.says("not listed: opencode (database)");
    run.says("install convo-sqlite");
    let run = env.run_without_plugins(&["agents", "--json"]).status(0);
    let home = &run.objects()[0];
    assert_eq!(
        (&home["readable"], &home["reason"]),
        (&false.into(), &"database".into())
    );
    let run = env.run_without_plugins(&["search", "lease"]).status(1);
    run.says("not searched: opencode (database)")
        .says("install convo-sqlite");
    let run = env.run_without_plugins(&["show", "opencode:ses_one"]).status(69);
    run.says("require the plugin convo-sqlite")
        .says("install convo-sqlite");
}

#[test]
fn a_database_that_cannot_be_read_is_an_error_of_every_list() {
    let (env, database) = opencode();
    database.close().unwrap();
    std::fs::write(path(&env), "garbage").unwrap();
    for command in [
        &["agents"][..],
        &["list", "--agents"],
        &["search", "lease"],
        &["archive"],
    ] {
        let run = env.run(command).status(65);
        run.says("opencode/opencode.db: not an SQLite database");
    }
    let home = &env.run(&["agents", "--json"]).status(65).objects()[0];
    assert_eq!(
        (&home["readable"], &home["reason"]),
        (&false.into(), &"not an SQLite database".into())
    );
}

#[test]
fn names_of_sessions_in_databases_are_inputs() {
    let (env, _database) = opencode();
    for name in [
        "opencode:ses_on", "opencode:ses_one", "any:ses_one", "opencode:@last:/src",
    ] {
        let run = env.run(&["cat", name]).fine();
        assert!(run.out().contains(r#""role":"user""#), "{run}");
        env.run(&["count", name]).fine();
        env.run(&["check", "-q", name]).fine();
        env.run(&["context", "--to", "anthropic", name]).fine();
        env.run(&["usage", name]).status(0);
    }
    assert!(
        env.run(&["show", "opencode:@last"])
            .fine()
            .out()
            .contains("What about Ä?")
    );
    let child = env.run(&["show", "opencode:ses_one.agent-ses_child"]).fine();
    assert!(child.out().contains("Look for the lease."), "{child}");
    let run = env
        .run(&["truncate", "opencode:ses_one", "--keep-last", "1"])
        .status(0);
    assert!(run.out().contains("lease"), "{run}");
    env.run(&["compact", "opencode:ses_one", "--budget", "1k"])
        .status(0);
    let run = env.run(&["append", "opencode:ses_one", "And then?"]).status(0);
    assert!(run.out().contains("And then?"), "{run}");
    for command in [
        &["truncate", "-i", "opencode:ses_one", "--keep-last", "1"][..],
        &["compact", "-i", "opencode:ses_one", "--budget", "1k"],
        &["redact", "-i", "opencode:ses_one"],
        &["check", "--for", "anthropic", "--fix", "-i", "opencode:ses_one"],
        &["append", "-i", "opencode:ses_one", "More"],
    ] {
        let run = env.run(command).status(2);
        run.says("convo handoff opencode:ses_one");
    }
    env.run(&["slim", "opencode:ses_one"])
        .status(2)
        .says("its own program");
    let run = env.run(&["migrate", "opencode:ses_one"]).status(0);
    assert!(run.out().starts_with("migrated\t"), "{run}");
    env.run(&["show", "ses_one"]).fine();
    env.run(&["append", "--from", "native", "ses_one", "Bye"])
        .status(0);
    env.run(&["show", "opencode:ses_"])
        .status(66)
        .says("choose one of");
    env.run(&["show", "opencode:zz99"]).status(66);
    assert!(
        env.files().iter().all(|file| !file.contains("convo-")),
        "{:?}",
        env.files()
    );
}

#[test]
fn a_session_of_a_database_is_handed_over() {
    let (env, _database) = opencode();
    let project = env.work().display().to_string();
    let run = env
        .run(&[
            "handoff", "opencode:ses_one", "--to", "codex", "--project", &project, "--install",
        ])
        .status(0);
    let id = run.out().trim().rsplit(' ').next().unwrap().to_string();
    let run = env.run(&["show", &format!("codex:{id}")]).fine();
    assert!(run.out().contains("Where is the lease?"), "{run}");
}

#[test]
fn sessions_of_databases_are_searched() {
    let (env, database) = opencode();
    let run = env.run(&["search", "lease"]).fine();
    let names = |run: &Run| {
        let rows = rows(run).into_iter();
        rows.map(|row| row[0].clone()).collect::<Vec<_>>()
    };
    let mut found = names(&run);
    found.sort();
    assert_eq!(
        found,
        ["opencode:ses_one", "opencode:ses_one.agent-ses_child"],
        "{run}"
    );
    assert_eq!(rows(&run)[0][1..4], ["1", "user", "text"]);
    assert_eq!(
        names(&env.run(&["search", "-l", "ä"]).fine()),
        ["opencode:ses_two"]
    );
    // One line of each session.
    assert_eq!(
        env.run(&["search", "-m", "1", "[ey]", "--regex"])
            .fine()
            .out()
            .lines()
            .count(),
        3
    );
    let one = env.run(&["search", "lease", "opencode:ses_one"]).fine();
    assert_eq!(names(&one), ["opencode:ses_one"]);
    let ranked = env.run(&["search", "--rank", "where is the lease"]).fine();
    assert_eq!(names(&ranked)[0], "opencode:ses_one");
    env.run(&["search", "nothing like it"]).status(1);
    // A session in the store and in the home counts once.
    env.run(&["migrate", "opencode:ses_two"]).status(0);
    assert_eq!(
        names(&env.run(&["search", "-l", "about Ä"]).fine()),
        ["opencode:ses_two"]
    );
    database.close().unwrap();
    assert_eq!(
        names(&env.run(&["search", "-l", "about Ä"]).fine()),
        ["opencode:ses_two"]
    );
}

#[test]
fn a_session_in_a_file_and_the_database_is_listed_once() {
    let (env, _database) = opencode();
    let storage = env.root().join("data/opencode/storage");
    for (name, text) in [
        (
            "session/p/ses_two.json",
            r#"{"id":"ses_two","projectID":"p","directory":"/src/api","title":"Old","time":{"created":1}}"#,
        ),
        (
            "message/ses_two/msg_1.json",
            r#"{"id":"msg_1","sessionID":"ses_two","role":"user","time":{"created":1}}"#,
        ),
        (
            "part/msg_1/prt_1.json",
            r#"{"id":"prt_1","sessionID":"ses_two","messageID":"msg_1","type":"text","text":"What about Ä?"}"#,
        ),
    ] {
        let path = storage.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let run = env.run(&["list", "--agents", "--columns", "name,title"]).fine();
    let two = rows(&run).into_iter().filter(|row| row[0] == "opencode:ses_two");
    assert_eq!(
        two.map(|row| row[1].clone()).collect::<Vec<_>>(),
        ["About ses_two"]
    );
    assert!(
        env.run(&["show", "opencode:ses_two"])
            .fine()
            .out()
            .contains("Yes.")
    );
    assert_eq!(
        env.run(&["search", "-c", "about Ä"]).fine().out(),
        "opencode:ses_two\t1\n"
    );
}

#[test]
fn a_row_without_a_time_is_not_the_newest() {
    let (env, database) = opencode();
    database
        .execute(
            "INSERT INTO session (id, title) VALUES ('ses_odd', 'No time')",
            [],
        )
        .unwrap();
    assert!(
        env.run(&["show", "opencode:@last"])
            .fine()
            .out()
            .contains("What about Ä?")
    );
}

#[test]
fn names_of_sessions_in_databases_are_completed() {
    let (env, _database) = opencode();
    let mut command = env.command(&["--", "convo", "show", "opencode:"]);
    command
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "2")
        .env("_CLAP_IFS", "\n");
    let run = env.wait(command).fine();
    for name in ["@last", "ses_two", "ses_one"] {
        assert!(run.out().contains(name), "{run}");
    }
    assert!(!run.out().contains("ses_child"), "{run}");
}
