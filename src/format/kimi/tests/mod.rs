//! Tests with small logs, contexts and streams, and with the sample files.

use crate::format::Format;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{header, messages, roles, shown};
use crate::format::tests::truth;
use serde_json::json;

const FORMAT: Format = Format::Kimi;

/// A log with all kinds of data.
const LOG: &str = r#"{"type":"metadata","protocol_version":"1.4","created_at":1785612803281}
{"type":"config.update","systemPrompt":"You mend nets.","time":1785612803281}
{"type":"config.update","modelAlias":"elm/k2","cwd":"/nets","time":1785612803282}
{"type":"turn.prompt","input":[{"type":"text","text":"Mend it."}],"origin":{"kind":"user"},"time":1785612812819}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"Mend it."}],"toolCalls":[],"origin":{"kind":"user"}},"time":1785612812820}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"u0","turnId":"0","step":1},"time":1785612812825}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"u1","turnId":"0","step":1},"time":1785612812826}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"u1","part":{"type":"think","think":"A hole.","encrypted":"ZW5j"}},"time":1785612813000}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"u1","part":{"type":"text","text":"Looking."}},"time":1785612813000}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"Bash_0","stepUuid":"u1","toolCallId":"Bash_0","name":"Bash","args":{"n": 9007199254740993}},"time":1785612813001}
{"type":"permission.record_approval_result","toolCallId":"Bash_0","time":1785612813002}
{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"Bash_0","toolCallId":"Bash_0","result":{"output":"hole at 3","isError":true}},"time":1785612813003}
{"type":"context.append_loop_event","event":{"type":"step.end","uuid":"u1","usage":{"inputOther":267,"output":42,"inputCacheRead":24064,"inputCacheCreation":0},"finishReason":"tool_use"},"time":1785612813004}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"Reminder."}],"toolCalls":[],"origin":{"kind":"injection"}},"time":1785612813005}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"u2","turnId":"0","step":2},"time":1785612813006}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"u2","part":{"type":"text","text":"Mended."}},"time":1785612813007}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"And this?"}],"toolCalls":[],"origin":{"kind":"user"}},"time":1785612814000}
"#;

const CONTEXT: &str = r#"{"role":"_system_prompt","content":"You mend nets."}
{"role":"_checkpoint","id":0}
{"role":"user","content":[{"type":"text","text":"<system>CHECKPOINT 0</system>"}]}
{"role":"user","content":"Mend it."}
{"role":"assistant","content":[{"type":"think","think":"A hole.","encrypted":"ZW5j"},{"type":"text","text":"Looking."}],"tool_calls":[{"type":"function","id":"n1","function":{"name":"Look","arguments":"{\"net\": 1}"}},{"type":"function","id":"n2","function":{"name":"Look","arguments":null}}]}
{"role":"_usage","token_count":812}
{"role":"tool","content":[{"type":"text","text":"<system>ok</system>"},{"type":"text","text":"hole at 3"}],"tool_call_id":"n1"}
{"role":"tool","content":"","tool_call_id":"n2"}
{"role":"assistant","content":"Mended."}
{"role":"user","content":"And this?"}
"#;

const STREAM: &str = r#"{"type":"metadata","protocol_version":"1.10"}
{"timestamp":1785000000.5,"message":{"type":"TurnBegin","payload":{"user_input":"Mend it."}}}
{"timestamp":1785000000.6,"message":{"type":"StepBegin","payload":{"n":1}}}
{"timestamp":1785000001.0,"message":{"type":"ContentPart","payload":{"type":"think","think":"A ","encrypted":null}}}
{"timestamp":1785000001.1,"message":{"type":"ContentPart","payload":{"type":"think","think":"hole.","encrypted":"ZW5j"}}}
{"timestamp":1785000001.2,"message":{"type":"ContentPart","payload":{"type":"text","text":"Looking."}}}
{"timestamp":1785000001.3,"message":{"type":"ToolCall","payload":{"type":"function","id":"n1","function":{"name":"Look","arguments":"{\"net\""}}}}
{"timestamp":1785000001.4,"message":{"type":"ToolCallPart","payload":{"arguments_part":": 1}"}}}
{"timestamp":1785000001.5,"message":{"type":"StatusUpdate","payload":{"token_usage":{"input_other":300,"output":40,"input_cache_read":500,"input_cache_creation":12}}}}
{"timestamp":1785000002.0,"message":{"type":"ToolResult","payload":{"tool_call_id":"n1","return_value":{"is_error":true,"output":"hole at 3","message":"ok"}}}}
{"timestamp":1785000002.5,"message":{"type":"StepBegin","payload":{"n":2}}}
{"timestamp":1785000003.0,"message":{"type":"ContentPart","payload":{"type":"text","text":"Mended."}}}
{"timestamp":1785000004.0,"message":{"type":"TurnEnd","payload":{}}}
{"timestamp":1785000005.0,"message":{"type":"TurnBegin","payload":{"user_input":"And this?"}}}
"#;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_state_of_a_session_is_read() {
    let path = truth::dir("kimi").join("stage0_small/agents/main/wire.jsonl");
    let sessions = truth::read(FORMAT, &path, &mut Default::default()).unwrap();
    let header = header(&sessions[0]);
    assert_eq!(
        (
            &header["title"], &header["metadata"]["cwd"], &header["metadata"]["model"]
        ),
        (
            &json!("hi"),
            &json!("/private/tmp/as-agent-lab/kimi/project"),
            &json!("moonshot-ai/kimi-k2.7-code")
        )
    );
}

