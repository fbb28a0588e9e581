//! `convo archive` of sessions in databases.

use super::homes::{THEN, add, opencode, path, replace_plugin, rows, say, settle};
use crate::env::{Env, Run};
use std::path::Path;

fn archive(env: &Env, options: &[&str]) -> Run {
    env.run(&[&["archive"], options].concat())
}

fn outcomes(run: &Run) -> Vec<(String, String)> {
    let mut found: Vec<_> = rows(run)
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    found.sort();
    found
}

fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(outcome, name): &(&str, &str)| (outcome.to_string(), name.to_string());
    pairs.iter().map(own).collect()
}

/// Names of the copies of a session.
fn copies(env: &Env, id: &str) -> Vec<String> {
    let dir = env.root().join("data/convo-archive/opencode").join(id);
    let mut found = Vec::new();
    let mut dirs = vec![dir.clone()];
    while let Some(inner) = dirs.pop() {
        for entry in std::fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false => found.push(name(&path, &dir)),
            }
        }
    }
    found.sort();
    found
}

fn name(path: &Path, dir: &Path) -> String {
    path.strip_prefix(dir).unwrap().display().to_string()
}

#[test]
fn a_second_archive_run_of_a_database_starts_no_plugin() {
    let (env, database) = opencode();
    settle(&env);
    let child = "opencode:ses_one.agent-ses_child";
    let planned = archive(&env, &["-n"]).fine();
    let first = archive(&env, &[]).fine();
    let all = of(&[
        ("new", "opencode:ses_one"),
        ("new", child),
        ("new", "opencode:ses_two"),
    ]);
    assert_eq!(outcomes(&first), all, "{first}");
    assert_eq!(outcomes(&planned), all, "{planned}");
    assert_eq!(
        copies(&env, "ses_one"),
        ["1/opencode.db/ses_one.jsonl", "manifest.jsonl"]
    );
    archive(&env, &["--verify"]).fine();
    let plugin = replace_plugin(&env, "#!/bin/sh\nexit 74\n");
    archive(&env, &[]).fine().gives("");
    archive(&env, &["--verify"]).fine();
    std::fs::remove_file(plugin).unwrap();
    // One more message is at the end of the copy, which takes the place of the other one.
    say(&database, "ses_one", THEN + 60_000, "user", "And then?");
    database
        .execute(
            "UPDATE session SET time_updated = time_updated + 1 WHERE id = 'ses_one'",
            [],
        )
        .unwrap();
    let run = archive(&env, &["--verify"]).status(1);
    assert!(run.out().contains("opencode:ses_one"), "{run}");
    let second = archive(&env, &[]).fine();
    assert_eq!(
        outcomes(&second),
        of(&[("grown", "opencode:ses_one")]),
        "{second}"
    );
    assert_eq!(
        copies(&env, "ses_one"),
        ["2/opencode.db/ses_one.jsonl", "manifest.jsonl"]
    );
    // What the program changes is another version.
    let change =
        "UPDATE part SET data = '{\"type\":\"text\",\"text\":\"Changed\"}' WHERE id = 'prt_ses_one_0'";
    database.execute(change, []).unwrap();
    let third = archive(&env, &[]).fine();
    assert_eq!(
        outcomes(&third),
        of(&[("diverged", "opencode:ses_one")]),
        "{third}"
    );
    assert_eq!(
        copies(&env, "ses_one"),
        [
            "2/opencode.db/ses_one.jsonl", "3/opencode.db/ses_one.jsonl", "manifest.jsonl"
        ]
    );
    archive(&env, &["--verify"]).fine();
    assert_eq!(
        outcomes(&archive(&env, &["--to", "elsewhere", "--project", "/src"]).fine()).len(),
        3
    );
}

#[test]
fn a_session_deleted_in_the_database_is_read_from_the_archive() {
    let (env, database) = opencode();
    archive(&env, &["-q"]).fine();
    let before = env.run(&["cat", "opencode:ses_one"]).fine();
    for table in [
        "session WHERE id", "message WHERE session_id", "part WHERE session_id",
    ] {
        database
            .execute(&format!("DELETE FROM {table} = 'ses_one'"), [])
            .unwrap();
    }
    let run = env.run(&["cat", "opencode:ses_one"]).status(0);
    assert_eq!(run.out(), before.out());
    run.says("read from the archive");
    let found = env.run(&["search", "-l", "where is the lease"]).fine();
    assert_eq!(found.out(), "opencode:ses_one\n");
    // Without the plugin nothing says that it is gone.
    let run = env.run_without_plugins(&["archive", "-v"]).status(0);
    assert!(!run.out().contains("gone"), "{run}");
    run.says("not archived: opencode (database)");
    let run = archive(&env, &[]).fine();
    assert_eq!(outcomes(&run), of(&[("gone", "opencode:ses_one")]), "{run}");
    archive(&env, &[]).fine().gives("");
    let run = archive(&env, &["--give-back", "opencode:ses_one"]).status(2);
    run.says("convo handoff opencode:ses_one");
    let project = env.work().display().to_string();
    let handoff = [
        "handoff", "opencode:ses_one", "--to", "codex", "--project", &project, "--install",
    ];
    env.run(&handoff).status(0);
    // It is back.
    add(&database, "ses_one", None, THEN, "Where is the lease?");
    let run = archive(&env, &[]).fine();
    assert_eq!(outcomes(&run).len(), 1, "{run}");
    archive(&env, &["--verify"]).fine();
}

