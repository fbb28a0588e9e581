//! Tests appends to files of other systems: reports data that they cannot represent.

use crate::env::Env;
use convo::format::Format;

const SAID: &str = concat!(
    r#"{"role":"assistant","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}],"#,
    r#""reasoning":[{"type":"thinking","text":"hmm"}],"usage":{"input_tokens":3},"model":"m-1","metadata":{"k":1}}"#,
    "\n"
);

const SHORT: &str = "{\"role\":\"user\",\"content\":\"Hi\"}\n{\"role\":\"assistant\",\"content\":\"Yes.\"}\n";

#[test]
fn content_of_an_added_message_is_kept_or_reported_lost() {
    for system in ["goaitools", "penguiflow"] {
        let env = Env::new();
        let built = env.pipe(&["cat", "--to", system], SHORT);
        let file = env.write("state.json", built.out());
        let path = file.to_str().unwrap();
        // Ids and times were added by the append.
        env.run(&["append", path, "-i", "And?"]).fine();
        let before = std::fs::read(&file).unwrap();
        let strict = env
            .pipe(&["append", path, "-i", "--stream", "--strict"], SAID)
            .status(65)
            .says("--strict");
        assert_eq!(std::fs::read(&file).unwrap(), before);
        let done = env.pipe(&["append", path, "-i", "--stream"], SAID).status(0);
        // One line for all kinds.
        let losses = format!(
            "{system} cannot represent: usage (1), models (1), reasoning (1), attachments (1), metadata (1)"
        );
        for run in [&strict, &done] {
            assert!(run.stderr.contains(&losses), "{system}: {}", run.stderr);
            assert_eq!(run.stderr.matches(" cannot represent: ").count(), 1, "{run}");
        }
        // Losses that existed before are not reported.
        env.run(&["append", path, "-i", "Good."]).fine();
        env.run(&["append", path, "-i", "-r", "assistant", "Bye."]).fine();
    }
}

#[test]
fn context_without_a_following_question_is_reported() {
    let env = Env::new();
    let built = env.pipe(&["cat", "--to", "penguiflow"], SHORT);
    let file = env.write("state.json", built.out());
    let path = file.to_str().unwrap();
    let reported = "PenguiFlow sees the last context messages after the next answered exchange";
    env.run(&["append", path, "-i", "--event", "It rains."])
        .status(0)
        .says(reported);
    env.run(&["append", path, "-i", "And now?"]).fine();
    let answered = env.run(&["append", path, "-i", "-r", "assistant", "Stay."]);
    assert!(!answered.status(0).stderr.contains(reported));
    let turn = r#""user_message": "It rains.\n\nAnd now?", "assistant_response": "Stay.""#;
    assert!(
        env.read("state.json").contains(turn),
        "{}",
        env.read("state.json")
    );
}

#[test]
fn a_refusal_is_written_and_found_and_further_members_are_reported() {
    let env = Env::new();
    let refused = concat!(
        r#"{"role":"user","content":"q"}"#,
        "\n",
        r#"{"role":"assistant","content":null,"refusal":"I cannot help.","annotations":[]}"#,
        "\n",
    );
    env.write("r.jsonl", refused);
    // Inputs of a model omit ids and further members.
    let inputs = [Format::PenguinContext, Format::PenguiflowContext];
    let is_tested = |format: &Format| format.is_written() && !inputs.contains(format);
    for format in Format::ALL.into_iter().filter(is_tested).map(Format::name) {
        let built = env.run(&["cat", "-q", "--strict", "--to", format, "r.jsonl"]);
        assert!(built.status(0).out().contains("I cannot help."), "{format}");
        let more = refused.replace("[]", "[1]");
        let run = env.pipe(&["cat", "--from", "jsonl", "--to", format], &more);
        let (is_written, is_reported) = (
            run.out().contains("annotations"),
            run.stderr.contains("metadata (1)"),
        );
        assert!(is_written != is_reported, "{format}: {run}");
    }
    env.run(&["cat", "r.jsonl"]).fine().gives(refused);
    assert!(
        env.run(&["show", "r.jsonl"])
            .fine()
            .out()
            .contains("I cannot help.")
    );
    env.run(&["search", "cannot", "./r.jsonl"]).status(0);
    env.write("other.jsonl", refused.replace("cannot", "can"));
    env.run(&["diff", "-q", "r.jsonl", "other.jsonl"]).status(1);
    // An appended answer, also in a file with several sessions.
    let answer = refused.lines().nth(1).unwrap();
    let one = env
        .pipe(&["cat", "-q", "--to", "sharegpt"], SHORT)
        .out()
        .to_string();
    env.write("one.json", &one);
    env.write("two.jsonl", one.repeat(2));
    env.pipe(&["append", "-i", "one.json", "--stream"], answer).fine();
    env.pipe(
        &["append", "-i", "two.jsonl", "--session", "2", "--stream"],
        answer,
    )
    .fine();
    for file in ["one.json", "two.jsonl"] {
        assert_eq!(env.read(file).matches("I cannot help.").count(), 1, "{file}");
    }
}

