//! `convo diff`.

use crate::env::{CHAT, Env};

const A: &str = concat!(
    "{\"role\":\"user\",\"content\":\"Please update the file hello.txt\"}\n",
    "{\"role\":\"assistant\",\"content\":\"I will update the file now\",\"timestamp\":\"2026-01-02T20:38:11Z\"}\n",
    "{\"role\":\"user\",\"content\":\"Thanks\"}\n",
    "{\"role\":\"user\",\"content\":\"A lot\"}\n",
    "{\"role\":\"assistant\",\"content\":\"Anything else?\"}\n",
);
const B: &str = concat!(
    "{\"role\":\"user\",\"content\":\"Please update the file hello.txt\"}\n",
    "{\"role\":\"assistant\",\"content\":\"I did update the file now\",\"timestamp\":\"2026-01-02T20:38:11Z\"}\n",
    "{\"role\":\"user\",\"content\":\"Go on\\u001b[31m\"}\n",
    "{\"role\":\"assistant\",\"content\":\"Anything else?\"}\n",
);

fn two() -> Env {
    let env = Env::new();
    env.write("a.jsonl", A);
    env.write("b.jsonl", B);
    env
}

#[test]
fn differences_are_shown_message_by_message() {
    let env = two();
    let run = env.run(&["diff", "a.jsonl", "b.jsonl"]).status(1);
    assert_eq!(run.stderr, "", "{run}");
    run.gives(concat!(
        "--- a.jsonl  5 messages\n",
        "+++ b.jsonl  4 messages\n",
        "  1    1 equal\n",
        "~ 2    assistant 2026-01-02T20:38:11Z   content\n",
        "       - I will update the file now\n",
        "       + I did update the file now\n",
        "- 3-4  user, user                       11 bytes\n",
        "+ 3    user                             Go on\u{241b}[31m\n",
        "  4    1 equal\n",
        "1 changed, 1 added, 2 dropped, 2 equal\n",
    ));
    env.run(&["diff", "a.jsonl", "a.jsonl"])
        .fine()
        .says("")
        .gives("--- a.jsonl  5 messages\n+++ a.jsonl  5 messages\n  1-5  5 equal\n5 equal\n");
    env.run(&["diff", "-q", "a.jsonl", "b.jsonl"]).status(1).gives("");
    env.run(&["diff", "-q", "a.jsonl", "a.jsonl"]).fine().gives("");
    env.pipe(&["diff", "-q", "a.jsonl", "-"], A).fine();
}

#[test]
fn json_has_an_object_for_each_difference_and_the_totals() {
    let env = two();
    let objects = env
        .run(&["diff", "--json", "a.jsonl", "b.jsonl"])
        .status(1)
        .objects();
    let ops: Vec<&str> = objects
        .iter()
        .filter_map(|object| object["op"].as_str())
        .collect();
    assert_eq!(ops, ["change", "drop", "drop", "add", "total"]);
    assert_eq!(objects[0]["fields"], serde_json::json!(["content"]));
    assert_eq!(objects[0]["a"]["line"], 2);
    assert_eq!(objects[0]["bytes"], serde_json::json!([26, 25]));
    assert_eq!(objects[3]["a"], serde_json::Value::Null);
    assert_eq!(objects[4]["dropped"], 2);
    assert!(objects.iter().all(|object| object["schema"] == "convo.diff/1"));
}

#[test]
fn one_session_is_compared_with_its_earlier_state() {
    let env = Env::with_chat();
    env.run(&["diff", "trip"])
        .status(1)
        .says("trip: no change to compare with")
        .says("hint: compare two sessions with: convo diff A B");
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    let run = env.run(&["diff", "trip"]).status(1);
    let before = run.out().lines().next().unwrap().to_string();
    assert!(before.starts_with("--- trip before evt_"), "{run}");
    assert!(run.out().contains("dropped"), "{run}");
    // The log is unchanged.
    env.run(&["diff", "--log", "trip"]).fine();
    // The first of several changes; a title is a change of the header.
    let event = before.split(' ').nth(3).unwrap().to_string();
    env.run(&["title", "-q", "trip", "Rome"]).fine();
    let run = env.run(&["diff", "trip"]).status(1);
    assert!(run.out().contains("~ session: title"), "{run}");
    let run = env.run(&["diff", "--event", &event, "trip"]).status(1);
    assert!(
        run.out().contains("dropped") && run.out().contains("~ session: title"),
        "{run}"
    );
    env.run(&["diff", "--event", "evt_0", "trip"])
        .status(1)
        .says("no such event: evt_0");
}

#[test]
fn sessions_of_different_formats_are_compared_as_messages() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    let converted = env.run(&["cat", "-q", "--to", "openai-chat", "chat.jsonl"]);
    env.write("chat.json", converted.out());
    let run = env.run(&["diff", "chat.jsonl", "chat.json"]).fine();
    assert!(run.out().ends_with(" equal\n"), "{run}");
}

