//! Tests `search`: which lines match, how they are printed, and what is not decoded.

use crate::env::{CHAT, Env, OPENAI};
use crate::sample_data;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

/// A Claude Code message.
fn claude(id: &str, parent: &str, role: &str, content: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_string()
    } else {
        format!("\"{parent}\"")
    };
    format!(
        concat!(
            r#"{{"uuid":"{}","parentUuid":{},"sessionId":"5d1f0a4e-0000-4000-8000-000000000001","cwd":"/src/api","#,
            r#""version":"2.0.0","type":"{}","timestamp":"2026-11-01T10:00:00Z","userType":"external","isSidechain":false,"#,
            r#""message":{{"role":"{}","content":{}}}}}"#,
            "\n"
        ),
        id, parent, role, role, content
    )
}

/// A session with every kind of escape.
fn escaped() -> String {
    let call = concat!(
        r#"[{"type":"text","text":"Looking."},{"type":"tool_use","id":"toolu_1","name":"Bash","#,
        r#""input":{"command":"grep -r \"quorum\" src\ncat lease.rs"}}]"#
    );
    let result = concat!(
        r#"[{"type":"tool_result","tool_use_id":"toolu_1","content":"{\n  \"retry\": \"never\"\n}\nE4711: disk full"},"#,
        r#"{"type":"text","text":"na\u00efve caf\u00e9 \u0071uorum LEASE"}]"#
    );
    [
        claude("u1", "", "user", r#""Who holds the quorum lease?\nAnd why?""#),
        claude("u2", "u1", "assistant", call),
        claude("u3", "u2", "user", result),
    ]
    .concat()
}

fn set_age(path: &std::path::Path, days: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400))
        .unwrap();
}

#[test]
fn lines_of_the_store_are_printed_with_their_position() {
    let env = Env::with_chat();
    env.run(&["search", "sunny"])
        .fine()
        .gives("trip\t4\ttool\tresult\t22 C, sunny\ntrip\t5\tassistant\ttext\t22 C and sunny.\n");
    env.run(&["search", "-l", "sunny"]).fine().gives("trip\n");
    env.run(&["grep", "-c", "sunny"]).fine().gives("trip\t2\n");
    env.run(&["find", "-l0", "sunny", "@all"]).fine().gives("trip\0");
    env.run(&["search", "-m", "1", "sunny", "tri"])
        .fine()
        .gives("trip\t4\ttool\tresult\t22 C, sunny\n");
    // Text that is not part of a message is not found.
    for absent in ["snowy", "created_at", "m2", "c1"] {
        let run = env.run(&["search", absent]).status(1).gives("");
        assert_eq!(run.stderr, "");
    }
    let run = env.run(&["search", "--json", "Paris?"]).fine();
    let mut hit = run.objects().remove(0);
    hit.as_object_mut().unwrap().remove("offset").unwrap();
    let expected = serde_json::json!({
        "schema": "convo.hit/1", "name": "trip", "program": "native", "id": "trip", "title": "Trip", "project": null,
        "message": "m2", "position": 2, "role": "user", "part": "text", "tool": null,
        "timestamp": "2026-11-01T10:00:01Z", "line": 1, "text": "Weather in Paris?", "spans": [[11, 17]], "path": null,
        "resume": null,
        "live": true,
    });
    assert_eq!(hit, expected);
}