#[test]
fn an_appended_message_that_the_format_cannot_represent_is_refused() {
    let result = r#"{"role":"tool","tool_call_id":"none","content":"r"}"#;
    let system = r#"{"role":"system","content":"NEVER push"}"#;
    let after_another = [SHORT, system].concat();
    let critic = SHORT.replacen(
        "{\"role\":\"assistant\"",
        "{\"role\":\"critic\",\"content\":\"No.\"}\n{\"role\":\"assistant\"",
        1,
    );
    for (format, line) in [
        ("goose", system),
        ("goose", &after_another),
        ("opencode", system),
        ("opencode", result),
        ("aichat", result),
        ("gemini-cli", result),
        ("vercel-ui", result),
        ("penguiflow", &critic),
    ] {
        let env = Env::new();
        let built = env.pipe(&["cat", "-q", "--to", format], SHORT).out().to_string();
        env.write("s.json", &built);
        env.pipe(&["append", "-q", "-i", "./s.json", "--stream"], line)
            .status(65)
            .says(&format!("s.json: {format} cannot represent an appended message"));
        assert_eq!(env.read("s.json"), built, "{format}");
        env.run(&["append", "-i", "./s.json", "And?"]).fine();
    }
    // A conversion only reports it.
    let env = Env::new();
    env.write("s.jsonl", SHORT);
    env.pipe(&["append", "s.jsonl", "--stream", "--to", "goose"], system)
        .status(0)
        .says("goose cannot represent: messages (1)");
}

#[test]
fn members_that_a_conversion_drops_are_reported() {
    let call = r#"{"role":"assistant","content":null,"timestamp":"2026-01-01T00:00:01Z","model":"m-1","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let failed = r#"{"role":"tool","tool_call_id":"c","content":"r","metadata":{"is_error":true}}"#;
    let late = r#"{"role":"tool","tool_call_id":"c","content":"r","timestamp":"2026-01-01T00:00:09Z"}"#;
    let reply = r#"{"role":"assistant","content":"a","model":"m-2"}"#;
    let part =
        r#"{"role":"assistant","content":[{"type":"mcp_list_tools","id":"m"},{"type":"text","text":"a"}]}"#;
    let thought = r#"{"role":"assistant","content":"a","reasoning":[{"type":"thought","text":"t","thoughtSignature":"s"}]}"#;
    let empty = r#"{"role":"assistant","content":""}"#;
    for (format, lines, losses) in [
        ("openai-responses", &[call, failed][..], "metadata (1)"),
        ("sharegpt", &[call, failed], "metadata (1)"),
        ("atif", &[call, late], "timestamps (1)"),
        ("opencode", &[call, late, reply], "models (1)"),
        ("claude-code", &[part], "parts (1)"),
        ("openai-chat", &[thought], "signatures (1)"),
        ("anthropic", &[empty], "messages (1)"),
        ("gemini", &[empty], "messages (1)"),
        ("claude-code", &[empty], "messages (1)"),
        ("cline-roo", &[empty], "messages (1)"),
    ] {
        let lines = [&[r#"{"role":"user","content":"q"}"#], lines].concat();
        let env = Env::new();
        let built = env.pipe(&["cat", "--from", "jsonl", "--to", format], lines.join("\n"));
        built.status(0).says(losses);
    }
}

#[test]
fn a_response_is_not_rewritten_in_place() {
    let env = Env::new();
    for response in [
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":5}}"#,
        r#"{"id":"r","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#,
    ] {
        env.write("r.json", response);
        env.run(&["append", "-i", "./r.json", "And?"])
            .status(2)
            .says("responses cannot be rewritten in place");
        assert_eq!(env.read("r.json"), response);
    }
}

#[test]
fn escaped_characters_are_written_as_yaml() {
    let env = Env::new();
    env.write("e.json", r#"[{"role":"user","content":"caf\u00e9"}]"#);
    let built = env.run(&["cat", "--to", "aichat", "--model", "openai:gpt-4o", "./e.json"]);
    assert!(built.status(0).out().contains("caf\u{e9}"));
}

#[test]
fn what_a_selected_session_loses_is_reported() {
    let many = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","x":NaN}]}
{"messages":[{"role":"user","content":"c"}]}
"#;
    let env = Env::new();
    env.pipe(&["cat", "--session", "1"], many)
        .status(65)
        .says("not represented: numbers (1)");
    // The losses of an export are counted over all of its conversations.
    let conversation = r#"{"uuid":"u","name":"n","created_at":"2026-01-01T00:00:00Z","account":{"uuid":"a"},"chat_messages":[{"uuid":"m","sender":"human","text":"hi","created_at":"2026-01-01T00:00:00Z"}]}"#;
    env.pipe(
        &["cat", "--session", "1"],
        format!("[{conversation},{conversation}]"),
    )
    .status(0)
    .says("not represented: header (1)");
}
