//! `convo cat`.

use crate::env::{BARE, CHAT, Env, OPENAI};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

#[test]
fn a_native_stream_is_printed_unchanged() {
    let env = Env::with_chat();
    env.pipe(&["cat"], CHAT).fine().gives(CHAT);
    env.pipe(&["cat", "-"], BARE).fine().gives(BARE);
    env.write("chat.jsonl", CHAT);
    env.run(&["cat", "chat.jsonl"]).fine().gives(CHAT);
    env.run(&["cat", "trip"]).fine().gives(CHAT);
    env.pipe(&["cat"], "").status(0).gives("");
}

#[test]
fn a_name_is_an_id_prefix_alias_or_last() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "agent:main:main", "trip"]).status(0);
    for name in ["trip", "tri", "agent:main:main", "@last"] {
        env.run(&["cat", name]).fine().gives(CHAT);
    }
}

#[test]
fn several_inputs_are_several_sessions() {
    let env = Env::with_chat();
    env.write("bare.jsonl", BARE);
    env.run(&["cat", "bare.jsonl", "trip", "bare.jsonl"])
        .fine()
        .gives([BARE, CHAT, BARE].concat());
}

/// Two valid lines must not be joined into a damaged one.
#[test]
fn a_line_without_an_end_does_not_run_into_the_next_input() {
    let env = Env::with_chat();
    let open = BARE.trim_end();
    env.write("open.jsonl", open);
    env.run(&["cat", "open.jsonl", "trip"])
        .status(0)
        .gives(format!("{open}\n{CHAT}"));
    env.run(&["context", "open.jsonl", "trip"])
        .status(0)
        .gives(format!("{open}\n{CHAT}"));
    env.run(&["truncate", "--keep-last", "9", "open.jsonl", "./open.jsonl"])
        .status(0)
        .gives(format!("{open}\n{open}"));
}

#[test]
fn an_input_that_fails_does_not_stop_the_others() {
    let env = Env::with_chat();
    let run = env
        .run(&["cat", "nofile.jsonl", "nobody", "trip"])
        .status(66)
        .gives(CHAT);
    snapshot!("cat_some_fail", run.stderr);
}

#[test]
fn documents_become_native() {
    let env = Env::new();
    env.write("request.json", OPENAI);
    snapshot!("cat_openai", env.run(&["cat", "request.json"]));
    snapshot!("cat_openai_pipe", env.pipe(&["cat"], OPENAI));
}

#[test]
fn exports_report_what_they_cannot_represent() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    snapshot!("cat_to_openai", env.run(&["cat", "--to", "openai-chat", "trip"]));
    snapshot!(
        "cat_to_openai_json",
        env.run(&["cat", "--json", "--to", "openai-chat", "trip"])
    );
    snapshot!("cat_to_jsonl", env.run(&["cat", "--to", "jsonl", "trip"]));
    env.run(&["cat", "--strict", "--to", "openai-chat", "trip"])
        .status(65)
        .gives("");
    env.run(&["cat", "-q", "--to", "jsonl", "trip"]).fine();
}

const ANTHROPIC: &str = r#"{"model":"m","max_tokens":9007199254740993,"system":"s","messages":[
{"role":"user","content":"one"},
{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"a+/="},{"type":"tool_use","id":"t","name":"f","input":{"n":1.0}}]},
{"role":"user","content":[{"type":"text","text":"early"},{"type":"tool_result","tool_use_id":"t","content":"r","cache_control":null}]},
{"role":"user","content":"two"}]}"#;

fn value(text: &[u8]) -> serde_json::Value {
    serde_json::from_slice(text).unwrap()
}

