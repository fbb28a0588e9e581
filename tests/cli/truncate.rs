//! `convo truncate`.

use crate::env::{BARE, CHAT, Env, OPENAI};

const HEADER_AND_RULE: &str = concat!(
    r#"{"type":"session","version":1,"id":"trip","created_at":"2026-11-01T10:00:00Z","title":"Trip"}"#,
    "\n",
    r#"{"role":"system","content":"You are terse.","id":"m1"}"#,
    "\n",
);

/// The lines of the chat with these numbers, counted from 0.
fn lines(numbers: impl IntoIterator<Item = usize>) -> String {
    let all: Vec<&str> = CHAT.split_inclusive('\n').collect();
    numbers.into_iter().map(|number| all[number]).collect()
}

#[test]
fn a_stream_is_printed_without_cut_messages() {
    let env = Env::new();
    let cut = |options: &[&str]| {
        env.pipe(&[&["truncate"], options].concat(), CHAT)
            .status(0)
            .out()
            .to_string()
    };
    assert_eq!(cut(&["--keep-last", "1"]), lines([0, 1, 6, 7]));
    assert_eq!(cut(&["--keep-last", "2"]), CHAT);
    assert_eq!(cut(&["--keep-last", "0"]), HEADER_AND_RULE);
    assert_eq!(cut(&["--all"]), HEADER_AND_RULE);
    assert_eq!(cut(&["--keep-messages", "2"]), lines([0, 1, 6, 7]));
    // Outward to the next exchange: a call keeps its result.
    assert_eq!(cut(&["--keep-messages", "3"]), CHAT);
    assert_eq!(cut(&["--before", "m6"]), lines([0, 1, 6, 7]));
    assert_eq!(cut(&["--before", "m4"]), CHAT);
}

#[test]
fn in_the_store_it_is_one_event() {
    let env = Env::with_chat();
    let run = env
        .run(&["truncate", "trip", "--keep-last", "1"])
        .status(0)
        .gives("");
    assert_eq!(run.stderr, "convo: trip: dropped 4 of 7 messages\n");
    let log = env.run(&["cat", "trip"]).fine();
    snapshot!("truncate_event", log.out().strip_prefix(CHAT).unwrap());
    // The filter gives the same as the store.
    let view = env.run(&["context", "trip"]).fine().stdout;
    env.pipe(&["truncate", "--keep-last", "1"], CHAT)
        .status(0)
        .gives(&view);
    env.run(&["truncate", "trip", "--keep-last", "1"])
        .status(0)
        .says("convo: trip: unchanged: nothing to drop\n");
    env.run(&["cat", "trip"]).fine().gives(log.stdout);
}

/// Context messages with a system role are not part of an exchange.
#[test]
fn instructions_and_context_in_their_role_are_kept() {
    let env = Env::new();
    let session = concat!(
        r#"{"role":"system","content":"rules","id":"s1"}"#,
        "\n",
        r#"{"role":"system","content":"document","category":"context","id":"s2"}"#,
        "\n",
        r#"{"role":"user","content":"event","category":"context","id":"e1"}"#,
        "\n",
        r#"{"role":"user","content":"a","id":"m1"}"#,
        "\n",
        r#"{"role":"assistant","content":"b","id":"m2"}"#,
        "\n",
        r#"{"role":"user","content":"c","id":"m3"}"#,
        "\n",
    );
    let ids = |run: &str| -> Vec<String> {
        let lines = run
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines
            .map(|line| line["id"].as_str().unwrap().to_string())
            .collect()
    };
    for (cut, kept) in [
        (&["--keep-last", "1"][..], &["s1", "s2", "m3"][..]),
        (&["--keep-messages", "1"], &["s1", "s2", "m3"]),
        (&["--before", "m3"], &["s1", "s2", "m3"]),
        (&["--all"], &["s1", "s2"]),
    ] {
        let run = env.pipe(&[&["truncate", "-q"], cut].concat(), session).fine();
        assert_eq!(ids(run.out()), kept, "{cut:?}");
    }
    env.write("new.jsonl", session);
    env.run(&["migrate", "-q", "new.jsonl"]).fine();
    env.run(&["truncate", "new", "--all"])
        .status(0)
        .says("dropped 4 of 6 messages");
    assert_eq!(
        ids(env.run(&["context", "new"]).fine().out()),
        ["new", "s1", "s2"]
    );
}

