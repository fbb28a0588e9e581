//! Tests with small histories and streams, and with the sample files.

use crate::format::Format;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{header, messages, roles, shown};
use crate::format::tests::truth;
use serde_json::{Value, json};

const FORMAT: Format = Format::Grok;

/// A history with all kinds of data.
const CHAT: &str = r#"{"type":"system","content":"You keep a kiln."}
{"type":"user","content":[{"type":"text","text":"<user_info>\nOS: linux\n</user_info>"}],"synthetic_reason":"environment_context"}
{"type":"user","content":[{"type":"text","text":"Fire it."},{"type":"image","url":"data:image/png;base64,AAAA"}],"prompt_index":0}
{"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"Heat."},{"type":"summary_text","text":"Fire."}],"encrypted_content":"ZW5j","status":"completed"}
{"type":"reasoning","id":"r2","summary":[]}
{"type":"assistant","content":"","tool_calls":[{"id":"k1","name":"heat","arguments":"{\"t\": 9007199254740993}"},{"id":"k2","name":"heat","arguments":"{broken"}],"model_id":"elm-4","reasoning_effort":"high"}
{"type":"tool_result","tool_call_id":"k1","content":"900","images":[{"type":"image","url":"data:image/png;base64,BBBB"}]}
{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"w1","status":"completed"}}
{"type":"tool_result","tool_call_id":"k2","content":"broken"}
{"type":"reasoning","id":"r3","summary":[{"type":"summary_text","text":"Wait."}]}
{"type":"user","content":[{"type":"text","text":"Slower."}],"synthetic_reason":"interjection"}
{"type":"assistant","content":"Slowing down.","model_id":"elm-4"}
{"type":"mystery","x":1}
"#;

/// Lines of a stream.
const STREAM: &str = r#"{"timestamp":1785000001,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Fire "},"_meta":{"promptIndex":0}},"_meta":{"agentTimestampMs":1785000001250}}}
{"timestamp":1785000001,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"it."},"_meta":{"promptIndex":0}}}}
{"timestamp":1785000001,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"user_message_chunk","content":{"type":"image","mimeType":"image/png","data":"AAAA"},"_meta":{"promptIndex":0}}}}
{"timestamp":1785000002,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Heat."}},"_meta":{"promptId":"p1"}}}
{"timestamp":1785000003,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"tool_call","toolCallId":"k1","title":"heat","rawInput":{"t": 9007199254740993}},"_meta":{"promptId":"p1"}}}
{"timestamp":1785000003,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"tool_call_update","toolCallId":"k1","status":"in_progress"},"_meta":{"promptId":"p1"}}}
{"timestamp":1785000004,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"tool_call_update","toolCallId":"k1","status":"failed","content":[{"type":"content","content":{"type":"text","text":"cold"}}]},"_meta":{"promptId":"p1"}}}
{"timestamp":1785000004,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"tool_call_update","toolCallId":"k1","status":"failed","content":[]},"_meta":{"promptId":"p1"}}}
{"timestamp":1785000005,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"It is "}},"_meta":{"promptId":"p1"}}}
{"timestamp":1785000005,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"cold."}},"_meta":{"promptId":"p1"}}}
"#;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_summary_next_to_a_history_is_read() {
    let path = truth::dir("grok").join("stage0/chat_history.jsonl");
    let sessions = truth::read(FORMAT, &path, &mut Default::default()).unwrap();
    let header = header(&sessions[0]);
    assert_eq!(header["id"], "019f6851-7ec4-7ef0-97d3-03f3eee38755");
    assert_eq!(header["title"], "Read hello.py and summarize what it prints");
    let metadata = &header["metadata"];
    assert_eq!(
        (&metadata["cwd"], &metadata["git_branch"], &metadata["model"]),
        (
            &json!("/tmp/as-agent-lab/grok/project"),
            &json!("main"),
            &json!("grok-4.5")
        )
    );
}