#[test]
fn escaped_and_packed_text_is_found() {
    let env = Env::new();
    let path = env.write("logs/escaped.jsonl", escaped());
    let lines = |arguments: &[&str]| {
        let run = env.run(&[&["search"], arguments, &["logs/escaped.jsonl"]].concat());
        let lines = run
            .out()
            .lines()
            .map(|line| line.split_once('\t').unwrap().1.to_string());
        (run.status, lines.collect::<Vec<_>>().join("|"))
    };
    for (arguments, expected) in [
        (
            &["quorum lease"][..],
            "1\tuser\ttext\tWho holds the quorum lease?|4\tuser\ttext\tna\u{ef}ve caf\u{e9} quorum LEASE",
        ),
        (
            &["naïve café"],
            "4\tuser\ttext\tna\u{ef}ve caf\u{e9} quorum LEASE",
        ),
        (
            &["\"retry\": \"never\""],
            "3\ttool\tresult\t  \"retry\": \"never\"",
        ),
        (
            &["--regex", "^E[0-9]{4}: disk full$"],
            "3\ttool\tresult\tE4711: disk full",
        ),
        (
            &["-s", "quorum LEASE"],
            "4\tuser\ttext\tna\u{ef}ve caf\u{e9} quorum LEASE",
        ),
        (&["-i", "AND WHY"], "1\tuser\ttext\tAnd why?"),
        (
            &["--in", "call", "quorum"],
            "2\tassistant\tcall\tgrep -r \"quorum\" src",
        ),
        (
            &["--tool", "Bash", "--in", "result", "retry"],
            "3\ttool\tresult\t  \"retry\": \"never\"",
        ),
        (
            &["--role", "assistant", "looking"],
            "2\tassistant\ttext\tLooking.",
        ),
        (&["-w", "lease.rs"], "2\tassistant\tcall\tcat lease.rs"),
    ] {
        assert_eq!(lines(arguments), (0, expected.to_string()), "{arguments:?}");
    }
    for absent in [
        &["parentUuid"][..],
        &["toolu_1"],
        &["--tool", "Read", "quorum"],
        &["-w", "quoru"],
    ] {
        assert_eq!(lines(absent), (1, String::new()), "{absent:?}");
    }
    // The same, packed, in a directory and from a pipe.
    let expected = env
        .run(&["search", "-c", "quorum", path.to_str().unwrap()])
        .fine();
    assert!(expected.out().ends_with("\t3\n"), "{expected}");
    env.shell("gzip -k logs/escaped.jsonl").fine();
    env.run(&["search", "-c", "quorum", "logs/escaped.jsonl.gz"])
        .fine()
        .gives("logs/escaped.jsonl.gz\t3\n");
    env.run(&["search", "-l", "quorum", "./logs"])
        .fine()
        .gives("./logs/escaped.jsonl\n");
    env.pipe(&["search", "-c", "quorum", "-"], escaped())
        .fine()
        .gives("-\t3\n");
    env.pipe(&["search", "hello", "-"], OPENAI)
        .fine()
        .gives("-\t2\tassistant\ttext\thello\n");
}

#[test]
fn sessions_are_selected_and_the_newest_are_first() {
    let env = Env::new();
    let newer = env.write("logs/newer.jsonl", escaped());
    let older = env.write("logs/older.jsonl", CHAT.replace("sunny", "quorum"));
    set_age(&newer, 1);
    set_age(&older, 30);
    env.write("logs/notes.json", "{\"quorum\": [1, 2]}");
    let names = |arguments: &[&str]| {
        let run = env.run(&[&["search", "-l", "quorum"], arguments, &["./logs"]].concat());
        assert_eq!(run.stderr, "", "{run}");
        run.out().lines().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&[]), "./logs/newer.jsonl ./logs/older.jsonl");
    assert_eq!(names(&["--project", "/src"]), "./logs/newer.jsonl");
    assert_eq!(names(&["--project", "api"]), "./logs/newer.jsonl");
    assert_eq!(names(&["--project", "/src/ap"]), "");
    assert_eq!(names(&["--program", "claude,codex"]), "./logs/newer.jsonl");
    assert_eq!(names(&["--program", "codex"]), "");
    assert_eq!(names(&["--since", "2026-11-01T10:02:00Z"]), "./logs/older.jsonl");
    assert_eq!(names(&["--until", "2026-11-01T10:02:00Z"]), "./logs/newer.jsonl");
    // The same for `list`.
    let run = env.run(&["list", "--program", "claude", "./logs"]).fine();
    assert_eq!(run.out().lines().count(), 1, "{run}");
}

#[test]
fn a_session_of_a_program_keeps_the_name_that_selected_it() {
    let env = Env::new();
    let dir = env.root().join("home/.claude/projects/-src-api");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("5d1f0a4e-0000-4000-8000-000000000001.jsonl"), escaped()).unwrap();
    for name in ["claude:5d1f0a4e", "claude:@last"] {
        env.run(&["search", "-l", "quorum", name])
            .fine()
            .gives(format!("{name}\n"));
    }
    // Another session of the same time does not separate the names of one.
    let other = dir.join("6d1f0a4e-0000-4000-8000-000000000001.jsonl");
    std::fs::write(&other, escaped()).unwrap();
    let time = std::time::SystemTime::now();
    for entry in std::fs::read_dir(&dir).unwrap() {
        let file = std::fs::File::options().write(true).open(entry.unwrap().path());
        file.unwrap().set_modified(time).unwrap();
    }
    let path = other.to_str().unwrap();
    let run = env
        .run(&[
            "search", "-l", "quorum", "claude:6d1f0a4e", "claude:5d1f0a4e", path,
        ])
        .fine();
    assert_eq!(run.out().lines().count(), 2, "{}", run.out());
}

