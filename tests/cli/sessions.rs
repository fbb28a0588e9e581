//! Tests inputs with many sessions: every command processes each session, and `--session` selects one.

use crate::env::Env;

const MANY: &str = "[ {\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"assistant\",\"content\":\"A\"},{\"role\":\"user\",\"content\":\"more\"}]},\n  {\"messages\": [{\"role\":\"user\",\"content\":\"two\"}], \"n\": 12345678901234567890}\n]\n";

const LINES: &str = "{\"messages\":[{\"role\":\"user\",\"content\":\"one\"}]}\n{\"messages\":[{\"role\"\n\n{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"A\"},{\"role\":\"user\",\"content\":\"y\"}], \"tools\":[]}\r\n {\"messages\":[{\"role\":\"user\",\"content\":\"three\"}]}";

fn ids(stream: &str) -> Vec<String> {
    let headers = stream
        .lines()
        .filter(|line| line.starts_with("{\"type\":\"session\""));
    let id = |line: &str| {
        line.split("\"id\":\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .to_string()
    };
    headers.map(id).collect()
}

#[test]
fn sessions_have_the_name_of_the_file_and_a_number() {
    let env = Env::new();
    env.write("many.json", MANY);
    let out = env.run(&["cat", "many.json"]).fine().out().to_string();
    assert_eq!(ids(&out), ["key_many_231", "key_many_232"]);
    assert!(out.contains("\"key\":\"many#1\""), "{out}");
    // A repeated run gives the same.
    env.run(&["cat", "many.json"]).fine().gives(&out);
}

#[test]
fn one_session_is_selected_by_number_or_id() {
    let env = Env::new();
    env.write("many.json", MANY);
    for which in ["2", "many#2", "key_many_232"] {
        let out = env
            .run(&["cat", "--session", which, "many.json"])
            .fine()
            .out()
            .to_string();
        assert_eq!(ids(&out), ["key_many_232"], "{which}");
    }
    for command in [
        &["count"][..],
        &["show"],
        &["cat"],
        &["context"],
        &["list"],
        &["truncate", "--keep-last", "1"],
        &["compact", "--budget", "900"],
        &["split", "--max-messages", "9"],
        &["check", "--for", "openai-chat"],
        &["summarize", "--with", "extract", "--keep-last", "9"],
        &["continue"],
        &["migrate"],
        &["restore"],
    ] {
        let run = env.pipe(&[command, &["--session", "1", "-"]].concat(), MANY);
        assert!(!run.out().contains("two"), "{command:?}: {}", run.out());
        env.pipe(&[command, &["--session", "3", "-"]].concat(), MANY)
            .status(66)
            .says("no session '3'");
    }
    // Also with the store as destination, and with a stored session.
    env.run(&["migrate", "-q", "--session", "2", "many.json"]).fine();
    let stored = env.run(&["list"]).fine().out().to_string();
    assert_eq!(stored.lines().count(), 1, "{stored}");
    env.run(&["truncate", "--all", "--session", "2", "key_many_232"])
        .status(66)
        .says("the only one is");
    env.run(&["cat", "--session", "nobody", "many.json"])
        .status(66)
        .says("choose 1 to 2, or an id: many#1, many#2");
}

#[test]
fn in_place_other_sessions_keep_their_bytes() {
    let env = Env::new();
    env.write("many.json", MANY);
    env.run(&[
        "truncate", "-q", "--keep-last", "1", "-i", "--session", "2", "many.json",
    ])
    .fine();
    assert_eq!(env.read("many.json"), MANY);
    env.run(&["truncate", "-q", "--keep-last", "1", "-i", "many.json"])
        .fine();
    let (changed, rest) = MANY
        .split_once("{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"assistant\",\"content\":\"A\"},")
        .unwrap();
    assert_eq!(env.read("many.json"), format!("{changed}{rest}"));
    env.run(&[
        "truncate", "-q", "--keep-last", "1", "-i", "--session", "3", "many.json",
    ])
    .status(66);
    assert_eq!(env.read("many.json"), format!("{changed}{rest}"));
}

#[test]
fn damaged_lines_between_sessions_are_preserved() {
    let env = Env::new();
    env.write("lines.jsonl", LINES);
    env.run(&["cat", "--to", "openai-chat", "lines.jsonl"])
        .status(65)
        .says("lines.jsonl:2")
        .gives(LINES);
    env.run(&["truncate", "-q", "--keep-last", "1", "-i", "lines.jsonl"])
        .status(65);
    let expected = LINES.replace(
        "{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"A\"},",
        "",
    );
    assert_eq!(env.read("lines.jsonl"), expected);
}

/// The document was formatted anew, and values that are not messages were dropped.
#[test]
fn a_request_keeps_the_bytes_of_unchanged_messages() {
    let request = concat!(
        "{\n  \"model\": \"m\",\n  \"system\": \"be\",\n  \"temperature\": 0.10,\n  \"messages\": [\n",
        "    {\"content\": \"caf\\u00e9\",  \"role\": \"user\"},\n    5,\n    {\"role\": \"assistant\", \"content\": \"b\"},\n",
        "    {\"role\": \"user\", \"content\": \"c\"},\n    {\"role\": \"assistant\", \"content\": \"d\"}\n  ],\n  \"tools\": [ ]\n}\n"
    );
    let changed = |name: &str, file: &str, arguments: &[&str], (status, text): (i32, &[&str])| {
        let env = Env::new();
        env.write(name, file);
        env.run(&[arguments, &["-q", "-i", name], text].concat())
            .status(status);
        env.read(name)
    };
    let anthropic = ["drop", "--from", "anthropic"];
    let drop =
        |file: &str, what: [&str; 2]| changed("a.json", file, &[&anthropic[..], &what].concat(), (65, &[]));
    let second =
        ",\n    {\"role\": \"user\", \"content\": \"c\"},\n    {\"role\": \"assistant\", \"content\": \"d\"}";
    assert_eq!(drop(request, ["--exchange", "2"]), request.replace(second, ""));
    let system = "  \"system\": \"be\",\n";
    assert_eq!(drop(request, ["--role", "system"]), request.replace(system, ""));
    let text = "{ \"model\": \"g\", \"input\": \"a\",  \"store\": true }";
    let append = ["append", "--from", "openai-responses"];
    assert_eq!(
        changed("r.json", text, &append, (0, &["b"])),
        text.replace(
            "\"a\"",
            "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"}]"
        )
    );
    let lines = "{\"parts\":[ {\"text\":\"a\"} ], \"role\":\"user\"}\r\n{\"role\":\"us\r\n\r\n{\"role\":\"model\",\"parts\":[{\"text\":\"b\"}]}\r\n";
    assert_eq!(
        changed(
            "l.jsonl",
            lines,
            &["drop", "--from", "gemini", "--role", "assistant"],
            (65, &[])
        ),
        lines[..lines.find("{\"role\":\"model\"").unwrap()]
    );
    // Messages around a value that is not a message were joined.
    let joined = r#"[{"role":"assistant","content":"a"},5,{"role":"assistant","content":"b"}]"#;
    assert_eq!(
        changed("j.json", joined, &["append", "--from", "anthropic"], (65, &["c"])),
        joined.replace("\"b\"}", "\"b\"},{\"role\":\"user\",\"content\":\"c\"}")
    );
}

