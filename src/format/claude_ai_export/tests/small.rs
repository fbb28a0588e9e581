//! Conversion of single messages.

use super::{after, conversation, message, read, sessions, text};
use crate::format::report::Loss;
use serde_json::{Value, json};

#[test]
fn the_header_describes_the_conversation_not_the_account() {
    let all = read(&[message("m", "human", json!([text("Hello.")]))]);
    let header = &all[0][0];
    assert_eq!(
        (&header["id"], &header["title"]),
        (&json!("talk"), &json!("A talk"))
    );
    assert_eq!(header["created_at"], "2026-06-02T21:00:02.214000Z");
    assert_eq!(
        header["metadata"],
        json!({"claude-ai-export": {"summary": "Short."}})
    );
    assert_eq!(
        all[0][1],
        json!({"role": "user", "content": "Hello.", "id": "m", "timestamp": "2026-06-02T21:00:08+02:00"})
    );
    let (_, report) = sessions(conversation(&[]).to_string().as_bytes());
    assert_eq!(report.losses.get(&Loss::Header), Some(&1));
}

#[test]
fn tool_calls_inside_a_message_become_messages() {
    let all = read(&[message(
        "m",
        "assistant",
        json!([
            {"type": "thinking", "thinking": "Hm.", "summaries": [{"summary": "s"}]},
            text("Let me see."),
            {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}, "start_timestamp": "2026-06-02T21:00:57Z"},
            {"type": "tool_use", "name": "run", "input": {}},
            {"type": "tool_result", "tool_use_id": "t1", "name": "search", "content": [{"type": "text", "text": "found", "uuid": "u"}, {"type": "hit", "url": "a"}]},
            {"type": "tool_result", "name": "run", "content": "no", "is_error": true},
            {"type": "tool_result", "name": "run", "content": []},
            text("Done."),
        ]),
    )]);
    let records = &all[0][1..];
    let of = |name: &str| {
        records
            .iter()
            .map(|record| record[name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("role"), ["assistant", "tool", "tool", "tool", "assistant"]);
    assert_eq!(of("id"), ["m", "m#2", "m#3", "m#4", "m#5"]);
    assert_eq!(records[0]["content"], "Let me see.");
    assert_eq!(
        records[0]["reasoning"],
        json!([{"type": "thinking", "text": "Hm."}])
    );
    assert_eq!(
        records[0]["tool_calls"][0]["function"]["arguments"],
        r#"{"q":"x"}"#
    );
    assert_eq!(records[0]["tool_calls"][1]["id"], "m:2");
    assert_eq!(
        records[0]["metadata"]["claude-ai-export"]["blocks"],
        json!([{"summaries": [{"summary": "s"}]}, null, {"start_timestamp": "2026-06-02T21:00:57Z"}, null])
    );
    assert_eq!(
        of("tool_call_id"),
        [Value::Null, json!("t1"), json!("m:2"), Value::Null, Value::Null]
    );
    assert_eq!(
        records[1]["content"],
        json!([{"type": "text", "text": "found"}, {"type": "hit", "url": "a"}])
    );
    assert_eq!(
        records[1]["metadata"]["claude-ai-export"]["blocks"][0]["parts"],
        json!([{"uuid": "u"}, null])
    );
    assert_eq!(records[2]["metadata"]["is_error"], true);
    assert_eq!(records[3]["content"], "");
}

#[test]
fn the_text_is_used_if_no_block_is_known() {
    let odd = json!([{"type": "odd", "x": 1}]);
    let all = read(&[
        message("a", "human", json!([])),
        message("b", "assistant", odd.clone()),
        message(
            "c",
            "human",
            json!([text("A."), {"type": "voice_note", "title": "v", "text": "B."}, {"type": "flag"}]),
        ),
    ]);
    assert_eq!(all[0][1]["content"], "the same again");
    assert_eq!(all[0][2]["content"], "the same again");
    assert_eq!(all[0][2]["metadata"]["claude-ai-export"]["content"], odd);
    let content = json!([{"type": "text", "text": "A."}, {"type": "text", "text": "B."}, {"type": "flag"}]);
    assert_eq!(all[0][3]["content"], content);
}

#[test]
fn a_string_among_blocks_is_a_text() {
    let found = json!({"type": "tool_result", "tool_use_id": "t", "content": ["found"]});
    let all = read(&[message("m", "assistant", json!(["A.", text("B."), found]))]);
    let content = json!([{"type": "text", "text": "A."}, {"type": "text", "text": "B."}]);
    assert_eq!(all[0][1]["content"], content);
    assert_eq!(all[0][2]["content"], "found");
}

#[test]
fn files_with_text_are_parts_and_others_are_reported() {
    let mut requested = message("a", "human", json!([text("Sum up.")]));
    requested["attachments"] =
        json!([{"file_name": "a.csv", "extracted_content": "1,2"}, {"file_name": "b.bin"}]);
    requested["files"] = json!([{"file_name": "c.png"}]);
    let mut bare = message("b", "human", json!([]));
    bare["text"] = json!("");
    bare["attachments"] = json!([{"file_name": "d", "extracted_content": "3"}]);
    let all = read(&[requested.clone(), bare]);
    assert_eq!(
        all[0][1]["content"],
        json!([{"type": "text", "text": "Sum up."}, {"type": "text", "text": "1,2"}])
    );
    let own = &all[0][1]["metadata"]["claude-ai-export"];
    assert_eq!(
        own["attachments"],
        json!([{"file_name": "a.csv"}, {"file_name": "b.bin"}])
    );
    assert_eq!(own["message"]["files"][0]["file_name"], "c.png");
    assert_eq!(all[0][2]["content"], "3");
    let (_, report) = sessions(conversation(&[requested]).to_string().as_bytes());
    assert_eq!(report.losses.get(&Loss::Attachment), Some(&2));
}

#[test]
fn the_current_leaf_is_active_and_others_are_branches() {
    let root = "00000000-0000-4000-8000-000000000000";
    let child = |uuid: &str, parent: &str| after(parent, message(uuid, "human", json!([text(uuid)])));
    let messages = [
        child("a", root),
        child("b", "a"),
        child("c", "b"),
        child("d", "a"),
        child("e", root),
    ];
    let ids = |all: &[Vec<Value>]| -> Vec<Vec<String>> {
        let id = |record: &Value| record["id"].as_str().unwrap().to_string();
        all.iter()
            .map(|session| session[1..].iter().map(id).collect())
            .collect()
    };
    let all = read(&messages);
    assert_eq!(ids(&all), [vec!["e"], vec!["a", "b", "c"], vec!["d"]]);
    assert_eq!(
        all[2][0]["metadata"]["lineage"],
        json!({"kind": "branch", "parent": "talk", "at": "a"})
    );
    let mut named = conversation(&messages);
    named["current_leaf_message_uuid"] = json!("c");
    let (all, _) = sessions(named.to_string().as_bytes());
    let all = all.unwrap();
    assert_eq!(all[0].messages().count(), 3);
}

#[test]
fn a_time_without_a_zone_is_utc_and_reported_once() {
    let mut one = message("a", "human", json!([text("A.")]));
    one["created_at"] = json!("2024-08-08T19:12:06.120414");
    let talk = conversation(&[one.clone(), one]).to_string();
    let (all, report) = sessions(format!("[{talk},{talk}]").as_bytes());
    assert!(all.unwrap()[1].text().contains("\"2024-08-08T19:12:06.120414Z\""));
    assert_eq!(report.findings.len(), 1);
    assert!(!report.is_damaged());
}
