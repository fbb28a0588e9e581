//! Operations on sessions in a database of another program, which the plugin `convo-sqlite` reads.

use super::homes::archives;
use super::place::Place;
use super::scenario::{BASE, Between, Operation};
use rusqlite::Connection;

const PATH: &str = "home/.local/share/opencode/opencode.db";

/// Writes a database that these statements make.
fn build(place: &Place, path: &str, statements: &str) {
    let file = place.root().join("build.db");
    let database = Connection::open(&file).unwrap();
    database.execute_batch(statements).unwrap();
    database.close().unwrap();
    place.write(path, std::fs::read(&file).unwrap());
    std::fs::remove_file(file).unwrap();
}

/// Two sessions of opencode, and what more statements make of them.
fn sessions(place: &Place, more: &str) {
    let tables =
        "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, slug TEXT, directory TEXT, title TEXT,
          version TEXT, time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
        INSERT INTO session VALUES ('ses_one', 'p', 'x', '/src/api', 'One', '1', 1000, 1000),
          ('ses_two', 'p', 'y', '/src/api/web', 'Two', '1', 1000, 1000);";
    let texts = [
        message("ses_one", 1, "Where is the lease?"),
        message("ses_two", 1, "And the tide?"),
    ];
    build(place, PATH, &[tables, &texts[0], &texts[1], more].concat());
}

/// Statements that add a message.
fn message(session: &str, nth: u32, text: &str) -> String {
    format!(
        r#"INSERT INTO message VALUES ('msg_{session}_{nth}', '{session}', {nth}, '{{"role":"user","time":{{"created":{nth}}}}}');
        INSERT INTO part VALUES ('prt_{session}_{nth}', 'msg_{session}_{nth}', '{session}', '{{"type":"text","text":"{text}"}}');"#
    )
}

/// A database in the home directory, whose paths a journal names relative to it.
const THREADS: &str = "home/.codex/state_5.sqlite";

/// Threads of Codex in a database, and a session of one of them.
fn threads(place: &Place) {
    let tables = "CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, cwd TEXT, title TEXT);
        INSERT INTO threads VALUES ('a', '/r', '/src/api', 'about /src/api'), ('b', '/r', '/src/api/web', ''),
          ('c', '/r', '/src/api-docs', '');";
    build(place, THREADS, tables);
    let session = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"a\",\"cwd\":\"/src/api\"}}\n";
    place.write("home/.codex/sessions/2026/11/01/rollout-a.jsonl", session);
}

pub const DATABASES: &[Operation] = &[
    Operation {
        name: "archive a database",
        prepare: |place| sessions(place, ""),
        arguments: &["archive", "--to", "kept"],
        session: None,
        between: Between::Kept,
        brings: ("work/kept/opencode/ses_one/manifest.jsonl", "\"new\""),
        runs: true,
        ..BASE
    },
    Operation {
        name: "archive a database that changed",
        prepare: |place| {
            sessions(place, "");
            archives(place);
            let later = "UPDATE session SET time_updated = 2000 WHERE id = 'ses_one';";
            sessions(place, &[later, &message("ses_one", 2, "More.")].concat());
        },
        arguments: &["archive", "--to", "kept"],
        session: None,
        between: Between::Kept,
        brings: ("work/kept/opencode/ses_one/2/opencode.db/ses_one.jsonl", "More."),
        runs: true,
        ..BASE
    },
    Operation {
        name: "relocate a database",
        prepare: threads,
        arguments: &["relocate", "/src/api", "/usr"],
        session: None,
        between: Between::Parts,
        brings: (THREADS, "/usr/web"),
        again: &[1],
        runs: true,
        ..BASE
    },
    Operation {
        name: "relocate --undo a database",
        prepare: |place| {
            threads(place);
            place.sets_up(&["relocate", "/src/api", "/usr"]);
        },
        arguments: &["relocate", "--undo"],
        session: None,
        between: Between::Parts,
        brings: (THREADS, "/src/api/web"),
        again: &[1],
        runs: true,
        ..BASE
    },
];
