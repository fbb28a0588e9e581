//! Tests where `convo migrate` searches, and obstacles there.

use crate::env::{BARE, CHAT, Env, OPENAI};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Creates an obstacle at a path.
type Place = fn(&Path);

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn directories_are_read_with_their_subdirectories() {
    let env = Env::new();
    env.write("old/a.json", OPENAI);
    env.write("old/deep/er/trip.jsonl", CHAT);
    for arguments in [&["migrate", "-n", "old"][..], &["migrate", "-n", "-r", "old"]] {
        let run = env.run(arguments).status(0);
        assert!(run.out().contains("old/deep/er/trip.jsonl"), "{run}");
    }
    let run = env.run(&["migrate", "-n", "--no-recursive", "old"]).status(0);
    assert!(!run.out().contains("deep"), "{run}");
}

#[test]
fn a_directory_without_sessions_is_an_error() {
    let env = Env::new();
    env.write("empty/notes.txt", "no session");
    let run = env.run(&["migrate", "empty"]).status(66);
    run.says("convo: empty: no session files found").says("*.jsonl");
    env.write("deep/er/trip.jsonl", CHAT);
    env.run(&["migrate", "--no-recursive", "deep"])
        .status(66)
        .says("subdirectories");
    // The rest is migrated.
    env.run(&["migrate", "empty", "deep"])
        .status(66)
        .gives("migrated\tdeep/er/trip.jsonl\ttrip\t7\n");
    // Migrated and renamed files are not an error in the next run.
    env.run(&["migrate", "--mark", "deep"]).status(0);
    env.run(&["migrate", "--mark", "deep"])
        .status(0)
        .says("no session files found; 1 file renamed by --mark");
}

#[test]
fn links_below_an_operand_are_reported_and_not_followed() {
    let env = Env::new();
    let secret = env.write("private/secret.jsonl", BARE);
    env.write("tree/trip.jsonl", CHAT);
    symlink(&secret, env.work().join("tree/secret.jsonl")).unwrap();
    symlink(env.work().join("private"), env.work().join("tree/linked")).unwrap();
    let run = env.run(&["migrate", "--output-dir", "out", "tree"]).status(0);
    run.says("tree/secret.jsonl: symbolic link, not followed")
        .says("tree/linked: symbolic link to a directory, not followed");
    assert_eq!(std::fs::read_dir(env.work().join("out")).unwrap().count(), 1);
    let run = env
        .run(&["migrate", "--follow", "--output-dir", "all", "tree"])
        .status(0);
    assert!(
        run.out().contains("tree/secret.jsonl") && run.out().contains("tree/linked/secret.jsonl"),
        "{run}"
    );
    // A link cycle terminates.
    symlink(env.work().join("tree"), env.work().join("tree/again")).unwrap();
    env.run(&["migrate", "-n", "--follow", "tree"]).status(0);
    // The operand itself may be a link.
    symlink(env.work().join("tree"), env.work().join("door")).unwrap();
    env.run(&["migrate", "-n", "door"]).status(0);
    env.run(&["migrate", "-n", "tree/secret.jsonl"]).status(0);
}

#[test]
fn pipes_and_devices_do_not_block() {
    let env = Env::new();
    env.write("tree/trip.jsonl", CHAT);
    env.write("tree/a.json", OPENAI);
    pipe(&env.work().join("tree/pipe.jsonl"));
    pipe(&env.work().join("tree/a.json.bak"));
    env.run(&["migrate", "-n", "tree"])
        .status(0)
        .says("tree/pipe.jsonl: not a regular file");
    env.run(&["list", "./tree"])
        .status(0)
        .says("tree/pipe.jsonl: not a regular file");
    env.run(&["migrate", "-n", "tree/pipe.jsonl"]).status(77);
}

#[test]
fn existing_links_and_devices_are_not_read() {
    let cases: [(&str, Place); 3] = [
        ("not a regular file", pipe),
        ("symbolic link", |path| symlink("/dev/zero", path).unwrap()),
        ("symbolic link", |path| symlink("nowhere", path).unwrap()),
    ];
    for (what, place) in cases {
        let env = Env::new();
        env.write("trip.jsonl", CHAT);
        for (dir, name) in [("native", "trip.jsonl"), ("foreign", "trip.json")] {
            std::fs::create_dir(env.work().join(dir)).unwrap();
            place(&env.work().join(dir).join(name));
        }
        env.run(&["split", "--output-dir", "native", "./trip.jsonl"])
            .status(77)
            .says(what);
        env.run(&["migrate", "--output-dir", "native", "trip.jsonl"])
            .says(what);
        env.run(&[
            "migrate", "--to", "openai-chat", "--output-dir", "foreign", "trip.jsonl",
        ])
        .says(what);
    }
}

#[test]
fn a_pipe_is_not_a_configuration() {
    let env = Env::new();
    let path = env.work().join("config.toml");
    pipe(&path);
    let path = path.to_str().unwrap();
    env.run(&["--config", path, "list"])
        .status(78)
        .says("not a regular file");
    let mut command = env.command(&["list"]);
    command.env("CONVO_CONFIG", path);
    env.wait(command).status(78).says("not a regular file");
    env.run(&["--config", "/dev/zero", "list"]).status(78);
    // Without configuration, as in many scripts.
    env.run(&["--config", "/dev/null", "new"]).fine();
}

#[test]
fn the_whole_store_is_one_operand() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "other"]).fine();
    for (nth, operand) in ["@all", "--all"].iter().enumerate() {
        let out = format!("out{nth}");
        env.run(&["migrate", "--output-dir", &out, operand]).status(0);
        assert!(env.work().join(&out).join("trip.jsonl").is_file());
        assert!(env.work().join(&out).join("other.jsonl").is_file());
    }
    env.run(&["migrate", "@all"])
        .status(2)
        .says("@all requires --output-dir");
    // The former option name.
    env.run(&["migrate", "--out", "out0", "trip"])
        .status(0)
        .gives("skipped\ttrip\ttrip\t7\n");
    env.run(&["split", "--out", "parts", "--every-turns", "1", "trip"])
        .fine();
}
