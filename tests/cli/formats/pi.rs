//! Tests pi files: branches, and changes that append entries.

use crate::env::{CHAT, Env};

/// A file with an inactive branch.
fn file() -> String {
    let entry = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-11-01T10:00:01.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"timestamp":1,"cost":5e-06}}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"tree","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/w"}"#
            .to_string(),
        entry("a", "null", "user", "ask"),
        entry("b", "\"a\"", "assistant", "answer"),
        entry("c", "\"b\"", "user", "left"),
        entry("d", "\"b\"", "user", "more"),
        entry("e", "\"d\"", "assistant", "last"),
    ];
    lines.join("\n") + "\n"
}

#[test]
fn branches_are_separate_sessions() {
    let env = Env::new();
    env.write("tree.jsonl", file());
    let lines = env.run(&["cat", "tree.jsonl"]).fine().objects();
    let headers: Vec<_> = lines.iter().filter(|line| line["type"] == "session").collect();
    assert_eq!(headers.len(), 2);
    assert_eq!(headers[1]["metadata"]["lineage"]["kind"], "branch");
    assert_eq!(headers[1]["metadata"]["lineage"]["at"], "b");
    assert_eq!(lines.iter().filter(|line| line["role"].is_string()).count(), 5);
    env.run(&["cat", "--to", "pi", "tree.jsonl"]).fine().gives(file());
}

#[test]
fn a_cut_adds_an_entry_and_changes_none() {
    let env = Env::new();
    env.write("tree.jsonl", file());
    let cut = [
        "truncate", "--keep-last", "1", "--session", "1", "-i", "tree.jsonl",
    ];
    env.run(&cut).status(0);
    let after = env.read("tree.jsonl");
    let more = after.strip_prefix(&file()).unwrap();
    assert_eq!(more.lines().count(), 1);
    let entry: serde_json::Value = serde_json::from_str(more).unwrap();
    assert_eq!(entry["type"], "compaction");
    assert_eq!(entry["parentId"], "e");
    assert_eq!(entry["firstKeptEntryId"], "d");
    // A repeated cut finds nothing.
    env.run(&cut).status(0);
    assert_eq!(env.read("tree.jsonl"), after);
}

#[test]
fn any_session_is_a_file_of_the_third_version() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "pi"], CHAT).fine();
    let entries = built.objects();
    assert_eq!(entries[0]["version"], 3);
    assert_eq!(entries.last().unwrap()["message"]["content"][0]["text"], "Rain.");
    env.write("made.jsonl", built.out());
    let texts = env
        .run(&["cat", "-q", "--to", "openai-chat", "made.jsonl"])
        .fine();
    assert!(texts.out().contains("22 C, sunny"));
    env.run(&["check", "--for", "openai-chat", "made.jsonl"])
        .status(0);
}

#[test]
fn damage_is_reported_with_its_line_and_preserved() {
    let env = Env::new();
    let damaged = file().replacen("\"left\"", "left\"", 1);
    env.write("tree.jsonl", &damaged);
    env.run(&["count", "tree.jsonl"])
        .status(65)
        .says("tree.jsonl:4: byte ");
}

#[test]
fn an_unknown_version_is_reported() {
    let env = Env::new();
    env.write("newer.jsonl", file().replace("\"version\":3", "\"version\":9"));
    let run = env.run(&["cat", "newer.jsonl"]).status(65);
    assert_eq!(
        run.objects()
            .iter()
            .filter(|line| line["role"].is_string())
            .count(),
        5
    );
    run.says("newer.jsonl:1: byte 0: unknown format version 9");
}

/// Entries that the file itself hides are not compactions by convo and do not affect a budget.
#[test]
fn hidden_entries_do_not_block_a_compaction() {
    let env = Env::new();
    let run = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-11-01T10:00:02.000Z","message":{{"role":"bashExecution","command":"ls","output":"x","exitCode":0,"excludeFromContext":true,"timestamp":1}}}}"#
        )
    };
    let long = file().replace("answer", &"A long answer about many things. ".repeat(200));
    let hidden = [run("h1", "e"), run("h2", "h1"), run("h3", "h2"), run("h4", "h3")].join("\n");
    env.write("hidden.jsonl", format!("{long}{hidden}\n"));
    env.run(&["compact", "--budget", "400", "hidden.jsonl"]).status(0);
}

#[test]
fn a_damaged_line_does_not_split_a_session() {
    let env = Env::new();
    let whole = file();
    let third = whole.lines().nth(2).unwrap();
    // Cut off after its ids, and completely damaged.
    for damaged in [&third[..120], "#####"] {
        env.write("tree.jsonl", whole.replace(third, damaged));
        let run = env.run(&["cat", "tree.jsonl"]).status(65);
        let lines = run
            .out()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let headers: Vec<serde_json::Value> = lines
            .filter(|line: &serde_json::Value| line["type"] == "session")
            .collect();
        assert_eq!(headers.len(), 2, "{damaged}: {run}");
        assert_eq!(headers[1]["metadata"]["lineage"]["kind"], "branch");
        let main: Vec<_> = run
            .out()
            .split(r#""kind":"branch""#)
            .next()
            .unwrap()
            .lines()
            .collect();
        for text in ["ask", "more", "last"] {
            assert!(
                main.iter()
                    .any(|line| line.contains(&format!("\"text\":\"{text}\""))),
                "{damaged}: {run}"
            );
        }
        // New entries are linked to a readable entry.
        env.run(&["append", "-i", "tree.jsonl", "And?"]).status(65);
        assert!(
            env.read("tree.jsonl")
                .lines()
                .last()
                .unwrap()
                .contains(r#""parentId":"e""#)
        );
    }
    let last = whole.lines().last().unwrap();
    env.write("torn.jsonl", whole.replace(last, &last[..100]).trim_end());
    env.run(&["append", "-i", "torn.jsonl", "And?"]).status(65);
    assert!(
        env.read("torn.jsonl")
            .lines()
            .last()
            .unwrap()
            .contains(r#""parentId":"d""#)
    );
}

#[test]
fn the_newest_messages_are_hidden_in_place() {
    let said = concat!(
        r#"{"role":"user","content":"q1"}"#,
        "\n",
        r#"{"role":"assistant","content":"a1"}"#,
        "\n",
        r#"{"role":"user","content":"q2"}"#,
        "\n",
        r#"{"role":"assistant","content":"a2"}"#,
        "\n",
    );
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "pi"], said).out().to_string();
    for (change, left) in [
        (&["undo"][..], "q1 a1 q2"),
        (&["keep", "--exchange", "1"], "q1 a1"),
        (&["drop", "--exchange", "2"], "q1 a1"),
    ] {
        env.write("s.jsonl", &built);
        env.run(&[change, &["-q", "-i", "s.jsonl"]].concat()).fine();
        let after = env.read("s.jsonl");
        let entry = after.strip_prefix(&built).unwrap();
        assert!(entry.starts_with(r#"{"type":"custom""#), "{entry}");
        let view = env
            .run(&["context", "-q", "--to", "native", "s.jsonl"])
            .fine()
            .objects();
        let texts = view.iter().filter_map(|line| {
            line["content"]
                .as_str()
                .or_else(|| line["content"][0]["text"].as_str())
        });
        assert_eq!(texts.collect::<Vec<_>>().join(" "), left, "{change:?}");
        env.write("whole.jsonl", &built);
        env.run(&[change, &["-q", "--to", "pi", "whole.jsonl"]].concat())
            .fine()
            .gives(&after);
    }
}
