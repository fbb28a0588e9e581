//! Files with the envelope of a format and content that the format does not have.

use serde_json::{Value, json};

/// Envelopes of formats with unknown messages.
pub const HOLLOW: &[(&str, &str)] = &[
    (
        "anthropic",
        r#"{"system":"s","messages":[{"role":"user","body":"x"},{"role":"assistant","body":"y"}]}"#,
    ),
    (
        "openai-chat",
        r#"{"messages":[{"role":"user","body":"x"},{"role":"assistant","text":"y"}]}"#,
    ),
    (
        "openai-responses",
        r#"{"model":"m","input":[{"type":"message","role":"user","body":"x"}]}"#,
    ),
    (
        "gemini",
        r#"{"contents":[{"role":"user","body":"x"},{"role":"model","text":"y"}]}"#,
    ),
    (
        "claude-code",
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","body":"x"}}
{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"role":"assistant","body":"y"}}
"#,
    ),
    (
        "codex",
        r#"{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"type":"response_item","payload":{"type":"message","role":"user","body":"x"}}
"#,
    ),
    (
        "codex",
        r#"{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"type":"response_item","payload":{"type":"hologram","body":"x"}}
"#,
    ),
    (
        "pi",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}
{"type":"message","id":"1","parentId":null,"message":{"role":"user","body":"x"}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","toolCalls":[]}}
"#,
    ),
    (
        "pi",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}
{"type":"user/message","data":{"text":"x"}}
"#,
    ),
    (
        "gemini-cli",
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z"}
{"id":"1","type":"user","body":"x"}
{"id":"2","type":"gemini","body":"y"}
"#,
    ),
    (
        "opencode",
        r#"{"info":{"id":"ses_1"},"messages":[{"info":{"id":"msg_1","role":"user"},"body":"x"}]}"#,
    ),
    (
        "goose",
        r#"{"id":"s","working_dir":"/w","conversation":[{"role":"user","created":1,"body":"x"}]}"#,
    ),
    (
        "goose",
        "{\"working_dir\":\"/w\",\"message_count\":1}\n{\"role\":\"user\",\"created\":1,\"body\":\"x\"}\n",
    ),
    (
        "cline-roo",
        r#"[{"role":"user","ts":1,"body":"x"},{"role":"assistant","ts":2,"body":"y"}]"#,
    ),
    (
        "continue",
        r#"{"sessionId":"s","history":[{"user":"x","assistant":"y"}]}"#,
    ),
    (
        "langchain",
        r#"[{"type":"human","data":{"body":"x"}},{"type":"ai","data":{"body":"y"}}]"#,
    ),
    (
        "langchain",
        "{\"type\":\"a.created\",\"data\":{\"content\":\"x\"}}\n{\"type\":\"b.created\",\"data\":{\"content\":\"y\"}}\n",
    ),
    (
        "claude-ai-export",
        r#"[{"uuid":"a","name":"n","chat_messages":[{"uuid":"m","sender":"human","body":"x"}]}]"#,
    ),
    (
        "sharegpt",
        r#"{"conversations":[{"id":"a","title":"x"},{"id":"b","title":"y"}]}"#,
    ),
    (
        "picoclaw",
        r#"{"role":"user","body":"x","created_at":"2026-01-01T00:00:00Z"}
{"role":"assistant","body":"y","created_at":"2026-01-01T00:00:00Z"}
"#,
    ),
];

/// Messages with only unknown part types, by format.
pub fn holograms() -> Vec<(&'static str, String)> {
    let parts = json!([{"type": "hologram", "payload": {"x": 1}}]);
    let message = json!({"role": "user", "content": parts});
    let shell = json!({"type": "user", "uuid": "a", "sessionId": "s", "message": message});
    let lines = |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let meta = json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/w"}});
    let item = json!({"type": "message", "role": "user", "content": parts});
    let pi =
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"});
    let gemini = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"});
    let info = json!({"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}});
    vec![
        ("anthropic", json!({"system": "s", "messages": [message]}).to_string()),
        ("openai-chat", json!([message]).to_string()),
        ("openai-responses", json!({"model": "m", "input": [message]}).to_string()),
        ("openai-responses", json!({"model": "m", "input": [{"type": "hologram", "x": 1}]}).to_string()),
        ("gemini", json!({"contents": [{"role": "user", "parts": [{"hologram": 1}]}]}).to_string()),
        ("claude-code", lines(&[shell])),
        ("codex", lines(&[meta, json!({"type": "response_item", "payload": item})])),
        ("pi", lines(&[pi, json!({"type": "message", "id": "1", "parentId": null, "message": message})])),
        ("gemini-cli", lines(&[gemini, json!({"id": "1", "type": "user", "content": [{"hologram": 1}]})])),
        ("opencode", json!({"info": {"id": "ses_1"}, "messages": [{"info": info, "parts": parts}]}).to_string()),
        ("goose", json!({"id": "s", "working_dir": "/w", "conversation": [{"role": "user", "created": 1, "content": parts}]}).to_string()),
        ("cline-roo", json!([{"role": "user", "ts": 1, "content": parts}]).to_string()),
        ("continue", json!({"sessionId": "s", "history": [{"message": message}]}).to_string()),
        ("langchain", json!([{"type": "human", "data": {"content": parts}}]).to_string()),
        ("vercel-ui", json!([{"id": "1", "role": "user", "parts": parts}]).to_string()),
        ("claude-ai-export", json!([{"uuid": "a", "name": "n", "chat_messages": [{"uuid": "m", "sender": "human", "content": parts}]}]).to_string()),
        ("sharegpt", json!({"messages": [{"role": "user", "content": [{"type": "hologram", "value": "x"}]}]}).to_string()),
        ("aichat", "model: a:b\nmessages:\n- role: user\n  content:\n  - type: hologram\n    x: 1\n".to_string()),
        ("goaitools", json!({"version": 1, "provider": "openai", "processed_length": 1, "messages": [message]}).to_string()),
        ("picoclaw", json!({"key": "a:b", "messages": [message], "summary": ""}).to_string()),
    ]
}
