//! Logs and streams: small ones, and those of the fixtures.

use crate::format::Format;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{header, messages, roles};
use crate::model::view::View;
use serde_json::{Value, json};

const FORMAT: Format = Format::Droid;

/// One of everything.
const LOG: &str = r#"{"type":"session_start","id":"d1","title":"New Session","sessionTitle":"Kiln","owner":"o","version":"0.81.0","cwd":"/kiln"}
{"type":"message","id":"m1","timestamp":"2026-08-05T09:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nBe brief.\n</system-reminder>"}]}}
{"type":"message","id":"m2","parentId":"m1","timestamp":1785920401000,"message":{"role":"user","content":"Mix."}}
{"type":"message","id":"h1","parentId":"m2","message":{"role":"user","content":[],"hookEventName":"Stop"}}
{"type":"message","id":"m3","parentId":"m2","timestamp":"2026-08-05T09:00:02.000Z","message":{"role":"assistant","model":"elm-3","content":[{"type":"thinking","thinking":"Two."},{"type":"tool_use","id":"x1","name":"Execute","input":{"n": 9007199254740993},"riskLevel":"low"},{"type":"tool_use","id":"x2","name":"Execute","input":{}}]}}
{"type":"message","id":"m4","parentId":"m3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x2","content":[{"type":"text","text":"two"}]},{"type":"tool_result","tool_use_id":"x1","content":"broke","is_error":true}]}}
{"type":"todo_state","id":"t1","todos":{"todos":"1. mix"},"messageIndex":4}
{"type":"message","id":"m5","parentId":"m4","message":{"role":"assistant","content":[{"type":"text","text":"One broke."}]}}
{"type":"message","id":"m6","parentId":"m5","message":{"role":"user","content":[{"type":"text","text":"Fire."}]}}
"#;

const STREAM: &str = r#"{"type":"system","session_id":"s1","timestamp":"2025-12-26T02:00:00.000Z","model":"m","cwd":"/w"}
{"type":"message","session_id":"s1","timestamp":1766714401000,"role":"user","text":"Step 1","id":"a"}
{"type":"tool_call","session_id":"s1","toolCallId":"c1","toolName":"Shell","parameters":{"command": "ls"},"id":"b"}
{"type":"tool_result","session_id":"s1","toolCallId":"c1","value":{"stdout":"one"},"isError":true,"id":"c"}
{"type":"message","session_id":"s1","role":"assistant","text":"Done.","id":"d"}
{"type":"error","session_id":"s1","source":"net","message":"slow"}
{"type":"completion","session_id":"s1","finalText":"Done.","usage":{"input_tokens":1}}
"#;

