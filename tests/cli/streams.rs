//! Tests common properties of filters: no store, an empty input, blank lines, and only objects with `--json`.

use crate::env::{BARE, CHAT, Env, OPENAI};
use convo::format::Format;
use serde_json::Value;

/// Every command that reads a stream and prints a stream or findings.
const FILTERS: [&[&str]; 17] = [
    &["cat"],
    &["context"],
    &["count"],
    &["show"],
    &["list", "-"],
    &["check"],
    &["check", "--for", "anthropic"],
    &["check", "--for", "openai-chat", "--fix"],
    &["truncate", "--keep-last", "1"],
    &["compact", "--budget", "5000"],
    &["summarize", "--keep-last", "1"],
    &["split", "--max-messages", "9"],
    &["join", "-"],
    &["continue"],
    &["migrate"],
    &["expand", "m2"],
    &["append", "-", "hello"],
];

#[test]
fn a_home_without_a_directory_is_like_none() {
    let env = Env::new();
    let file = env.write("file", "");
    for home in [file.to_str().unwrap(), "/nonexistent"] {
        let mut command = env.command(&["cat"]);
        command.env_remove("XDG_CONFIG_HOME").env("HOME", home);
        env.feed(command, BARE.as_bytes()).fine();
    }
}

#[test]
fn empty_standard_input_is_an_empty_stream() {
    let env = Env::new();
    for filter in FILTERS {
        for input in ["", "\n", " \t\r\n\n  "] {
            let run = env.pipe(filter, input).status(0);
            let copies = filter[0] == "cat" && run.out() == input;
            assert!(run.stdout.is_empty() || copies, "{filter:?} {input:?}: {run}");
        }
    }
    env.pipe(&["restore"], "").status(0);
    for format in Format::ALL {
        let name = format.name();
        if format.is_read() {
            for command in ["cat", "context", "count"] {
                let run = env.pipe(&[command, "--from", name], "").status(0);
                assert!(run.stdout.is_empty(), "{command} --from {name}: {run}");
                let run = env.pipe(&[command, "--from", name], "\n").status(0);
                assert!(run.out().trim().is_empty(), "{command} --from {name}: {run}");
            }
        }
        if format.is_read() && format.is_written() {
            let both = ["truncate", "--keep-last", "1", "--from", name, "--to", name];
            assert!(env.pipe(&both, "").status(0).stdout.is_empty(), "{name}");
        }
        if format.is_written() {
            let run = env.pipe(&["cat", "--to", name], " \n").status(0);
            assert!(run.out().trim().is_empty(), "cat --to {name}: {run}");
        }
    }
    // A state begins with the first message.
    let run = env.pipe(&["append", "--from", "goaitools", "--to", "goaitools", "hi"], "");
    assert!(run.status(0).out().contains("hi"));
}

#[test]
fn a_named_file_without_a_byte_is_damage() {
    let env = Env::new();
    for name in ["empty.jsonl", "empty.json"] {
        env.write(name, "");
        for command in ["cat", "context", "count", "show"] {
            env.run(&[command, name]).status(65);
        }
    }
}

#[test]
fn lines_of_white_space_are_blank_lines() {
    let env = Env::new();
    let spaced = CHAT.replace("\n", "\n  \t\n");
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    let run = env.pipe(&["cat"], format!(" \n{spaced}")).fine();
    assert_eq!(run.out(), format!(" \n{spaced}"));
    for filter in FILTERS {
        let plain = env.pipe(filter, CHAT);
        let run = env.pipe(filter, &spaced);
        assert_eq!(run.status, plain.status, "{filter:?}: {run}");
        assert_eq!(lines(run.out()), lines(plain.out()), "{filter:?}: {run}");
    }
    env.run(&["new", "--id", "chat"]).status(0);
    let run = env.pipe(&["append", "chat", "--stream"], format!(" \n\n{BARE} \n"));
    run.status(0).says("acknowledged 2");
}

#[test]
fn json_output_is_objects_even_for_damage() {
    let env = Env::new();
    let damaged: Vec<u8> = [
        &b"\xef\xbb\xbf"[..],
        CHAT.as_bytes(),
        b"not json\n[1,2]\n\n{\"role\":7}\n\"text\"\n\xff\xfe\n{\"role\":\"user\",\"cont",
    ]
    .concat();
    env.write("damaged.jsonl", &damaged);
    env.run(&["migrate", "-q", "damaged.jsonl"]).status(65);
    let filters: [&[&str]; 12] = [
        &["cat", "--json"],
        &["cat", "--json", "--to", "jsonl"],
        &["cat", "--json", "--pack"],
        &["context", "--json"],
        &["count", "--json"],
        &["list", "--json", "-"],
        &["check", "--json"],
        &["check", "--json", "--for", "anthropic", "--fix"],
        &["truncate", "--json", "--keep-last", "1"],
        &["compact", "--json", "--budget", "5000"],
        &["append", "--json", "-", "hi"],
        &["expand", "--json", "m2"],
    ];
    let objects = |run: &crate::env::Run, what: &[&str]| {
        assert!(!run.stdout.is_empty(), "{what:?}: {run:?}", run = run.stderr);
        for line in run.stdout.split_inclusive(|byte| *byte == b'\n') {
            let value: Value = serde_json::from_slice(line)
                .unwrap_or_else(|error| panic!("{what:?}: {error}: {}", String::from_utf8_lossy(line)));
            assert!(value.is_object(), "{what:?}: {value}");
        }
    };
    for filter in filters {
        objects(&env.pipe(filter, &damaged), filter);
    }
    let named: [&[&str]; 5] = [
        &["cat", "--json", "trip"],
        &["count", "--json", "trip"],
        &["list", "--json"],
        &["check", "--json", "trip"],
        &["fsck", "--json"],
    ];
    for call in named {
        objects(&env.run(call), call);
    }
    // Nothing is lost, and a file gets the original lines.
    let run = env.pipe(&["cat", "--json"], &damaged).status(65);
    let back = env.pipe(&["cat"], &run.stdout).status(65);
    let lines = |bytes: &[u8]| {
        bytes
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lines(&back.stdout),
        lines(damaged.strip_prefix(b"\xef\xbb\xbf").unwrap())
    );
    env.pipe(&["cat", "--json", "-o", "copy.jsonl"], &damaged)
        .status(65);
    assert_eq!(std::fs::read(env.work().join("copy.jsonl")).unwrap(), damaged);
    env.pipe(&["new", "--id", "chat"], "").status(0);
    let run = env.pipe(&["append", "--json", "chat", "--stream"], &damaged);
    objects(&run, &["append"]);
    // A document is not a line.
    assert!(
        env.pipe(&["cat", "--json", "--to", "openai-chat"], OPENAI)
            .fine()
            .out()
            .starts_with('{')
    );
}

