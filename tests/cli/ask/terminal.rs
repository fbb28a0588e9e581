//! Tests that a terminal shows a reply as it arrives.

use super::said;
use crate::env::{Env, Run};
use std::path::Path;

/// Runs a command on a pseudo terminal created by util-linux `script`; none if that is missing.
fn on_a_terminal(env: &Env, line: &str) -> Option<Run> {
    if !Path::new("/usr/bin/script").exists() {
        eprintln!("skipped: there is no `script` to make a terminal");
        return None;
    }
    let mut command = env.program("/usr/bin/script");
    command
        .args(["-qefc", line, "/dev/null"])
        .stdin(std::process::Stdio::null());
    command.env("TERM", "dumb").env("SHELL", "/bin/sh");
    Some(env.wait(command))
}

#[test]
fn parts_are_shown_on_arrival_and_the_reply_once() {
    let env = Env::with_chat();
    let line = r#"cat > /dev/null; test "$CONVO_PARTIAL" = 1 || exit 9; printf '{"type":"partial","text":"Su"}\n{"type":"par'; touch half; printf 'tial","text":"n\\u001b[2Jny."}\n{"role":"assistant","content":"Sunny."}\n'"#;
    env.write("line", line);
    let Some(run) = on_a_terminal(&env, "convo ask trip hi --with \"cmd:$(cat line)\"") else {
        return;
    };
    assert_eq!((run.status, run.out()), (0, "Sun\u{241b}[2Jny.\r\n"), "{run}");
    assert_eq!(said(&env)[8], "assistant: Sunny.");
    // Plain text too, without splitting characters; unshown text is printed at the end.
    let run = on_a_terminal(
        &env,
        r#"convo ask trip hi --with "cmd:printf 'b\303'; sleep 0.1; printf '\251b'""#,
    )
    .unwrap();
    assert_eq!(run.out(), "b\u{e9}b\r\n", "{run}");
    env.write("reply", r#"{"role":"assistant","content":"Quiet."}"#);
    let run = on_a_terminal(&env, "convo ask trip hi --with 'cmd:cat reply'").unwrap();
    assert_eq!(run.out(), "Quiet.\r\n", "{run}");
    let run = on_a_terminal(&env, "convo ask trip hi --json --with 'cmd:cat reply'").unwrap();
    assert_eq!(run.out().lines().count(), 2, "{run}");
}

#[test]
fn a_failed_reply_is_not_stored_after_display() {
    let env = Env::with_chat();
    let line = r#"convo ask trip hi --with 'cmd:printf "Su"; exit 3'"#;
    let Some(run) = on_a_terminal(&env, line) else {
        return;
    };
    assert_eq!(run.status, 69, "{run}");
    assert!(
        run.out().starts_with("Su\r\n") && run.out().contains("nothing was stored"),
        "{run}"
    );
    assert_eq!(said(&env).len(), 7);
}