#[test]
fn steps_of_a_log_are_messages() {
    let file = opened(FORMAT, LOG);
    let session = &file.sessions[0];
    let metadata = &header(session)["metadata"];
    assert_eq!(
        (&metadata["cwd"], &metadata["model"]),
        (&json!("/nets"), &json!("elm/k2"))
    );
    let messages = messages(session);
    assert_eq!(
        roles(&messages),
        ["system", "user", "assistant", "tool", "user", "assistant", "user"]
    );
    let reply = &messages[2];
    assert_eq!(
        (&reply["id"], &reply["content"]),
        (&json!("u1"), &json!("Looking."))
    );
    assert_eq!(
        reply["reasoning"],
        json!([{"type": "thinking", "text": "A hole.", "encrypted_content": "ZW5j"}])
    );
    assert_eq!(
        reply["tool_calls"][0]["function"]["arguments"],
        r#"{"n": 9007199254740993}"#
    );
    assert_eq!(reply["usage"]["inputCacheRead"], 24064);
    assert_eq!(
        (&messages[3]["content"], &messages[3]["metadata"]["is_error"]),
        (&json!("hole at 3"), &json!(true))
    );
    assert_eq!(messages[4]["category"], "context");
    hold(FORMAT, LOG);
}

#[test]
fn a_compaction_keeps_user_messages() {
    let on = r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"On."}],"toolCalls":[]},"time":1785612816000}"#;
    for (kept, wanted) in [
        (r#""keptUserMessageCount":1"#, vec!["And this?"]),
        (r#""keptUserMessageCount":2"#, vec!["Mend it.", "And this?"]),
        (r#""compactedCount":4"#, vec!["Mended.", "And this?"]),
    ] {
        let line =
            format!(r#"{{"type":"context.apply_compaction","summary":"Nets.",{kept},"time":1785612815000}}"#);
        let log = format!("{LOG}{line}\n{on}\n");
        let shown = shown(&opened(FORMAT, &log).sessions[0]);
        let own: Vec<&str> = shown
            .iter()
            .map(String::as_str)
            .filter(|text| !text.contains("Nets."))
            .collect();
        assert_eq!(
            own,
            [&["You mend nets."][..], &wanted, &["On."]].concat(),
            "{kept}"
        );
        assert!(shown.iter().any(|text| text.contains("Nets.")), "{shown:?}");
        hold(FORMAT, &log);
    }
    let cleared = format!(
        "{LOG}{}\n{on}\n",
        r#"{"type":"context.clear","time":1785612815000}"#
    );
    assert_eq!(
        shown(&opened(FORMAT, &cleared).sessions[0]),
        ["You mend nets.", "On."]
    );
}

#[test]
fn an_undo_creates_a_branch() {
    let log = format!(
        "{LOG}{}\n",
        r#"{"type":"context.undo","count":2,"time":1785612815000}"#
    );
    let file = opened(FORMAT, &log);
    let [main, branch] = &file.sessions[..] else {
        panic!()
    };
    assert_eq!(shown(main), ["You mend nets.", "Reminder."]);
    assert_eq!(shown(branch).len(), 5);
    assert_eq!(header(branch)["metadata"]["lineage"]["kind"], "branch");
    hold(FORMAT, log);
}

#[test]
fn a_context_is_read() {
    let messages = messages(&opened(FORMAT, CONTEXT).sessions[0]);
    assert_eq!(messages.len(), 8);
    assert_eq!(
        (&messages[0]["role"], &messages[1]["category"]),
        (&json!("system"), &json!("context"))
    );
    let calls = &messages[3]["tool_calls"];
    assert_eq!(
        (
            &calls[0]["function"]["arguments"],
            &calls[1]["function"]["arguments"]
        ),
        (&json!(r#"{"net": 1}"#), &json!("{}"))
    );
    assert_eq!(messages[4]["content"][1]["text"], "hole at 3");
    hold(FORMAT, CONTEXT);
    let after = opened(FORMAT, CONTEXT).with(&[(0, r#"{"role":"user","content":"More."}"#)]);
    assert_eq!(
        after,
        format!("{CONTEXT}{}\n", r#"{"role":"user","content":"More."}"#)
    );
}

#[test]
fn chunks_of_a_stream_are_one_message() {
    let messages = messages(&opened(FORMAT, STREAM).sessions[0]);
    assert_eq!(messages.len(), 5);
    let reply = &messages[1];
    assert_eq!(
        reply["reasoning"],
        json!([{"type": "thinking", "text": "A hole.", "encrypted_content": "ZW5j"}])
    );
    assert_eq!(reply["tool_calls"][0]["function"]["arguments"], r#"{"net": 1}"#);
    assert_eq!(
        (&reply["content"], &reply["usage"]["input_other"]),
        (&json!("Looking."), &json!(300))
    );
    assert_eq!(
        (&messages[2]["metadata"]["is_error"], &messages[3]["content"]),
        (&json!(true), &json!("Mended."))
    );
    hold(FORMAT, STREAM);
}