#[test]
fn unknown_json_beyond_the_head_is_unknown_and_not_damaged() {
    let env = Env::new();
    let rows: Vec<String> = (0..2000)
        .map(|nth| format!("{{\"size\":{nth},\"text\":\"{}\"}}", "x".repeat(60)))
        .collect();
    for (name, text) in [
        ("line.json", format!("{{\"rows\":[{}]}}", rows.join(","))),
        (
            "spread.json",
            format!("{{\n \"rows\": [\n{}\n ]\n}}\n", rows.join(",\n")),
        ),
    ] {
        assert!(text.len() > 64 * 1024);
        env.write(name, &text);
        let run = env.run(&["cat", name]).status(65);
        assert!(
            run.stderr.contains("JSON object with members: rows") && !run.stderr.contains("damaged"),
            "{run}"
        );
        let run = env.run(&["migrate", "--json", name]).status(65);
        assert!(
            !run.out().contains("\"damaged\"") && !run.out().starts_with("damaged"),
            "{run}"
        );
        // A truncated document is damage.
        env.write("cut.json", &text.as_bytes()[..2000]);
        env.run(&["cat", "cut.json"]).status(65).says("damaged");
    }
}

#[test]
fn damage_ok_excludes_damage_from_the_status_and_reports_it() {
    let env = Env::new();
    let stream = format!("{CHAT}broken\n{BARE}");
    for line in [
        "cat",
        "compact --budget 9k",
        "truncate --keep-last 1",
        "count --flat",
        "check --for openai-chat",
        "list -",
        "usage --json -",
        "redact",
        "split --max-exchanges 1 --stdout",
        "show",
        "merge - other.jsonl",
    ] {
        env.write("other.jsonl", CHAT);
        let arguments: Vec<&str> = line.split(' ').collect();
        let strict = env.pipe(&arguments, &stream).status(65);
        let run = env.pipe(&[&arguments[..], &["--damage-ok"]].concat(), &stream);
        assert_eq!(run.stdout, strict.stdout, "{line}");
        assert_eq!(run.stderr, strict.stderr, "{line}");
        run.status(0);
    }
    let json = ["count", "--flat", "--diagnostics", "json", "--damage-ok"];
    let run = env.pipe(&json, &stream).status(0);
    let report: Value = serde_json::from_str(run.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(report["schema"], "convo.message/1");
    assert_eq!(report["level"], "damage");
    // Only a packed line, which a partition can consist of.
    let cut = "{\"type\":\"packed\",\"id\":\"a\",\"records\":[{\"type\":\"session\",\"ver\n";
    env.pipe(&["count", "--flat"], cut).status(65);
    env.pipe(&["count", "--flat", "--damage-ok"], cut).status(0);
    // The damaged log of a stored session.
    env.write("stored.jsonl", &stream);
    env.run(&["migrate", "-q", "stored.jsonl"]).status(65);
    env.run(&["list"]).status(65);
    env.run(&["list", "--damage-ok"]).status(0);
}

#[test]
fn damage_ok_keeps_other_statuses() {
    let env = Env::new();
    let invalid = "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"?\"}\nbroken\n";
    let check = ["check", "--for", "openai-chat"];
    env.pipe(&check, invalid).status(65);
    env.pipe(&[&check[..], &["--damage-ok"]].concat(), invalid)
        .status(1);
    // Nothing could be read, or not the rest.
    env.pipe(&["cat", "--damage-ok"], "neither JSON nor known\n")
        .status(65);
    let newer = format!("{CHAT}{{\"type\":\"session\",\"version\":99,\"id\":\"b\"}}\n");
    env.pipe(&["cat", "--damage-ok"], newer).status(65);
    env.run(&["cat", "--damage-ok", "missing.jsonl"]).status(66);
    // A damaged file is not changed in place as if it were whole.
    let damaged = format!("{CHAT}broken\n");
    env.write("damaged.jsonl", &damaged);
    for arguments in [
        &["truncate", "--keep-last", "1", "-i"][..],
        &["redact", "-i"],
        &["merge", "-i", "damaged.jsonl"],
        &["cat", "--strict"],
        &["merge", "--strict", "damaged.jsonl"],
    ] {
        let run = env.run(&[arguments, &["--damage-ok", "damaged.jsonl"]].concat());
        run.status(2).says("cannot be used with");
    }
    assert_eq!(env.read("damaged.jsonl"), damaged);
}
