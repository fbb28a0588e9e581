//! Checks that a failed `ask` leaves the session unchanged, byte for byte.

use super::{ask, messages};
use crate::env::{CHAT, Env};
use std::process::Stdio;
use std::time::{Duration, Instant};

const GOOD: &str = r#"{"role":"assistant","content":"Yes."}"#;

#[test]
fn a_failure_leaves_the_session_unchanged() {
    let env = Env::with_chat();
    let before = std::fs::read(env.log("trip")).unwrap();
    let echo = |text: &str| format!("cat > /dev/null; echo '{text}'");
    let result = r#"{"role":"tool","tool_call_id":"c1","content":"x"}"#;
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c9","type":"function","function":{"name":"w","arguments":"{}"}}]}"#;
    let cases = [
        (
            "echo no key >&2; exit 3".to_string(),
            "failed with status 3: no key",
        ),
        (format!("{}; exit 1", echo(GOOD)), "failed with status 1"),
        (
            "printf 'convo: llm: no model\\nhint: name one\\n' >&2; exit 78".into(),
            "failed with status 78: llm: no model",
        ),
        ("exit 0".into(), "the output is blank"),
        ("echo; echo ' '".into(), "the output is blank"),
        ("kill -9 $$".into(), "killed by signal 9"),
        ("printf 'a\\377'".into(), "the output is not UTF-8 (byte 1)"),
        ("nothing-of-this-name".into(), "status 127"),
        ("cat".into(), "line 1 of the output is a record of type 'session'"),
        (
            echo(r#"{"role":"assistant","content":"#),
            "line 1 of the output is not a record",
        ),
        (
            echo(&format!("{GOOD}\n{{")),
            "line 2 of the output is not a record",
        ),
        (echo(r#"{"role":"assistant","content":" "}"#), "is blank"),
        (
            echo(r#"{"type":"partial","text":"Yes."}"#),
            "the output has no message",
        ),
        (echo(r#"{"role":"user","content":"hi"}"#), "the role 'user'"),
        (echo(result), "a result of the call 'c1', which is not open"),
        (echo(&format!("{call}\n{GOOD}")), "a result of the call 'c9'"),
        (
            echo(r#"{"role":"assistant","content":"x","id":"m5"}"#),
            "already has the id 'm5'",
        ),
        (
            echo(r#"{"type":"truncate","id":"e","before":null}"#),
            "of type 'truncate'",
        ),
        (
            "sleep 60 & echo $! > pid; sleep 60".into(),
            "timed out after 300 ms",
        ),
    ];
    for (line, why) in cases {
        let run = ask(
            &env,
            &line,
            &[
                "And then?",
                "--timeout",
                if why.contains("300") { "300ms" } else { "20s" },
            ],
        );
        assert_eq!((run.status, run.out()), (69, ""), "{line}: {run}");
        assert!(run.stderr.contains(why), "{line}: {run}");
        assert!(run.stderr.contains("hint: nothing was stored"), "{line}: {run}");
        assert!(std::fs::read(env.log("trip")).unwrap() == before, "{line}");
    }
    assert!(crate::summarize::programs::ends(env.read("pid").trim()));
    ask(&env, "echo Yes.", &["And then?"]).fine();
}

#[test]
fn a_failure_leaves_a_file_unchanged_and_prints_no_stream() {
    let env = Env::new();
    let path = env.write("a.jsonl", CHAT);
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    env.run(&["ask", "-i", "a.jsonl", "hi", "--with", "cmd:exit 3"])
        .status(69)
        .says("no reply");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), CHAT);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
    assert_eq!(env.files().len(), 1, "{:?}", env.files());
    env.pipe(&["ask", "-", "hi", "--with", "cmd:exit 3"], CHAT)
        .status(69)
        .gives("");
    env.run(&["ask", "a.jsonl", "hi", "--with", "cmd:exit 3", "-o", "out.jsonl"])
        .status(69);
    assert!(!env.work().join("out.jsonl").exists());
}

#[test]
fn standard_error_of_the_program_is_reported() {
    let env = Env::with_chat();
    ask(&env, "echo cut off >&2; echo Yes.", &["hi"])
        .status(0)
        .says("convo: trip: cut off")
        .gives("Yes.\n");
    ask(&env, "echo cut off >&2; echo Yes.", &["hi", "-q"])
        .fine()
        .gives("Yes.\n");
}

#[test]
fn output_that_cannot_be_written_is_reported() {
    let env = Env::with_chat();
    let line = "convo ask trip hi --with 'cmd:echo Yes.' > /dev/full";
    env.shell(line).status(76).says("standard output");
    // The messages are stored, so the caller must check before repeating.
    assert_eq!(messages(&env).len(), 9);
    env.run(&["ask", "nobody", "hi", "--with", "cmd:touch asked"])
        .status(66);
    assert!(!env.work().join("asked").exists());
}

/// On signals of a terminal, a supervisor or a lost connection, nothing is stored and no process keeps running.
#[test]
fn an_interrupted_question_is_not_stored() {
    for (signal, number) in [
        (rustix::process::Signal::INT, 2),
        (rustix::process::Signal::TERM, 15),
        (rustix::process::Signal::HUP, 1),
    ] {
        if is_ignored(number) {
            continue;
        }
        let env = Env::with_chat();
        let before = std::fs::read(env.log("trip")).unwrap();
        let line = "cmd:trap '' INT TERM HUP; sleep 60 & echo $! > own; mv own pid; echo Ye; sleep 60";
        let mut command = env.command(&["ask", "trip", "hi", "--with", line]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        await_file(&env, "pid");
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let run = env.ended(child);
        assert_eq!((run.status, run.out()), (-number, ""), "{run}");
        assert!(
            run.stderr.contains("interrupted") && run.stderr.contains("nothing was stored"),
            "{run}"
        );
        assert!(crate::summarize::programs::ends(env.read("pid").trim()));
        assert!(std::fs::read(env.log("trip")).unwrap() == before);
    }
}

#[test]
fn an_ignored_signal_remains_ignored() {
    let env = Env::with_chat();
    let line = "trap '' HUP; convo ask trip hi --with 'cmd:touch begun; while ! test -e go; do sleep 0.01; done; echo Yes.'";
    let mut command = env.program("/bin/sh");
    command
        .arg("-c")
        .arg(format!("{line} & echo $! > own; mv own pid; wait $!"));
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null());
    let child = command.spawn().unwrap();
    await_file(&env, "pid");
    await_file(&env, "begun");
    let pid: i32 = env.read("pid").trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    env.write("go", "");
    env.ended(child).fine().gives("Yes.\n");
}

/// Whether this signal was ignored when the tests were started; child processes inherit that.
pub fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
    let ignored = mask >> (number - 1) & 1 == 1;
    if ignored {
        eprintln!("signal {number} is ignored here: not tried");
    }
    ignored
}

/// Waits for a file that a program creates.
pub fn await_file(env: &Env, name: &str) {
    let until = Instant::now() + Duration::from_secs(30);
    while !env.work().join(name).exists() {
        assert!(Instant::now() < until, "there is no {name}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
