//! Tests invalid files and streams: a clear error for each, and no loss.

use crate::env::{BARE, CHAT, Env};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs `cat` and `migrate` on a file with these bytes; both must agree in status and message.
fn both(name: &str, bytes: &[u8]) -> (Env, String) {
    let env = Env::new();
    env.write(name, bytes);
    let cat = env.run(&["cat", &format!("./{name}")]);
    let migrate = env.run(&["migrate", name]);
    assert_eq!(
        std::fs::read(env.work().join(name)).unwrap(),
        bytes,
        "the source stays"
    );
    let reported = format!("cat {cat}\nmigrate {migrate}");
    (env, reported)
}

#[test]
fn an_empty_file() {
    snapshot!("bad_empty", both("empty.json", b"").1);
    snapshot!("bad_empty_lines", both("empty.jsonl", b"\n \n").1);
}

#[test]
fn truncated_json() {
    let (env, reported) = both(
        "cut.json",
        br#"{"messages":[{"role":"user","content":"hi"},{"role":"assi"#,
    );
    snapshot!("bad_truncated", reported);
    assert!(!env.log("cut").exists());
    let (env, reported) = both("cut.jsonl", &CHAT.as_bytes()[..CHAT.len() - 30]);
    snapshot!("bad_truncated_lines", reported);
    let stored = env.run(&["cat", "trip"]).status(65);
    assert_eq!(stored.out().trim_end(), &CHAT[..CHAT.len() - 30]);
}

/// A pipe cut off in its only line still contains what arrived.
#[test]
fn a_truncated_line_in_a_named_format_is_preserved() {
    let env = Env::new();
    let line = &BARE[..20];
    env.pipe(&["cat", "--from", "native"], line)
        .status(65)
        .gives(line);
    env.pipe(&["truncate", "--from", "native", "--all"], line)
        .status(65)
        .gives(line);
}

#[test]
fn a_directory() {
    let env = Env::new();
    env.write("folder/a.txt", "");
    snapshot!("bad_directory", env.run(&["cat", "folder/"]).status(2));
    env.run(&["cat", "folder"]).status(66);
    env.run(&["truncate", "-i", "--all", "folder/"]).status(2);
    env.run(&["show", "./folder"]).status(2);
}

fn pipe(env: &Env, name: &str) {
    let built = Command::new("mkfifo")
        .arg(env.work().join(name))
        .status()
        .unwrap();
    assert!(built.success());
}

