//! Beginnings of files of known but unsupported programs.

/// The name of an unsupported format, and the beginning of a file in it.
pub const KNOWN: &[(&str, &str)] = &[
    (
        "deepseek-harness",
        r#"{"type":"session","version":0,"id":"s","createdAt":1,"cwd":"/w","delegationDepth":0}
{"type":"user/message","seq":1,"time":1,"data":{"role":"user","content":[{"type":"text","text":"Dig."}]}}
"#,
    ),
    (
        "antigravity",
        r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","content":"Dig."}
{"step_index":1,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","tool_calls":[{"name":"dig","args":{}}]}
"#,
    ),
    (
        "windsurf",
        r#"{"status":"done","type":"user_input","user_input":{"user_response":"Dig."}}
{"status":"done","type":"planner_response","planner_response":{"response":"Done."}}
"#,
    ),
    (
        "amp",
        r#"{"v":1,"id":"T-1","created":1,"messages":[{"role":"user","messageId":0,"content":[{"type":"text","text":"Dig."}]},{"role":"assistant","messageId":1,"content":[{"type":"tool_use","id":"c","name":"dig","input":{}}]}]}"#,
    ),
    (
        "atif-without-steps",
        r#"{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","version":"1"}}"#,
    ),
    (
        "kiro",
        r#"{"conversation_id":"s","history":[{"user":{"content":{"Prompt":{"prompt":"Dig."}}},"assistant":{"Response":{"content":"Done."}}}]}"#,
    ),
    (
        "vscode-copilot",
        r#"{"version":3,"sessionId":"s","requests":[{"message":{"text":"Dig."},"response":[{"value":"Done."}]}]}"#,
    ),
    (
        "zed",
        r#"{"version":"0.1.0","summary":"Dig","messages":[{"id":0,"role":"user","segments":[{"type":"text","text":"Dig."}]}]}"#,
    ),
    (
        "hermes",
        r#"{"session_id":"s","platform":"cli","messages":[{"role":"user","content":"Dig."}]}"#,
    ),
    (
        "open-webui",
        r#"[{"id":"s","title":"Dig","chat":{"history":{"currentId":"m","messages":{"m":{"role":"user","content":"Dig."}}}}}]"#,
    ),
    (
        "inspect",
        r#"{"version":2,"status":"success","eval":{"task":"dig"},"samples":[{"messages":[{"role":"user","content":"Dig."}]}]}"#,
    ),
    ("otlp", r#"{"resourceSpans":[{"scopeSpans":[]}]}"#),
];
