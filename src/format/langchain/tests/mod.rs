//! Tests with small files, and with the sample files.

use crate::format::Format;
use crate::format::report::Loss;
use crate::format::tests::bed::{exported, through_lines};
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{messages, roles};
use crate::model::session::Session;
use crate::model::session::of_lines;
use crate::model::view::View;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FORMAT: Format = Format::Langchain;

fn read(text: &str) -> Vec<Session> {
    opened(FORMAT, text).sessions
}

/// Messages with all kinds of data, as dicts.
const RICH: &str = r#"[
 {"type":"system","data":{"content":"Be terse.","additional_kwargs":{"__openai_role__":"developer"},"response_metadata":{},"type":"system","name":null,"id":null}},
 {"type":"human","data":{"content":["Look",{"type":"image","base64":"AA==","mime_type":"image/png"},{"type":"odd","x":1}],"additional_kwargs":{},"response_metadata":{},"type":"human","name":"ann","id":"h1"}},
 {"type":"AIMessageChunk","data":{"content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"f","input":{}}],"additional_kwargs":{"x":1},"response_metadata":{"model_name":"m","stop":"y"},"type":"AIMessageChunk","name":null,"id":"a1","tool_calls":[{"name":"f","args":{"n":1.0e-06,"big":9007199254740993},"id":"c1","type":"tool_call"}],"invalid_tool_calls":[{"name":"g","args":"{x","id":"c2","error":"no JSON","type":"invalid_tool_call"}],"usage_metadata":{"input_tokens":5,"output_tokens":2,"total_tokens":7}}},
 {"type":"tool","data":{"content":"bad","additional_kwargs":{},"response_metadata":{},"type":"tool","name":"f","id":null,"tool_call_id":"c1","artifact":{"raw":1},"status":"error"}},
 {"type":"remove","data":{"content":"","id":"h1","type":"remove"}},
 {"type":"chat","data":{"content":"hm","role":"critic","additional_kwargs":{},"response_metadata":{},"type":"chat","name":null,"id":"h1"}},
 {"type":"ai","data":{"content":"","additional_kwargs":{"tool_calls":[{"id":"c3","type":"function","function":{"name":"g","arguments":"{}"}}]},"example":false}}
]
"#;

#[test]
fn every_member_is_mapped() {
    let sessions = read(RICH);
    let messages = messages(&sessions[0]);
    assert_eq!(
        roles(&messages),
        ["developer", "user", "assistant", "tool", "critic", "assistant"]
    );
    assert_eq!(messages[1]["content"][0], json!({"type":"text","text":"Look"}));
    assert_eq!(
        messages[1]["content"][1]["image_url"]["url"],
        "data:image/png;base64,AA=="
    );
    let answer = &messages[2];
    assert_eq!(answer["reasoning"][0]["text"], "hm");
    assert_eq!(answer["reasoning"][0]["signature"], "c2ln");
    assert_eq!(answer["content"].as_array().unwrap().len(), 1);
    assert_eq!(answer["model"], "m");
    assert_eq!(answer["metadata"]["invalid"], json!(["c2"]));
    let arguments = |nth: usize| {
        answer["tool_calls"][nth]["function"]["arguments"]
            .as_str()
            .unwrap()
    };
    assert_eq!(arguments(0), r#"{"n":1.0e-06,"big":9007199254740993}"#);
    assert_eq!(arguments(1), "{x");
    assert_eq!(messages[3]["metadata"]["is_error"], true);
    assert_eq!(messages[4]["id"], "h1~2", "an id that another message has");
    assert_eq!(messages[5]["tool_calls"][0]["id"], "c3");
    let foreign = (0..sessions[0].len()).filter(|index| {
        let record = sessions[0].record(*index);
        record.event().is_some_and(|event| event.name() == "foreign")
    });
    assert_eq!(foreign.count(), 1);
    hold(FORMAT, RICH);
}

#[test]
fn any_session_is_a_list_of_dicts() {
    let built = [
        r#"{"type":"session","version":1,"id":"a"}"#,
        r#"{"role":"developer","content":"Rules."}"#,
        r#"{"role":"assistant","content":"Well.","refusal":"no","model":"m","usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":2},"reasoning":[{"type":"encrypted","encrypted_content":"zz"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"[1]"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":null,"timestamp":"2026-01-01T00:00:00Z"}"#,
    ];
    let session = of_lines(&built);
    let (out, report) = exported(FORMAT, &session);
    assert_eq!(report.losses, BTreeMap::from([(Loss::Timestamp, 1)]));
    let elements: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        elements[0]["data"]["additional_kwargs"]["__openai_role__"],
        "developer"
    );
    let ai = &elements[1]["data"];
    assert_eq!(
        ai["content"][0],
        json!({"type":"reasoning","encrypted_content":"zz"})
    );
    assert_eq!(ai["usage_metadata"]["input_tokens"], 7);
    assert_eq!(ai["usage_metadata"]["input_token_details"]["cache_read"], 4);
    assert_eq!(ai["response_metadata"]["model_name"], "m");
    assert_eq!(ai["tool_calls"][0]["args"], json!({"a":1}));
    assert_eq!(ai["invalid_tool_calls"][0]["args"], "[1]");
    assert_eq!(ai["additional_kwargs"]["refusal"], "no");
    let tool = &elements[2]["data"];
    assert_eq!(
        (&tool["content"], &tool["status"]),
        (&json!(""), &json!("success"))
    );
    let again = read(&out);
    let again = messages(&again[0]);
    assert_eq!(again[1]["tool_calls"][0]["function"]["arguments"], r#"{"a": 1}"#);
    assert_eq!(again[1]["tool_calls"][1]["function"]["arguments"], "[1]");
}

#[test]
fn a_change_keeps_all_other_elements_unchanged() {
    let file = opened(FORMAT, RICH);
    let more = [(0, r#"{"role":"user","content":"And?","id":"h2"}"#)];
    let out = file.with(&more);
    let added = out
        .strip_prefix(RICH.trim_end().strip_suffix("\n]").unwrap())
        .unwrap();
    assert!(added.starts_with(",\n {\"type\":\"human\""), "{added}");
    assert!(added.ends_with("\n]\n"), "{added}");
    // A removed message removes its element, and no other.
    let file = opened(FORMAT, RICH);
    let drop = r#"{"type":"compact","id":"evt_1","at":"2026-01-01T00:00:00Z","drop":["h1"]}"#;
    let out = file.with(&[(0, drop)]);
    let lines: Vec<_> = RICH.lines().filter(|line| !line.contains("\"ann\"")).collect();
    assert_eq!(out, lines.join("\n") + "\n");
}

#[test]
fn lines_and_rows_are_sessions() {
    let line =
        |text: &str| format!(r#"{{"type": "human", "data": {{"content": "{text}", "type": "human"}}}}"#);
    let lines = format!("{}\n\n{}\nbroken\n{}", line("a"), line("b"), line("c"));
    let file = opened(FORMAT, &lines);
    let (sessions, report) = (&file.sessions, &file.report);
    assert_eq!(messages(&through_lines(&sessions[0])).len(), 3);
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].place.line, 4);
    let out = file.with(&[(0, r#"{"role":"user","content":"d"}"#)]);
    assert!(
        out.starts_with(&format!("{lines}\n")) || out.starts_with(&lines),
        "{out}"
    );
    assert!(out.lines().last().unwrap().contains("\"d\""));

    let row = |session: &str, text: &str| {
        let message = serde_json::to_string(&line(text)).unwrap();
        format!(r#"{{"id":1,"session_id":"{session}","message":{message}}}"#)
    };
    let rows = [row("x", "1"), row("y", "2"), row("x", "3")].join("\n") + "\n";
    let file = opened(FORMAT, &rows);
    let sessions = &file.sessions;
    let texts: Vec<Vec<_>> = sessions
        .iter()
        .map(|session| {
            messages(session)
                .iter()
                .map(|message| message["content"].clone())
                .collect()
        })
        .collect();
    assert_eq!(texts, [vec![json!("1"), json!("3")], vec![json!("2")]]);
    assert_eq!(sessions[1].header_text("id").as_deref(), Some("y"));
    let out = file.with(&[(0, r#"{"role":"user","content":"4"}"#)]);
    let added: Value = serde_json::from_str(out.strip_prefix(&rows).unwrap()).unwrap();
    assert_eq!(added["session_id"], "x");
    assert!(added["message"].as_str().unwrap().contains("\"4\""));
    let many = format!(
        r#"[{{"id":"p","title":"T","messages":[{}]}},{{"no":1}},{{"messages":[]}},{{"no":2}}]"#,
        line("1")
    );
    let file = opened(FORMAT, &many);
    let (sessions, report) = (&file.sessions, &file.report);
    assert_eq!(sessions.len(), 2);
    assert_eq!(report.findings.len(), 2);
    assert_eq!(sessions[0].header_text("title").as_deref(), Some("T"));
    assert_eq!(View::replay(&sessions[0]).items.len(), 1);
    assert_eq!(file.with(&[]), many);
}

#[test]
fn an_edited_call_is_also_edited_in_the_content() {
    let text = r#"[{"type":"ai","data":{"content":[{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"f","input":{"k":"secret"},"x":1}],"type":"ai","id":"a1","tool_calls":[{"name":"f","args":{"k":"secret"},"id":"c1","type":"tool_call"}],"extra":1}}]"#;
    hold(FORMAT, text);
    let edit = r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s","edit":[{"id":"a1","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}"#;
    let after = opened(FORMAT, text).with(&[(0, edit)]);
    assert!(!after.contains("secret"), "{after}");
    assert!(after.contains(r#""extra":1"#) && after.contains("So."), "{after}");
}
