//! Checks that time and memory grow linearly with the input: each input shape is read at one size and at four times
//! that size.

mod homes;
mod memory;
mod messages;

use crate::env::Env;
use convo::format::Format;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::fmt::Write;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Below this cost of the larger input, startup and clock resolution dominate.
const FLOOR: Duration = Duration::from_millis(60);

/// Maximum cost ratio for four times the input: n log n is below five, quadratic is sixteen.
const MOST: u32 = 8;

/// How often a slow pair is measured again, because other load can make a run look slow.
const TRIES: usize = 3;

/// Arguments of every command that reads a session, with `@` as the file, then the writers of formats.
const COMMANDS: &[&[&str]] = &[
    &["count", "@"],
    &["cat", "@"],
    &["context", "@"],
    &["show", "@"],
    &["truncate", "@", "--keep-last", "1"],
    &["compact", "@", "--budget", "1000"],
    &["join", "@"],
    &["split", "@", "--max-messages", "100"],
    &["detect", "@"],
    &["list", "@"],
    &["check", "@", "--for", "openai-chat"],
    &["check", "@", "--for", "openai-responses"],
    &["check", "@", "--for", "anthropic"],
    &["check", "@", "--for", "gemini"],
];

fn lines(count: usize, mut line: impl FnMut(usize) -> String) -> String {
    let mut all = r#"{"type":"session","version":1,"id":"s"}"#.to_string() + "\n";
    for nth in 0..count {
        let _ = writeln!(all, "{}", line(nth));
    }
    all
}

fn message(id: &str) -> String {
    format!(r#"{{"role":"user","content":"x","id":"{id}"}}"#)
}

fn call(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#)
}

fn calls(calls: &[String]) -> String {
    format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#,
        calls.join(",")
    )
}

fn result(id: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"r"}}"#)
}

