//! Tests that a terminal shows a reply as it arrives.

use super::messages;
use crate::env::Env;

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn parts_are_shown_on_arrival_and_the_reply_once() {
    let env = Env::with_chat();
    let line = r#"cat > /dev/null; test "$CONVO_PARTIAL" = 1 || exit 9; printf '{"type":"partial","text":"Su"}\n{"type":"par'; touch half; printf 'tial","text":"n\\u001b[2Jny."}\n{"role":"assistant","content":"Sunny."}\n'"#;
    env.write("line", line);
    let run = env.terminal((80, 50), "convo ask trip hi --with \"cmd:$(cat line)\"");
    assert_eq!((run.status, run.out()), (0, "Sun\u{241b}[2Jny.\n"), "{run}");
    assert_eq!(messages(&env)[8], "assistant: Sunny.");
    // Plain text too, without splitting characters; unshown text is printed at the end.
    let run = env.terminal(
        (80, 50),
        r#"convo ask trip hi --with "cmd:printf 'b\303'; sleep 0.1; printf '\251b'""#,
    );
    assert_eq!(run.out(), "b\u{e9}b\n", "{run}");
    env.write("reply", r#"{"role":"assistant","content":"Quiet."}"#);
    let run = env.terminal((80, 50), "convo ask trip hi --with 'cmd:cat reply'");
    assert_eq!(run.out(), "Quiet.\n", "{run}");
    let run = env.terminal((80, 50), "convo ask trip hi --json --with 'cmd:cat reply'");
    assert_eq!(run.out().lines().count(), 2, "{run}");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_failed_reply_is_not_stored_after_display() {
    let env = Env::with_chat();
    let line = r#"convo ask trip hi --with 'cmd:printf "Su"; exit 3'"#;
    let run = env.terminal((80, 50), line);
    assert_eq!(run.status, 69, "{run}");
    assert!(
        run.out().starts_with("Su\n") && run.out().contains("nothing was stored"),
        "{run}"
    );
    assert_eq!(messages(&env).len(), 7);
}