#[test]
fn a_request_is_restored_from_the_store() {
    let env = Env::new();
    env.write("chat.json", ANTHROPIC);
    let back = env.run(&["cat", "-q", "chat.json", "--to", "anthropic"]).fine();
    assert_eq!(value(&back.stdout), value(ANTHROPIC.as_bytes()));
    env.run(&["migrate", "-q", "chat.json"]).fine();
    let back = env.run(&["cat", "-q", "chat", "--to", "anthropic"]).fine();
    assert_eq!(value(&back.stdout), value(ANTHROPIC.as_bytes()));
    snapshot!("cat_anthropic", env.run(&["cat", "chat.json"]));
    snapshot!(
        "cat_anthropic_gemini",
        env.run(&["cat", "chat.json", "--to", "gemini"])
    );
    // Cut it in place.
    env.run(&["truncate", "-q", "-i", "chat.json", "--keep-last", "1"])
        .fine();
    let cut = value(env.read("chat.json").as_bytes());
    assert_eq!(cut["messages"].as_array().unwrap().len(), 1, "{cut}");
    assert_eq!((&cut["model"], &cut["system"]), (&"m".into(), &"s".into()));
}

#[test]
fn an_array_holds_one_session() {
    let env = Env::with_chat();
    let run = env
        .run(&["cat", "-q", "--to", "openai-chat", "trip", "trip"])
        .status(2);
    snapshot!("cat_two_to_openai", run.stderr);
}

#[test]
fn a_format_that_is_named_is_not_guessed() {
    let env = Env::new();
    env.pipe(&["cat", "--from", "jsonl"], "not json\n")
        .status(65)
        .gives("not json\n")
        .says("convo: -:1: byte 0: not valid JSON\n");
    snapshot!("cat_unknown", env.pipe(&["cat"], "not json\n"));
    snapshot!(
        "cat_no_format",
        env.pipe(&["cat", "--from", "nope"], "").status(2).stderr
    );
    // A write-only format is not read.
    env.pipe(&["cat", "--from", "penguiflow-context"], "")
        .status(2)
        .says("write-only format");
}

#[test]
fn unsupported_files_are_identified() {
    let env = Env::new();
    let unread: [(&str, &[u8]); 4] = [
        ("a.zip", b"PK\x03\x04rest"),
        ("a.db", b"SQLite format 3\0rest"),
        ("a.json", b"\x1f\x8bgzip"),
        ("b.json", b"{\"name\":\"a package\",\"version\":\"1\"}"),
    ];
    let mut reported = String::new();
    for (name, bytes) in unread {
        env.write(name, bytes);
        reported += &env.run(&["cat", name]).status(65).gives("").to_string();
    }
    snapshot!("cat_unread", reported);
}

#[test]
fn a_file_of_the_output_appears_whole() {
    let env = Env::with_chat();
    env.run(&["cat", "trip", "-o", "out.jsonl"]).fine().gives("");
    assert_eq!(env.read("out.jsonl"), CHAT);
    env.write("keep.jsonl", "before");
    env.run(&["cat", "nobody", "-o", "keep.jsonl"]).status(66);
    assert_eq!(env.read("keep.jsonl"), "before");
    assert_eq!(std::fs::read_dir(env.work()).unwrap().count(), 3, "no leftovers");
}

#[test]
fn cat_changes_nothing_in_place() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    env.run(&["cat", "-i", "chat.jsonl"])
        .status(2)
        .says("unexpected argument '-i'");
}

#[test]
fn strict_prints_the_lines_before_the_first_damage() {
    let env = Env::new();
    let run = env
        .pipe(&["cat", "--strict"], format!("{BARE}broken\n{BARE}"))
        .status(65);
    assert_eq!(
        run.stderr.lines().next(),
        Some("convo: -:3: byte 70: not valid JSON"),
        "{run}"
    );
    run.gives(BARE);
}

#[test]
fn an_ending_of_a_format_that_is_not_written_is_refused() {
    let env = Env::with_chat();
    for name in ["page.docx", "page.CSV", "page.pdf"] {
        env.run(&["cat", "trip", "-o", name])
            .status(2)
            .says("hint: write a page with an ending of .html or .md");
        assert!(!env.work().join(name).exists());
    }
    env.run(&["cat", "trip", "--to", "openai-chat", "-o", "page.html"])
        .status(0);
}

#[test]
fn empty_standard_input_is_reported() {
    let env = Env::with_chat();
    for arguments in [
        &["cat"][..],
        &["count"],
        &["compact", "--budget", "9"],
        &["truncate", "--keep-last", "1"],
    ] {
        env.pipe(arguments, "")
            .status(0)
            .gives("")
            .says("convo: -: empty input; give a session, or @all");
    }
    assert_eq!(env.pipe(&["cat", "-q"], "").fine().stderr, "");
}

