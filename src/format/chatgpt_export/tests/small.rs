//! Conversion of single nodes.

use super::{call, conversation, node, read, records, sessions, text_node};
use crate::format::report::Loss;
use serde_json::{Value, json};

fn line() -> Vec<Value> {
    vec![
        json!({"id": "root", "message": null, "parent": null, "children": ["s"]}),
        text_node("s", "root", "system", ""),
        text_node("u", "s", "user", "Hello."),
        text_node("a", "u", "assistant", "Yes?"),
    ]
}

#[test]
fn the_header_describes_the_conversation() {
    let all = read("a", &line());
    let header = &all[0][0];
    assert_eq!(header["id"], "talk");
    assert_eq!(header["title"], "A talk");
    assert_eq!(header["created_at"], "2026-07-16T01:15:00.25Z");
    assert_eq!(
        header["metadata"]["chatgpt-export"],
        json!({"current_node": "a", "default_model_slug": "m-1"})
    );
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].len(), 3);
    assert_eq!(
        all[0][1],
        json!({"role": "user", "content": "Hello.", "id": "u", "metadata": {"chatgpt-export": {"message": {"recipient": "all"}}}})
    );
}

#[test]
fn abandoned_nodes_are_branches_in_any_order() {
    let mut nodes = line();
    nodes.push(text_node("b", "u", "assistant", "No."));
    nodes.push(text_node("c", "b", "user", "Why?"));
    nodes.push(text_node("d", "s", "user", "Hi."));
    let all = read("a", &nodes);
    let ids = |session: &Vec<Value>| {
        session[1..]
            .iter()
            .map(|record| record["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        all.iter().map(ids).collect::<Vec<_>>(),
        [vec!["u", "a"], vec!["b", "c"], vec!["d"]]
    );
    let lineage = |nth: usize| &all[nth][0]["metadata"]["lineage"];
    assert_eq!(
        lineage(1),
        &json!({"kind": "branch", "parent": "talk", "at": "u"})
    );
    assert_eq!(lineage(2), &json!({"kind": "branch", "parent": "talk"}));
    nodes.reverse();
    let again = read("a", &nodes);
    assert_eq!(
        again.iter().map(ids).collect::<Vec<_>>(),
        all.iter().map(ids).collect::<Vec<_>>()
    );
}

#[test]
fn without_a_current_node_the_latest_leaf_is_active() {
    let mut nodes = line();
    nodes.push(text_node("b", "u", "assistant", "No."));
    nodes[3]["message"]["create_time"] = json!(7.5);
    assert_eq!(read("nobody", &nodes)[0][2]["id"], "a");
    nodes[4]["message"]["create_time"] = json!(8);
    assert_eq!(read("nobody", &nodes)[0][2]["id"], "b");
}

#[test]
fn a_call_and_the_nodes_of_its_tool_are_a_pair() {
    let mut nodes = line();
    nodes.push(call("c", "a", "python", "print(1)"));
    nodes.push(node(
        "t",
        "c",
        "tool",
        json!({"content_type": "execution_output", "text": "1\n"}),
    ));
    nodes.push(text_node("t2", "t", "tool", "and a file"));
    nodes.push(call("c2", "t2", "web.run", r#"{"q": 1.50}"#));
    nodes.push(text_node("t3", "c2", "tool", "found"));
    nodes.push(text_node("e", "t3", "assistant", "Done."));
    nodes.push(text_node("t4", "e", "tool", "late"));
    let all = read("t4", &nodes);
    let record = |nth: usize| &all[0][nth];
    assert_eq!(record(3)["tool_calls"][0]["id"], "call_c");
    assert_eq!(
        record(3)["tool_calls"][0]["function"],
        json!({"name": "python", "arguments": "{\"input\":\"print(1)\"}"})
    );
    assert_eq!(record(4)["tool_call_id"], "call_c");
    assert_eq!(
        record(4)["content"],
        json!([{"type": "text", "text": "1\n"}, {"type": "text", "text": "and a file"}])
    );
    assert_eq!(record(4)["metadata"]["chatgpt-export"]["nodes"][0]["node"], "t2");
    assert_eq!(
        record(5)["tool_calls"][0]["function"]["arguments"],
        r#"{"q": 1.50}"#
    );
    assert_eq!(record(6)["content"], "found");
    // Another message followed, so the result belongs to no call.
    assert_eq!(record(8)["id"], "t4");
    assert!(record(8).get("tool_call_id").is_none());
}

#[test]
fn a_branch_answers_the_call_at_its_branch_point() {
    let mut nodes = line();
    nodes.push(call("c", "a", "python", "1"));
    nodes.push(text_node("t", "c", "tool", "one"));
    nodes.push(text_node("t2", "c", "tool", "two"));
    let all = read("t", &nodes);
    assert_eq!(all[1][1]["tool_call_id"], "call_c");
    assert_eq!(all[1][0]["metadata"]["lineage"]["at"], "c");
}

#[test]
fn reasoning_belongs_to_the_following_answer() {
    let mut nodes = line();
    let reasoning_parts = json!({"content_type": "thoughts", "thoughts": [{"summary": "S", "content": "T", "finished": true}], "source_analysis_msg_id": "x"});
    nodes.push(node("t", "u", "assistant", reasoning_parts.clone()));
    nodes.push(node(
        "r",
        "t",
        "assistant",
        json!({"content_type": "reasoning_recap", "content": "4s"}),
    ));
    nodes.push(text_node("e", "r", "assistant", "Done."));
    nodes.push(node("t2", "e", "assistant", reasoning_parts));
    nodes.push(text_node("u2", "t2", "user", "Stop."));
    let all = read("u2", &nodes);
    assert_eq!(all[0].len(), 5);
    let answer = &all[0][2];
    assert_eq!(answer["id"], "e");
    assert_eq!(
        answer["reasoning"],
        json!([{"type": "text", "text": "T", "summary": "S", "finished": true}])
    );
    let own = &answer["metadata"]["chatgpt-export"];
    assert_eq!(own["thoughts"][0]["node"], "t");
    assert_eq!(own["recaps"][0]["content"]["content"], "4s");
    // Reasoning without an answer is not lost.
    assert_eq!(all[0][3]["id"], "t2");
    assert_eq!(all[0][3]["content"], Value::Null);
    assert_eq!(all[0][3]["reasoning"][0]["text"], "T");
    assert_eq!(all[0][4]["id"], "u2");
}

#[test]
fn parts_keep_their_extra_members() {
    let mut nodes = line();
    nodes.push(node("p", "a", "user", json!({"content_type": "multimodal_text", "parts": [
        "Look.", {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f", "width": 8},
        {"content_type": "audio_transcription", "text": "Said.", "direction": "in"}, {"content_type": "odd", "x": 1},
    ]})));
    nodes[4]["message"]["metadata"] = json!({"attachments": [{"id": "f"}, {"id": "g"}]});
    nodes.push(node(
        "o",
        "p",
        "assistant",
        json!({"content_type": "odd", "parts": ["?"]}),
    ));
    nodes.push(node(
        "x",
        "o",
        "user",
        json!({"content_type": "user_editable_context", "user_profile": "P", "user_instructions": "I"}),
    ));
    let (all, report) = sessions(conversation("x", &nodes).as_bytes());
    let records = records(&all.unwrap()[0]);
    assert_eq!(
        records[3]["content"],
        json!([
            {"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": "file-service://f"}},
            {"type": "text", "text": "Said."}, {"content_type": "odd", "x": 1},
        ])
    );
    assert_eq!(
        records[3]["metadata"]["chatgpt-export"]["parts"],
        json!([null, {"width": 8}, {"content_type": "audio_transcription", "direction": "in"}, null])
    );
    assert_eq!(
        records[4]["content"],
        json!([{"content_type": "odd", "parts": ["?"]}])
    );
    assert_eq!(
        records[4]["metadata"]["chatgpt-export"]["content"]["content_type"],
        "odd"
    );
    assert_eq!(records[5]["category"], "context");
    assert_eq!(records[5]["content"][1]["text"], "I");
    assert_eq!(report.losses.get(&Loss::Attachment), Some(&2));
    assert!(report.findings.is_empty());
}

#[test]
fn numbers_and_unusual_characters_keep_their_bytes() {
    let text = conversation("a", &line())
        .replace("Hello.", "a\u{2028}b \\ud83c\\udf0a \u{e200}")
        .replace(
            "\"default_model_slug\"",
            "\"seed\":1234567890123456789,\"cost\":5e-06,\"default_model_slug\"",
        );
    let all = sessions(text.as_bytes()).0.unwrap();
    let lines = all[0].text();
    assert!(lines.contains("a\u{2028}b \\ud83c\\udf0a \u{e200}"), "{lines}");
    assert!(
        lines.contains("\"seed\":1234567890123456789,\"cost\":5e-06"),
        "{lines}"
    );
}
