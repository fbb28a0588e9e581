//! Tests conversions between programs: directory, branch and model, and content that only one of them can read.

use crate::env::{Env, Run};
use convo::format::Format;

const CWD: &str = "/srv/depot";

/// A session in the format of a program, and whether it names the directory, the branch and a model.
struct Source {
    format: &'static str,
    file: String,
    has: [bool; 3],
}

fn sources() -> Vec<Source> {
    let source = |format, has, file: &str| Source {
        format,
        file: file.replace("CWD", CWD),
        has,
    };
    vec![
        source(
            "claude-code",
            [true, true, true],
            concat!(
                r#"{"parentUuid":null,"isSidechain":false,"cwd":"CWD","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.0.76","gitBranch":"topic","type":"user","message":{"role":"user","content":"ask"},"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z"}"#,
                "\n",
                r#"{"parentUuid":"00000000-0000-4000-8000-000000000001","isSidechain":false,"cwd":"CWD","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.0.76","gitBranch":"topic","type":"assistant","message":{"id":"m1","role":"assistant","model":"model-9","content":[{"type":"text","text":"tell"}]},"uuid":"00000000-0000-4000-8000-000000000002","timestamp":"2026-01-01T00:00:01.000Z"}"#,
                "\n"
            ),
        ),
        source(
            "codex",
            [true, true, true],
            concat!(
                r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"019b7ca9-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"CWD","originator":"codex_cli_rs","cli_version":"0.50.0","source":"cli","model_provider":"openai","git":{"commit_hash":"abc","branch":"topic"}}}"#,
                "\n",
                r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"turn_context","payload":{"turn_id":"019b7ca9-0000-7000-8000-000000000002","cwd":"CWD","model":"model-9","approval_policy":"never","sandbox_policy":{"type":"read-only"},"summary":"auto"}}"#,
                "\n",
                r#"{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"ask"}]}}"#,
                "\n",
                r#"{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"tell"}]}}"#,
                "\n"
            ),
        ),
        source(
            "pi",
            [true, false, true],
            concat!(
                r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"CWD"}"#,
                "\n",
                r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"ask"}}"#,
                "\n",
                r#"{"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"tell"}],"model":"model-9","provider":"p","api":"a","stopReason":"stop"}}"#,
                "\n"
            ),
        ),
        source(
            "opencode",
            [true, false, true],
            r#"{"info":{"id":"ses_1","slug":"s","projectID":"global","directory":"CWD","title":"t","version":"1","time":{"created":1,"updated":1}},"messages":[{"info":{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}},"parts":[{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"ask"}]},{"info":{"id":"msg_2","sessionID":"ses_1","role":"assistant","parentID":"msg_1","modelID":"model-9","providerID":"p","time":{"created":2},"finish":"stop"},"parts":[{"id":"prt_2","sessionID":"ses_1","messageID":"msg_2","type":"text","text":"tell"}]}]}"#,
        ),
        source(
            "goose",
            [true, false, true],
            r#"{"id":"20260101_1","working_dir":"CWD","name":"t","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","extension_data":{},"model_config":{"model_name":"model-9","context_limit":null,"temperature":null,"max_tokens":null,"toolshim":false,"toolshim_model":null},"conversation":[{"id":"a","role":"user","created":1,"content":[{"type":"text","text":"ask"}],"metadata":{"userVisible":true,"agentVisible":true}},{"id":"b","role":"assistant","created":2,"content":[{"type":"text","text":"tell"}],"metadata":{"userVisible":true,"agentVisible":true}}]}"#,
        ),
        source(
            "continue",
            [true, false, true],
            r#"{"sessionId":"s-1","title":"t","workspaceDirectory":"CWD","chatModelTitle":"model-9","history":[{"message":{"role":"user","content":"ask"},"contextItems":[]},{"message":{"role":"assistant","content":"tell"},"contextItems":[]}]}"#,
        ),
        source(
            "gemini-cli",
            [false, false, true],
            concat!(
                r#"{"sessionId":"g-1","projectHash":"8a5edab282632443219e051e4ade2d1d5bbc671c781051bf1437897cbdfea0f1","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z","kind":"main"}"#,
                "\n",
                r#"{"id":"a","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"ask"}"#,
                "\n",
                r#"{"id":"b","timestamp":"2026-01-01T00:00:01Z","type":"gemini","content":"tell","model":"model-9"}"#,
                "\n"
            ),
        ),
        source(
            "cline-roo",
            [true, false, false],
            r##"[{"role":"user","content":[{"type":"text","text":"<task>\nask\n</task>"},{"type":"text","text":"<environment_details>\n# Current Workspace Directory (CWD) Files\na.rs\n</environment_details>"}],"ts":1767225600000},{"role":"assistant","content":[{"type":"text","text":"tell"}],"ts":1767225601000}]"##,
        ),
        source(
            "openai-chat",
            [false, false, false],
            r#"[{"role":"user","content":"ask"},{"role":"assistant","content":"tell","refusal":null}]"#,
        ),
    ]
}

