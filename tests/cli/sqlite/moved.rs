//! Tests the variable `OPENCODE_DB`, which names the database of opencode.

use super::homes::{THEN, add, opencode, path, rows, settle};
use crate::env::{Env, Run};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Runs with the variable.
fn run(env: &Env, database: &Path, arguments: &[&str]) -> Run {
    let mut command = env.command(arguments);
    command.env("OPENCODE_DB", database);
    env.wait(command)
}

fn names(run: &Run) -> Vec<String> {
    let mut names: Vec<String> = rows(run).into_iter().map(|row| row[0].clone()).collect();
    names.sort();
    names
}

/// A home with a database in the default place, and another database with one session elsewhere.
fn moved(to: &str) -> (Env, Connection, PathBuf) {
    let (env, database) = opencode();
    database
        .execute("VACUUM INTO ?1", [env.root().join("copy.db").to_str().unwrap()])
        .unwrap();
    let to = env.root().join(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(env.root().join("copy.db"), &to).unwrap();
    let other = Connection::open(&to).unwrap();
    other
        .execute_batch("DELETE FROM session; DELETE FROM message; DELETE FROM part")
        .unwrap();
    add(&other, "ses_moved", None, THEN, "Where is the cat?");
    other
        .execute_batch("ALTER TABLE session ADD COLUMN slug TEXT")
        .unwrap();
    other.close().unwrap();
    settle(&env);
    (env, database, to)
}

#[test]
fn a_variable_names_the_database_for_every_command() {
    let (env, _database, to) = moved("else where/my #1.db");
    let with = |arguments: &[&str]| run(&env, &to, arguments);
    let list = ["list", "--agents", "--columns", "name,path"];
    let listed = with(&list).fine();
    assert_eq!(
        rows(&listed),
        [["opencode:ses_moved".to_string(), to.display().to_string()]]
    );
    let home = &with(&["agents", "--json"]).fine().objects()[0];
    assert_eq!(
        (&home["program"], &home["sessions"]),
        (&"opencode".into(), &1.into()),
        "{home}"
    );
    assert_eq!(
        with(&["search", "-l", "the cat"]).fine().out(),
        "opencode:ses_moved\n"
    );
    assert_eq!(with(&["search", "-l", "the lease"]).status(1).out(), "");
    assert!(with(&["cat", "opencode:ses_m"]).fine().out().contains("the cat"));
    with(&["cat", "opencode:ses_one"]).status(66);
    let project = env.work().display().to_string();
    let handoff = [
        "handoff", "opencode:@last", "--to", "codex", "--project", &project, "--install",
    ];
    with(&handoff).status(0);
    // Without the variable, and with an empty one, the database in the default place.
    let all = ["opencode:ses_one", "opencode:ses_two"];
    assert_eq!(
        names(&env.run(&["list", "--agents", "--program", "opencode"]).fine()),
        all
    );
    let list = ["list", "--agents", "--program", "opencode"];
    assert_eq!(names(&run(&env, Path::new(""), &list).fine()), all);
}

#[test]
fn a_variable_may_name_a_database_in_the_home() {
    let (env, _database, _) = moved("data/opencode/opencode-next.db");
    let list = |name: &str| names(&run(&env, Path::new(name), &["list", "--agents"]).fine());
    assert_eq!(list("opencode-next.db"), ["opencode:ses_moved"]);
    assert_eq!(list("opencode.db"), ["opencode:ses_one", "opencode:ses_two"]);
    assert_eq!(list("nothing.db"), [""; 0]);
    assert_eq!(list(":memory:"), [""; 0]);
    // Without a home, too.
    std::fs::rename(env.root().join("data/opencode"), env.root().join("gone")).unwrap();
    let to = env.root().join("gone/opencode-next.db");
    let listed = run(&env, &to, &["list", "--agents"]).fine();
    assert_eq!(names(&listed), ["opencode:ses_moved"]);
    let broken = env.root().join("work/file.db/x.db");
    env.write("file.db", "");
    run(&env, &broken, &["list", "--agents"]).fine().gives("");
}

#[test]
fn sessions_of_another_database_are_not_gone_from_the_archive() {
    let (env, database, to) = moved("elsewhere/opencode.db");
    let outcomes = |run: &Run| {
        let mut found: Vec<_> = rows(run)
            .into_iter()
            .map(|row| format!("{} {}", row[0], row[1]))
            .collect();
        found.sort();
        found
    };
    let own = [
        "new opencode:ses_one",
        "new opencode:ses_one.agent-ses_child",
        "new opencode:ses_two",
    ];
    assert_eq!(outcomes(&env.run(&["archive"]).fine()), own);
    assert_eq!(
        outcomes(&run(&env, &to, &["archive"]).fine()),
        ["new opencode:ses_moved"]
    );
    // Each run reads one database, and neither reports the sessions of the other.
    for _ in 0..2 {
        env.run(&["archive"]).fine().gives("");
        run(&env, &to, &["archive"]).fine().gives("");
        run(&env, &to, &["archive", "--verify"]).fine();
    }
    let copy = "data/convo-archive/opencode/ses_moved/1/opencode.db/ses_moved.jsonl";
    assert!(env.root().join(copy).exists());
    // A session that its own database lost is.
    let lost = Connection::open(&to).unwrap();
    lost.execute("DELETE FROM session", []).unwrap();
    lost.close().unwrap();
    assert_eq!(
        outcomes(&run(&env, &to, &["archive"]).fine()),
        ["gone opencode:ses_moved"]
    );
    assert!(
        run(&env, &to, &["cat", "opencode:ses_moved"])
            .status(0)
            .out()
            .contains("the cat")
    );
    // Those of a database that does not exist any more are, too.
    database.close().unwrap();
    std::fs::remove_file(path(&env)).unwrap();
    let removed = outcomes(&run(&env, &to, &["archive"]).fine());
    assert_eq!(removed.len(), 3, "{removed:?}");
    let inside = to.parent().unwrap().join("kept");
    let run = |to: &str| {
        run(
            &env,
            &env.root().join("elsewhere/opencode.db"),
            &["archive", "--to", to],
        )
    };
    run(inside.to_str().unwrap()).status(0);
    run(env.root().to_str().unwrap()).status(77);
}

#[test]
fn a_relocation_changes_the_database_that_the_variable_names() {
    let (env, database, to) = moved("elsewhere/x.db");
    database.close().unwrap();
    settle(&env);
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_793_500_000);
    let file = std::fs::File::options().write(true).open(&to).unwrap();
    file.set_modified(time).unwrap();
    drop(file);
    let old = std::fs::read(path(&env)).unwrap();
    let done = run(&env, &to, &["relocate", "/src/api", "/usr"]).status(0);
    assert!(done.out().contains("x.db"), "{done}");
    assert_eq!(std::fs::read(path(&env)).unwrap(), old);
    let list = ["list", "--agents", "--columns", "name,project"];
    assert_eq!(run(&env, &to, &list).fine().out(), "opencode:ses_moved\t/usr\n");
    run(&env, &to, &["relocate", "--undo"]).status(0);
    assert_eq!(
        run(&env, &to, &list).fine().out(),
        "opencode:ses_moved\t/src/api\n"
    );
}
