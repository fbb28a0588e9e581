//! Tests with small logs, and with the sample files.

use crate::format::Format;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{header, messages, roles, shown};
use crate::model::view::View;
use serde_json::{Value, json};

const FORMAT: Format = Format::QwenCode;

/// A log with all kinds of data except those in the tests below.
const LOG: &str = r#"{"uuid":"a1","parentUuid":null,"sessionId":"s1","timestamp":"2026-08-20T06:00:01.000Z","type":"user","cwd":"/weir","version":"0.22.0","gitBranch":"main","message":{"role":"user","parts":[{"text":"Open both."},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},"promptId":"p1"}
{"uuid":"a2","parentUuid":"a1","sessionId":"s1","timestamp":"2026-08-20T06:00:02.000Z","type":"assistant","message":{"role":"model","parts":[{"text":"Both at once.","thought":true}]}}
{"uuid":"a2","parentUuid":"a1","sessionId":"s1","timestamp":"2026-08-20T06:00:02.500Z","type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"g1","name":"gate","args":{"n":9007199254740993}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"gate","args":{"n":2}}}]},"model":"elm","usageMetadata":{"promptTokenCount":500,"candidatesTokenCount":40,"thoughtsTokenCount":12,"cachedContentTokenCount":128}}
{"uuid":"a3","parentUuid":"a2","sessionId":"s1","timestamp":"2026-08-20T06:00:03.000Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"g1","name":"gate","response":{"output":"open"}}}]},"toolCallResult":{"callId":"g1","status":"cancelled"}}
{"uuid":"a4","parentUuid":"a3","sessionId":"s1","timestamp":"2026-08-20T06:00:04.000Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"name":"gate","response":{"error":"stuck"}}}]}}
{"uuid":"a5","parentUuid":"a4","sessionId":"s1","timestamp":"2026-08-20T06:00:05.000Z","type":"user","subtype":"notification","message":{"role":"user","parts":[{"text":"Gate one is open."}]}}
{"uuid":"a6","parentUuid":"a5","sessionId":"s1","timestamp":"2026-08-20T06:00:06.000Z","type":"assistant","message":{"role":"model","parts":[{"text":"One is open."}]}}
{"uuid":"a7","parentUuid":"a6","sessionId":"s1","type":"system","subtype":"custom_title","systemPayload":{"customTitle":"Weir"}}
{"uuid":"a8","parentUuid":"a7","sessionId":"s1","timestamp":"2026-08-20T06:00:08.000Z","type":"user","message":{"role":"user","parts":[{"text":"And now?"}]}}
"#;

fn line(uuid: &str, parent: &str, kind: &str, more: Value) -> String {
    let mut line = json!({"uuid": uuid, "parentUuid": parent, "sessionId": "s1", "type": kind,
        "timestamp": "2026-08-20T07:00:00.000Z"});
    let members = line.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    format!("{line}\n")
}

fn content(role: &str, text: &str) -> Value {
    json!({"message": {"role": role, "parts": [{"text": text}]}})
}

#[test]
fn every_member_is_read() {
    let file = opened(FORMAT, LOG);
    let session = &file.sessions[0];
    let header = header(session);
    assert_eq!((&header["id"], &header["title"]), (&json!("s1"), &json!("Weir")));
    let metadata = &header["metadata"];
    assert_eq!(
        (&metadata["cwd"], &metadata["git_branch"]),
        (&json!("/weir"), &json!("main"))
    );
    let messages = messages(session);
    assert_eq!(
        roles(&messages),
        ["user", "assistant", "tool", "tool", "user", "assistant", "user"]
    );
    let reply = &messages[1];
    assert_eq!(reply["reasoning"][0]["text"], "Both at once.");
    assert_eq!(
        (&reply["model"], &reply["usage"]["promptTokenCount"]),
        (&json!("elm"), &json!(500))
    );
    let calls = reply["tool_calls"].as_array().unwrap();
    assert_eq!(calls[0]["function"]["arguments"], r#"{"n":9007199254740993}"#);
    assert_eq!(messages[3]["tool_call_id"], calls[1]["id"]);
    assert_eq!(
        (&messages[2]["content"], &messages[3]["content"]),
        (&json!("open"), &json!("stuck"))
    );
    for nth in [2, 3] {
        assert_eq!(messages[nth]["metadata"]["is_error"], true);
    }
    assert_eq!(messages[4]["category"], "context");
    hold(FORMAT, LOG);
}

#[test]
fn a_rewind_creates_a_branch() {
    let log = [
        LOG,
        &line(
            "b1",
            "a6",
            "system",
            json!({"subtype": "rewind", "systemPayload": {}}),
        ),
        &line("b2", "b1", "user", content("user", "Close it.")),
        &line(
            "b3",
            "a8",
            "system",
            json!({"subtype": "session_artifact_event", "systemPayload": {}}),
        ),
    ];
    let file = opened(FORMAT, log.concat());
    let [main, branch] = &file.sessions[..] else {
        panic!()
    };
    assert_eq!(shown(main).last().unwrap(), "Close it.");
    assert_eq!(shown(branch), ["And now?"]);
    let about = header(branch);
    assert_eq!(about["id"], "s1.1");
    assert_eq!(
        about["metadata"]["lineage"],
        json!({"kind": "branch", "parent": "s1", "at": "a6"})
    );
    assert_eq!(header(main)["title"], Value::Null);
    hold(FORMAT, log.concat());
    // No record in any session refers to a removed record.
    let drop = r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"x","drop":["a6"]}"#;
    let after = file.with(&[(0, drop)]);
    assert!(!after.contains("\"a6\""), "{after}");
    assert_eq!(opened(FORMAT, after).sessions.len(), 2);
    // A message added to a branch remains in it.
    let more = r#"{"role":"user","content":"Wait.","id":"n1"}"#;
    let again = opened(FORMAT, file.with(&[(1, more)]));
    assert_eq!(shown(&again.sessions[1]), ["And now?", "Wait."]);
    assert_eq!(shown(&again.sessions[0]), shown(main));
}

#[test]
fn a_path_continues_after_a_missing_parent() {
    let log = [LOG, &line("c1", "gone", "user", content("user", "More."))].concat();
    let file = opened(FORMAT, &log);
    assert_eq!(file.sessions.len(), 1);
    assert_eq!(messages(&file.sessions[0]).len(), 8);
    let rewind = json!({"subtype": "rewind", "systemPayload": {}});
    let log = [
        LOG,
        &line("c0", "gone", "system", rewind),
        &line("c1", "c0", "user", content("user", "More.")),
    ];
    assert_eq!(shown(&opened(FORMAT, log.concat()).sessions[0]), ["More."]);
}

#[test]
fn a_compression_replaces_earlier_messages() {
    let history = json!([
        {"role": "user", "parts": [{"text": "Gate one is open."}]},
        {"role": "model", "parts": [{"text": "Got it."}]},
        {"role": "user", "parts": [{"text": "And two?"}]},
    ]);
    let compressed = |uuid: &str, parent: &str, history: &Value| {
        let payload = json!({"subtype": "chat_compression", "systemPayload": {"compressedHistory": history}});
        line(uuid, parent, "system", payload)
    };
    let log = [
        LOG,
        &compressed("c1", "a8", &history),
        &line("c2", "c1", "assistant", content("model", "Stuck.")),
    ];
    let log = log.concat();
    let file = opened(FORMAT, &log);
    let all = ["summary: Gate one is open.", "Got it.", "And two?", "Stuck."];
    assert_eq!(shown(&file.sessions[0]), all);
    assert_eq!(messages(&file.sessions[0]).len(), 8);
    hold(FORMAT, &log);
    // The next compression replaces the messages that this one inserted.
    let second = json!([{"role": "model", "parts": [{"text": "No summary."}]}]);
    let again = [&log, &compressed("c3", "c2", &second)[..]].concat();
    assert_eq!(shown(&opened(FORMAT, &again).sessions[0]), ["No summary."]);
    hold(FORMAT, again);
    // The remaining inserted messages become records.
    let inserted = View::replay(&file.sessions[0]).items[1]
        .body(&file.sessions[0])
        .to_vec();
    let id: Value = serde_json::from_slice(&inserted).unwrap();
    let drop = json!({"type": "compact", "id": "e", "at": "2026-01-01T00:00:00Z", "strategy": "x", "drop": [id["id"]]});
    let after = opened(FORMAT, file.with(&[(0, &drop.to_string())]));
    assert_eq!(shown(&after.sessions[0])[1..], ["And two?", "Stuck."]);
    // A history that is not a list is damage.
    let file = opened(FORMAT, [LOG, &compressed("c1", "a8", &json!("all"))].concat());
    assert!(file.report.is_damaged());
}

#[test]
fn records_on_one_line_are_read_and_keep_their_bytes() {
    let lines: Vec<&str> = LOG.lines().collect();
    let log = format!("{}{}\n{}\n", lines[0], lines[5], lines[6]);
    let log = log.replace(r#""a4","#, r#""a1","#);
    let file = opened(FORMAT, &log);
    assert!(!file.report.is_damaged());
    assert_eq!(messages(&file.sessions[0]).len(), 3);
    let after = file.with(&[(0, r#"{"role":"user","content":"More.","id":"n1"}"#)]);
    assert!(after.starts_with(&log), "{after}");
    let drop = r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"x","drop":["a6"]}"#;
    assert!(log.starts_with(&file.with(&[(0, drop)])));
}

#[test]
fn a_new_message_is_a_record_that_names_the_last_one() {
    let file = opened(FORMAT, LOG);
    let after = file.with(&[(
        0,
        r#"{"role":"user","content":"More.","id":"n1","timestamp":"2026-08-20T06:00:09Z"}"#,
    )]);
    let line = r#"{"uuid":"n1","parentUuid":"a8","sessionId":"s1","cwd":"/weir","version":"0.22.0","gitBranch":"main","timestamp":"2026-08-20T06:00:09Z","type":"user","message":{"role":"user","parts":[{"text":"More."}]}}"#;
    assert_eq!(after, format!("{LOG}{line}\n"));
}

#[test]
fn a_file_of_a_subagent_is_a_sidechain() {
    let side = json!({"isSidechain": true, "agentId": "7", "message": {"role": "user", "parts": [{"text": "Look."}]}});
    let file = opened(FORMAT, line("d1", "", "user", side));
    let about = header(&file.sessions[0]);
    assert_eq!(about["id"], "agent-7");
    assert_eq!(
        about["metadata"]["lineage"],
        json!({"kind": "sidechain", "parent": "s1"})
    );
}