#[test]
fn a_pipe_with_a_name_is_read_as_a_file() {
    let env = Env::new();
    pipe(&env, "pipe");
    let child = env
        .command(&["cat", "./pipe"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(env.work().join("pipe"))
        .unwrap()
        .write_all(CHAT.as_bytes())
        .unwrap();
    env.ended(child).fine().gives(CHAT);
}

#[test]
fn a_pipe_in_place_of_a_file_never_hangs() {
    let env = Env::with_chat();
    pipe(&env, "pipe");
    env.write("folder/a.jsonl", BARE);
    pipe(&env, "folder/b.jsonl");
    pipe(&env, "c.json.bak");
    assert!(
        Command::new("mkfifo")
            .arg(env.log("stored"))
            .status()
            .unwrap()
            .success()
    );
    let within = |arguments: &[&str], status: i32| {
        let start = Instant::now();
        let mut command = env.program("timeout");
        command
            .arg("5")
            .arg(env!("CARGO_BIN_EXE_convo"))
            .args(arguments)
            .stdin(Stdio::null());
        let run = env.wait(command);
        assert!(start.elapsed() < Duration::from_secs(4), "{arguments:?} hangs");
        run.status(status)
    };
    snapshot!("bad_pipe_migrate", within(&["migrate", "pipe"], 77));
    within(&["migrate", "folder"], 0).gives("migrated\tfolder/a.jsonl\ta\t2\n");
    within(&["cat", "stored"], 77);
    within(&["append", "stored", "x"], 77);
    within(&["list"], 0);
    within(&["cat", "c.json"], 66);
    within(&["cat", "trip", "-o", "pipe"], 77);
}

/// A file changed in place must not block on a writer that never comes.
#[test]
fn a_pipe_changed_in_place_is_refused() {
    let env = Env::new();
    pipe(&env, "pipe");
    let mut command = env.program("timeout");
    command.args([
        "3",
        env!("CARGO_BIN_EXE_convo"),
        "truncate",
        "-i",
        "--all",
        "./pipe",
    ]);
    env.wait(command).status(77);
}

#[test]
fn a_line_of_eight_megabytes() {
    let env = Env::new();
    let long = format!(
        "{{\"role\":\"user\",\"content\":\"{}\"}}\n{BARE}",
        "x".repeat(8 << 20)
    );
    let unreadable = format!("{}\n{BARE}", "x".repeat(8 << 20));
    env.write("long.jsonl", &long);
    env.run(&["cat", "--from", "jsonl", "./long.jsonl"])
        .fine()
        .gives(&long);
    env.pipe(&["cat", "--from", "jsonl"], &long).fine().gives(&long);
    env.run(&["migrate", "-q", "--from", "jsonl", "long.jsonl"])
        .status(0);
    let stored = env.run(&["cat", "long"]).fine();
    assert!(stored.stdout.ends_with(long.as_bytes()));
    env.pipe(&["append", "-q", "--from", "jsonl", "long", "--stream"], &long)
        .fine();
    // Merging this many byte pairs is slow without optimization; the tokenizer tests cover it.
    let count = env
        .run(&["count", "--json", "--tokenizer", "chars4", "long"])
        .fine();
    assert_eq!(count.objects()[0]["log"]["messages"], 6);
    env.pipe(&["cat", "--from", "jsonl"], &unreadable)
        .status(65)
        .gives(&unreadable);
    env.write("junk.jsonl", &unreadable);
    let run = env.run(&["cat", "./junk.jsonl"]).status(65);
    assert!(
        run.stderr.len() < 1000,
        "what was seen is told, not repeated: {} bytes",
        run.stderr.len()
    );
}

/// A question with a pasted document is the most common first line of this length.
#[test]
fn a_first_line_longer_than_the_detection_window() {
    let env = Env::new();
    let long = format!(
        "{{\"role\":\"user\",\"content\":\"{}\"}}\n{BARE}",
        "x".repeat(70_000)
    );
    env.write("long.jsonl", &long);
    env.run(&["cat", "./long.jsonl"]).fine().gives(&long);
    env.pipe(&["cat"], &long).fine().gives(&long);
    env.run(&["migrate", "long.jsonl"])
        .status(0)
        .gives("migrated\tlong.jsonl\tlong\t3\n");
}

#[test]
fn invalid_utf_8() {
    let bytes = [
        BARE.as_bytes(),
        b"{\"role\":\"user\",\"content\":\"\xff\xfe\"}\n",
        BARE.as_bytes(),
    ]
    .concat();
    let (env, reported) = both("bytes.jsonl", &bytes);
    snapshot!("bad_utf_8", reported);
    env.pipe(&["cat"], &bytes).status(65).gives(&bytes);
    let stored = env.run(&["cat", "bytes"]).status(65);
    assert!(stored.stdout.ends_with(&bytes));
    let kept = env.pipe(&["truncate", "--keep-last", "1"], &bytes).status(65);
    assert!(kept.stdout.windows(2).any(|pair| pair == b"\xff\xfe"));
}

#[test]
fn a_byte_order_mark_and_crlf() {
    let bytes = format!("\u{feff}{}", CHAT.replace('\n', "\r\n"));
    let (env, reported) = both("dos.jsonl", bytes.as_bytes());
    snapshot!("bad_bom_crlf", reported);
    env.pipe(&["cat"], &bytes).fine().gives(&bytes);
    let lines: Vec<&str> = bytes.split_inclusive('\n').collect();
    let kept = format!("{}{}{}{}", lines[0], lines[1], lines[6], lines[7]);
    env.pipe(&["truncate", "--keep-last", "1"], &bytes)
        .status(0)
        .gives(kept);
    let document = format!("\u{feff}{}", crate::env::OPENAI.replace(',', ",\r\n"));
    env.pipe(&["count", "--json"], &document).fine();
}

#[test]
fn empty_objects_and_nulls() {
    let bytes = format!("{{}}\n{BARE}{BARE}{BARE}null\n[]\n1\n\"text\"\n{{\"type\":1}}\n{{\"role\":null}}\n");
    let (env, reported) = both("odd.jsonl", bytes.as_bytes());
    snapshot!("bad_odd_lines", reported);
    env.pipe(&["cat"], &bytes).status(65).gives(&bytes);
    assert!(env.run(&["cat", "odd"]).status(65).out().ends_with(&bytes));
}

/// "A `session` line of a higher version: 65, nothing stored."
#[test]
fn an_unknown_version() {
    let newer = CHAT.replace("\"version\":1", "\"version\":2");
    let (env, reported) = both("newer.jsonl", newer.as_bytes());
    snapshot!("bad_version", reported);
    assert!(!env.log("trip").exists());
    env.write("mixed.jsonl", format!("{CHAT}{newer}"));
    env.run(&["migrate", "mixed.jsonl"]).status(65);
    assert!(!env.log("trip").exists(), "nothing stored");
    env.run(&["truncate", "-i", "--all", "mixed.jsonl"]).status(65);
    assert_eq!(env.read("mixed.jsonl"), format!("{CHAT}{newer}"));
    for version in ["1.5", "1e1", "99999999999999999999"] {
        let odd = CHAT.replace("\"version\":1", &format!("\"version\":{version}"));
        env.pipe(&["cat"], &odd)
            .status(65)
            .says("convo: -:1: byte 0: written by a newer version of convo");
    }
}

#[test]
fn an_unknown_format() {
    let env = Env::new();
    snapshot!("bad_format", env.pipe(&["cat", "--from", "docx"], BARE).status(2));
    let (env, reported) = both("notes.json", b"Dear diary,\n");
    snapshot!("bad_not_a_session", reported);
    env.run(&["append", "./notes.json", "x"]).status(65).gives("");
    env.run(&["truncate", "-i", "--all", "notes.json"]).status(65);
    assert_eq!(env.read("notes.json"), "Dear diary,\n");
}

/// The hint lists the supported formats.
#[test]
fn the_hint_leads_to_every_format() {
    let env = Env::new();
    env.pipe(&["cat"], "Dear diary,\n")
        .says("give the format with --from; list formats with: convo detect --help");
    let run = env.run(&["detect", "--help"]).fine();
    for format in convo::format::Format::ALL
        .into_iter()
        .filter(|format| format.is_read())
    {
        assert!(
            run.to_string().contains(format.name()),
            "{} is not in {run}",
            format.name()
        );
    }
}

#[test]
fn nesting_depth_of_an_unchanged_line_is_unlimited() {
    let env = Env::new();
    let deep = format!(
        "{{\"role\":\"user\",\"content\":\"x\",\"deep\":{}{}}}\n",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    env.pipe(&["cat", "--from", "jsonl"], &deep).fine().gives(&deep);
    env.pipe(&["truncate", "--from", "jsonl", "--keep-last", "1"], &deep)
        .status(0)
        .gives(&deep);
    env.pipe(&["cat", "--from", "openai-chat"], format!("[{deep}]"))
        .status(0);
    env.pipe(&["cat", "--from", "penguin"], "[".repeat(100_000))
        .status(65);
    env.pipe(&["cat"], "[".repeat(100_000)).status(65);
}

#[test]
fn many_findings_are_counted_and_only_some_printed() {
    let env = Env::new();
    let run = env
        .pipe(&["cat", "--from", "jsonl"], "x\n".repeat(50_000))
        .status(65);
    assert!(
        run.stdout.len() == 100_000 && run.stderr.lines().count() < 500,
        "{} lines",
        run.stderr.lines().count()
    );
    let run = env.pipe(
        &["append", "--from", "jsonl", "--to", "native", "-v", "y"],
        "x\n".repeat(50),
    );
    assert!(run.stderr.lines().count() >= 50, "{run}");
}