/// With a byte order mark, the first message was duplicated, or kept although it was dropped; new lines ended with LF.
#[test]
fn lines_keep_their_byte_order_mark_and_line_ends() {
    let [a, b, c] = [("user", "a"), ("assistant", "b"), ("user", "c")]
        .map(|(role, text)| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\r\n"));
    let mark = "\u{feff}";
    let env = Env::new();
    let file = format!("{mark}{a}{b}");
    let append = ["append", "-q", "--from", "openai-chat", "-i", "f.jsonl", "c"];
    for file in [file.as_str(), file.trim_end()] {
        env.write("f.jsonl", file);
        env.run(&append).status(0);
        assert_eq!(env.read("f.jsonl"), format!("{mark}{a}{b}{c}"));
    }
    env.run(&[
        "drop", "-q", "--from", "openai-chat", "--exchange", "1", "-i", "f.jsonl",
    ])
    .status(0);
    assert_eq!(env.read("f.jsonl"), format!("{mark}{c}"));
}

/// The body of a request contained the lines that are not messages, without commas, or lacked them.
#[test]
fn lines_that_become_a_request_are_valid() {
    let [system, a, b] = [("system", "x"), ("user", "a"), ("assistant", "b")]
        .map(|(role, text)| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n"));
    let env = Env::new();
    let fix = || {
        env.run(&[
            "check", "-q", "--fix", "--for", "anthropic", "--from", "anthropic", "-i", "f.jsonl",
        ])
        .status(65)
    };
    let damaged = format!("{system}{a}{{\"role\":\"us\n");
    env.write("f.jsonl", &damaged);
    fix().says("a damaged line cannot be part of a request body");
    assert_eq!(env.read("f.jsonl"), damaged);
    for other in ["{}", "{\"foo\":1}", "5"] {
        env.write("f.jsonl", format!("{system}{other}\n{a}{b}"));
        fix();
        let fixed = env.read("f.jsonl");
        let fixed: serde_json::Value =
            serde_json::from_str(&fixed).unwrap_or_else(|error| panic!("{error}: {fixed}"));
        assert_eq!(fixed["system"], "x");
        let [other, a, b] =
            [other, &a, &b].map(|value| serde_json::from_str::<serde_json::Value>(value).unwrap());
        assert_eq!(fixed["messages"], serde_json::Value::Array(vec![other, a, b]));
    }
}

/// An error of one session is reported, the next one is processed, and a file loses nothing.
#[test]
fn one_bad_session_does_not_stop_the_next() {
    let env = Env::new();
    let long = "word ".repeat(400);
    let text = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"{long}\"}}]}}\n{{\"messages\":[{{\"role\":\"user\",\"content\":\"short\"}}]}}\n"
    );
    env.write("two.jsonl", &text);
    let run = env.run(&["compact", "--budget", "50", "two.jsonl"]).status(1);
    assert!(run.out().contains("short"), "{}", run.out());
    env.run(&["compact", "--budget", "50", "-i", "two.jsonl"])
        .status(1);
    assert_eq!(env.read("two.jsonl"), text);
}

#[test]
fn a_dry_run_that_ends_with_an_error_reports_the_sessions_before_it() {
    let env = Env::new();
    let session = |id: &str, exchanges: usize| {
        let exchange = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
        format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\"}}\n") + &exchange.repeat(exchanges)
    };
    env.write("two.jsonl", &(session("s1", 2) + &session("s2", 1)));
    let reports = |options: &[&str]| {
        let run = env.run(&[options, &["--dry-run", "two.jsonl"]].concat());
        assert!(!run.out().is_empty(), "{run}");
        run.stderr
    };
    // The error of the last session ends the input.
    let drop = reports(&["drop", "--exchange", "2"]);
    assert_eq!(
        drop.lines().collect::<Vec<_>>()[..2],
        [
            "convo: two.jsonl: session s1: would drop 2 of 4 messages",
            "convo: two.jsonl: no message matches"
        ]
    );
    env.write("two.jsonl", &(session("s1", 2) + &session("s2", 1) + "broken\n"));
    let truncate = reports(&["truncate", "--keep-last", "1", "--strict"]);
    assert_eq!(
        truncate.lines().skip(1).collect::<Vec<_>>(),
        [
            "convo: two.jsonl: would drop 2 of 4 messages",
            "convo: two.jsonl: stopped at a damaged line (--strict)"
        ]
    );
}

