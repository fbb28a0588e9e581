//! Tests `ask`: it stores a question and its answer, or neither.

pub mod failing;
mod meanwhile;
mod terminal;

use crate::env::{CHAT, Env, Run};
use std::os::unix::fs::PermissionsExt;

/// Asks the session `trip`; this shell command answers.
#[must_use]
fn ask(env: &Env, line: &str, arguments: &[&str]) -> Run {
    let with = format!("cmd:{line}");
    env.run(&[&["ask", "trip", "--with", &with], arguments].concat())
}

/// The messages of the session `trip` in the log: role and text.
fn messages(env: &Env) -> Vec<String> {
    let run = env.run(&["cat", "trip"]).fine();
    let messages = run.objects().into_iter().filter(|line| line["role"].is_string());
    messages
        .map(|line| {
            let text = line["content"].as_str().unwrap_or_default();
            format!("{}: {text}", line["role"].as_str().unwrap())
        })
        .collect()
}

/// Creates a plugin from this shell script.
fn plugin(env: &Env, name: &str, script: &str) {
    let path = env.root().join("bin").join(format!("convo-{name}"));
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn question_and_answer_are_stored_and_the_answer_printed() {
    let env = Env::with_chat();
    let line = r#"cat > given.jsonl; echo "$CONVO_STORE" > store.txt; echo "$CONVO_PARTIAL" > partial.txt; echo Sunny."#;
    ask(&env, line, &["And on Sunday?"]).fine().gives("Sunny.\n");
    let all = messages(&env);
    assert_eq!(all.len(), 9);
    assert_eq!(all[7..], ["user: And on Sunday?", "assistant: Sunny."]);
    // The request equals what `context` prints of the session up to the answer.
    let context = env.run(&["context", "trip"]).fine();
    let lines: Vec<&str> = context.out().lines().collect();
    assert_eq!(env.read("given.jsonl"), lines[..9].join("\n") + "\n");
    assert_eq!(env.read("store.txt").trim_end(), env.store().to_str().unwrap());
    assert_eq!(env.read("partial.txt"), "\n", "nobody looks at it");
    for message in &context.objects()[8..] {
        assert!(message["id"].as_str().unwrap().starts_with("msg_"));
        assert_eq!(message["timestamp"], "2026-11-20T18:02:03Z");
    }
    assert!(env.run(&["fsck", "-q"]).fine().out().is_empty());
}

#[test]
fn the_llm_plugin_is_the_default_program() {
    let env = Env::with_chat();
    plugin(&env, "llm", r#"cat > /dev/null; echo "llm $*""#);
    plugin(&env, "other", "cat > /dev/null; echo other");
    let arguments = ["ask", "trip", "hi", "--", "--model", "gpt 5", "--tool", "a=./a"];
    env.run(&arguments)
        .fine()
        .gives("llm --model gpt 5 --tool a=./a\n");
    env.run(&["ask", "trip", "hi", "--with", "other"])
        .fine()
        .gives("other\n");
    let mut command = env.command(&["ask", "trip", "hi"]);
    command.env("CONVO_ASK_WITH", "other");
    env.wait(command).fine().gives("other\n");
    env.write("config.toml", "ask-with = \"other\"\n");
    env.run(&["ask", "trip", "hi", "--config", "config.toml"])
        .fine()
        .gives("other\n");
    env.write("config.toml", "ask-with = \"a b\"\n");
    env.run(&["ask", "trip", "hi", "--config", "config.toml"])
        .status(78)
        .says("ask-with");
    env.run(&["ask", "trip", "hi", "--with", "none"])
        .status(69)
        .says("convo-none on PATH");
    // Arguments are appended to a shell command, or placed where it contains `$@`.
    ask(&env, "printf '%s|'", &["hi", "--", "a b", "c"])
        .fine()
        .gives("a b|c|\n");
    ask(&env, r#"printf '%s|' "$@" end"#, &["hi", "--", "a b"])
        .fine()
        .gives("a b|end|\n");
}

#[test]
fn a_reply_keeps_all_members_of_its_messages() {
    let env = Env::with_chat();
    let reply = [
        r#"{"type":"partial","text":"Let me"}"#,
        r#"{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"c9","type":"function","function":{"name":"weather","arguments":"{\"n\": 1e400}"}}],"reasoning":[{"type":"thinking","signature":"s=="}],"id":"m20"}"#,
        r#"{"role":"tool","tool_call_id":"c9","content":"rain"}"#,
        r#"{"role":"assistant","content":"Rain.","usage":{"total":12345678901234567890},"model":"m"}"#,
    ];
    env.write("reply.jsonl", reply.join("\n"));
    let run = ask(&env, "cat > /dev/null; cat reply.jsonl", &["Sunday?"]).fine();
    assert_eq!(run.out(), "Let me look.\nRain.\n");
    let log = env.run(&["cat", "trip"]).fine();
    let lines: Vec<&str> = log.out().lines().collect();
    // A message with an id keeps its bytes; the others get an id.
    assert_eq!(lines[9], reply[1]);
    assert!(
        lines[10].starts_with(reply[2].trim_end_matches('}')),
        "{}",
        lines[10]
    );
    assert!(
        lines[11].starts_with(reply[3].trim_end_matches('}')),
        "{}",
        lines[11]
    );
    assert_eq!(lines.len(), 12);
    let run = ask(&env, "echo Yes.", &["--json", "Sure?"]).fine();
    let [question, answer] = &run.objects()[..] else {
        panic!("{run}")
    };
    assert_eq!(
        (question["content"].as_str(), answer["content"].as_str()),
        (Some("Sure?"), Some("Yes."))
    );
    assert!(env.run(&["cat", "trip"]).fine().out().ends_with(run.out()));
}

#[test]
fn text_that_looks_like_json_is_text() {
    let env = Env::with_chat();
    ask(&env, r#"echo '{"a":1}'"#, &["hi"])
        .status(69)
        .says("line 1 of the output");
    ask(&env, r#"printf '{"a":1}\n\n'"#, &["hi", "--plain"])
        .fine()
        .gives("{\"a\":1}\n");
    ask(&env, "printf '  a\\n\\n  b \\n\\n'", &["hi"])
        .fine()
        .gives("  a\n\n  b\n");
    assert_eq!(
        messages(&env)[7..],
        [
            "user: hi", "assistant: {\"a\":1}", "user: hi", "assistant:   a\n\n  b"
        ]
    );
}

#[test]
fn the_question_may_be_piped() {
    let env = Env::with_chat();
    let arguments = ["ask", "trip", "--with", "cmd:echo Yes."];
    env.pipe(&arguments, "Two\nlines?\n").fine().gives("Yes.\n");
    assert_eq!(messages(&env)[7], "user: Two\nlines?");
    env.pipe(&arguments, "")
        .status(2)
        .says("empty prompt")
        .says("--reply");
    env.pipe(&arguments, b"a\xff").status(65).says("not UTF-8");
    env.pipe(&["ask", "-", "--with", "cmd:cat"], CHAT)
        .status(2)
        .says("standard input is the session");
}

#[test]
fn a_dry_run_prints_the_request_and_runs_nothing() {
    let env = Env::with_chat();
    let log = std::fs::read(env.log("trip")).unwrap();
    let run = ask(
        &env,
        "touch asked",
        &["-n", "Sunday?", "--budget", "40", "--for", "anthropic"],
    )
    .status(0);
    assert!(
        run.out().contains("Sunday?") && !run.out().contains("Paris"),
        "{run}"
    );
    assert!(!env.work().join("asked").exists());
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), log);
}

#[test]
fn the_request_fits_the_budget_and_is_valid_for_the_api() {
    let env = Env::new();
    // An unanswered call in a finished exchange.
    let broken = CHAT.replace(
        r#"{"role":"tool","tool_call_id":"c1","content":"22 C, sunny","id":"m4"}"#,
        "",
    );
    let path = env.write("trip.jsonl", broken);
    env.run(&["migrate", "-q", path.to_str().unwrap()]).status(0);
    let line = "cat > given.jsonl; echo Yes.";
    ask(&env, line, &["Sunday?", "--for", "openai-chat"])
        .status(0)
        .says("repaired: invalid for openai-chat");
    assert!(env.read("given.jsonl").contains("tool_call_id"));
    ask(&env, line, &["Sunday?", "--for", "openai-chat", "--strict"])
        .status(65)
        .says("--strict");
    ask(&env, line, &["Monday?", "--budget", "45"]).status(0);
    let given = env.read("given.jsonl");
    assert!(given.contains("Monday?") && !given.contains("Paris"), "{given}");
    // Results generated for the request are not stored.
    assert!(messages(&env).iter().all(|text| !text.starts_with("tool")));
    assert!(!env.run(&["cat", "trip"]).fine().out().contains("compact"));
    ask(&env, line, &["Sunday?", "--window", "1000"])
        .status(2)
        .says("--budget");
}

#[test]
fn a_pending_question_is_answered() {
    let env = Env::with_chat();
    ask(&env, "echo Yes.", &["--reply"])
        .status(1)
        .says("the last message is from the assistant");
    env.run(&["append", "trip", "Sunday?"]).fine();
    // Another question may follow, and both are sent.
    ask(&env, "grep -c '\"user\"'", &["And Monday?"])
        .fine()
        .gives("4\n");
    env.run(&["append", "trip", "Tuesday?"]).fine();
    ask(&env, "grep -c '\"user\"'", &["--reply"]).fine().gives("5\n");
    assert_eq!(
        messages(&env)[8..],
        [
            "user: And Monday?", "assistant: 4", "user: Tuesday?", "assistant: 5"
        ]
    );
    ask(&env, "echo Yes.", &["--reply", "text"]).status(2);
    // An empty session cannot be sent.
    env.run(&["new", "--id", "empty", "--system", "Be brief."]).fine();
    env.run(&["ask", "empty", "--reply", "--with", "cmd:cat"])
        .status(1);
}

#[test]
fn a_call_is_answered_before_another_question() {
    let env = Env::with_chat();
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c9","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#;
    env.write("call.jsonl", call);
    let run = ask(&env, "cat call.jsonl", &["Sunday?"]).status(0);
    assert_eq!(run.out(), "");
    let run = run.says("calls weather; awaiting the result of call 'c9'");
    assert_eq!(run.stderr.lines().count(), 1, "{run}");
    let log = std::fs::read(env.log("trip")).unwrap();
    ask(&env, "touch asked; echo Yes.", &["Well?"])
        .status(1)
        .says("the last message calls")
        .says("--reply");
    ask(&env, "touch asked; echo Yes.", &["--reply"]).status(1);
    assert!(!env.work().join("asked").exists());
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), log);
    env.pipe(
        &["append", "trip", "--stream", "-q"],
        r#"{"role":"tool","tool_call_id":"c9","content":"rain"}"#,
    )
    .fine();
    ask(&env, "echo Rain.", &["--reply"]).fine().gives("Rain.\n");
}

#[test]
fn files_and_streams_are_answered() {
    let env = Env::new();
    env.write("a.jsonl", CHAT);
    let with = ["--with", "cmd:cat > given; echo Yes."];
    // Without a seed, as outside tests, ids in a stream are derived from its content.
    let command = |arguments: &[&str]| {
        let mut command = env.command(&[arguments, &with[..]].concat());
        command.env_remove("CONVO_SEED");
        command
    };
    env.wait(command(&["ask", "-i", "a.jsonl", "Sunday?"]))
        .fine()
        .gives("Yes.\n");
    let text = env.read("a.jsonl");
    assert!(text.starts_with(CHAT), "{text}");
    let added = crate::env::objects(&text[CHAT.len()..]);
    assert_eq!(
        (added[0]["content"].as_str(), added[1]["content"].as_str()),
        (Some("Sunday?"), Some("Yes."))
    );
    let question = text[CHAT.len()..].lines().next().unwrap().to_string() + "\n";
    assert!(env.read("given").ends_with(&question));
    // Through a pipe: the output is the stream with the answer.
    env.feed(command(&["ask", "-", "Sunday?"]), CHAT.as_bytes())
        .fine()
        .gives(&text);
    // Each session of a stream gets an answer.
    let two = format!("{CHAT}{}", CHAT.replace("\"trip\"", "\"two\""));
    let run = env
        .pipe(&[&["ask", "-", "Sunday?"], &with[..]].concat(), &two)
        .fine();
    assert_eq!(run.out().matches("Yes.").count(), 2);
    env.write("two.jsonl", &two);
    env.run(&[&["ask", "-i", "two.jsonl", "Sunday?"], &with[..]].concat())
        .fine()
        .gives("Yes.\nYes.\n");
    // Converts to another format, and prints a stored session as a stream.
    let env = Env::with_chat();
    let run = env
        .run(&[&["ask", "trip", "Sunday?", "--to", "openai-chat"], &with[..]].concat())
        .status(0);
    assert!(
        run.out().contains("Yes.") && run.out().contains("\"messages\"") || run.out().starts_with('['),
        "{run}"
    );
    assert_eq!(messages(&env).len(), 7);
}

#[test]
fn a_retention_policy_remains_in_effect() {
    let env = Env::new();
    let memory = "truncation,keep_last=1,total=60,summary=10";
    env.run(&["new", "--id", "trip", "--memory", memory]).fine();
    for nth in 0..4 {
        let run = ask(
            &env,
            "cat > given; echo 'A fair answer to it.'",
            &[&format!("A fair question, number {nth}?")],
        );
        assert!(run.status == 0 || run.status == 1, "{run}");
        assert!(env.read("given").contains(&format!("number {nth}")));
    }
    let given = env.read("given");
    assert!(
        !given.contains("number 0") && given.contains("number 3"),
        "{given}"
    );
    assert_eq!(messages(&env).len(), 8);
    ask(&env, "echo no", &["hi", "--boundary", "8"])
        .status(2)
        .says("--max-messages conflicts with a retention policy");
}

#[test]
fn a_boundary_does_not_separate_question_and_answer() {
    let env = Env::with_chat();
    ask(&env, "echo One.", &["one?", "--boundary", "9"]).fine();
    assert_eq!(messages(&env).len(), 9);
    let run = ask(&env, "grep -c user; echo Two.", &["two?", "--boundary", "10"]).status(0);
    assert!(run.stderr.contains("trip is full; continued as trip.1"), "{run}");
    assert_eq!(messages(&env).len(), 9, "nothing is added to a full one");
    let next = env.run(&["context", "trip.1"]).fine();
    assert!(
        next.out().contains("two?") && next.out().contains("Two."),
        "{next}"
    );
    // The program received the original session, not the part copied into the new one.
    assert!(run.out().starts_with("4\n"), "{run}");
    ask(&env, "echo Three.", &["three?", "--boundary", "10"]).fine();
    assert!(env.run(&["context", "trip.1"]).fine().out().contains("Three."));
    env.run(&["fsck", "-q"]).fine();
    env.pipe(&["ask", "-", "x", "--boundary", "9", "--with", "cmd:cat"], CHAT)
        .status(2)
        .says("--max-messages");
}

#[test]
fn counts_are_stored_if_the_session_stores_them() {
    let env = Env::new();
    env.run(&["new", "--id", "trip", "--tokenizer", "o200k_base"])
        .fine();
    ask(&env, "echo Sunny.", &["Weather in Paris?"]).fine();
    let run = env.run(&["cat", "trip"]).fine();
    for message in &run.objects()[1..] {
        assert!(message["tokens"].as_u64().unwrap() > 0, "{message}");
    }
}