#[test]
fn a_name_of_an_existing_file_hints_at_the_file() {
    for env in [Env::new(), Env::with_chat()] {
        env.write("sess", CHAT);
        std::fs::create_dir(env.work().join("data")).unwrap();
        env.run(&["cat", "sess"])
            .status(66)
            .says("hint: read the file of this name with: ./sess");
        env.run(&["show", "data"])
            .status(66)
            .says("hint: import the directory of this name with: convo migrate ./data");
        env.run(&["cat", "./sess"]).fine().gives(CHAT);
    }
}

#[test]
fn the_original_of_a_shortened_session_is_exported() {
    let env = Env::with_chat();
    let before = env.run(&["cat", "trip", "--to", "openai-chat", "-q"]).status(0);
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).status(0);
    env.run(&["title", "-q", "trip", "Rome"]).status(0);
    let after = env.run(&["cat", "trip", "--to", "openai-chat", "-q"]).status(0);
    assert_ne!(after.out(), before.out());
    let original = env
        .run(&["cat", "trip", "--original", "--to", "openai-chat", "-q"])
        .status(0);
    assert_eq!(original.out(), before.out());
    // The record stream has every message and the title, but not the event.
    let stream = env.run(&["cat", "trip", "--original"]).fine();
    assert!(
        stream.out().contains("Rome") && !stream.out().contains("\"truncate\""),
        "{stream}"
    );
    let last = env.run(&["cat", "trip", "--original", "--first", "1"]).fine();
    assert_eq!(
        env.pipe(&["count"], last.out()).status(0).out().lines().nth(2),
        Some("exchanges\t1\t1"),
        "{last}"
    );
}

/// Otherwise the processes of a pipeline wait for each other every 64 KiB.
#[cfg(target_os = "linux")]
#[test]
fn pipes_are_enlarged_when_much_passes() {
    use rustix::pipe::fcntl_getpipe_size;
    let env = Env::new();
    for (messages, is_enlarged) in [(1, false), (20_000, true)] {
        let (mut child, mut stdin, mut stdout) = piped(&env);
        let (input, sent) = (BARE.repeat(messages), fcntl_getpipe_size(&stdin).unwrap());
        let mut output = String::new();
        let sizes = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                stdin.write_all(input.as_bytes()).unwrap();
                let size = fcntl_getpipe_size(&stdin).unwrap();
                drop(stdin);
                size
            });
            stdout.read_to_string(&mut output).unwrap();
            [writer.join().unwrap(), fcntl_getpipe_size(&stdout).unwrap()]
        });
        assert!(child.wait().unwrap().success());
        assert!(output == input, "{messages} messages");
        let larger = sizes.map(|size| size > sent);
        assert_eq!(
            larger, [is_enlarged; 2],
            "{messages} messages: {sizes:?}, {sent} before"
        );
    }
}

