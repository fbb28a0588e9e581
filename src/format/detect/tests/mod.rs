//! Detection tests with small inputs.

mod fixtures;

use super::*;
use proptest::prelude::*;

fn format(text: &str) -> Option<Format> {
    detect(text.as_bytes(), true, Hints::default()).format
}

#[test]
fn formats_are_distinguished() {
    let cases = [
        (
            "{\"type\":\"session\",\"version\":1,\"id\":\"a\"}\n",
            Some(Format::Native),
        ),
        (
            "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n",
            Some(Format::Jsonl),
        ),
        (
            "{\"role\":\"user\",\"content\":\"a\"}\n{\"type\":\"truncate\",\"id\":\"e\",\"at\":\"x\",\"before\":null}\n",
            Some(Format::Native),
        ),
        (
            "not json\n{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"a\"}\n",
            Some(Format::Jsonl),
        ),
        (
            "[{\"role\":\"user\",\"content\":\"a\"}]",
            Some(Format::OpenaiChat),
        ),
        (
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
            Some(Format::OpenaiChat),
        ),
        ("{\"messages\":[]}\n{\"messages\":[]}\n", Some(Format::OpenaiChat)),
        ("{\"key\":\"a:b\",\"messages\":[]}", Some(Format::Picoclaw)),
        (
            "{\n \"id\": \"session_1\",\n \"created_at\": \"x\", \"messages\": [{\"role\": \"us",
            Some(Format::Penguin),
        ),
        (
            "{\"role\":\"user\",\"content\":\"a\",\"created_at\":\"2026-03-01T09:00:00Z\"}\n",
            Some(Format::Picoclaw),
        ),
        ("{\"foo\":1}", None),
        ("{\"foo\":1}\n{\"bar\":1}\n", None),
        (
            "{\"type\":\"user\",\"uuid\":\"1\",\"message\":{\"content\":\"a\"}}\n{\"type\":\"user\",\"uuid\":\"2\"}\n",
            Some(Format::ClaudeCode),
        ),
        (
            r#"{"type":"summary","summary":"Fix","leafUuid":"a"}"#,
            Some(Format::ClaudeCode),
        ),
        (
            "{\"id\":\"a\",\"timestamp\":\"x\",\"instructions\":null}\n{\"type\":\"message\",\"role\":\"user\",\"content\":[]}\n",
            Some(Format::Codex),
        ),
        (
            r#"{"type":"session","id":"a","timestamp":"x","cwd":"/w"}"#,
            Some(Format::Pi),
        ),
        ("hello\n", None),
        ("[]", None),
        ("null", None),
        ("", None),
        ("PK\u{3}\u{4}", None),
    ];
    for (text, expected) in cases {
        assert_eq!(format(text), expected, "{text}");
    }
}

#[test]
fn ambiguous_input_is_reported() {
    let plain = detect(b"[{\"role\":\"user\",\"content\":\"a\"}]", true, Hints::default());
    assert_eq!(plain.others, ["anthropic"]);
    let tools = detect(
        b"[{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"a\"}]",
        true,
        Hints::default(),
    );
    assert!(tools.others.is_empty());
}

/// The evidence for an input of another program, which is detected as such or not at all.
fn unread(text: &str) -> String {
    let verdict = detect(text.as_bytes(), true, Hints::default());
    let own = [Format::Native, Format::Jsonl, Format::OpenaiChat];
    let taken = verdict.format.is_some_and(|format| own.contains(&format));
    assert!(!taken, "{text}: {}", verdict.evidence);
    verdict.evidence
}