fn dropped(ids: &str) -> String {
    format!(r#"{{"type":"compact","id":"evt_1","at":"2026-01-01T00:00:00Z","strategy":"x","drop":[{ids}]}}"#)
}

#[test]
fn every_member_of_a_log_is_read() {
    let file = opened(FORMAT, LOG);
    let session = &file.sessions[0];
    assert_eq!(session.header_text("title").as_deref(), Some("Kiln"));
    let messages = messages(session);
    assert_eq!(
        roles(&messages),
        ["user", "user", "assistant", "tool", "tool", "assistant", "user"]
    );
    assert_eq!(messages[0]["category"], "context");
    assert_eq!(messages[1]["timestamp"], "2026-08-05T09:00:01Z");
    let call = &messages[2]["tool_calls"][0]["function"];
    assert_eq!(call["arguments"], r#"{"n": 9007199254740993}"#);
    assert_eq!(messages[4]["metadata"]["is_error"], true);
    hold(FORMAT, LOG);
}

#[test]
fn a_line_names_the_last_kept_line_as_parent() {
    let all = r#""m1","m2","m3","m4","m4#2","m5""#;
    let after = opened(FORMAT, LOG).with(&[(0, &dropped(all))]);
    let last: Value = serde_json::from_str(after.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["id"], &last["parentId"]),
        (&json!("m6"), &Value::Null),
        "{after}"
    );
    let after = opened(FORMAT, LOG).with(&[(0, &dropped(r#""m3","m4","m4#2""#))]);
    let line = after.lines().find(|line| line.contains("One broke.")).unwrap();
    assert!(line.contains(r#""parentId":"m2""#), "{after}");
    let more = r#"{"role":"user","content":"More.","id":"n1"}"#;
    let after = opened(FORMAT, LOG).with(&[(0, more)]);
    let line = r#"{"type":"message","id":"n1","message":{"role":"user","content":"More."},"parentId":"m6"}"#;
    assert_eq!(after, format!("{LOG}{line}\n"));
}

#[test]
fn a_line_that_loses_a_message_keeps_its_id() {
    let text = r#",{"type":"text","text":"And?"}]}}"#;
    let log = LOG.replace(r#""is_error":true}]}}"#, &format!(r#""is_error":true}}{text}"#));
    let after = opened(FORMAT, &log).with(&[(0, &dropped(r#""m3","m4","m4#2""#))]);
    let line = after.lines().find(|line| line.contains("And?")).unwrap();
    assert!(line.contains(r#""id":"m4""#), "{after}");
    let next = after.lines().find(|line| line.contains("One broke.")).unwrap();
    assert!(next.contains(r#""parentId":"m4""#), "{after}");
}

#[test]
fn lines_off_the_path_to_the_last_message_are_branches() {
    let line =
        r#"{"type":"message","id":"m7","parentId":"m2","message":{"role":"assistant","content":"Again."}}"#;
    let log = format!("{LOG}{line}\n");
    let file = opened(FORMAT, &log);
    let [main, branch] = file.sessions.as_slice() else {
        panic!("{} sessions", file.sessions.len())
    };
    let ids = |session| -> Vec<String> {
        let view = View::replay(session);
        let ids = view
            .messages(session)
            .map(|message| message.id().unwrap().into_owned());
        ids.collect()
    };
    assert_eq!(ids(main), ["m1", "m2", "m7"]);
    assert_eq!(ids(branch), ["m3", "m4", "m4#2", "m5", "m6"]);
    let lineage = &header(branch)["metadata"]["lineage"];
    assert_eq!(
        (&lineage["kind"], &lineage["at"]),
        (&json!("branch"), &json!("m2"))
    );
    let after = opened(FORMAT, &log).with(&[(1, &dropped(r#""m3","m4","m4#2""#))]);
    assert!(
        !after.contains("riskLevel") && after.contains("One broke."),
        "{after}"
    );
    hold(FORMAT, log);
}

#[test]
fn a_compaction_covers_earlier_messages() {
    for line in [
        r#"{"type":"compaction_state","id":"c1","timestamp":"2026-08-05T09:10:00.000Z","summaryText":"Mixed.","removedCount":5}"#,
        r#"{"type":"compaction_state","id":"c1","summary":{"title":"T","body":"Mixed."}}"#,
    ] {
        let more =
            r#"{"type":"message","id":"m7","parentId":"m6","message":{"role":"user","content":"On."}}"#;
        let log = format!("{LOG}{line}\n{more}\n");
        let file = opened(FORMAT, &log);
        let session = &file.sessions[0];
        let view = View::replay(session);
        let ids: Vec<_> = view
            .messages(session)
            .filter_map(|message| message.id())
            .collect();
        assert_eq!(ids, ["m7"], "{line}");
        hold(FORMAT, log);
    }
}

#[test]
fn a_stream_is_read() {
    let file = opened(FORMAT, STREAM);
    let session = &file.sessions[0];
    assert_eq!(session.header_text("id").as_deref(), Some("s1"));
    let messages = messages(session);
    assert_eq!(messages.len(), 4);
    assert_eq!(
        messages[1]["tool_calls"][0]["function"]["arguments"],
        r#"{"command": "ls"}"#
    );
    assert_eq!(messages[2]["content"], r#"{"stdout":"one"}"#);
    assert_eq!(messages[3]["content"], "Done.");
    hold(FORMAT, STREAM);
    let reply = r#"{"role":"assistant","content":"I look.","tool_calls":[{"id":"c2","type":"function","function":{"name":"Shell","arguments":"{}"}}],"id":"n1"}"#;
    let after = file.with(&[(0, reply)]);
    let lines = [
        r#"{"type":"message","role":"assistant","text":"I look.","id":"n1","session_id":"s1"}"#,
        r#"{"type":"tool_call","toolCallId":"c2","toolName":"Shell","parameters":{},"session_id":"s1"}"#,
    ];
    assert_eq!(after, format!("{STREAM}{}\n{}\n", lines[0], lines[1]));
}
