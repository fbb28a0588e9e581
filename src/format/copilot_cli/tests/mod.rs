//! Tests with small logs, and with the sample files.

use crate::format::Format;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{header, messages, roles, shown};
use serde_json::{Value, json};

const FORMAT: Format = Format::CopilotCli;

/// A log with all kinds of data except those in the tests below.
const LOG: &str = r#"{"type":"session.start","data":{"sessionId":"s1","version":1,"producer":"copilot-agent","startTime":"2026-08-03T07:00:00.000Z","selectedModel":"elm-3","context":{"cwd":"/lamp","branch":"main"}},"id":"e01","timestamp":"2026-08-03T07:00:00.000Z","parentId":null}
{"type":"system.message","data":{"role":"system","content":"You keep a lighthouse."},"id":"e02","timestamp":"2026-08-03T07:00:01.000Z","parentId":"e01"}
{"type":"user.message","data":{"content":"Why is it dark?","transformedContent":"x","attachments":[{"type":"file","path":"/lamp.log","displayName":"lamp.log"}]},"id":"e03","timestamp":"2026-08-03T07:00:02.000Z","parentId":"e02"}
{"type":"assistant.reasoning","data":{"reasoningId":"r","content":"Log first."},"id":"e04","timestamp":"2026-08-03T07:00:03.000Z","parentId":"e03"}
{"type":"assistant.message","data":{"messageId":"m1","content":"I read ","toolRequests":[{"toolCallId":"c1","name":"view","arguments":{"n": 9007199254740993},"type":"function","intentionSummary":"x"}],"apiCallId":"a1","chunkIndex":0,"chunkCount":2,"model":"elm-4"},"id":"e05","timestamp":"2026-08-03T07:00:04.000Z","parentId":"e04"}
{"type":"assistant.message","data":{"messageId":"m1","content":"the log.","toolRequests":[{"toolCallId":"c2","name":"view","arguments":"{\"p\": 2}","type":"function"}],"apiCallId":"a1","chunkIndex":1,"chunkCount":2,"outputTokens":41,"reasoningOpaque":"b3A="},"id":"e06","timestamp":"2026-08-03T07:00:04.500Z","parentId":"e05"}
{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"view","arguments":{"n":1}},"id":"e07","timestamp":"2026-08-03T07:00:05.000Z","parentId":"e06"}
{"type":"tool.execution_complete","data":{"toolCallId":"c2","success":false,"error":{"message":"no such file","code":"failure"}},"id":"e08","timestamp":"2026-08-03T07:00:06.000Z","parentId":"e07"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true},"id":"e09","timestamp":"2026-08-03T07:00:07.000Z","parentId":"e08"}
{"type":"session.title_changed","data":{"title":"Dark lamp"},"id":"e10","timestamp":"2026-08-03T07:00:08.000Z","parentId":"e09"}
{"type":"assistant.message","data":{"messageId":"m2","content":"It is gone.","toolRequests":[]},"id":"e11","timestamp":"2026-08-03T07:00:09.000Z","parentId":"e10"}
{"type":"user.message","data":{"content":"Use a lamp.","source":"skill-lamp","attachments":[]},"id":"e12","timestamp":"2026-08-03T07:00:10.000Z","parentId":"e11"}
"#;

fn event(id: &str, parent: &str, kind: &str, data: Value) -> String {
    let event = json!({"type": kind, "data": data, "id": id, "parentId": parent,
        "timestamp": "2026-08-03T08:00:00.000Z"});
    format!("{event}\n")
}