#[test]
fn lines_around_a_match_are_grouped() {
    let env = Env::new();
    let text = (1..=12)
        .map(|n| format!("line {n}"))
        .collect::<Vec<_>>()
        .join("\\n");
    env.write(
        "s.jsonl",
        format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n"),
    );
    let run = env
        .run(&["search", "-C1", "--regex", "line (2|4|9)$", "./s.jsonl"])
        .fine();
    let lines: Vec<&str> = run
        .out()
        .lines()
        .map(|line| line.rsplit('\t').next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "line 1", "line 2", "line 3", "line 4", "line 5", "--", "line 8", "line 9", "line 10"
        ]
    );
    assert_eq!(run.out().matches("\t-\tline").count(), 5, "{run}");
    env.run(&["search", "-C1", "--json", "line", "./s.jsonl"])
        .status(2)
        .gives("");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn text_of_sessions_is_inert() {
    let env = Env::new();
    let hostile = r#"{"role":"user","content":"match \u001b]0;evil\u0007 \u009b31m \u202e\tend\r more"}"#;
    env.write("s.jsonl", format!("{hostile}\n"));
    let run = env.run(&["search", "match", "./s.jsonl"]).fine();
    assert!(
        !run.out()
            .contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\r']),
        "{run}"
    );
    assert_eq!(run.out().matches('\t').count(), 4, "{run}");
    let run = env.run(&["search", "--json", "match", "./s.jsonl"]).fine();
    assert!(
        run.objects()[0]["text"]
            .as_str()
            .unwrap()
            .starts_with("match \u{1b}]0;evil"),
        "{run}"
    );
    let line = format!(
        "{} search --color always match ./s.jsonl",
        env!("CARGO_BIN_EXE_convo")
    );
    let run = env.terminal((80, 50), &line);
    assert!(run.out().contains("\u{1b}[1;31mmatch\u{1b}[0m"), "{run}");
    assert!(
        !run.out().contains("\u{1b}]0") && !run.out().contains('\u{9b}'),
        "{run}"
    );
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_terminal_shows_a_heading_and_fits_long_lines() {
    let env = Env::with_chat();
    let long = format!("{} needle {}", "x".repeat(300), "y".repeat(300));
    env.pipe(&["append", "-q", "trip"], long).status(0);
    let line = format!("{} search --color never needle", env!("CARGO_BIN_EXE_convo"));
    let run = env.terminal((60, 50), &line);
    let lines: Vec<&str> = run.out().lines().collect();
    assert!(
        lines[0].starts_with("trip  ") && lines[0].ends_with("  Trip"),
        "{run}"
    );
    assert!(
        lines[1].starts_with("8 user  …x") && lines[1].contains(" needle "),
        "{run}"
    );
    assert!(lines[1].chars().count() <= 60, "{run}");
}

#[test]
fn invalid_arguments_are_reported() {
    let env = Env::with_chat();
    for (arguments, says) in [
        (
            &["--regex", "ab(c"][..],
            "'ab(c': invalid regular expression at column 3: unclosed group",
        ),
        (&[""], "empty pattern"),
        (&["a\nb"], "the pattern contains a line break"),
        (
            &["--in", "body", "x"],
            "expected one of text, reasoning, call, result, summary, title",
        ),
        (&["--program", "clause", "x"], "did you mean"),
        (&["--since", "soon", "x"], "expected a duration"),
        (&["-m", "0", "x"], "0"),
        (&["-l", "-c", "x"], "cannot be used with"),
    ] {
        env.run(&[&["search"], arguments].concat())
            .status(2)
            .gives("")
            .says(says);
    }
    env.run(&["search", "x", "nobody"]).status(66).says("nobody");
    std::fs::create_dir(env.work().join("logs")).unwrap();
    env.run(&["search", "x", "logs"])
        .status(66)
        .says("search the directory of this name with: ./logs");
    env.run(&["search", "x", "./missing.jsonl"])
        .status(66)
        .says("./missing.jsonl: no such file");
    // There is no option for the format.
    env.write("plain.txt", "x");
    let run = env.run(&["search", "x", "plain.txt"]).status(65);
    let run = run.says("list the supported formats with: convo detect --help");
    assert!(!run.stderr.contains("--from"), "{run}");
    // An invalid operand does not affect the others.
    env.run(&["search", "-c", "sunny", "nobody", "trip"])
        .status(66)
        .gives("trip\t2\n");
}

#[test]
fn damaged_files_do_not_hide_others() {
    let env = Env::new();
    env.write("logs/a.jsonl", CHAT);
    env.write(
        "logs/b.jsonl",
        format!("{CHAT}{{\"role\":\"user\",\"content\":\"torn sunny"),
    );
    let run = env.run(&["search", "-c", "sunny", "./logs"]).status(0);
    assert!(
        run.out().contains("logs/a.jsonl\t2\n") && run.out().contains("logs/b.jsonl\t3\n"),
        "{run}"
    );
    let run = run.says("1 damaged line in 1 file searched as text");
    assert_eq!(run.stderr.lines().count(), 1, "{run}");
    env.run(&["search", "--strict", "-c", "sunny", "./logs"])
        .status(65);
}

#[test]
#[cfg_attr(root, ignore = "root can read every file")]
fn an_unreadable_file_does_not_hide_others() {
    let env = Env::new();
    env.write("logs/a.jsonl", CHAT);
    env.write("logs/b.jsonl", CHAT);
    let locked = env.write("logs/c.jsonl", CHAT);
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    let run = env.run(&["search", "-l", "sunny", "./logs"]).status(74);
    assert_eq!(run.out().lines().count(), 2, "{run}");
}

#[test]
fn hidden_messages_are_found_and_visible_ones_selectable() {
    let env = Env::with_chat();
    env.run(&["truncate", "trip", "--keep-last", "1", "-q"]).status(0);
    env.run(&["search", "-c", "sunny"]).fine().gives("trip\t2\n");
    env.run(&["search", "--live", "sunny"]).status(1).gives("");
    env.run(&["search", "--live", "-l", "rain"])
        .fine()
        .gives("trip\n");
    let run = env.run(&["search", "--json", "sunny"]).fine();
    assert!(run.objects().iter().all(|hit| hit["live"] == false), "{run}");
}

#[test]
fn sessions_are_ranked_by_a_question() {
    let env = Env::with_chat();
    env.write("logs/lease.jsonl", escaped());
    env.write("logs/chat.jsonl", CHAT);
    let run = env
        .run(&["search", "--rank", "who holds the QUORUM lease", "./logs"])
        .fine();
    let first: Vec<&str> = run.out().lines().next().unwrap().split('\t').collect();
    assert_eq!(
        (first[0], first[2], first[3]),
        ("./logs/lease.jsonl", "1", "Who holds the quorum lease?")
    );
    assert!(first[1].parse::<f64>().unwrap() > 1.0, "{run}");
    env.run(&["search", "--rank", "-l", "weather in Paris?"])
        .fine()
        .gives("trip\n");
    let run = env.run(&["search", "--rank", "--json", "sunny"]).fine();
    assert_eq!(
        (&run.objects()[0]["schema"], &run.objects()[0]["message"]),
        (&"convo.ranked/1".into(), &"m4".into())
    );
    env.run(&["search", "--rank", "zebra"]).status(1).gives("");
    env.run(&["search", "--rank", "?!"])
        .status(2)
        .says("no word in the question");
    env.run(&["search", "--rank", "--regex", "x"]).status(2);
}

#[test]
fn a_session_compressed_with_zstd_is_read() {
    let env = Env::new();
    let packed = convo::format::zstd::pack(CHAT.as_bytes());
    env.write("trip.jsonl.zst", &packed);
    env.run(&["search", "-c", "sunny", "trip.jsonl.zst"])
        .fine()
        .gives("trip.jsonl.zst\t2\n");
    env.run(&["cat", "trip.jsonl.zst"]).fine().gives(CHAT);
    env.run(&["list", "--columns", "id,messages", "./"])
        .fine()
        .gives("trip\t7\n");
    env.write("torn.jsonl.zst", &packed[..packed.len() / 2]);
    env.run(&["cat", "torn.jsonl.zst"])
        .status(65)
        .says("damaged zstd data");
}

#[test]
fn a_closed_pipe_ends_the_search() {
    let env = Env::new();
    for nth in 0..50 {
        env.write(&format!("logs/{nth}.jsonl"), CHAT.repeat(20));
    }
    let line = format!(
        "{} search sunny ./logs | head -1; echo ${{PIPESTATUS:-0}}",
        env!("CARGO_BIN_EXE_convo")
    );
    let run = env.shell(&line).status(0);
    assert_eq!((run.out().lines().count(), run.stderr.as_str()), (2, ""), "{run}");
}

/// Skipping undecoded lines loses no match: a pattern that disables skipping finds the same.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn no_match_in_the_sample_data_is_missed() {
    let env = Env::new();
    let dir = sample_data::path("wild");
    let mut hits = 0;
    for word in ["Error", "café"] {
        let found = |arguments: &[&str]| {
            let run = env.run(&[&["search", "-q"], arguments, &[dir.to_str().unwrap()]].concat());
            let mut lines: Vec<String> = run.out().lines().map(str::to_string).collect();
            lines.sort();
            lines
        };
        let fast = found(&[word]);
        let slow = found(&["--regex", &format!("{word}|$^a")]);
        assert_eq!(fast.len(), slow.len(), "{word}");
        assert!(fast == slow, "{word}");
        hits += fast.len();
    }
    eprintln!("2 patterns with {hits} matching lines");
    assert!(hits > 100, "{hits}");
}
