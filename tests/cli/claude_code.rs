//! Tests Claude Code logs: reading, changes in place, and conversion to them.

use crate::env::Env;

fn line(kind: &str, uuid: &str, parent: &str, message: &str) -> String {
    let parent = match parent {
        "" => "null".to_string(),
        parent => format!("\"{parent}\""),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.0.76","gitBranch":"main","type":"{kind}","message":{message},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z"}}"#
    )
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    line(
        "user",
        uuid,
        parent,
        &format!(r#"{{"role":"user","content":"{text}"}}"#),
    )
}

fn block(uuid: &str, parent: &str, id: &str, block: &str) -> String {
    let message = format!(
        r#"{{"id":"{id}","role":"assistant","model":"m","content":[{block}],"usage":{{"input_tokens":7,"output_tokens":2}}}}"#
    );
    line("assistant", uuid, parent, &message)
}

/// Two exchanges, the first with a call in two lines of one message; a branch; lines that are not messages.
fn log() -> String {
    let result = r#"{"role":"user","content":[{"tool_use_id":"c1","type":"tool_result","content":"22 C"}]}"#;
    let lines = [
        r#"{"type":"file-history-snapshot","messageId":"u1","snapshot":{}}"#.to_string(),
        user("u1", "", "Weather?"),
        block("a1", "u1", "m1", r#"{"type":"text","text":"I look."}"#),
        block("a2", "a1", "m1", r#"{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Paris"}}"#),
        line("user", "r1", "a2", result),
        block("a3", "r1", "m2", r#"{"type":"text","text":"22 degrees."}"#),
        user("b1", "a3", "Left behind"),
        user("u2", "a3", "And tomorrow?"),
        block("a4", "u2", "m3", r#"{"type":"text","text":"Rain."}"#),
        r#"{"type":"last-prompt","lastPrompt":"And tomorrow?","leafUuid":"a4","sessionId":"11111111-2222-4333-8444-555555555555"}"#.to_string(),
    ];
    lines.join("\n") + "\n"
}

#[test]
fn a_log_is_detected_and_its_sessions_are_counted() {
    let env = Env::new();
    let run = env.pipe(&["count", "--all-branches"], log()).fine();
    assert!(
        run.out()
            .starts_with("session\t11111111-2222-4333-8444-555555555555\nmessages\t6\t6\n"),
        "{}",
        run.out()
    );
    assert!(
        run.out()
            .contains("session\t11111111-2222-4333-8444-555555555555.b1\nmessages\t1\t1\n")
    );
    let run = env.pipe(&["cat", "--to", "openai-chat"], log()).status(0);
    assert!(
        run.out()
            .contains(r#""content":"I look.","tool_calls":[{"id":"c1""#),
        "{}",
        run.out()
    );
    env.pipe(&["check", "--for", "anthropic"], log()).status(0);
}

#[test]
fn an_unchanged_log_keeps_its_bytes() {
    let env = Env::new();
    let run = env.pipe(&["cat", "--to", "claude-code"], log()).fine();
    assert_eq!(run.out(), log());
    let run = env
        .pipe(&["truncate", "--keep-last", "9", "--to", "claude-code"], log())
        .status(0);
    assert_eq!(run.out(), log());
}

#[test]
fn a_log_is_cut_in_place_and_every_other_line_keeps_its_bytes() {
    let env = Env::new();
    let file = env.write("s.jsonl", log());
    let path = file.to_str().unwrap();
    env.run(&["truncate", "--keep-last", "1", "-i=.old", path])
        .status(0);
    let now = env.read("s.jsonl");
    let old = log();
    let stays: Vec<&str> = now
        .lines()
        .filter(|line| old.lines().any(|other| other == *line))
        .collect();
    let tied: Vec<&str> = now.lines().filter(|line| !stays.contains(line)).collect();
    assert_eq!((stays.len(), tied.len()), (3, 2), "{now}");
    assert!(
        tied.iter().all(|line| line.starts_with(r#"{"parentUuid":null,"#)),
        "{now}"
    );
    assert_eq!(env.read("s.jsonl.old"), old);
    env.run(&["count", path]).status(0).says("skipped 1 branch");
    let strict = env
        .run(&["truncate", "--keep-last", "0", "-i", path, "-n", "--all-branches"])
        .status(0);
    assert!(strict.out().contains(r#""type":"truncate""#));
    assert_eq!(env.read("s.jsonl"), now);
}

#[test]
fn a_summary_is_inserted_as_claude_code_does() {
    let env = Env::new();
    // Long enough that a summary is shorter.
    let log = log().replace("22 degrees.", &"It is warm in Paris today, and dry. ".repeat(100));
    let file = env.write("s.jsonl", &log);
    let path = file.to_str().unwrap();
    env.run(&[
        "summarize", "--with", "extract", "--keep-last", "1", "-i", path, "--session", "1",
    ])
    .status(0);
    let now = env.read("s.jsonl");
    assert_eq!(now.lines().count(), log.lines().count() + 2);
    let boundary = now
        .lines()
        .position(|line| line.contains(r#""subtype":"compact_boundary""#))
        .unwrap();
    let lines: Vec<&str> = now.lines().collect();
    assert!(lines[boundary + 1].contains(r#""isCompactSummary":true"#));
    assert!(lines[boundary + 2].contains("And tomorrow?"));
    let run = env.run(&["context", path, "--session", "1"]).fine();
    assert!(
        !run.out().contains("Left behind") && run.out().contains("Rain."),
        "{}",
        run.out()
    );
}

#[test]
fn a_message_is_added_at_the_end() {
    let env = Env::new();
    let file = env.write("s.jsonl", log().trim_end());
    let path = file.to_str().unwrap();
    env.run(&["append", path, "-i", "Thanks", "--session", "1"])
        .status(0);
    let now = env.read("s.jsonl");
    assert!(now.starts_with(&log()));
    let last = now.lines().last().unwrap();
    assert!(
        last.contains(r#""parentUuid":"a4""#) && last.contains(r#""content":"Thanks""#),
        "{last}"
    );
    let lossy = r#"{"role":"assistant","content":"x","reasoning":[{"type":"thinking","text":"hm"}]}"#;
    let strict = ["append", path, "-i", "--stream", "--strict", "--session", "1"];
    env.pipe(&strict, lossy).status(65).says("--strict");
    assert_eq!(env.read("s.jsonl"), now);
}

#[test]
fn any_session_becomes_a_log_that_can_be_continued() {
    let env = Env::new();
    let run = env
        .pipe(&["cat", "--to", "claude-code"], crate::env::CHAT)
        .status(0)
        .says("categories (1)");
    let out = run.out().to_string();
    let again = env
        .pipe(&["cat", "--to", "openai-chat", "--from", "claude-code"], &out)
        .status(0);
    assert!(again.out().contains("22 C and sunny.") && again.out().contains("Rain."));
    assert_eq!(
        env.pipe(&["cat", "--to", "claude-code"], crate::env::CHAT).out(),
        out
    );
    // Two sessions cannot share one log.
    let two = [crate::env::CHAT, crate::env::CHAT].concat();
    env.pipe(&["cat", "--to", "claude-code"], &two)
        .status(2)
        .says("only one session per file");
}

#[test]
fn a_damaged_log_is_reported_and_preserved() {
    let env = Env::new();
    let damaged = log().replacen("Weather?\"}", "Weather?", 1);
    let run = env.pipe(&["count"], &damaged).status(65);
    assert!(run.stderr.contains("-:2: byte "), "{}", run.stderr);
    let file = env.write("s.jsonl", &damaged);
    let path = file.to_str().unwrap();
    env.run(&["truncate", "--keep-last", "1", "-i", path, "--session", "1"])
        .status(65);
    let now = env.read("s.jsonl");
    assert!(now.contains(damaged.lines().nth(1).unwrap()), "{now}");
    env.run(&["truncate", "--keep-last", "1", "--strict", "-i", path])
        .status(65);
    assert_eq!(env.read("s.jsonl"), now);
}

#[test]
fn a_log_is_kept_in_the_store_with_all_its_sessions() {
    let env = Env::new();
    let file = env.write("s.jsonl", log());
    env.run(&["migrate", file.to_str().unwrap()]).status(0);
    let run = env
        .run(&[
            "cat",
            "11111111-2222-4333-8444-555555555555",
            "--to",
            "claude-code",
        ])
        .status(0);
    assert_eq!(
        run.out().lines().count(),
        log().lines().count() - 1,
        "without the branch: {}",
        run.out()
    );
    env.run(&["show", "11111111-2222-4333-8444-555555555555.b1"])
        .fine();
}

/// Messages of another program in the log are reported, so that nobody takes them for this conversation.
#[test]
fn lines_of_another_format_are_reported_and_preserved() {
    let env = Env::new();
    for unrecognized in [
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"pi says"}}"#,
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","content":"codex says"}}"#,
        r#"{"role":"user","content":"anybody says"}"#,
    ] {
        let run = env
            .pipe(&["cat"], format!("{}{unrecognized}\n", log()))
            .status(65);
        assert!(run.out().contains(unrecognized), "{}", run.out());
        run.says("not a Claude Code record; kept unchanged")
            .says(&format!("-:{}: byte ", log().lines().count() + 1));
    }
}

/// A prompt typed while the agent works, a memory file, and a failed request, as Claude Code logs them.
fn attached() -> String {
    let attachment = |uuid: &str, parent: &str, attachment: &str| {
        line("attachment", uuid, parent, "null")
            .replace(r#""message":null"#, &format!(r#""attachment":{attachment}"#))
    };
    let failed = block("e1", "q1", "me", r#"{"type":"text","text":"API Error: 529"}"#).replace(
        r#""type":"assistant","message""#,
        r#""type":"assistant","isApiErrorMessage":true,"message""#,
    );
    let result = r#"{"role":"user","content":[{"tool_use_id":"c1","type":"tool_result","content":"22 C"}]}"#;
    let lines = [
        user("u1", "", "Weather?"),
        attachment(
            "n1",
            "u1",
            r#"{"type":"nested_memory","path":"/w/CLAUDE.md","content":{"type":"Project","path":"/w/CLAUDE.md","content":"Use Celsius."}}"#,
        ),
        block(
            "a1",
            "n1",
            "m1",
            r#"{"type":"tool_use","id":"c1","name":"weather","input":{}}"#,
        ),
        line("user", "r1", "a1", result),
        attachment(
            "q1",
            "r1",
            r#"{"type":"queued_command","prompt":"Rome too","commandMode":"prompt"}"#,
        ),
        failed,
        attachment(
            "q2",
            "e1",
            r#"{"type":"queued_command","prompt":[{"type":"text","text":"task 7 is done"}],"commandMode":"task-notification"}"#,
        ),
        attachment("x1", "q2", r#"{"type":"todo_reminder","content":[]}"#),
        block("a2", "x1", "m2", r#"{"type":"text","text":"22 degrees."}"#),
    ];
    lines.join("\n") + "\n"
}

#[test]
fn queued_prompts_and_memory_files_are_in_view_and_failed_requests_are_not() {
    let env = Env::new();
    let stream = env.pipe(&["cat"], attached()).fine();
    let lines = stream.objects();
    let category = |id: &str| {
        let line = lines.iter().find(|line| line["id"] == id).unwrap();
        line["category"].as_str().unwrap_or("dialog").to_string()
    };
    assert_eq!(
        [category("n1"), category("q1"), category("q2")],
        ["context", "dialog", "context"]
    );
    for to in ["anthropic", "openai-chat", "gemini", "codex", "pi"] {
        let sent = env.pipe(&["cat", "-q", "--to", to], attached()).status(0);
        let at = |text: &str| {
            sent.out()
                .find(text)
                .unwrap_or_else(|| panic!("{to}: {text}: {sent}"))
        };
        let places = [
            "Weather?", "Contents of /w/CLAUDE.md:", "22 C", "Rome too", "task 7 is done", "22 degrees.",
        ];
        assert!(places.map(at).is_sorted(), "{to}: {sent}");
        assert!(!sent.out().contains("529"), "{to}: {sent}");
    }
    env.pipe(&["check", "--for", "anthropic"], attached()).status(0);
    env.pipe(&["cat", "--to", "claude-code"], attached())
        .fine()
        .gives(attached());
    let again = env.pipe(&["cat", "--to", "claude-code"], stream.out()).fine();
    assert_eq!(again.objects(), crate::env::objects(&attached()));
}

#[test]
fn attachments_are_cut_and_changed_in_place() {
    let env = Env::new();
    let log = attached().replace("Use Celsius.", &"Use Celsius and metric units. ".repeat(300));
    env.write("s.jsonl", &log);
    env.run(&["truncate", "--keep-last", "1", "-i", "s.jsonl"])
        .status(0);
    let cut = env.read("s.jsonl");
    assert!(cut.contains("Rome too") && !cut.contains("CLAUDE.md"), "{cut}");
    assert!(
        cut.lines().next().unwrap().contains(r#""parentUuid":null"#),
        "{cut}"
    );
    // A shortened text replaces the original text in place.
    let edit = r#"{"type":"compact","id":"evt_1","at":"2026-01-01T00:00:09Z","strategy":"x","edit":[{"id":"n1","content":"Contents of /w/CLAUDE.md:\n\nShort."},{"id":"q1","content":"Oslo"}]}"#;
    let stream = env.pipe(&["cat"], attached()).fine();
    let built = env
        .pipe(
            &["cat", "--to", "claude-code"],
            format!("{}{edit}\n", stream.out()),
        )
        .status(0);
    assert!(built.out().contains(r#""content":"Short.""#), "{built}");
    assert!(built.out().contains(r#""prompt":"Oslo""#), "{built}");
    assert_eq!(built.out().lines().count(), attached().lines().count(), "{built}");
}

/// The summary became a branch: the model received neither the messages nor their summary.
#[test]
fn a_log_without_parents_gets_no_summary_in_place() {
    let env = Env::new();
    let text: String = (0..120)
        .map(|nth| format!("Line {nth} of the report. "))
        .collect();
    let line = |role: &str, id: &str, text: &str| {
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"{role}\",\"uuid\":\"{id}\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let log = [
        line("user", "a", "Report."),
        line("assistant", "b", &text),
        line("user", "c", "And now?"),
    ];
    env.write("log.jsonl", log.concat());
    env.run(&["summarize", "--keep-last", "1", "-i", "log.jsonl"])
        .status(2)
        .says("a log without parents cannot get a summary in place");
    assert_eq!(env.read("log.jsonl"), log.concat());
}

fn in_sidechain(line: &str) -> String {
    line.replace(r#""isSidechain":false"#, r#""isSidechain":true"#)
}

/// The messages of the subagent, including its summary, became the session.
#[test]
fn a_sidechain_does_not_replace_a_session_without_messages() {
    let env = Env::new();
    let summary = user("s3", "s2", "An earlier summary.")
        .replace(r#""type":"user","#, r#""type":"user","isCompactSummary":true,"#);
    let sidechain = [
        user("s1", "", "Find the file."),
        block("s2", "s1", "m1", r#"{"type":"text","text":"Found."}"#),
        summary,
    ];
    let log = sidechain.iter().map(|line| in_sidechain(line));
    let log: Vec<String> = log.chain([user("u1", "", "Weather?")]).collect();
    env.write("log.jsonl", log.join("\n") + "\n");
    env.run(&["truncate", "--keep-last", "0", "-i", "log.jsonl"])
        .status(0)
        .says("dropped 1 of 1 messages");
    let view = env.run(&["context", "log.jsonl"]).fine();
    assert_eq!(view.objects().len(), 1, "{view}");

    // An attached file in the view would be hidden with the sidechain.
    let attached = attached();
    let attached: Vec<&str> = attached.lines().take(2).collect();
    let log = [&log[..3].join("\n"), &attached.join("\n"), ""].join("\n");
    env.write("log.jsonl", &log);
    env.run(&["drop", "--exchange", "1", "--grep", "Weather", "-i", "log.jsonl"])
        .status(2)
        .says("would replace the session");
    assert_eq!(env.read("log.jsonl"), log);
}

/// Attached files were read as lines of the subagent, and not sent to the model.
#[test]
fn an_attachment_after_a_message_of_a_sidechain_remains_in_the_session() {
    let env = Env::new();
    let attached = attached();
    let sidechain = [
        user("s1", "", "Find the file."),
        block("s2", "s1", "m1", r#"{"type":"text","text":"Found."}"#),
    ];
    let log = sidechain.iter().map(|line| in_sidechain(line));
    let main = [
        user("u1", "s2", "Weather?"),
        attached.lines().nth(1).unwrap().to_string(),
        user("u2", "n1", "And Rome?"),
    ];
    let log: Vec<String> = log.chain(main).collect();
    env.write("log.jsonl", log.join("\n") + "\n");
    let drop = ["drop", "--grep", "Weather?", "log.jsonl"];
    let view = env.run(&drop).status(0);
    let expected = env.pipe(&["context", "--to", "jsonl", "-"], view.out()).fine();
    assert!(expected.out().contains("Use Celsius."), "{expected}");
    env.run(&[&drop[..], &["-i"]].concat()).status(0);
    let contents = |text: &str| -> Vec<serde_json::Value> {
        let messages = crate::env::objects(text).into_iter();
        messages.map(|message| message["content"].clone()).collect()
    };
    let after = env.run(&["context", "--to", "jsonl", "log.jsonl"]).status(0);
    assert_eq!(contents(after.out()), contents(expected.out()));
}
