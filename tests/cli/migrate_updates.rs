//! Tests `convo migrate` of sources that grew since they were stored.

use crate::env::{CHAT, Env};
use std::collections::BTreeMap;
use std::path::Path;

/// The first lines of a text.
fn beginning(text: &str, lines: usize) -> String {
    text.split_inclusive('\n').take(lines).collect()
}

/// Every file below a directory.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false => drop(all.insert(path.display().to_string(), std::fs::read(&path).unwrap())),
            }
        }
    }
    all
}

/// A Claude Code line from role, id, parent and text.
fn claude(role: &str, id: &str, parent: &str, text: &str) -> String {
    let parent = match parent {
        "" => "null".to_string(),
        id => format!("\"{id}\""),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"5a3e1a52-0001-4000-8000-000000000001","version":"2.0.1","type":"{role}","message":{{"role":"{role}","content":"{text}"}},"uuid":"{id}","timestamp":"2026-11-01T10:00:0{n}Z"}}
"#,
        n = id.len() % 10,
    )
}

const CLAUDE: &str = "5a3e1a52-0001-4000-8000-000000000001";

/// Sources in many formats: a file that begins a session and one that continues it.
fn sources() -> Vec<(&'static str, String, String)> {
    let openai = |messages: &str| format!(r#"{{"model":"m","messages":[{messages}]}}"#);
    let first = r#"{"role":"user","content":"one"},{"role":"assistant","content":"two"}"#;
    let more = r#"{"role":"user","content":"three"},{"role":"assistant","content":"four"}"#;
    let gemini = |messages: &str, updated: u32| {
        format!(
            r#"{{"sessionId":"eae05d18-0d74-4354-814e-0227a736ad82","projectHash":"ab","startTime":"2026-06-01T22:37:47.469Z","lastUpdated":"2026-06-01T22:3{updated}:57.757Z","messages":[{messages}]}}"#
        )
    };
    let message = |id: u32, kind: &str, text: &str| {
        format!(
            r#"{{"id":"825ca01b-3709-47ad-9c11-00000000000{id}","timestamp":"2026-06-01T22:37:5{id}.000Z","type":"{kind}","content":"{text}"}}"#
        )
    };
    let questions = [message(1, "user", "one"), message(2, "gemini", "two")].join(",");
    let partial = [message(1, "user", "one"), message(2, "gemini", "two and")].join(",");
    let whole = [
        message(1, "user", "one"),
        message(2, "gemini", "two and more"),
        message(3, "user", "three"),
    ]
    .join(",");
    let code = [
        claude("user", "u1", "", "one"),
        claude("assistant", "a1", "u1", "two"),
        claude("user", "u2", "a1", "three"),
        claude("assistant", "a2", "u2", "four"),
    ];
    let aider = "\n# aider chat started at 2026-06-01 10:00:00\n\n#### one\n\ntwo\n";
    vec![
        ("native.jsonl", beginning(CHAT, 6), CHAT.to_string()),
        (
            "bare.jsonl",
            "{\"role\":\"user\",\"content\":\"one\"}\n".into(),
            "{\"role\":\"user\",\"content\":\"one\"}\n{\"role\":\"assistant\",\"content\":\"two\"}\n".into(),
        ),
        ("request.json", openai(first), openai(&format!("{first},{more}"))),
        (
            "gemini.json",
            gemini(&questions, 8),
            gemini(&format!("{questions},{}", message(3, "user", "three")), 9),
        ),
        ("partial.json", gemini(&partial, 8), gemini(&whole, 9)),
        ("claude.jsonl", code[..2].concat(), code.concat()),
        (
            "history.aider.md",
            aider.into(),
            format!("{aider}\n#### three\n\nfour\n"),
        ),
        (
            "more.aider.md",
            aider.into(),
            format!("{aider}\n# aider chat started at 2026-06-02 10:00:00\n\n#### three\n\nfour\n"),
        ),
    ]
}

/// The views stored by a run that sees the source for the first time.
fn views(env: &Env) -> Vec<String> {
    let ids = env.run(&["list"]).status(0).out().to_string();
    let mut ids: Vec<&str> = ids.lines().filter_map(|line| line.split('\t').next()).collect();
    ids.sort_unstable();
    let view = |id: &&str| {
        let view = env.run(&["context", id]).status(0).out().to_string();
        view.split_once('\n')
            .map_or(String::new(), |(_, messages)| format!("{id}\n{messages}"))
    };
    ids.iter().map(view).collect()
}

#[test]
fn new_messages_of_a_source_are_appended() {
    for (name, before, after) in sources() {
        let env = Env::new();
        env.write(name, &before);
        env.run(&["migrate", name]).status(0);
        let old = contents(&env.store().join("sessions"));
        env.write(name, &after);
        let dry = env.run(&["migrate", "-n", name]).status(0).out().to_string();
        let run = env.run(&["migrate", name]).status(0).out().to_string();
        // A second session in the file is new, not an update.
        let word = if name == "more.aider.md" {
            "migrated"
        } else {
            "updated"
        };
        assert!(run.starts_with(&format!("{word}\t{name}\t")), "{name}: {run}");
        assert!(dry.starts_with("would-"), "{name}: {dry}");
        let new = contents(&env.store());
        for (path, bytes) in old {
            assert!(new[&path].starts_with(&bytes), "{name}: {path} was rewritten");
        }
        // A repeated run does nothing.
        let again = env.run(&["migrate", name]).status(0).out().to_string();
        assert!(again.starts_with("skipped\t"), "{name}: {again}");
        assert_eq!(contents(&env.store()), new, "{name}");
        env.run(&["fsck"]).status(0);
        let fresh = Env::new();
        fresh.write(name, &after);
        fresh.run(&["migrate", name]).status(0);
        assert_eq!(views(&env), views(&fresh), "{name}");
    }
}

#[test]
fn a_directory_of_files_is_updated() {
    for to in ["native", "openai-chat", "gemini-cli", "claude-code", "picoclaw"] {
        for (name, before, after) in sources().into_iter().filter(|(name, ..)| *name != "partial.json") {
            let env = Env::new();
            let arguments = ["migrate", "--to", to, "--output-dir", "out", name];
            env.write(name, &before);
            env.run(&arguments).status(0);
            env.write(name, &after);
            let run = env.run(&arguments).status(0).out().to_string();
            let word = if name == "more.aider.md" {
                "migrated"
            } else {
                "updated"
            };
            assert!(run.starts_with(word), "{to}, {name}: {run}");
            let new = contents(&env.work().join("out"));
            let again = env.run(&arguments).status(0).out().to_string();
            assert!(again.starts_with("skipped\t"), "{to}, {name}: {again}");
            assert_eq!(contents(&env.work().join("out")), new, "{to}, {name}");
            let fresh = Env::new();
            fresh.write(name, &after);
            fresh.run(&arguments).status(0);
            if to != "native" {
                let names = |all: &BTreeMap<String, Vec<u8>>| all.values().cloned().collect::<Vec<_>>();
                assert_eq!(
                    names(&new),
                    names(&contents(&fresh.work().join("out"))),
                    "{to}, {name}"
                );
            }
        }
    }
}

/// An edited prompt creates a branch: the view follows it, and the old branch becomes a separate session.
#[test]
fn an_abandoned_branch_is_replaced() {
    let env = Env::new();
    let lines = [
        claude("user", "u1", "", "one"),
        claude("assistant", "a1", "u1", "two"),
        claude("user", "u2", "a1", "three"),
        claude("assistant", "a2", "u2", "four"),
    ];
    env.write("c.jsonl", lines.concat());
    env.run(&["migrate", "c.jsonl"]).status(0);
    let branch = [
        claude("user", "u33", "a1", "other"),
        claude("assistant", "a33", "u33", "answer"),
    ];
    env.write("c.jsonl", [lines.concat(), branch.concat()].concat());
    env.run(&["migrate", "c.jsonl"])
        .status(0)
        .gives("updated\tc.jsonl\t2 sessions\t6\n");
    let view = env.run(&["context", CLAUDE]).status(0).out().to_string();
    assert!(view.contains("answer") && !view.contains("four"), "{view}");
    let log = env.run(&["cat", CLAUDE]).status(0).out().to_string();
    assert!(log.contains("four"), "{log}");
    env.run(&["migrate", "c.jsonl"]).status(0);
    env.run(&["fsck"]).status(0);
    // The event can be undone like any other.
    env.run(&["restore", CLAUDE]).status(0);
    assert!(env.run(&["context", CLAUDE]).status(0).out().contains("four"));
}

#[test]
fn changes_in_the_store_are_kept() {
    let changes: [&[&[&str]]; 3] = [
        &[&["truncate", "trip", "--keep-last", "0"]],
        &[&["truncate", "trip", "--keep-last", "0"], &["gc", "trip"]],
        &[
            &["truncate", "trip", "--keep-last", "0"],
            &["gc", "trip", "--discard"],
        ],
    ];
    for change in changes {
        let env = Env::new();
        env.write("t.jsonl", beginning(CHAT, 6));
        env.run(&["migrate", "t.jsonl"]).status(0);
        for arguments in change {
            env.run(arguments).status(0);
        }
        let hidden = env.run(&["context", "trip"]).status(0).out().to_string();
        env.write("t.jsonl", CHAT);
        let run = env.run(&["migrate", "t.jsonl"]);
        if change.last().is_some_and(|last| last.contains(&"--discard")) {
            // Only the log contains the removed lines.
            run.status(73);
            continue;
        }
        run.status(0).gives("updated\tt.jsonl\ttrip\t7\n");
        let view = env.run(&["context", "trip"]).status(0).out().to_string();
        assert!(
            view.starts_with(&hidden) && view.contains("Rain."),
            "{change:?}: {view}"
        );
        assert!(!view.contains("sunny"), "{change:?}: {view}");
        let after = contents(&env.store());
        env.run(&["migrate", "t.jsonl"])
            .status(0)
            .gives("skipped\tt.jsonl\ttrip\t7\n");
        assert_eq!(contents(&env.store()), after);
    }
}

#[test]
fn messages_on_both_sides_are_a_conflict() {
    for (name, before, after) in sources()
        .into_iter()
        .filter(|(name, ..)| *name != "more.aider.md")
    {
        let env = Env::new();
        env.write(name, &before);
        env.run(&["migrate", name]).status(0);
        env.run(&["append", "@last", "Said here."]).status(0);
        env.run(&["migrate", name]).status(0);
        let here = contents(&env.store());
        env.write(name, &after);
        let run = env.run(&["migrate", name]).status(73);
        run.says("different content");
        assert_eq!(contents(&env.store()), here, "{name}");
        // The older version of the source is back.
        env.write(name, &before);
        env.run(&["migrate", name]).status(0);
    }
}

#[test]
fn an_older_copy_removes_nothing() {
    for (name, before, after) in sources() {
        let env = Env::new();
        env.write(name, &after);
        env.run(&["migrate", name]).status(0);
        let all = contents(&env.store());
        env.write(name, &before);
        // A truncated answer is a different message.
        let status = if name == "partial.json" { 73 } else { 0 };
        env.run(&["migrate", name]).status(status);
        assert_eq!(contents(&env.store()), all, "{name}");
    }
}

#[test]
fn a_changed_message_is_a_conflict() {
    for (name, before, after) in sources()
        .into_iter()
        .filter(|(name, ..)| *name != "more.aider.md")
    {
        let env = Env::new();
        env.write(name, &before);
        env.run(&["migrate", name]).status(0);
        let all = contents(&env.store());
        let changed = after.replacen("one", "ein", 1).replacen("Paris?", "Rome?", 1);
        assert_ne!(changed, after, "{name}");
        env.write(name, changed);
        env.run(&["migrate", name]).status(73);
        assert_eq!(contents(&env.store()), all, "{name}");
    }
}

#[test]
fn no_update_refuses_new_messages() {
    let env = Env::new();
    env.write("t.jsonl", beginning(CHAT, 6));
    env.run(&["migrate", "t.jsonl"]).status(0);
    let all = contents(&env.store());
    env.write("t.jsonl", CHAT);
    env.run(&["migrate", "--no-update", "t.jsonl"])
        .status(73)
        .says("the source has more messages than session trip")
        .gives("conflict\tt.jsonl\ttrip\t7\n");
    assert_eq!(contents(&env.store()), all);
    let json = env
        .run(&["migrate", "--json", "t.jsonl"])
        .status(0)
        .out()
        .to_string();
    assert!(
        json.contains(r#""outcome":"updated""#) && json.contains(r#""outcomes":{"updated":1}"#),
        "{json}"
    );
}

/// Header changes made in the store override those of the source.
#[test]
fn the_header_follows_the_source_unless_changed_locally() {
    let env = Env::new();
    let summary =
        |text: &str| format!("{{\"type\":\"summary\",\"summary\":\"{text}\",\"leafUuid\":\"a1\"}}\n");
    let lines = [
        claude("user", "u1", "", "one"),
        claude("assistant", "a1", "u1", "two"),
    ]
    .concat();
    env.write("c.jsonl", &lines);
    env.run(&["migrate", "c.jsonl"]).status(0);
    env.write("c.jsonl", format!("{lines}{}", summary("First")));
    env.run(&["migrate", "c.jsonl"]).status(0);
    let list = env.run(&["list"]).status(0).out().to_string();
    assert!(list.contains("First"), "{list}");
}