#[test]
fn every_line_of_a_history_is_read() {
    let file = opened(FORMAT, CHAT);
    let messages = messages(&file.sessions[0]);
    assert_eq!(
        roles(&messages),
        [
            "system", "user", "user", "assistant", "tool", "tool", "assistant", "user", "assistant"
        ]
    );
    assert_eq!(messages[1]["category"], "context");
    assert_eq!(
        messages[2]["content"][1]["image_url"]["url"],
        "data:image/png;base64,AAAA"
    );
    let reply = &messages[3];
    assert_eq!(
        reply["reasoning"],
        json!([{"type": "thinking", "text": "Heat.\n\nFire.", "encrypted_content": "ZW5j", "id": "r1"}])
    );
    let calls = reply["tool_calls"].as_array().unwrap();
    assert_eq!(calls[0]["function"]["arguments"], r#"{"t": 9007199254740993}"#);
    assert_eq!(calls[1]["function"]["arguments"], "{broken");
    assert_eq!(
        (
            &messages[4]["content"][0]["text"],
            &messages[4]["content"][1]["type"]
        ),
        (&json!("900"), &json!("image_url"))
    );
    assert_eq!(
        (&messages[6]["content"], &messages[7]["category"]),
        (&Value::Null, &Value::Null)
    );
    hold(FORMAT, CHAT);
}

#[test]
fn reasoning_is_removed_with_its_reply() {
    let file = opened(FORMAT, CHAT);
    let drop = r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"x","drop":["msg_4","msg_7","msg_8","msg_10"]}"#;
    let after = file.with(&[(0, drop)]);
    assert!(!after.contains("reasoning\""), "{after}");
    assert!(after.contains("backend_tool_call"), "{after}");
}

#[test]
fn chunks_of_a_stream_are_one_message() {
    let file = opened(FORMAT, STREAM);
    let session = &file.sessions[0];
    assert_eq!(header(session)["id"], "s9");
    let messages = messages(session);
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[0]["content"][0]["text"], "Fire it.");
    assert_eq!(
        messages[0]["content"][1]["image_url"]["url"],
        "data:image/png;base64,AAAA"
    );
    assert_eq!(messages[0]["timestamp"], "2026-07-25T17:20:01.250Z");
    let arguments = &messages[1]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(
        (arguments, &messages[1]["reasoning"][0]["text"]),
        (&json!(r#"{"t": 9007199254740993}"#), &json!("Heat."))
    );
    assert_eq!(
        (&messages[2]["content"], &messages[2]["metadata"]["is_error"]),
        (&json!("cold"), &json!(true))
    );
    assert_eq!(messages[3]["content"], "It is cold.");
    hold(FORMAT, STREAM);
    let more = file.with(&[(
        0,
        r#"{"role":"user","content":"More.","timestamp":"2026-07-25T17:21:00Z"}"#,
    )]);
    let line = r#"{"timestamp":1785000060,"method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"More."},"_meta":{"promptIndex":1}}}}"#;
    assert_eq!(more, format!("{STREAM}{line}\n"));
}

#[test]
fn the_arguments_of_an_added_call_are_kept() {
    let file = opened(FORMAT, STREAM);
    for (arguments, input) in [
        (r#","arguments":"{\"a\":1}""#, r#"{"a":1}"#),
        (r#","arguments":{"a":1}"#, r#"{"a":1}"#),
        (r#","arguments":"{a""#, r#""{a""#),
        ("", "{}"),
    ] {
        let call = format!(r#"{{"id":"c9","type":"function","function":{{"name":"f"{arguments}}}}}"#);
        let more = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#);
        let line = file.with(&[(0, &more)]);
        assert!(line.ends_with(&format!("\"rawInput\":{input}}}}}}}\n")), "{line}");
    }
}

#[test]
fn a_rewind_creates_a_branch() {
    let line = |update: Value| {
        let line = json!({"timestamp": 1785000009, "method": "session/update",
            "params": {"sessionId": "s9", "update": update}});
        format!("{line}\n")
    };
    let question = |text: &str| {
        line(
            json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text},
            "_meta": {"promptIndex": 1}}),
        )
    };
    let marker = line(json!({"sessionUpdate": "rewind_marker", "target_prompt_index": 1}));
    let log = [STREAM, &question("Break it."), &marker, &question("Cool it.")].concat();
    let file = opened(FORMAT, &log);
    let [main, branch] = &file.sessions[..] else {
        panic!()
    };
    assert_eq!(shown(main).last().unwrap(), "Cool it.");
    assert_eq!(shown(branch), ["Break it."]);
    assert_eq!(
        header(branch)["metadata"]["lineage"],
        json!({"kind": "branch", "parent": "s9", "at": "msg_9"})
    );
    hold(FORMAT, log);
}