/// A truncated array gives the sessions before the truncation.
#[test]
fn a_truncated_export_yields_complete_sessions() {
    let env = Env::new();
    for tenth in 1..10 {
        let cut = MANY.len() * tenth / 10;
        let run = env.pipe(&["count", "--json"], &MANY[..cut]);
        let whole = MANY[..cut].contains("more\"}]}");
        let read = run.out().matches("\"convo.count/1\"").count();
        assert_eq!(read, usize::from(whole), "{cut}: {}", run.out());
        run.status(65);
    }
}

#[test]
fn many_sessions_are_packed_and_unpacked() {
    let env = Env::new();
    env.write("many.json", MANY);
    let stream = env.run(&["cat", "many.json"]).fine().out().to_string();
    let packed = env.run(&["cat", "--pack", "many.json"]).fine().out().to_string();
    assert_eq!(packed.lines().count(), 2);
    assert!(
        packed
            .lines()
            .all(|line| line.starts_with("{\"type\":\"packed\",\"id\":\"key_many_23")),
        "{packed}"
    );
    // The sessions follow the order of the lines.
    let turned: Vec<&str> = packed.lines().rev().collect();
    let back = env
        .pipe(&["cat", "--unpack"], format!("{}\n", turned.join("\n")))
        .fine()
        .out()
        .to_string();
    assert_eq!(ids(&back), ["key_many_232", "key_many_231"]);
    env.pipe(&["cat", "--unpack"], &packed).fine().gives(&stream);
    let cut = env
        .pipe(&["truncate", "-q", "--keep-last", "1"], &packed)
        .fine()
        .out()
        .to_string();
    assert_eq!(cut.lines().count(), 2);
    env.write("packed.jsonl", &packed);
    env.run(&["truncate", "-q", "--keep-last", "1", "-i", "packed.jsonl"])
        .fine();
    assert_eq!(env.read("packed.jsonl"), cut);
    env.pipe(&["cat", "--pack", "--to", "openai-chat"], MANY)
        .status(2)
        .says("--pack conflicts");
}

#[test]
fn packed_sessions_are_migrated_and_appended() {
    let env = Env::new();
    env.write("many.json", MANY);
    let packed = env.run(&["cat", "--pack", "many.json"]).fine().out().to_string();
    env.write("packed.jsonl", &packed);
    env.run(&["migrate", "-q", "packed.jsonl"]).fine();
    let kept = env.run(&["cat", "key_many_231"]).fine().out().to_string();
    assert!(kept.contains("more"), "{kept}");
    let id = env.run(&["new"]).fine().out().to_string();
    env.pipe(&["append", id.trim(), "--stream"], &packed).status(0);
    let all = env.run(&["cat", id.trim()]).fine().out().to_string();
    assert!(
        all.contains("more") && all.contains("two") && !all.contains("packed"),
        "{all}"
    );
}

/// A session begins with its header, even after empty lines.
#[test]
fn empty_lines_before_a_session_do_not_hide_its_name() {
    let env = Env::new();
    let stream =
        "\n\n{\"type\":\"session\",\"version\":1,\"id\":\"one\"}\n{\"role\":\"user\",\"content\":\"a\"}\n";
    let run = env.pipe(&["cat", "--session", "one"], stream).fine();
    assert_eq!(ids(run.out()), ["one"]);
}