#[test]
fn every_member_is_read() {
    let file = opened(FORMAT, LOG);
    let session = &file.sessions[0];
    let header = header(session);
    assert_eq!(
        (&header["id"], &header["title"]),
        (&json!("s1"), &json!("Dark lamp"))
    );
    let metadata = &header["metadata"];
    assert_eq!(
        (&metadata["cwd"], &metadata["model"]),
        (&json!("/lamp"), &json!("elm-3"))
    );
    let messages = messages(session);
    assert_eq!(
        roles(&messages),
        ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    );
    assert_eq!(messages[1]["content"][1]["file"]["filename"], "/lamp.log");
    let reply = &messages[2];
    assert_eq!(reply["content"], "I read the log.");
    let reasoning = json!([{"type": "thinking", "text": "Log first.", "signature": "b3A="}]);
    assert_eq!(
        (&reply["reasoning"], &reply["model"]),
        (&reasoning, &json!("elm-4"))
    );
    let calls = reply["tool_calls"].as_array().unwrap();
    assert_eq!(calls[0]["function"]["arguments"], r#"{"n": 9007199254740993}"#);
    assert_eq!(calls[1]["function"]["arguments"], r#"{"p": 2}"#);
    assert_eq!(
        (&messages[3]["tool_call_id"], &messages[3]["content"]),
        (&json!("c2"), &json!("no such file"))
    );
    assert_eq!(messages[3]["metadata"]["is_error"], true);
    assert_eq!(messages[4]["metadata"]["copilot-cli"]["no_result"], true);
    assert_eq!(messages[6]["category"], "context");
    hold(FORMAT, LOG);
}

#[test]
fn a_call_without_a_requesting_message_becomes_one() {
    let start = json!({"toolCallId": "c9", "toolName": "bash", "arguments": {"command": "ls"}});
    let end = json!({"toolCallId": "c9", "success": true, "result": {"text_result_for_llm": "a"}});
    let log = [
        LOG,
        &event("f1", "e12", "tool.execution_start", start),
        &event("f2", "f1", "tool.execution_complete", end),
    ];
    let log = log.concat();
    let messages = messages(&opened(FORMAT, &log).sessions[0]);
    assert_eq!(messages[7]["tool_calls"][0]["function"]["name"], "bash");
    assert_eq!(
        (&messages[8]["role"], &messages[8]["content"]),
        (&json!("tool"), &json!("a"))
    );
    hold(FORMAT, log);
}

#[test]
fn subagents_and_rewinds_are_separate_sessions() {
    let answer = |text: &str| json!({"content": text, "toolRequests": []});
    let side = json!({"content": "Two bulbs.", "toolRequests": [], "parentToolCallId": "c1"});
    let log = [
        LOG,
        &event("f1", "e12", "assistant.message", side),
        &event("f2", "f1", "user.message", json!({"content": "Both."})),
        &event("f3", "f2", "assistant.message", answer("Replacing.")),
        &event(
            "f4",
            "f3",
            "session.snapshot_rewind",
            json!({"upToEventId": "f2"}),
        ),
        &event("f5", "f4", "user.message", json!({"content": "One."})),
    ];
    let log = log.concat();
    let file = opened(FORMAT, &log);
    let [main, side, branch] = &file.sessions[..] else {
        panic!()
    };
    assert_eq!(shown(main).last().unwrap(), "One.");
    assert_eq!(
        (shown(side), shown(branch)),
        (
            vec!["Two bulbs.".to_string()],
            vec!["Both.".to_string(), "Replacing.".to_string()]
        )
    );
    assert_eq!(header(side)["id"], "c1");
    let lineage = |session| header(session)["metadata"]["lineage"].clone();
    assert_eq!(
        lineage(side),
        json!({"kind": "sidechain", "parent": "s1", "at": "e09"})
    );
    assert_eq!(
        lineage(branch),
        json!({"kind": "branch", "parent": "s1", "at": "e12"})
    );
    hold(FORMAT, &log);
    let drop =
        r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"x","drop":["e11","e12"]}"#;
    let after = file.with(&[(0, drop)]);
    assert!(after.contains(r#""id":"f1","parentId":"e10""#), "{after}");
    assert_eq!(opened(FORMAT, after).sessions.len(), 3);
}

#[test]
fn a_compaction_covers_messages_before_its_start() {
    let done = json!({"success": true, "summaryContent": "The log was missing.", "messagesRemoved": 5});
    let log = [
        LOG,
        &event("f1", "e12", "session.compaction_start", json!({})),
        &event("f2", "f1", "user.message", json!({"content": "Wait."})),
        &event("f3", "f2", "session.compaction_complete", done),
        &event("f4", "f3", "user.message", json!({"content": "On."})),
    ];
    let log = log.concat();
    let all = [
        "You keep a lighthouse.",
        "summary: The log was missing.",
        "Wait.",
        "On.",
    ];
    assert_eq!(shown(&opened(FORMAT, &log).sessions[0]), all);
    hold(FORMAT, &log);
    let cleared = [&log, &event("f5", "f4", "session.context_cleared", json!({}))[..]].concat();
    assert_eq!(shown(&opened(FORMAT, &cleared).sessions[0]), all[..1]);
    hold(FORMAT, cleared);
}

#[test]
fn a_new_message_is_an_event_that_names_the_last_one() {
    let file = opened(FORMAT, LOG);
    let after = file.with(&[(0, r#"{"role":"user","content":"More.","id":"n1"}"#)]);
    let line = r#"{"type":"user.message","data":{"content":"More."},"id":"n1","timestamp":"2026-08-03T07:00:10.000Z","parentId":"e12"}"#;
    assert_eq!(after, format!("{LOG}{line}\n"));
}
