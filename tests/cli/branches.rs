//! Tests branches in files of other programs: by default the active branch is read; options select one or all.

use crate::env::Env;

/// A pi file: `a b e` is the active branch; `c c2` branches off after `b`, and `d` after `c`.
fn file() -> String {
    let entry = |id: &str, parent: &str, role: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-11-01T10:00:01.000Z","message":{{"role":"{role}","content":"says {id}"}}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"tree","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/w"}"#
            .to_string(),
        entry("a", "null", "user"),
        entry("b", "\"a\"", "assistant"),
        entry("c", "\"b\"", "user"),
        entry("c2", "\"c\"", "assistant"),
        entry("d", "\"c\"", "assistant"),
        entry("e", "\"b\"", "user"),
    ];
    lines.join("\n") + "\n"
}

/// The ids of the messages of a stream, separated by session.
fn message_ids(stream: &str) -> Vec<String> {
    let mut sessions: Vec<String> = Vec::new();
    for line in crate::env::objects(stream) {
        match line["id"].as_str() {
            Some(_) if line["type"] == "session" => sessions.push(String::new()),
            Some(id) => *sessions.last_mut().unwrap() += id,
            None => {}
        }
    }
    sessions
}

#[test]
fn the_active_branch_is_read_and_skipped_ones_are_reported() {
    let env = Env::new();
    env.write("tree.jsonl", file());
    let run = env.run(&["truncate", "--keep-last", "9", "tree.jsonl"]).status(0);
    assert_eq!(message_ids(run.out()), ["abe"]);
    run.says("skipped 2 branches; include them with --all-branches, or read one with --branch N");
    for command in [
        &["count"][..],
        &["show"],
        &["list"],
        &["context"],
        &["compact", "--budget", "900"],
        &["summarize", "--with", "extract", "--keep-last", "9"],
        &["check", "--for", "anthropic"],
    ] {
        let run = env.run(&[command, &["tree.jsonl"]].concat()).status(0);
        assert!(!run.out().contains("says c"), "{command:?}: {}", run.out());
        run.says("skipped 2 branches");
    }
    let text = env.run(&["context", "--to", "jsonl", "-q", "tree.jsonl"]).fine();
    assert!(!text.out().contains("says c2"));
}

#[test]
fn lossless_commands_include_all_branches() {
    let env = Env::new();
    env.write("tree.jsonl", file());
    let all = ["abe", "cc2", "d"];
    let native = env.run(&["cat", "tree.jsonl"]).fine().out().to_string();
    assert_eq!(message_ids(&native), all);
    let piped = env.pipe(&["migrate"], file()).fine();
    assert_eq!(message_ids(piped.out()), all);
    // In a record stream each session is independent.
    let run = env.pipe(&["truncate", "--keep-last", "9"], &native).status(0);
    assert_eq!(message_ids(run.out()), all);
    env.run(&["migrate", "tree.jsonl"]).status(0);
    assert_eq!(env.run(&["list", "-q"]).fine().out().lines().count(), 3);
    let every = ["truncate", "--keep-last", "9", "--all-branches", "tree.jsonl"];
    assert_eq!(message_ids(env.run(&every).status(0).out()), all);
    // Writing back in the original format preserves everything.
    for original in [&[][..], &["--original"]] {
        let args = [&["cat", "--to", "pi", "tree.jsonl"], original].concat();
        env.run(&args).fine().gives(file());
    }
}

#[test]
fn a_branch_includes_the_messages_before_it() {
    let env = Env::new();
    env.write("tree.jsonl", file());
    for (which, whole, own) in [("1", "abcc2", "cc2"), ("2", "abcd", "d")] {
        let id = format!("tree.{which}");
        for name in [which, &id] {
            let run = env.run(&["cat", "--branch", name, "tree.jsonl"]).fine();
            assert_eq!(message_ids(run.out()), [whole]);
            let run = env
                .run(&["truncate", "--keep-last", "9", "--branch", name, "tree.jsonl"])
                .status(0);
            assert_eq!(message_ids(run.out()), [whole]);
        }
        let run = env.run(&["cat", "--session", &id, "tree.jsonl"]).fine();
        assert_eq!(message_ids(run.out()), [own]);
    }
    // In a record stream too.
    let native = env.run(&["cat", "tree.jsonl"]).fine().out().to_string();
    let run = env
        .pipe(&["cat", "--branch", "2", "--session", "tree"], &native)
        .fine();
    assert_eq!(message_ids(run.out()), ["abcd"]);
    let none = env.run(&["cat", "--branch", "3", "tree.jsonl"]).status(66);
    none.says("no branch '3'")
        .says("choose 1 to 2, or an id: tree.1, tree.2");
    env.run(&["cat", "--session", "2", "tree.jsonl"])
        .status(66)
        .says("the only one is: tree");
    env.run(&["cat", "--branch", "1", "--session", "other", "tree.jsonl"])
        .status(66)
        .says("no session 'other'");
}

#[test]
fn branches_are_lost_in_other_formats_and_strict_refuses() {
    let env = Env::new();
    env.write("tree.jsonl", file());
    let run = env.run(&["cat", "--to", "anthropic", "tree.jsonl"]).status(0);
    assert!(run.out().contains("says e") && !run.out().contains("says c"));
    run.says("branches (2)");
    // This format can represent the whole active branch.
    for command in [&["truncate", "--keep-last", "9"][..], &["cat"]] {
        let run = env
            .run(&[command, &["--to", "penguin", "--strict", "tree.jsonl"]].concat())
            .status(65);
        assert_eq!(run.out(), "");
        run.says("branches (").says("--strict");
    }
}

#[test]
fn in_place_other_branches_are_kept() {
    let env = Env::new();
    env.write("tree.jsonl", file());
    env.run(&["truncate", "--keep-last", "1", "-i", "tree.jsonl"])
        .status(0);
    let after = env.read("tree.jsonl");
    let more = after.strip_prefix(&file()).unwrap();
    assert_eq!(more.lines().count(), 1, "{more}");
    let run = env.run(&["truncate", "--all", "--branch", "1", "-i", "tree.jsonl"]);
    run.status(2).says("--branch conflicts with -i");
    assert_eq!(env.read("tree.jsonl"), after);
    env.run(&["migrate", "--branch", "1", "tree.jsonl"])
        .status(2)
        .says("--branch requires standard input");
}
