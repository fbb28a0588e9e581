//! Tests invalid names, stores and outputs: nothing is created in a wrong place.

use crate::env::{BARE, CHAT, Env};
use std::os::unix::fs::PermissionsExt;

const HOSTILE: [&str; 12] = [
    "../x", "..", ".", "/etc/x", "a/b", "a\\b", "-rf", "a b", "a\nb", ".hidden", "@last", "x\u{202e}y",
];

#[test]
fn invalid_ids_are_refused() {
    let env = Env::with_chat();
    let before = env.files();
    let mut reported = String::new();
    for id in HOSTILE {
        reported += &env
            .run(&["new", &format!("--id={id}")])
            .status(77)
            .gives("")
            .to_string();
    }
    snapshot!("bad_ids", reported);
    let long = "a".repeat(300);
    snapshot!("bad_long_id", env.run(&["new", "--id", &long]).status(77));
    env.run(&["new", "--id", &long[..128]]).fine();
    env.run(&["new", "--id", &long[..129]]).status(77);
    std::fs::remove_file(env.log(&long[..128])).unwrap();
    assert_eq!(env.files(), before);
}

#[test]
fn a_header_with_an_invalid_id_is_not_migrated() {
    let env = Env::new();
    for (nth, id) in HOSTILE.into_iter().chain(["", &*"a".repeat(300)]).enumerate() {
        let line = serde_json::json!({"type": "session", "version": 1, "id": id});
        let name = format!("s{nth}.jsonl");
        env.write(&name, format!("{line}\n{BARE}"));
        let run = env.run(&["migrate", &name]).status(77);
        assert!(run.stderr.contains(&name), "{run}");
        env.run(&["migrate", "--out", "native", &name]).status(77);
    }
    assert!(
        env.files().iter().all(|file| file.starts_with("work/s")),
        "{:?}",
        env.files()
    );
}

/// Any file name can become an id.
#[test]
fn file_names_are_encoded_as_ids() {
    let env = Env::new();
    for name in ["a b.jsonl", "..x.jsonl", "-y.jsonl", "ünïcode.jsonl"] {
        env.write(&format!("in/{name}"), BARE.replace("hi", name));
        env.run(&["migrate", "-q", &format!("./in/{name}")]).fine();
        let stem = name.strip_suffix(".jsonl").unwrap();
        env.run(&["cat", "--", stem]).fine();
    }
    assert!(
        env.files()
            .iter()
            .all(|file| file.starts_with("work/in/") || file.starts_with("store/sessions/"))
    );
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 4);
}

#[test]
fn hostile_names_match_no_session() {
    let env = Env::with_chat();
    let before = env.files();
    for name in HOSTILE.into_iter().filter(|name| *name != "@last") {
        for command in [
            &["cat"][..],
            &["remove"],
            &["remove", "--purge"],
            &["alias", "resolve"],
        ] {
            let run = env.run(&[command, &["--", name]].concat());
            assert!([2, 66, 77].contains(&run.status), "{command:?} {name:?}: {run}");
        }
    }
    let long = "a".repeat(300);
    env.run(&["cat", &long]).status(66);
    env.run(&["append", &long, "x"]).status(66);
    env.run(&["alias", "add", &long, "trip"]).status(77);
    assert_eq!(env.files(), before);
}

/// Every id that `new` accepts must work with `append`.
#[test]
fn an_id_that_is_accepted_can_be_used() {
    let env = Env::new();
    for id in ["chat.json", "notes.md", "a.jsonl", "x.y"] {
        if env.run(&["new", "--id", id]).status == 0 {
            env.run(&["append", id, "hi"]).fine();
        }
    }
}

#[test]
fn a_name_that_two_sessions_begin_with() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "trip-2"]).fine();
    env.run(&["new", "--id", "tram"]).fine();
    snapshot!("bad_ambiguous", env.run(&["cat", "tr"]).status(66));
    for command in ["append", "remove", "show", "count"] {
        let mut arguments = vec![command, "tr"];
        arguments.extend((command == "append").then_some("x"));
        env.run(&arguments).status(66).says("tram, trip, trip-2");
    }
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn a_missing_store() {
    let env = Env::new();
    let mut reported = String::new();
    let lines: [&[&str]; 7] = [
        &["cat", "trip"],
        &["append", "trip", "x"],
        &["list"],
        &["truncate", "trip", "--all"],
        &["remove", "trip"],
        &["alias", "list"],
        &["--store", "elsewhere", "show", "trip"],
    ];
    for line in lines {
        reported += &env.run(line).status(66).gives("").to_string();
    }
    snapshot!("bad_no_store", reported);
    assert_eq!(env.files(), [] as [&str; 0]);
    env.write("file", "");
    let run = env.run(&["--store", "file", "list"]);
    assert!([66, 77].contains(&run.status), "{run}");
    let run = env.run(&["--store", "file", "new"]);
    assert!([73, 74, 77].contains(&run.status), "{run}");
}

#[test]
#[cfg_attr(root, ignore = "root can write to read-only folders")]
fn a_store_that_cannot_be_written() {
    let env = Env::with_chat();
    let sessions = env.store().join("sessions");
    let lock = |mode| std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(mode)).unwrap();
    lock(0o500);
    let mut log = std::fs::metadata(env.log("trip")).unwrap().permissions();
    log.set_mode(0o400);
    std::fs::set_permissions(env.log("trip"), log).unwrap();
    for line in [
        &["append", "trip", "x"][..],
        &["new"],
        &["remove", "trip"],
        &["truncate", "trip", "--all"],
    ] {
        let run = env.run(line);
        assert!([74, 77].contains(&run.status), "{line:?}: {run}");
    }
    env.run(&["cat", "trip"]).fine().gives(CHAT);
    lock(0o700);
}

