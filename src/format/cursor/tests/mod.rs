//! Tests with small transcripts, and with the sample files.

use crate::format::Format;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::messages;

const FORMAT: Format = Format::Cursor;

/// A transcript with all kinds of data.
const RICH: &str = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_info>\nlinux\n</user_info>"}]}}
{"role":"user","message":{"content":"Look."},"metadata":{"requestId":"r"}}
{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"Two calls."},{"type":"text","text":"[REDACTED]"},{"type":"tool_use","name":"Read","input":{"n": 9007199254740993}},{"type":"tool_call","name":"Shell","input":{"command":"ls"},"metadata":{"kind":"x"}}]},"model":"auto"}
{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"}]},{"type":"tool-result","name":"Shell","content":[{"type":"text","text":"two"}]},{"type":"text","text":"Next."}]}}
{"type":"turn_ended","status":"success"}
{"role":"assistant","message":{"content":[{"type":"tool_use","id":"own","name":"Read","input":{}}]}}
{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"own","content":"three"}]}}
{"role":"assistant","message":{"content":[{"type":"custom_block","text":"Seen."},{"type":"text","text":"Done."}]}}
"#;

#[test]
fn calls_without_ids_have_their_results() {
    let file = opened(FORMAT, RICH);
    let messages = messages(&file.sessions[0]);
    assert_eq!(messages[0]["category"], "context");
    let calls: Vec<_> = messages
        .iter()
        .flat_map(|message| message["tool_calls"].as_array().cloned().unwrap_or_default())
        .map(|call| call["id"].clone())
        .collect();
    assert_eq!(calls, ["call_3_1", "call_3_2", "own"]);
    let results: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .collect();
    let ids: Vec<_> = results.iter().map(|message| &message["tool_call_id"]).collect();
    assert_eq!(ids, ["call_3_1", "call_3_2", "own"]);
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["arguments"],
        r#"{"n": 9007199254740993}"#
    );
    hold(FORMAT, RICH);
}

#[test]
fn a_new_message_is_a_line_at_the_end() {
    let file = opened(FORMAT, RICH);
    let after = file.with(&[(0, r#"{"role":"user","content":"More."}"#)]);
    let line = r#"{"role":"user","message":{"content":"More."}}"#;
    assert_eq!(after, format!("{RICH}{line}\n"));
}