#[test]
fn a_plugin_that_fails_is_reported_and_the_others_are_archived() {
    let (env, _database) = opencode();
    assert!(path(&env).exists());
    let session = env
        .root()
        .join("home/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-a.jsonl");
    std::fs::create_dir_all(session.parent().unwrap()).unwrap();
    std::fs::write(session, "{}\n").unwrap();
    let script = "#!/bin/sh\necho 'convo: it broke' >&2\nexit 74\n";
    replace_plugin(&env, script);
    let run = archive(&env, &[]).status(74);
    assert!(run.out().contains("new\tcodex:"), "{run}");
    run.says("it broke");
}

#[test]
fn a_session_that_cannot_be_read_is_reported_once_for_each_state() {
    let (env, _database) = opencode();
    settle(&env);
    // The plugin lists two sessions, and cannot read one of them while a file exists.
    let script = r#"#!/bin/sh
row() { printf '{"schema":"convo.sqlite/1","id":"%s","archived":false,"bytes":%s}\n' "$1" "$2"; }
bytes=$(cat bytes)
row ses_good 7
case " $* " in *" --rows "*) echo '{"role":"user","content":"good"}' ;; esac
row ses_bad "$bytes"
case " $* " in *" --rows "*)
    if [ -e damaged ]; then
        echo 'convo: ses_bad: damaged' >&2
        exit 65
    fi
    echo '{"role":"user","content":"bad"}' ;;
esac
"#;
    replace_plugin(&env, script);
    env.write("damaged", "");
    env.write("bytes", "1");
    let run = |options: &[&str]| {
        // The rows of an unchanged database are cached.
        let _ = std::fs::remove_dir_all(env.root().join("home/.cache"));
        archive(&env, options)
    };
    let first = run(&[]).status(65);
    assert_eq!(
        outcomes(&first),
        of(&[("failed", "opencode:ses_bad"), ("new", "opencode:ses_good")])
    );
    first.says("opencode:ses_bad: ");
    // A run of cron is quiet from now on; a check is not.
    run(&["-q"]).fine().gives("");
    run(&[]).fine().gives("");
    let checked = run(&["--verify"]).status(1);
    assert!(
        checked.out().contains("unreadable\topencode:ses_bad"),
        "{checked}"
    );
    env.run(&["cat", "opencode:ses_bad"]).status(65);
    // It changes and is still damaged.
    env.write("bytes", "2");
    run(&[]).status(65);
    run(&[]).fine().gives("");
    // It can be read, and is damaged again: the copy is kept.
    std::fs::remove_file(env.work().join("damaged")).unwrap();
    env.write("bytes", "3");
    let good = run(&[]).fine();
    assert_eq!(outcomes(&good), of(&[("grown", "opencode:ses_bad")]), "{good}");
    run(&["--verify"]).fine();
    env.write("damaged", "");
    env.write("bytes", "4");
    run(&[]).status(65);
    run(&[]).fine().gives("");
    let copy = env
        .root()
        .join("data/convo-archive/opencode/ses_bad/1/opencode.db/ses_bad.jsonl");
    assert!(std::fs::read_to_string(copy).unwrap().contains("bad"));
    // Another version may be able to read it.
    let manifest = env
        .root()
        .join("data/convo-archive/opencode/ses_bad/manifest.jsonl");
    let lines = std::fs::read_to_string(&manifest).unwrap();
    // Lines of earlier versions have no checksum.
    let bodies = lines.lines().map(|line| line.split(",\"_crc\"").next().unwrap());
    let bodies: String = bodies.map(|body| format!("{body}}}\n")).collect();
    let older = bodies.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
    assert_ne!(bodies, older);
    std::fs::write(&manifest, older).unwrap();
    run(&[]).status(65);
    run(&[]).fine().gives("");
}

/// Files next to a database have the ids of its sessions, also that of a subagent.
#[test]
fn lost_copies_of_a_database_session_are_repaired() {
    let (env, _database) = opencode();
    settle(&env);
    for id in ["ses_one", "ses_child"] {
        let dir = env.root().join("data/opencode/storage/session_diff");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{id}.json")), "[]").unwrap();
    }
    archive(&env, &["-q"]).fine();
    let all = [
        "1/opencode.db/ses_one.jsonl",
        "1/storage/session_diff/ses_one.json",
        "manifest.jsonl",
    ];
    assert_eq!(copies(&env, "ses_one"), all);
    let child = copies(&env, "ses_one.agent-ses_child");
    assert!(
        child.contains(&"1/storage/session_diff/ses_child.json".to_string()),
        "{child:?}"
    );
    archive(&env, &[]).fine().gives("");
    let own = env
        .root()
        .join("data/convo-archive/opencode/ses_one/1/opencode.db/ses_one.jsonl");
    let text = std::fs::read(&own).unwrap();
    for damage in ["", "{"] {
        std::fs::write(&own, damage).unwrap();
        let run = archive(&env, &[]).fine();
        assert_eq!(outcomes(&run), of(&[("repaired", "opencode:ses_one")]), "{run}");
        assert_eq!(std::fs::read(&own).unwrap(), text);
    }
    let flipped = text.to_ascii_uppercase();
    std::fs::write(&own, flipped).unwrap();
    archive(&env, &["--verify"]).status(1);
    let run = archive(&env, &["--repair"]).fine();
    assert_eq!(outcomes(&run), of(&[("repaired", "opencode:ses_one")]), "{run}");
    archive(&env, &["--verify"]).fine();
    archive(&env, &[]).fine().gives("");
}