/// The summary comes before the kept messages and does not move the cut into an exchange.
#[test]
fn a_summary_does_not_move_a_cut_into_an_exchange() {
    let env = Env::new();
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"id":"m4"}"#;
    let session = [
        r#"{"type":"session","version":1,"id":"s"}"#,
        r#"{"type":"summary","id":"evt_s","at":"2026-01-01T00:00:00Z","content":"Earlier things.","here":true,"by":"extract"}"#,
        r#"{"role":"user","content":"a","id":"m1"}"#,
        r#"{"role":"assistant","content":"b","id":"m2"}"#,
        r#"{"role":"user","content":"c","id":"m3"}"#,
        call,
        r#"{"role":"tool","tool_call_id":"c","content":"r","id":"m5"}"#,
        r#"{"role":"user","content":"meanwhile","category":"context","id":"e6"}"#,
        r#"{"role":"assistant","content":"d","id":"m7"}"#,
    ]
    .join("\n");
    for keep in 1..=5 {
        let keep = keep.to_string();
        let run = env
            .pipe(&["truncate", "-q", "--keep-messages", &keep], &session)
            .fine();
        let kept: Vec<String> = run.objects()[2..]
            .iter()
            .map(|line| line["id"].to_string())
            .collect();
        assert_eq!(kept.join(" "), r#""m3" "m4" "m5" "e6" "m7""#, "{keep}: {run}");
    }
    let run = env.pipe(&["truncate", "-q", "--before", "m7"], &session).fine();
    assert_eq!(run.objects().len(), 7, "{run}");
    env.pipe(&["truncate", "-q", "--keep-messages", "6"], &session)
        .fine()
        .gives(&session);
}

#[test]
fn the_log_instead_of_the_result() {
    let env = Env::new();
    let run = env
        .pipe(&["truncate", "--log", "--keep-last", "1"], CHAT)
        .status(0);
    assert!(run.out().starts_with(CHAT));
    env.pipe(&["context"], &run.stdout)
        .fine()
        .gives(lines([0, 1, 6, 7]));
}

#[test]
fn streaming_a_stored_session_leaves_the_store_unchanged() {
    let env = Env::with_chat();
    env.run(&["truncate", "trip", "--stdout", "--all"])
        .status(0)
        .gives(HEADER_AND_RULE);
    env.run(&["truncate", "trip", "-o", "cut.jsonl", "--all"])
        .status(0)
        .gives("");
    assert_eq!(env.read("cut.jsonl"), HEADER_AND_RULE);
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn a_file_is_changed_in_place_in_its_own_format() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    env.run(&["truncate", "-i=.bak", "--keep-last", "1", "chat.jsonl"])
        .status(0)
        .gives("");
    assert_eq!(
        (env.read("chat.jsonl"), env.read("chat.jsonl.bak")),
        (lines([0, 1, 6, 7]), CHAT.to_string())
    );
    env.write("bare.jsonl", BARE);
    env.run(&["truncate", "-i", "--all", "bare.jsonl"]).status(0);
    assert_eq!(env.read("bare.jsonl"), "");
    env.write("request.json", OPENAI);
    env.run(&["truncate", "-i", "--keep-last", "1", "request.json"])
        .status(0);
    let kept: serde_json::Value = serde_json::from_str(&env.read("request.json")).unwrap();
    assert_eq!(kept["messages"].as_array().or(kept.as_array()).unwrap().len(), 2);
    assert!(!env.store().exists());
}

