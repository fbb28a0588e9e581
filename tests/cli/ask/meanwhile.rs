//! Tests changes by other processes while a reply is generated.

use super::failing::await_file;
use super::{ask, messages};
use crate::env::{CHAT, Env, Run};
use std::process::Stdio;

/// Asks, runs `meanwhile` once the program received the question, then lets it answer.
#[must_use]
fn while_it_thinks(env: &Env, arguments: &[&str], meanwhile: impl FnOnce()) -> Run {
    let line = "cmd:cat > given; touch begun; while ! test -e go; do sleep 0.01; done; echo Yes.";
    let mut command = env.command(&[arguments, &["--with", line]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    await_file(env, "begun");
    meanwhile();
    env.write("go", "");
    env.ended(child)
}

#[test]
fn concurrently_added_lines_come_before_the_question() {
    let env = Env::with_chat();
    let run = while_it_thinks(&env, &["ask", "trip", "Sunday?"], || {
        // No lock is held.
        env.run(&["append", "trip", "--lock-timeout", "1s", "By the way."])
            .fine();
        env.run(&["append", "trip", "--event", "It rains."]).fine();
    });
    run.status(0).gives("Yes.\n").says("2 lines were appended while");
    assert_eq!(
        messages(&env)[7..],
        [
            "user: By the way.", "user: It rains.", "user: Sunday?", "assistant: Yes."
        ]
    );
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn strict_refuses_concurrent_appends() {
    let env = Env::with_chat();
    let run = while_it_thinks(&env, &["ask", "trip", "Sunday?", "--strict"], || {
        env.run(&["append", "trip", "By the way."]).fine();
    });
    run.status(75)
        .gives("")
        .says("--strict")
        .says("nothing was stored");
    assert_eq!(messages(&env)[7..], ["user: By the way."]);
    let env = Env::with_chat();
    while_it_thinks(&env, &["ask", "trip", "Sunday?", "--strict"], || {}).fine();
}

#[test]
fn an_exchange_after_a_conflicting_append_is_not_stored() {
    let env = Env::with_chat();
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c9","type":"function","function":{"name":"weather","arguments":"{}"}}],"id":"m9"}"#;
    let run = while_it_thinks(&env, &["ask", "trip", "Sunday?"], || {
        env.pipe(&["append", "-q", "trip", "--stream"], call).fine();
    });
    run.status(75).gives("").says("the last message calls");
    assert_eq!(messages(&env).len(), 8);
    // A removed session is not created again.
    let env = Env::with_chat();
    let run = while_it_thinks(&env, &["ask", "trip", "Sunday?"], || {
        env.run(&["remove", "-q", "trip"]).fine();
    });
    run.status(66).gives("");
}

#[test]
fn concurrent_cuts_gcs_and_restores_are_kept() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    while_it_thinks(&env, &["ask", "trip", "Sunday?"], || {
        env.run(&["gc", "-q", "trip"]).fine();
        env.run(&["truncate", "-q", "trip", "--all"]).fine();
    })
    .status(0);
    let view = env.run(&["context", "trip"]).fine();
    let texts: Vec<String> = view.objects()[1..]
        .iter()
        .map(|line| line["content"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(texts, ["You are terse.", "Sunday?", "Yes."]);
    std::fs::remove_file(env.work().join("go")).unwrap();
    std::fs::remove_file(env.work().join("begun")).unwrap();
    while_it_thinks(&env, &["ask", "trip", "Monday?"], || {
        env.run(&["restore", "-q", "trip"]).fine();
    })
    .status(0);
    let view = env.run(&["context", "trip"]).fine();
    assert!(
        view.out().contains("Rain.") && view.out().contains("Monday?"),
        "{view}"
    );
}

#[test]
fn concurrent_questions_and_appends_lose_nothing() {
    let env = Env::with_chat();
    let requested = 6;
    let lines = (0..requested).map(|nth| {
        format!("convo ask -q trip 'question {nth}' --with 'cmd:cat > /dev/null; echo answer {nth}' & ")
    });
    let appends = "for nth in 1 2 3 4 5 6 7 8 9; do convo append trip \"$nth\"; done";
    env.shell(&format!("{}{appends}; wait", lines.collect::<String>()))
        .status(0);
    let all = messages(&env);
    assert_eq!(all.len(), 7 + 2 * requested + 9);
    for nth in 0..requested {
        let at = all
            .iter()
            .position(|text| *text == format!("user: question {nth}"))
            .unwrap();
        assert_eq!(
            all[at + 1],
            format!("assistant: answer {nth}"),
            "they stay together"
        );
    }
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn an_append_to_a_file_is_also_reported() {
    let env = Env::new();
    env.write("a.jsonl", CHAT);
    let run = while_it_thinks(&env, &["ask", "-i", "a.jsonl", "Sunday?"], || {
        env.run(&["append", "-i", "a.jsonl", "By the way."]).status(0);
    });
    run.status(0).says("1 line was appended while").gives("Yes.\n");
    let text = env.read("a.jsonl");
    assert!(text.find("By the way.") < text.find("Sunday?"), "{text}");
}

#[test]
fn writes_of_another_program_are_not_lost() {
    let env = Env::with_chat();
    let mut foreign = std::fs::OpenOptions::new()
        .append(true)
        .open(env.log("trip"))
        .unwrap();
    ask(&env, "echo Yes.", &["Sunday?"]).fine();
    use std::io::Write;
    foreign
        .write_all(b"{\"role\":\"user\",\"content\":\"by hand\"}\n")
        .unwrap();
    assert_eq!(
        messages(&env)[7..],
        ["user: Sunday?", "assistant: Yes.", "user: by hand"]
    );
}