#[test]
fn links_in_a_store_are_not_followed() {
    use std::os::unix::fs::symlink;
    let env = Env::with_chat();
    let secret = env.write("secret.jsonl", CHAT);
    symlink(&secret, env.log("evil")).unwrap();
    let mut reported = String::new();
    for line in [
        &["cat", "evil"][..],
        &["append", "evil", "x"],
        &["truncate", "evil", "--all"],
    ] {
        reported += &env.run(line).status(77).gives("").to_string();
    }
    snapshot!("bad_link", reported);
    assert_eq!(env.read("secret.jsonl"), CHAT);
    // A directory of the store that is a link to another place.
    let other = Env::new();
    std::fs::create_dir_all(other.store()).unwrap();
    symlink(env.work(), other.store().join("sessions")).unwrap();
    other.run(&["new", "--id", "x"]).status(77);
    other.run(&["cat", "secret"]).status(77);
    assert!(!env.work().join("x.jsonl").exists());
}

#[test]
fn a_name_that_is_not_utf_8_is_read_in_a_directory_and_named_as_an_argument() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let env = Env::new();
    for name in ["d/a.jsonl", "d/z.jsonl", "b/x.jsonl"] {
        env.write(name, BARE);
    }
    let other = |name: &[u8]| env.work().join(OsStr::from_bytes(name));
    std::fs::copy(env.work().join("d/a.jsonl"), other(b"d/m\xe9.jsonl")).unwrap();
    std::fs::copy(env.work().join("d/a.jsonl"), other(b"d/note\xe9.png")).unwrap();
    std::fs::rename(env.work().join("b"), other(b"d/b\xe9")).unwrap();
    let run = env.run(&["migrate", "-n", "d"]).status(0);
    let read: Vec<&str> = run
        .out()
        .lines()
        .map(|line| line.split('\t').nth(1).unwrap())
        .collect();
    assert_eq!(
        read,
        [
            "d/a.jsonl", "d/m\u{fffd}.jsonl", "d/z.jsonl", "d/b\u{fffd}/x.jsonl"
        ]
    );
    let twin = format!("{}{}", BARE, r#"{"role":"user","content":"another"}"#);
    std::fs::write(other(b"d/m\xe8.jsonl"), twin).unwrap();
    env.run(&["migrate", "-q", "--mark", "d"]).status(0);
    assert!(other(b"d/m\xe9.jsonl.migrated").exists());
    assert_eq!(env.run(&["list"]).fine().out().lines().count(), 5);
    let output = env
        .command(&["count"])
        .arg(OsStr::from_bytes(b"d/m\xe9.jsonl"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with("convo: d/m\\xe9.jsonl: not UTF-8\nhint: "),
        "{text}"
    );
}

#[test]
fn an_output_that_is_a_link_is_refused() {
    let env = Env::with_chat();
    let target = env.write("target.jsonl", "mine");
    std::os::unix::fs::symlink(target, env.work().join("out.jsonl")).unwrap();
    env.run(&["cat", "trip", "-o", "out.jsonl"]).status(77);
    assert_eq!(env.read("target.jsonl"), "mine");
}

#[test]
fn a_prefix_selects_the_session_not_its_subsessions() {
    let env = Env::new();
    let header = |id: &str, kind: &str, parent: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"metadata\":{{\"lineage\":{{\"kind\":\"{kind}\",\"parent\":\"{parent}\"}}}}}}\n"
        )
    };
    env.write(
        "a.jsonl",
        "{\"type\":\"session\",\"version\":1,\"id\":\"4c2d\"}\n",
    );
    env.run(&["migrate", "-q", "a.jsonl"]).fine();
    for (nth, kind) in ["sidechain", "branch", "split", "child", "branch"]
        .into_iter()
        .enumerate()
    {
        let name = format!("{nth}.jsonl");
        // The last one is a branch of a branch.
        let parent = if nth == 4 { "4c2d_1" } else { "4c2d" };
        env.write(&name, header(&format!("4c2d_{nth}"), kind, parent));
        env.run(&["migrate", "-q", &name]).fine();
    }
    let columns = ["list", "--columns", "id"];
    env.run(&[&columns[..], &["4c"]].concat()).fine().gives("4c2d\n");
    env.run(&[&columns[..], &["4c2d_1"]].concat())
        .fine()
        .gives("4c2d_1\n");
    env.run(&["list", "4c2d_"])
        .status(66)
        .says("ambiguous: matches 4 sessions");
    // Unique prefixes of the session's id and of the suffix, as `list` prints them.
    env.run(&[&columns[..], &["4c_1"]].concat())
        .fine()
        .gives("4c2d_1\n");
    env.run(&["list", "4c_9"]).status(66).says("4c_9");
    // A fork is an independent session.
    env.write("fork.jsonl", header("4c33", "fork", "4c2d"));
    env.run(&["migrate", "-q", "fork.jsonl"]).fine();
    env.run(&["list", "4c"]).status(66).says("4c2d, 4c33");
}