#[test]
fn a_file_is_unchanged_when_one_of_its_sessions_cannot_be_changed() {
    let env = Env::new();
    let two = concat!(
        r#"{"type":"session","version":1,"id":"a"}"#,
        "\n",
        r#"{"role":"user","content":"1","id":"m1"}"#,
        "\n",
        r#"{"type":"session","version":1,"id":"b"}"#,
        "\n",
        r#"{"role":"user","content":"2","id":"m2"}"#,
        "\n",
    );
    for id in ["m1", "m2"] {
        env.write("two.jsonl", two);
        env.run(&["truncate", "-i", "--before", id, "two.jsonl"])
            .status(1)
            .says(&format!("convo: two.jsonl: no such message in the view: {id}"));
        assert_eq!(env.read("two.jsonl"), two);
    }
}

#[test]
fn in_place_needs_a_file() {
    let env = Env::new();
    env.pipe(&["truncate", "-i", "--all"], CHAT)
        .status(2)
        .says("-i requires a file");
}

#[test]
fn in_place_is_refused_for_a_session_of_the_store() {
    let env = Env::with_chat();
    env.run(&["truncate", "-i", "--all", "trip"]).status(2);
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn a_dry_run_and_objects() {
    let env = Env::with_chat();
    snapshot!("truncate_dry_run", env.run(&["truncate", "-n", "--all", "trip"]));
    env.run(&["cat", "trip"]).fine().gives(CHAT);
    snapshot!("truncate_json", env.run(&["truncate", "--json", "--all", "trip"]));
    snapshot!(
        "truncate_json_again",
        env.run(&["truncate", "--json", "--all", "trip"])
    );
}

#[test]
fn damaged_lines_are_kept() {
    let env = Env::new();
    let input = format!("broken 1\n{BARE}broken 2\r\n{{\"role\":\"user\",\"content\":\"3\"}}\nbroken 3");
    let run = env
        .pipe(&["truncate", "--from", "jsonl", "--all"], &input)
        .status(65);
    snapshot!("truncate_damaged", run.stderr);
    run.gives("broken 1\nbroken 2\r\nbroken 3");
}

#[test]
fn several_sessions_are_cut_one_by_one() {
    let env = Env::with_chat();
    let out = env
        .pipe(&["truncate", "--keep-last", "1"], format!("{CHAT}{CHAT}"))
        .status(0);
    assert_eq!(out.out(), lines([0, 1, 6, 7, 0, 1, 6, 7]));
    let run = env.run(&["truncate", "--all", "nobody", "trip"]).status(66);
    snapshot!("truncate_some_fail", run.stderr);
    env.run(&["context", "trip"]).fine().gives(HEADER_AND_RULE);
    env.pipe(&["truncate", "--all", "trip", "-"], CHAT)
        .status(2)
        .says("cannot mix stored sessions with files or standard input");
}

/// Ids of other systems need not be unique.
#[test]
fn duplicate_ids_do_not_move_a_cut() {
    let env = Env::new();
    let log: String = [
        ("user", "1"),
        ("assistant", "2"),
        ("user", "3"),
        ("assistant", "4"),
        ("user", "5"),
    ]
    .iter()
    .map(|(role, text)| format!("{{\"role\":\"{role}\",\"content\":\"{text}\",\"id\":\"same\"}}\n"))
    .collect();
    let last = "{\"role\":\"user\",\"content\":\"5\",\"id\":\"same\"}\n";
    env.pipe(&["truncate", "--keep-last", "1"], &log)
        .status(0)
        .gives(last);
    env.write("same.jsonl", &log);
    env.run(&["migrate", "-q", "same.jsonl"]).status(0);
    env.run(&["truncate", "-q", "same", "--keep-last", "1"]).fine();
    let view = env.run(&["context", "same"]).fine();
    assert_eq!(view.objects().len(), 2, "{view}");
}

#[test]
fn usage() {
    let env = Env::with_chat();
    env.run(&["truncate", "trip"]).status(2);
    env.run(&["truncate", "trip", "--all", "--keep-last", "1"])
        .status(2);
    env.run(&["truncate", "trip", "--keep-last", "-1"]).status(2);
    env.run(&["truncate", "trip", "--keep-last", "many"]).status(2);
    env.run(&["truncate", "trip", "--before", "nobody"])
        .status(1)
        .says("convo: trip: no such message in the view: nobody\n");
}

#[test]
fn unwritten_changes_are_not_reported_as_done() {
    let env = Env::with_chat();
    let full = env
        .shell("convo truncate -v trip --stdout --keep-last 1 > /dev/full")
        .status(74);
    assert!(!full.stderr.contains("leave the view"), "{}", full.stderr);
    assert_eq!(full.stderr.lines().count(), 1, "{}", full.stderr);
}

/// Replies and results of category system, which is meant for instructions.
const IMPORTANT: &str = concat!(
    r#"{"role":"assistant","content":"Hello.","category":"system","id":"a0"}"#,
    "\n",
    r#"{"role":"user","content":"Weather in Paris, please?","id":"u1"}"#,
    "\n",
    r#"{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}],"id":"a1"}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"c1","content":"sunny, and warm","category":"system","id":"t1"}"#,
    "\n",
    r#"{"role":"assistant","tool_calls":[{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}],"category":"system","id":"a2"}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"c2","content":"still sunny","id":"t2"}"#,
    "\n",
    r#"{"role":"user","content":"Be brief.","category":"system","id":"u2"}"#,
    "\n",
    r#"{"role":"user","content":"And tomorrow?","id":"u3"}"#,
    "\n",
    r#"{"role":"assistant","content":"Rain.","category":"system","id":"a3"}"#,
    "\n",
    r#"{"role":"user","content":"Thanks.","id":"u4"}"#,
    "\n",
);

#[test]
fn a_category_separates_no_pair_and_moves_no_reply_first() {
    let env = Env::new();
    let header = r#"{"type":"session","version":1,"id":"weather"}"#;
    let session = format!("{header}\n{IMPORTANT}");
    let mut calls: Vec<String> = (0..5)
        .map(|keep| format!("truncate --keep-last {keep}"))
        .collect();
    calls.extend((0..9).map(|keep| format!("truncate --keep-messages {keep}")));
    for options in ["", " --with none"] {
        calls.extend((2..20).map(|step| format!("compact --budget {}{options}", step * 7)));
    }
    for call in &calls {
        let call: Vec<&str> = call.split(' ').collect();
        let run = env.pipe(&call, &session);
        assert!(
            run.status == 0 || (call[0] == "compact" && run.status == 1),
            "{call:?}: {run}"
        );
        if run.status == 1 {
            assert_eq!(run.out(), session, "{call:?}");
            continue;
        }
        env.pipe(&["check", "-q"], &run.stdout).status(0);
        let ids = run.out();
        assert!(ids.contains("\"u2\""), "instructions are kept: {call:?}: {run}");
        let first = run.out().lines().find(|line| line.contains("\"role\"")).unwrap();
        let cut = !run.out().contains("\"u1\"");
        assert!(!cut || !first.contains("\"assistant\""), "{call:?}: {run}");
    }
    // The same in the store.
    env.pipe(&["migrate", "-q"], "").status(0);
    env.write("weather.jsonl", &session);
    env.run(&["migrate", "-q", "weather.jsonl"]).status(0);
    env.run(&["truncate", "weather", "--keep-last", "1"]).status(0);
    let run = env.run(&["context", "weather"]).fine();
    assert!(
        !run.out().contains("\"t1\"") && !run.out().contains("\"a2\""),
        "{run}"
    );
    env.run(&["restore", "weather"]).status(0);
    assert_eq!(env.run(&["context", "weather"]).fine().out(), session);
}