/// How a file of this format stores the directory, the branch and the model; none if it does not.
fn places(format: &str, hash: &str) -> [Option<String>; 3] {
    let text = |text: &str| Some(text.replace("CWD", CWD).replace("HASH", hash));
    match format {
        "claude-code" => [
            text(r#""cwd":"CWD""#),
            text(r#""gitBranch":"topic""#),
            text(r#""model":"model-9""#),
        ],
        "codex" => [
            text(r#""cwd":"CWD""#),
            text(r#""branch":"topic""#),
            text(r#""model":"model-9""#),
        ],
        "pi" => [text(r#""cwd":"CWD""#), None, None],
        "opencode" => [text(r#""directory":"CWD""#), None, text(r#""modelID":"model-9""#)],
        "goose" => [
            text(r#""working_dir":"CWD""#),
            None,
            text(r#""model_name":"model-9""#),
        ],
        "goose-jsonl" => [text(r#""working_dir":"CWD""#), None, None],
        "continue" => [
            text(r#""workspaceDirectory": "CWD""#),
            None,
            text(r#""chatModelTitle": "model-9""#),
        ],
        "gemini-cli" => [text(r#""projectHash":"HASH""#), None, None],
        _ => [None, None, None],
    }
}

const TARGETS: [&str; 8] = [
    "claude-code", "codex", "pi", "opencode", "goose", "goose-jsonl", "continue", "gemini-cli",
];

#[test]
fn directory_branch_and_model_are_kept_between_all_formats() {
    let env = Env::new();
    let hash = env
        .shell(&format!("printf %s {CWD} | sha256sum | cut -c1-64"))
        .fine();
    let mut cases = 0;
    for source in sources() {
        for target in TARGETS.iter().filter(|target| **target != source.format) {
            let built = env
                .pipe(
                    &["cat", "-q", "--from", source.format, "--to", target],
                    &source.file,
                )
                .status(0);
            for (place, has) in places(target, hash.out().trim()).iter().zip(source.has) {
                let Some(place) = place else { continue };
                let there = built.out().contains(place.as_str());
                assert_eq!(
                    there,
                    has,
                    "{} to {target}: {place}\n{}",
                    source.format,
                    built.out()
                );
                cases += 1;
            }
        }
    }
    assert!(cases > 100, "{cases}");
}

/// Also through the record stream, and from a header of an older version.
#[test]
fn the_header_of_a_stream_contains_them() {
    let env = Env::new();
    let claude = &sources()[0].file;
    let stream = env.pipe(&["cat"], claude).fine();
    let header = &stream.objects()[0];
    assert_eq!(header["metadata"]["cwd"], CWD);
    assert_eq!(header["metadata"]["git_branch"], "topic");
    let back = env.pipe(&["cat", "--to", "claude-code"], stream.out()).fine();
    assert_eq!(back.out(), claude);
    let older = r#"{"type":"session","version":1,"id":"x","metadata":{"claude-code":{"cwd":"/old","gitBranch":"b"}}}
{"role":"user","content":"ask"}
"#;
    let codex = env.pipe(&["cat", "-q", "--to", "codex"], older).status(0);
    assert!(codex.out().contains(r#""cwd":"/old""#), "{codex}");
    assert!(codex.out().contains(r#""git":{"branch":"b"}"#), "{codex}");
}

#[test]
fn a_missing_directory_becomes_the_root_without_local_paths() {
    let env = Env::new();
    let chat = r#"[{"role":"user","content":"ask"},{"role":"assistant","content":"tell","refusal":null}]"#;
    for target in TARGETS {
        let built = env.pipe(&["cat", "-q", "--to", target], chat).status(0);
        for leak in [env.root().to_str().unwrap(), "/home", "/root", "/tmp"] {
            assert!(!built.out().contains(leak), "{target}: {built}");
        }
    }
    let built = env.pipe(&["cat", "-q", "--to", "pi"], chat).status(0);
    assert!(built.out().contains(r#""cwd":"/""#), "{built}");
}

/// A Codex log with two encrypted compactions and a call without an id.
const ENCRYPTED: &str = concat!(
    r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"019b7ca9-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","originator":"o","cli_version":"1","source":"cli","model_provider":"openai"}}"#,
    "\n",
    r#"{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]}}"#,
    "\n",
    r#"{"timestamp":"2026-01-01T00:00:02.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]},{"type":"compaction","encrypted_content":"gAAAAsecret"}]}}"#,
    "\n",
    r#"{"timestamp":"2026-01-01T00:00:03.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"second"}]}}"#,
    "\n",
    r#"{"timestamp":"2026-01-01T00:00:04.000Z","type":"response_item","payload":{"type":"function_call","name":"ls","arguments":"{}","call_id":null}}"#,
    "\n",
    r#"{"timestamp":"2026-01-01T00:00:05.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":null,"output":"files"}}"#,
    "\n",
    r#"{"timestamp":"2026-01-01T00:00:06.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"end"}]}}"#,
    "\n"
);

#[test]
fn an_encrypted_compaction_is_not_sent_to_other_providers() {
    let env = Env::new();
    let keeps_it = |format: Format| {
        let keeping = [
            Format::Native,
            Format::Jsonl,
            Format::Codex,
            Format::OpenaiResponses,
        ];
        keeping.contains(&format)
    };
    for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
        let built = env.pipe(&["cat", "--to", format.name()], ENCRYPTED).status(0);
        assert_eq!(built.out().contains("gAAAAsecret"), keeps_it(format), "{built}");
        assert!(built.out().contains("second"), "{built}");
        // In aider's log, the call and its result are parts, too.
        let parts = if format == Format::Aider {
            "parts (3)"
        } else {
            "parts (1)"
        };
        assert_eq!(built.stderr.contains(parts), !keeps_it(format), "{built}");
    }
}

fn ids(run: &Run) -> (String, String) {
    let lines = run.objects();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    let call = lines.iter().find(|line| line["tool_calls"].is_array()).unwrap();
    let result = lines.iter().find(|line| line["role"] == "tool").unwrap();
    (text(&call["tool_calls"][0]["id"]), text(&result["tool_call_id"]))
}

#[test]
fn a_call_without_an_id_shares_a_new_one_with_its_result() {
    let env = Env::new();
    let stream = env.pipe(&["cat"], ENCRYPTED).fine();
    let (call, result) = ids(&stream);
    assert!(call.starts_with("call_"), "{stream}");
    assert_eq!(call, result);
    assert_eq!(ids(&env.pipe(&["cat"], ENCRYPTED).fine()).0, call);
    env.pipe(&["check", "--for", "openai-responses"], ENCRYPTED)
        .status(0);
    env.pipe(&["cat", "--to", "codex"], ENCRYPTED)
        .fine()
        .gives(ENCRYPTED);
    let items = r#"[{"role":"user","content":"ask"},{"type":"function_call","name":"a","arguments":"{}","call_id":null},{"type":"function_call","name":"a","arguments":"{}","call_id":null},{"type":"function_call_output","call_id":null,"output":"1"},{"type":"function_call_output","call_id":null,"output":"2"}]"#;
    let lines = env
        .pipe(&["cat", "--from", "openai-responses"], items)
        .fine()
        .objects();
    let calls = lines[2]["tool_calls"].as_array().unwrap();
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert_eq!(calls[0]["id"], lines[3]["tool_call_id"]);
    assert_eq!(calls[1]["id"], lines[4]["tool_call_id"]);
}

#[test]
fn a_compaction_item_is_a_summary() {
    let env = Env::new();
    let items = r#"[{"role":"system","content":"rules"},{"role":"user","content":"one"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]},{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAAsecret"},{"role":"user","content":"three"}]"#;
    let stream = env.pipe(&["cat"], items).fine();
    let lines = stream.objects();
    assert_eq!(lines.iter().filter(|line| line["type"] == "summary").count(), 1);
    assert_eq!(lines.iter().filter(|line| line["role"] == "assistant").count(), 1);
    env.pipe(&["cat", "--to", "openai-responses"], items)
        .fine()
        .gives(items);
    let sent = env
        .pipe(&["context", "--to", "openai-responses"], items)
        .status(0);
    assert!(
        sent.out().contains("gAAAAsecret") && sent.out().contains("rules"),
        "{sent}"
    );
    assert!(!sent.out().contains("\"one\""), "{sent}");
    let other = env.pipe(&["cat", "--to", "anthropic"], stream.out()).status(0);
    assert!(!other.out().contains("gAAAA"), "{other}");
    other.says("summaries (1)");
}