#[test]
fn unsupported_formats_are_named() {
    let cases = [
        (
            r#"{"uuid":"a","name":"n","summary":"s","created_at":"x","chat_messages":[]}"#,
            "Claude.ai",
        ),
        (r#"{"title":"t","mapping":{},"current_node":"n"}"#, "ChatGPT"),
        (r#"[{"mapping":{"a":{"children":[]}}}]"#, "ChatGPT"),
        (
            r#"{"etag":"e","schema_version":1,"value":{},"tombstone":false}"#,
            "PenguiFlow",
        ),
        (
            r#"{"sessionId":"a","projectHash":"b","messages":[{"id":"1","type":"user"}]}"#,
            "Gemini CLI",
        ),
        (r#"{"sessionId":"a","title":"t","history":[]}"#, "Continue"),
        (
            r#"{"info":{"id":"ses_1"},"messages":[{"info":{},"parts":[]}]}"#,
            "opencode",
        ),
        (
            r#"{"id":"m","sessionID":"s","role":"user","time":{"created":1},"summary":{"title":"a"}}"#,
            "opencode",
        ),
        (
            "{\n\"id\":\"s\",\"time\":{\"created\":1},\"directory\":\"/a\",\"messages\":[\"m\"]}",
            "opencode",
        ),
        (r#"{"id":"1","working_dir":"/a","conversation":[]}"#, "goose"),
        (
            r#"{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}"#,
            "ShareGPT",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"text","value":"a"}]}]}"#,
            "ShareGPT",
        ),
        (
            r#"{"messages":[{"role":"user","id":"1","parts":[]}],"created":"x"}"#,
            "Vercel",
        ),
        (
            r#"{"lc":1,"type":"constructor","id":["a","AIMessage"],"kwargs":{"content":"a"}}"#,
            "LangChain",
        ),
        (
            "{\"lc\":1,\"id\":[\"HumanMessage\"],\"kwargs\":{\"content\":\"a\"}}\n{\"lc\":1,\"id\":[\"AIMessage\"],\"kwargs\":{\"content\":\"b\"}}\n",
            "LangChain",
        ),
        (
            r#"{"$schemaVersion":"1.9","original_input":"a"}"#,
            "OpenAI Agents",
        ),
        (r#"[{"sessionId":"a","dateCreated":"1"}]"#, "Continue"),
        ("model: a:b\ntemperature: 1\nmessages:\n- role: user\n", "aichat"),
        ("\n# aider chat started at 2026-06-01 10:00:00\n", "aider"),
    ];
    for (text, name) in cases {
        let evidence = unread(text);
        assert!(evidence.contains(name), "{text}: {evidence}");
    }
}

#[test]
fn interfaces_of_providers() {
    let cases = [
        (
            Format::OpenaiResponses,
            &[
                r#"{"model":"m","input":[{"role":"user","content":"a"}]}"#,
                r#"{"instructions":"s","input":[{"role":"user","content":"a"}]}"#,
                r#"{"model":"m","input":"a","store":false}"#,
                r#"[{"role":"user","content":"a"},{"type":"reasoning","id":"r","summary":[]}]"#,
                r#"[{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"}]"#,
                r#"{"object":"response","output":[]}"#,
            ][..],
        ),
        (
            Format::Gemini,
            &[
                r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#,
                r#"[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]}]"#,
                r#"{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}]}"#,
            ],
        ),
        (
            Format::Anthropic,
            &[
                r#"{"system":"s","messages":[{"role":"user","content":"a"}]}"#,
                r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]}]}"#,
                r#"[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"}}]}]"#,
            ],
        ),
    ];
    for (expected, texts) in cases {
        for text in texts {
            assert_eq!(format(text), Some(expected), "{text}");
        }
    }
    // Requests to embedding or speech models and test cases are not conversations.
    for text in [
        r#"{"model":"m","input":"a"}"#,
        r#"{"model":"m","input":["a","b"]}"#,
        r#"{"about":"x","input":[{"role":"user","content":"a"}],"cases":[]}"#,
    ] {
        assert_eq!(format(text), None, "{text}");
    }
}

#[test]
fn the_marked_messages_decide_the_format_of_plain_ones() {
    let blocks = concat!(
        "{\"role\":\"user\",\"content\":\"a\"}\n",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}]}\n",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"b\"}]}\n",
        "{\"role\":\"assistant\",\"content\":\"c\"}\n",
        "{\"role\":\"user\",\"content\":\"d\"}\n",
    );
    assert_eq!(format(blocks), Some(Format::Anthropic));
    // Reasoning next to OpenAI calls does not indicate another format; neither does text about such blocks.
    let calls = concat!(
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\"}],\"tool_calls\":[]}\n",
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\\\"tool_use\\\"\"}]}\n",
    );
    assert_eq!(format(calls), Some(Format::Jsonl));
    let items = concat!(
        "{\"role\":\"user\",\"content\":\"a\"}\n",
        "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":\"{}\"}\n",
        "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"b\"}\n",
        "{\"role\":\"assistant\",\"content\":\"c\"}\n",
    );
    assert_eq!(format(items), Some(Format::OpenaiResponses));
}