#[test]
fn several_sessions_are_paired_by_their_ids() {
    let env = Env::new();
    let one = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\"}}\n{{\"role\":\"user\",\"content\":\"{text}\"}}\n"
        )
    };
    env.write("a.jsonl", one("x", "one") + &one("y", "two"));
    env.write("b.jsonl", one("y", "two") + &one("z", "three"));
    let run = env.run(&["diff", "a.jsonl", "b.jsonl"]).status(1);
    for part in [
        "+++ b.jsonl (no session x)", "--- a.jsonl#y", "--- a.jsonl (no session z)", "1 equal",
    ] {
        assert!(run.out().contains(part), "{part}: {run}");
    }
    env.write("c.jsonl", one("v", "one") + &one("w", "two"));
    env.run(&["diff", "a.jsonl", "c.jsonl"])
        .status(2)
        .says("a.jsonl and c.jsonl share no session id");
}

#[test]
fn rows_are_counted_by_role_and_tool() {
    let env = two();
    let run = env
        .run(&["diff", "--stat", "--tokenizer", "chars4", "a.jsonl", "b.jsonl"])
        .status(1);
    let rows: Vec<Vec<&str>> = run.out().lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 3, "{run}");
    assert_eq!(rows[0][..4], ["assistant", "0", "0", "1"]);
    assert_eq!(rows[1][..4], ["user", "1", "2", "0"]);
    assert_eq!(rows[2][..4], ["total", "1", "2", "1"]);
    assert_ne!(rows[2][4], rows[2][5]);
}

#[test]
fn facts_lost_by_a_compaction_are_listed() {
    let env = two();
    env.write(
        "rules.jsonl",
        "{\"role\":\"user\",\"content\":\"Always answer in French. See src/main.rs\"}\n{\"role\":\"assistant\",\"content\":\"Oui.\"}\n",
    );
    env.write(
        "after.jsonl",
        "{\"role\":\"assistant\",\"content\":\"Oui, src/main.rs\"}\n",
    );
    let run = env
        .run(&["diff", "--dropped", "rules.jsonl", "after.jsonl"])
        .status(1);
    run.says("kept 0 of 1 rule, 1 of 1 path")
        .gives("rule\tAlways answer in French.\t1\n");
    env.run(&[
        "diff", "--dropped", "--fail-on", "path", "rules.jsonl", "after.jsonl",
    ])
    .status(0);
    let objects = env
        .run(&[
            "diff", "--dropped", "--all", "--json", "rules.jsonl", "after.jsonl",
        ])
        .status(1)
        .objects();
    let kept: Vec<_> = objects
        .iter()
        .filter_map(|object| object["kept"].as_bool())
        .collect();
    assert_eq!(kept, [false, true]);
    env.run(&["diff", "--dropped", "--fail-on", "rules", "a.jsonl", "b.jsonl"])
        .status(2)
        .says("expected some of rule, decision");
}

#[test]
fn facts_of_a_reminder_are_not_those_of_the_user() {
    let env = two();
    let reminder =
        "<system-reminder>We decided to use bananas, see src/fence.txt. Never push.</system-reminder>";
    for first in [
        format!(r#"[{{"type":"text","text":"{reminder}"}},{{"type":"text","text":"Make it faster."}}]"#),
        format!(r#""{reminder}\\nMake it faster.""#),
    ] {
        let lines = format!(
            "{{\"role\":\"user\",\"content\":{first}}}\n{{\"role\":\"assistant\",\"content\":\"Yes.\"}}\n"
        );
        env.write("reminded.jsonl", &lines);
        env.write("after.jsonl", "{\"role\":\"assistant\",\"content\":\"Yes.\"}\n");
        let run = env
            .run(&["diff", "--dropped", "reminded.jsonl", "after.jsonl"])
            .status(0);
        assert!(
            !run.out().contains("banana") && !run.out().contains("reminder"),
            "{run}"
        );
    }
}

#[test]
fn git_shows_the_difference_of_sessions() {
    let env = two();
    env.write("session.jsonl", A);
    let run = env.shell(
        "git init -q . && git config user.name ann && git config user.email ann@example.com &&
         echo '*.jsonl diff=convo' > .gitattributes && git config diff.convo.command 'convo diff --git' &&
         git add session.jsonl && git commit -qm one && cp b.jsonl session.jsonl && git --no-pager diff",
    );
    let run = run.status(0);
    assert!(
        run.out()
            .starts_with("diff --convo a/session.jsonl b/session.jsonl\n---"),
        "{run}"
    );
    assert!(run.out().contains("+ I did update the file now"), "{run}");
    // For a new file, git passes /dev/null.
    let run = env
        .shell("git add -N a.jsonl && git --no-pager diff a.jsonl")
        .status(0);
    assert!(run.out().contains("5 added"), "{run}");
}

#[test]
fn bad_operands_are_refused() {
    let env = two();
    env.run(&["diff", "-", "-"])
        .status(2)
        .says("standard input can be read only once");
    env.run(&["diff", "a", "b", "c"])
        .status(2)
        .says("diff takes two inputs, not 3");
    env.run(&["diff", "a.jsonl", "missing.jsonl"]).status(66);
    env.run(&["diff", "--git", "a.jsonl", "b.jsonl"])
        .status(2)
        .says("git config diff.convo.command 'convo diff --git'");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_terminal_shows_times_of_day_and_fits_its_width() {
    let env = two();
    let run = env.terminal((60, 50), "convo diff --utc a.jsonl b.jsonl");
    assert!(run.out().contains("assistant 20:38"), "{run}");
    assert!(!run.out().contains("\u{1b}[31m\u{1b}"), "{run}");
}
