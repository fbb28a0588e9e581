//! Tests with small trajectories, and with the sample files.

use crate::format::Format;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{header, messages, shown};
use serde_json::{Value, json};

const FORMAT: Format = Format::Atif;

/// A document with all kinds of data, except subagents.
const DOCUMENT: &str = r#"{
 "schema_version": "ATIF-v1.7",
 "session_id": "orchard",
 "agent": {"name": "gardener", "version": "1", "model_name": "elm-2"},
 "extra": {"cwd": "/orchard"},
 "steps": [
  {"step_id": 1, "source": "system", "message": "You tend an orchard."},
  {"step_id": 2, "timestamp": "2026-05-02T08:00:01", "source": "user", "message": [
   {"type": "text", "text": "Which rows?"}, {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}], "is_copied_context": true},
  {"step_id": 3, "timestamp": "2026-05-02T08:00:04.250Z", "source": "agent", "model_name": "elm-3", "message": "", "reasoning_content": "Ask.",
   "tool_calls": [{"tool_call_id": "c1", "function_name": "sensor", "arguments": {"n": 9007199254740993}}, {"tool_call_id": "c2", "function_name": "sensor", "arguments": {}, "extra": {"a": 1}}],
   "observation": {"results": [{"source_call_id": "c2", "content": "dry"}, {"source_call_id": "c1", "content": [{"type": "text", "text": "wet"}]}, {"content": "bus reset"}, {"extra": {"b": 2}}]},
   "metrics": {"prompt_tokens": 700, "completion_tokens": 90, "cached_tokens": 200, "logprobs": [-0.1], "extra": {"reasoning_tokens": 31, "cache_creation_input_tokens": 40}}},
  {"step_id": 4, "source": "system", "message": "Two rows were added."},
  {"step_id": 5, "source": "agent", "message": "Row two.", "metrics": null},
  {"step_id": 6, "source": "user", "message": "Thanks."}
 ]
}
"#;

#[test]
fn every_member_is_read() {
    let file = opened(FORMAT, DOCUMENT);
    let session = &file.sessions[0];
    let metadata = &header(session)["metadata"];
    assert_eq!(
        (&metadata["cwd"], &metadata["model"]),
        (&json!("/orchard"), &json!("elm-2"))
    );
    let messages = messages(session);
    let ids: Vec<_> = messages
        .iter()
        .map(|message| message["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "step_1", "step_2", "step_3", "step_3_r1", "step_3_r2", "step_3_r3", "step_4", "step_5", "step_6"
        ]
    );
    assert_eq!(messages[1]["content"][1]["file"]["filename"], "images/1.png");
    assert_eq!(messages[1]["timestamp"], "2026-05-02T08:00:01Z");
    let reply = &messages[2];
    assert_eq!(
        reply["tool_calls"][0]["function"]["arguments"],
        r#"{"n":9007199254740993}"#
    );
    assert_eq!(
        (&reply["model"], &reply["reasoning"][0]["text"]),
        (&json!("elm-3"), &json!("Ask."))
    );
    assert_eq!(reply["usage"]["logprobs"], Value::Null);
    assert_eq!(
        (&messages[3]["tool_call_id"], &messages[3]["content"]),
        (&json!("c2"), &json!("dry"))
    );
    assert_eq!(messages[5]["category"], "system_output");
    assert_eq!(
        (&messages[0]["category"], &messages[6]["category"]),
        (&json!("system"), &json!("context"))
    );
    hold(FORMAT, DOCUMENT);
}

#[test]
fn trajectories_within_a_document_are_sidechains() {
    let inner = r#" "subagent_trajectories": [{"schema_version": "ATIF-v1.7", "trajectory_id": "sub", "agent": {"name": "a", "version": "1"},
  "steps": [{"step_id": 1, "source": "user", "message": "Count."}, {"step_id": 2, "source": "agent", "message": "Two."}]}],
 "steps": ["#;
    let document = DOCUMENT.replace(" \"steps\": [", inner);
    let reference = r#""content": "dry", "subagent_trajectory_ref": [{"trajectory_id": "sub"}]"#;
    let document = document.replace(r#""content": "dry""#, reference);
    let file = opened(FORMAT, &document);
    let [main, side] = &file.sessions[..] else {
        panic!()
    };
    assert_eq!(shown(main).len(), 9);
    assert_eq!(shown(side), ["Count.", "Two."]);
    assert_eq!(header(side)["id"], "sub");
    assert_eq!(
        header(side)["metadata"]["lineage"],
        json!({"kind": "sidechain", "parent": "orchard", "at": "step_3_r1"})
    );
    hold(FORMAT, &document);
    let drop = r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"x","drop":["step_2"]}"#;
    let after = file.with(&[(0, drop)]);
    assert_eq!(opened(FORMAT, &after).sessions.len(), 2);
    assert!(
        after.contains(r#"{"step_id": 1,"#) && after.contains(r#"{"step_id":2,"#),
        "{after}"
    );
}

#[test]
fn a_new_step_has_the_next_number() {
    let file = opened(FORMAT, DOCUMENT);
    let after = file.with(&[(0, r#"{"role":"user","content":"More.","id":"n1"}"#)]);
    let after: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(
        after["steps"][6],
        json!({"step_id": 7, "source": "user", "message": "More."})
    );
}

#[test]
fn a_newer_version_and_compacted_steps_are_reported() {
    let document = DOCUMENT.replace("v1.7", "v1.9").replace(
        r#""message": "Two rows were added.""#,
        r#""message": "", "extra": {"context_management": {"type": "compaction", "boundary": "replace"}}"#,
    );
    let file = opened(FORMAT, document);
    assert!(!file.report.is_damaged());
    let notes = format!("{:?}", file.report);
    assert!(
        notes.contains("ATIF-v1.9") && notes.contains("1 compacted"),
        "{notes}"
    );
}