/// A file of several blocks, which other threads check; a block that they reject is read line by line.
#[test]
fn a_large_file_is_copied_and_its_damage_reported_with_its_line() {
    let env = Env::new();
    let mut lines = vec!["{\"type\":\"session\",\"version\":1,\"id\":\"big\"}".to_string()];
    let text = "gearbox ".repeat(100);
    lines.extend((0..11_000).map(|nth| format!("{{\"role\":\"user\",\"content\":\"{nth} {text}\"}}")));
    let sound = lines.join("\n") + "\n";
    assert!(sound.len() > 8 << 20);
    env.write("big.jsonl", &sound);
    env.run(&["cat", "big.jsonl"]).fine().gives(&sound);
    env.run(&["cat", "big.jsonl", "./big.jsonl"])
        .fine()
        .gives(sound.repeat(2));
    env.pipe(&["cat"], &sound).fine().gives(&sound);
    env.pipe(&["cat"], format!("\u{feff}{}", sound.trim_end()))
        .fine()
        .gives(format!("\u{feff}{}", sound.trim_end()));

    for at in [2, 3000, 10_900] {
        let mut damaged = lines.clone();
        damaged[at] = "damaged".to_string();
        let damaged = damaged.join("\n");
        env.write("damaged.jsonl", &damaged);
        let run = env.run(&["cat", "damaged.jsonl"]).status(65).gives(&damaged);
        assert!(
            run.stderr.contains(&format!("damaged.jsonl:{}: byte", at + 1)),
            "{}",
            run.stderr
        );
    }

    let mut packed = lines.clone();
    let header = "{\"type\":\"session\",\"version\":1,\"id\":\"next\"}";
    packed[10_000] = format!("{{\"type\":\"packed\",\"records\":[{header},{}]}}", lines[10_000]);
    let mut unpacked = lines.clone();
    unpacked.insert(10_000, header.to_string());
    env.pipe(&["cat", "--unpack"], packed.join("\n"))
        .status(0)
        .gives(unpacked.join("\n"));

    // A packed session without a header joins the session before it, which may have begun blocks ago.
    let headless = lines[1..2000].iter();
    let headless: Vec<_> = headless
        .map(|line| format!("{{\"type\":\"packed\",\"records\":[{line}]}}"))
        .collect();
    env.write("headless.jsonl", headless.join("\n"));
    let run = env
        .run(&["cat", "-v", "--unpack", "headless.jsonl"])
        .status(65)
        .gives(lines[1..2000].join("\n") + "\n");
    assert_eq!(
        run.stderr.matches("packed session without a header").count(),
        1998
    );

    let mut newer = lines.clone();
    newer[3000] = "{\"type\":\"session\",\"version\":99,\"id\":\"next\"}".to_string();
    env.write("newer.jsonl", newer.join("\n"));
    let run = env.run(&["cat", "newer.jsonl"]).status(65);
    assert!(
        run.stderr
            .contains("newer.jsonl:3001: byte 2500098: written by a newer version")
    );
    run.gives(lines[..3000].join("\n") + "\n");
}

/// Lines longer than a block, one of which ends where a block does.
#[test]
fn long_lines_are_copied_completely() {
    let env = Env::new();
    let line = |length: usize| {
        let head = "{\"role\":\"user\",\"content\":\"";
        format!("{head}{}\"}}", "x".repeat(length - head.len() - 2))
    };
    for lengths in [
        [1 << 20, 2 << 20, 600],
        [600, (2 << 20) - 601, 700_000],
        [524_287, 524_288, 3_000_000],
        [7 << 20, 2 << 20, 600],
        [600, 7 << 20, 3 << 20],
    ] {
        let lines: Vec<String> = lengths.into_iter().chain([50; 20]).map(line).collect();
        let text = lines.join("\n");
        env.write("long.jsonl", &text);
        env.run(&["cat", "long.jsonl"]).fine().gives(&text);
        env.pipe(&["cat", "--strict"], &text).fine().gives(&text);
    }
}

/// `convo cat` with pipes as standard input and output.
fn piped(env: &Env) -> (Child, ChildStdin, ChildStdout) {
    let mut command = env.command(&["cat"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, stdin, stdout)
}

/// A program that waits for the answer to its lines before it sends the next ones must not wait forever.
#[test]
fn lines_are_passed_on_before_more_input_comes() {
    let env = Env::new();
    let (mut child, mut stdin, mut stdout) = piped(&env);
    // Large enough to be detected without more input, and the last one as long as several blocks.
    let line = |length: usize| {
        let head = "{\"role\":\"user\",\"content\":\"";
        format!("{head}{}\"}}\n", "x".repeat(length - head.len() - 3))
    };
    // Many short lines are all written before more are awaited.
    let many = line(300).repeat(50_000);
    let lines = [100_000, 1 << 19, 1 << 20, 1 << 21].map(line);
    let lines = [&lines[..], &[many]].concat();
    let expected = lines.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in expected {
            let mut read = vec![0; line.len()];
            let is_read = stdout.read_exact(&mut read).is_ok() && read == line.as_bytes();
            if sender.send(is_read).is_err() {
                return;
            }
        }
    });
    for line in lines {
        stdin.write_all(line.as_bytes()).unwrap();
        let answer = receiver.recv_timeout(std::time::Duration::from_secs(20));
        assert_eq!(answer, Ok(true), "{} bytes", line.len());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
