//! `show --follow` and `cat --follow`.

use crate::env::{CHAT, Env};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A process that runs while its input grows.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(env: &Env, arguments: &[&str]) -> Running {
        let mut command = env.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let output = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Running { child, lines }
    }

    /// Waits for a line that contains a text; returns the lines up to it.
    #[track_caller]
    fn until(&self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(Duration::from_secs(20)) {
                Ok(line) => {
                    seen.push(line);
                    if seen.last().unwrap().contains(text) {
                        return seen;
                    }
                }
                Err(error) => panic!("{text:?} did not come: {error}: {seen:?}"),
            }
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let own = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(own, signal).unwrap();
    }

    /// Returns status, remaining lines and messages.
    fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        let rest = self.lines.iter().collect();
        (
            output.status.code(),
            rest,
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

fn user(text: &str) -> String {
    format!("{}\n", serde_json::json!({"role": "user", "content": text}))
}

fn append(file: &mut File, bytes: &[u8]) {
    file.write_all(bytes).unwrap();
    file.sync_data().unwrap();
}

/// A writer that splits lines, even within a character.
#[test]
fn a_message_is_printed_once_it_is_complete() {
    let env = Env::new();
    let path = env.write("s.jsonl", CHAT);
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let show = Running::start(&env, &["show", "--follow", "s.jsonl"]);
    let cat = Running::start(&env, &["cat", "--follow", "s.jsonl"]);
    show.until("Rain.");
    assert_eq!(cat.until("Rain.").concat() + "\n", CHAT.replace('\n', "") + "\n");
    let line = user("t\u{f6}rn");
    let (one, other) = line.as_bytes().split_at(line.find('\u{f6}').unwrap() + 1);
    append(&mut file, one);
    std::thread::sleep(Duration::from_millis(700));
    assert!(show.lines.try_recv().is_err() && cat.lines.try_recv().is_err());
    append(&mut file, other);
    assert_eq!(show.until("t\u{f6}rn"), ["", "user", "  t\u{f6}rn"]);
    assert_eq!(cat.until("t\u{f6}rn"), [line.trim_end()]);
    append(&mut file, (user("two") + &user("three")).as_bytes());
    assert_eq!(show.until("three").len(), 6);
    assert_eq!(cat.until("three").len(), 2);
    // A background job of a shell starts with SIGINT ignored and keeps ignoring it.
    let (signal, status) = match crate::ask::failing::is_ignored(2) {
        true => (rustix::process::Signal::TERM, None),
        false => (rustix::process::Signal::INT, Some(0)),
    };
    for run in [show, cat] {
        run.signal(signal);
        assert_eq!(run.end(), (status, Vec::new(), String::new()));
    }
}

#[test]
fn a_rewritten_file_continues_after_the_common_prefix() {
    let env = Env::new();
    let path = env.write("s.jsonl", user("one") + &user("two") + &user("three"));
    let show = Running::start(&env, &["show", "--follow", "--until-idle", "3s", "s.jsonl"]);
    show.until("three");
    env.write("new.jsonl", user("one") + &user("2") + &user("3"));
    std::fs::rename(env.work().join("new.jsonl"), path).unwrap();
    assert_eq!(show.until("  3"), ["", "user", "  2", "", "user", "  3"]);
    let (status, rest, stderr) = show.end();
    assert_eq!((status, rest.len()), (Some(0), 0));
    assert!(
        stderr.contains("rewritten; continuing after the first 1 message"),
        "{stderr}"
    );
}

#[test]
fn sessions_of_the_store_and_standard_input_are_followed() {
    let env = Env::with_chat();
    let show = Running::start(&env, &["show", "--follow", "--role", "user", "trip"]);
    show.until("And tomorrow?");
    env.run(&["append", "-q", "trip", "--role", "assistant", "skipped"])
        .status(0);
    env.run(&["append", "-q", "trip", "next"]).status(0);
    assert!(!show.until("  next").concat().contains("skipped"));
    env.run(&["remove", "-q", "trip"]).status(0);
    let (status, _, stderr) = show.end();
    assert_eq!(status, Some(74), "{stderr}");
    let mut piped = Running::start(&env, &["cat", "--follow"]);
    let mut input = piped.child.stdin.take().unwrap();
    input.write_all(user("one").as_bytes()).unwrap();
    piped.until("one");
    input.write_all(user("two").as_bytes()).unwrap();
    piped.until("two");
    drop(input);
    assert_eq!(piped.end(), (Some(0), Vec::new(), String::new()));
}

/// An answer written in several lines is one message, printed once.
#[test]
fn an_answer_in_several_lines_is_one_message() {
    let env = Env::new();
    let line = |uuid: &str, parent: &str, kind: &str, message: serde_json::Value| {
        let parent = if parent.is_empty() {
            serde_json::Value::Null
        } else {
            parent.into()
        };
        let line = serde_json::json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/", "sessionId": "s",
            "version": "2.0.14", "type": kind, "message": message, "uuid": uuid, "timestamp": "2026-03-09T09:00:00.000Z"});
        format!("{line}\n")
    };
    let part = |text: &str| serde_json::json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]});
    let path = env.write(
        "c.jsonl",
        line(
            "u1",
            "",
            "user",
            serde_json::json!({"role": "user", "content": "hi"}),
        ),
    );
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let show = Running::start(&env, &["show", "--follow", "--until-idle", "4s", "c.jsonl"]);
    show.until("hi");
    append(&mut file, line("a1", "u1", "assistant", part("first")).as_bytes());
    std::thread::sleep(Duration::from_millis(400));
    append(
        &mut file,
        line("a2", "a1", "assistant", part("second")).as_bytes(),
    );
    let seen = show.until("second");
    assert_eq!(
        seen.iter().filter(|line| line.contains("first")).count(),
        1,
        "{seen:?}"
    );
    assert_eq!(show.end(), (Some(0), Vec::new(), String::new()));
}

#[test]
fn inputs_that_cannot_be_followed_are_refused() {
    let env = Env::with_chat();
    env.write("s.jsonl", CHAT);
    env.run(&["show", "--follow", "trip", "s.jsonl"])
        .status(2)
        .says("--follow requires exactly one input");
    env.run(&["show", "--until-idle", "1s", "trip"]).status(2);
    env.run(&["cat", "--follow", "--to", "anthropic", "trip"])
        .status(2);
    env.run(&["show", "--follow", "nothing.jsonl"]).status(66);
    env.run(&["show", "--follow", "nothing"]).status(66);
    let show = Running::start(&env, &["show", "--follow", "s.jsonl"]);
    show.until("Rain.");
    std::fs::remove_file(env.work().join("s.jsonl")).unwrap();
    let (status, _, stderr) = show.end();
    assert_eq!(status, Some(74), "{stderr}");
}

#[test]
fn a_closed_pipe_ends_the_command() {
    let env = Env::new();
    env.write("s.jsonl", CHAT);
    let run = env.shell("convo cat --follow s.jsonl | head -1 > /dev/null; echo done");
    run.fine().gives("done\n");
}