fn compact(nth: usize, members: &str) -> String {
    format!(r#"{{"type":"compact","id":"c{nth}",{members}}}"#)
}

fn joined(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}

/// The CPU time of a run including threads; zero when it is refused.
fn cost(env: &Env, arguments: &[&str], input: &Path) -> Duration {
    let path = input.to_str().unwrap();
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| if *argument == "@" { path } else { argument })
        .collect();
    let mut command = env.command(&arguments);
    command
        .stdin(File::open(input).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let id = Pid::from_child(&child);
    // CPU usage can be read between the exit of a process and the collection of its status.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(id), options).is_err_and(|error| error == rustix::io::Errno::INTR) {}
    let about =
        |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap_or_default();
    let exact = about("schedstat")
        .split(' ')
        .next()
        .and_then(|time| time.parse().ok());
    let ticks: u64 = about("stat")
        .rsplit(") ")
        .next()
        .map(|rest| {
            rest.split(' ')
                .skip(11)
                .take(2)
                .filter_map(|ticks| ticks.parse::<u64>().ok())
                .sum()
        })
        .unwrap_or_default();
    let status = child.wait().unwrap();
    assert!(
        matches!(status.code(), Some(0 | 1 | 2 | 65 | 73)),
        "{arguments:?}: {status}"
    );
    Duration::from_nanos(exact.unwrap_or_default()).max(Duration::from_millis(10 * ticks))
}

/// Runs every command on a shape of this size and of four times the size.
fn is_linear(size: usize, shape: impl Fn(usize) -> String) {
    let env = Env::new();
    let (small, large) = (
        env.write("small.jsonl", shape(size)),
        env.write("large.jsonl", shape(4 * size)),
    );
    let written = Format::ALL
        .into_iter()
        .filter(|to| to.is_written() && *to != Format::Native);
    let exports = written.map(|to| vec!["cat", "@", "--to", to.name()]);
    let commands = COMMANDS.iter().map(|command| command.to_vec()).chain(exports);
    let slow: Vec<String> = commands
        .filter_map(|command| slow(&env, &command, &small, &large))
        .collect();
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

/// Reports a command whose cost grows too fast.
fn slow(env: &Env, command: &[&str], small: &Path, large: &Path) -> Option<String> {
    slower(
        &command.join(" "),
        || cost(env, command, small),
        || cost(env, command, large),
    )
}

/// Reports two costs if the larger one exceeds the maximum ratio.
fn slower(what: &str, small: impl Fn() -> Duration, large: impl Fn() -> Duration) -> Option<String> {
    let mut slow = None;
    for _ in 0..TRIES {
        let much = large();
        if much < FLOOR {
            return None;
        }
        let little = small();
        if much < little * MOST {
            return None;
        }
        slow = Some(format!("convo {what}: {little:?}, then {much:?}"));
    }
    slow
}

/// A store with this many sessions that claim to continue others, without a link from those.
fn claimed(count: usize, parent: impl Fn(usize) -> String) -> Env {
    let env = Env::new();
    env.run(&["new", "-q", "--id", "p"]).fine();
    for nth in 0..count {
        let (id, parent) = (format!("c{nth}"), parent(nth));
        let log = format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"continued_from\":\"{parent}\"}}\n{}\n",
            message("m")
        );
        std::fs::write(env.log(&id), log).unwrap();
        std::fs::set_permissions(env.log(&id), Permissions::from_mode(0o600)).unwrap();
    }
    env
}

#[test]
fn compactions_with_an_insert_each() {
    is_linear(100, |size| {
        lines(size + 1, |nth| match nth {
            0 => message("m"),
            nth => compact(
                nth,
                &format!(
                    r#""insert":[{{"before":"m","message":{}}}]"#,
                    message(&format!("i{nth}"))
                ),
            ),
        })
    });
}

#[test]
fn inserts_before_inserts_and_cuts_between_them() {
    is_linear(100, |size| {
        lines(2 * size + 1, |nth| match (nth, nth % 2) {
            (0, _) => message("i0"),
            (_, 1) => compact(
                nth,
                &format!(
                    r#""insert":[{{"before":"i{}","message":{{"role":"system","content":"x","id":"i{}"}}}}]"#,
                    nth / 2,
                    nth / 2 + 1
                ),
            ),
            _ => format!(r#"{{"type":"truncate","id":"t{nth}","before":null}}"#),
        })
    });
}

#[test]
fn compactions_that_edit_one_message() {
    is_linear(100, |size| {
        lines(size + 1, |nth| match nth {
            0 => message("m"),
            nth => compact(nth, &format!(r#""edit":[{{"id":"m","k{nth}":{nth}}}]"#)),
        })
    });
}

#[test]
fn one_edit_of_many_members() {
    is_linear(600, |size| {
        let edit = joined(size, |nth| format!(r#""k{nth}":{nth}"#));
        lines(2, |nth| match nth {
            0 => message("m"),
            nth => compact(nth, &format!(r#""edit":[{{"id":"m",{edit}}}]"#)),
        })
    });
}

#[test]
fn equal_lines_without_ids() {
    // Both sizes exceed the budget of `compact`.
    is_linear(300, |size| {
        lines(size, |_| r#"{"role":"user","content":"x"}"#.to_string())
    });
}

#[test]
fn calls_and_results_of_one_id() {
    is_linear(120, |size| {
        lines(2 * size, |nth| match nth < size {
            true => calls(&[call("c")]),
            false => result("c"),
        })
    });
}

#[test]
fn calls_of_one_id_in_one_message() {
    is_linear(200, |size| {
        lines(size + 1, |nth| match nth {
            0 => calls(&vec![call("c"); size]),
            _ => result("c"),
        })
    });
}

#[test]
fn calls_in_one_message() {
    is_linear(200, |size| {
        lines(size + 1, |nth| match nth {
            0 => calls(&(0..size).map(|nth| call(&format!("c{nth}"))).collect::<Vec<_>>()),
            nth => result(&format!("c{}", nth - 1)),
        })
    });
}

#[test]
fn events_that_set_members() {
    is_linear(250, |size| {
        lines(size + 1, |nth| match nth {
            0 => message("m"),
            nth => format!(r#"{{"type":"meta","id":"e{nth}","set":{{"k{nth}":{nth}}}}}"#),
        })
    });
}

#[test]
fn events_that_unset_members() {
    is_linear(250, |size| {
        let set = joined(size, |nth| format!(r#""k{nth}":{nth}"#));
        lines(size + 1, |nth| match nth {
            0 => format!(r#"{{"type":"meta","set":{{{set}}}}}"#),
            nth => format!(r#"{{"type":"meta","id":"e{nth}","unset":["k{}"]}}"#, nth - 1),
        })
    });
}

#[test]
fn ranges_of_one_compaction() {
    is_linear(500, |size| {
        let range = format!(r#"["m0","m{}"]"#, size - 1);
        lines(size + 1, |nth| match nth == size {
            true => compact(nth, &format!(r#""drop":[{}]"#, joined(size, |_| range.clone()))),
            false => message(&format!("m{nth}")),
        })
    });
}

#[test]
fn links_and_cuts() {
    is_linear(150, |size| {
        lines(3 * size, |nth| match nth % 3 {
            0 => message(&format!("m{nth}")),
            1 => format!(r#"{{"type":"truncate","id":"t{nth}","before":"m{}"}}"#, nth - 1),
            _ => format!(r#"{{"type":"link","id":"l{nth}","continued_to":"x{nth}"}}"#),
        })
    });
}

#[test]
fn damage_blank_lines_and_deep_values() {
    is_linear(100, |size| {
        let deep = "[".repeat(20 * size) + &"]".repeat(20 * size);
        let digits = "9".repeat(20 * size);
        let all = lines(8 * size, |nth| match nth % 8 {
            0 => message(&format!("m{nth}")),
            1 => r#"{"role":"us"#.to_string(),
            2 => r#"{"type":"novelty","id":"e1"}"#.to_string(),
            3 => r#"{"role":"user","content":"a","content":"b","role":"tool"}"#.to_string(),
            4 => r#"{"role":"user","content":"\ud800"}"#.to_string(),
            5 => "42\n\n\n\r".to_string(),
            6 => r#"{"role":"user","content":"x","_crc":"deadbeef"}"#.to_string(),
            _ => r#"{"role":"user","content":{"a":[1,2,{"b":null}]}}"#.to_string(),
        });
        format!("{all}{{\"role\":\"user\",\"content\":{deep},\"n\":{digits}}}\n")
    });
}

/// The input shapes of the fault harness, repeated to fill a stream.
#[test]
fn unusual_lines() {
    let line = |content: &str| format!("{{\"role\":\"user\",\"content\":{content}}}\n");
    let shapes = [
        line("\"x\"") + "\u{feff}\n",
        line("\"x\",\"n\":1e400") + &line("\"\\udc00\\ud800\""),
        line("\"a\\u0000b\"") + &line("\"a\0b\"") + "\0\0\0\0\n",
        line("\"x\"").replace('\n', "\r\n") + "\r\n",
        "42\n\"text\"\nnull\n[]\n{\"type\":\"novelty\",\"id\":\"e1\"}\n".to_string(),
        "{\"role\":\"us".to_string(),
        line("\"x\"").chars().flat_map(|letter| [letter, '\0']).collect(),
    ];
    is_linear(100, |size| {
        let many: String = shapes.iter().map(|shape| shape.repeat(size)).collect();
        lines(1, |_| message("m")) + &many
    });
}

#[test]
fn values_that_are_deep_or_long() {
    is_linear(600, |size| {
        let deep = |open: &str, close: &str| open.repeat(size) + "1" + &close.repeat(size);
        lines(4, |nth| {
            let content = match nth {
                0 => deep("[", "]"),
                1 => deep("{\"a\":", "}"),
                2 => "[".repeat(size),
                _ => format!("\"{}\"", "x".repeat(8 * size)),
            };
            format!("{{\"role\":\"user\",\"content\":{content}}}")
        })
    });
}

#[test]
fn parts_in_a_directory() {
    let env = Env::new();
    let sessions = |count: usize| -> String {
        let session = |nth| {
            format!(
                "{{\"type\":\"session\",\"version\":1,\"id\":\"s{nth}\"}}\n{}\n",
                message("m")
            )
        };
        (0..count).map(session).collect()
    };
    let (small, large) = (
        env.write("small.jsonl", sessions(400)),
        env.write("large.jsonl", sessions(1600)),
    );
    let slow = slow(&env, &["split", "@", "--output-dir", "parts"], &small, &large);
    assert_eq!(slow, None);
    assert_eq!(std::fs::read_dir(env.work().join("parts")).unwrap().count(), 1600);
}

#[test]
fn unconfirmed_continuations() {
    let claimed = |count| claimed(count, |_| "p".to_string());
    let (small, large) = (claimed(100), claimed(400));
    let input = small.write("none", "");
    for command in [
        &["fsck"][..],
        &["fsck", "--repair"],
        &["fsck", "--repair", "--link", "c7"],
        &["list"],
    ] {
        let of = |env: &Env| cost(env, command, &input);
        let slow = slower(&command.join(" "), || of(&small), || of(&large));
        assert_eq!(slow, None);
    }
}

#[test]
fn a_chain_that_is_linked() {
    let before = |nth: usize| {
        nth.checked_sub(1)
            .map_or("p".to_string(), |nth| format!("c{nth}"))
    };
    let linked = |count: usize| {
        let env = claimed(count, before);
        let input = env.write("none", "");
        let links = (0..count).flat_map(|nth| ["--link".to_string(), format!("c{nth}")]);
        let links: Vec<String> = ["fsck".to_string(), "--repair".to_string()]
            .into_iter()
            .chain(links)
            .collect();
        cost(
            &env,
            &links.iter().map(String::as_str).collect::<Vec<_>>(),
            &input,
        )
    };
    assert_eq!(slower("fsck --repair", || linked(50), || linked(200)), None);
}

#[test]
fn a_stream_that_is_appended() {
    let env = Env::with_chat();
    let stream = |size| lines(size, |_| r#"{"role":"user","content":"x"}"#.to_string());
    let (small, large) = (
        env.write("small.jsonl", stream(400)),
        env.write("large.jsonl", stream(1600)),
    );
    let slow = slow(&env, &["append", "trip", "--stream"], &small, &large);
    assert_eq!(slow, None);
}