#[test]
fn a_line_of_the_stream_alone_is_native() {
    for kind in ["meta", "truncate", "compact", "summary", "restore", "foreign"] {
        let line = format!("{{\"type\":\"{kind}\",\"id\":\"e\",\"at\":\"2026-03-01T09:00:00Z\"}}");
        assert_eq!(format(&line), Some(Format::Native), "{line}");
        assert_eq!(format(&format!("{line}\n")), Some(Format::Native), "{line}");
    }
    assert_eq!(format(r#"{"type":"summary","summary":"a"}"#), None);
    assert_eq!(format(r#"{"type":"session","version":1}"#), Some(Format::Native));
}

#[test]
fn a_packed_session_longer_than_the_head_is_native_after_damage() {
    assert_eq!(format("garbage\n"), None);
    let head = format!(
        "garbage\n{{\"type\":\"packed\",\"records\":[{{\"role\":\"{}",
        "x".repeat(99)
    );
    let of = |whole| detect(head.as_bytes(), whole, Hints::default()).format;
    assert_eq!(
        (of(false), of(true)),
        (Some(Format::Native), Some(Format::Native))
    );
}

#[test]
fn a_role_alone_needs_company() {
    assert_eq!(format("{\"role\":\"user\"}\n"), None);
    assert_eq!(format("{\"role\":\"user\"}\n{\"role\":\"user\"}\n"), None);
    let is_message = "{\"role\":\"user\"}\n{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\"}\n";
    assert_eq!(format(is_message), Some(Format::Jsonl));
    let bodies = [
        "content", "tool_calls", "tool_call_id", "function_call", "reasoning", "reasoning_content", "refusal",
    ];
    for name in bodies {
        let line = format!("{{\"role\":\"assistant\",\"{name}\":null}}\n");
        assert_eq!(format(&line), Some(Format::Jsonl), "{line}");
    }
}

#[test]
fn documents_with_messages() {
    let cases = [
        (r#"{"key":"a","messages":[]}"#, Some(Format::Picoclaw)),
        (
            r#"{"key":"a","messages":null,"summary":""}"#,
            Some(Format::Picoclaw),
        ),
        (
            r#"{"messages":[{"role":"user","content":"a"}],"summary":"s","created":"x"}"#,
            Some(Format::Picoclaw),
        ),
        (r#"{"summary":"s","created":"x"}"#, None),
        (r#"{"key":"a","summary":{"title":"b"}}"#, None),
        (r#"{"messages":["a"],"created":"x"}"#, None),
        (r#"{"messages":{}}"#, None),
        (r#"{"messages":[]}"#, Some(Format::OpenaiChat)),
        (
            r#"{"messages":[{"role":"user","content":"a"}],"model":"m"}"#,
            Some(Format::OpenaiChat),
        ),
        (
            r#"[{"messages":[{"role":"user","content":"a"}]}]"#,
            Some(Format::OpenaiChat),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(format(text), expected, "{text}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for open in [
        "{\"messages\":[",
        "[{\"messages\":[",
        "[",
        "{\"role\":\"user\",\"content\":[",
    ] {
        let deep = open.repeat(HEAD / open.len());
        detect(deep.as_bytes(), false, Hints::default());
        detect(deep.as_bytes(), true, Hints::default());
    }
}

proptest! {
    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), whole: bool) {
        detect(&bytes, whole, Hints::default());
    }
    #[test]
    fn never_panics_on_near_json(text in r#"[\[\]{}",:a-c0-9\\ nNI-]{0,80}"#, whole: bool) {
        detect(text.as_bytes(), whole, Hints::default());
    }
}
