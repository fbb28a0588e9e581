use super::*;
use crate::format::WritePurpose;
use crate::model::session::of_lines;
use serde_json::{Value, json};

const LOG: [&str; 7] = [
    r#"{"type":"session","version":1,"id":"s","metadata":{"tools":[{"name":"Read","description":"Reads","input_schema":{"type":"object"}}]}}"#,
    r#"{"role":"system","content":"Be terse."}"#,
    r#"{"role":"user","content":"Look"}"#,
    r#"{"role":"assistant","content":null,"reasoning":[{"type":"text","text":"I read."}],"tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{\"path\": \"x\"}"}},{"id":"b","type":"function","function":{"name":"Read","arguments":"oops"}}]}"#,
    r#"{"role":"tool","tool_call_id":"a","content":"1","metadata":{"is_error":true}}"#,
    r#"{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"2"}]}"#,
    r#"{"role":"assistant","content":"Done.","id":"m7","timestamp":"2026-01-01T00:00:00Z"}"#,
];

fn line(kind: TrainingKind, options: TrainingOptions) -> (Value, Report) {
    let session = of_lines(&LOG);
    let view = View::replay(&session);
    let (mut out, mut report) = (Vec::new(), Report::default());
    let target = WriteTarget(WritePurpose::Export, &mut out, &mut report);
    write(kind, &session, &view, &options, target).unwrap();
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
    (serde_json::from_slice(&out).unwrap(), report)
}

#[test]
fn fine_tuning_has_arguments_as_strings_and_weights() {
    let (line, report) = line(TrainingKind::Finetune, TrainingOptions::default());
    let messages = line["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 6);
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["arguments"],
        "{\"path\": \"x\"}"
    );
    assert_eq!(messages[5], json!({"role": "assistant", "content": "Done."}));
    assert_eq!(
        line["tools"],
        json!([{"type": "function", "function": {"name": "Read", "description": "Reads", "parameters": {"type": "object"}}}])
    );
    assert_eq!(line["parallel_tool_calls"], true);
    assert_eq!(report.losses.get(&Loss::Reasoning), Some(&1));
    for loss in [Loss::Id, Loss::Timestamp, Loss::Metadata, Loss::Header] {
        assert_eq!(report.losses.get(&loss), Some(&1), "{loss:?}");
    }
    let trained = TrainingOptions {
        train_last: Some(1),
        ..TrainingOptions::default()
    };
    let (weighted, _) = self::line(TrainingKind::Finetune, trained);
    assert_eq!(weighted["messages"][2]["weight"], 0);
    assert_eq!(weighted["messages"][5].get("weight"), None);
}

#[test]
fn templates_have_arguments_as_objects_and_content_as_text() {
    let (line, report) = line(TrainingKind::Trl, TrainingOptions::default());
    let calls = &line["messages"][2]["tool_calls"];
    assert_eq!(calls[0]["function"]["arguments"], json!({"path": "x"}));
    assert_eq!(calls[1]["function"]["arguments"], json!({"input": "oops"}));
    assert_eq!(report.losses.get(&Loss::Arguments), Some(&1));
    assert_eq!(line["messages"][2]["content"], "");
    assert_eq!(
        line["messages"][4],
        json!({"role": "tool", "tool_call_id": "b", "content": "2", "name": "Read"})
    );
    assert_eq!(line.get("parallel_tool_calls"), None);
    let split = TrainingOptions {
        prompt_completion: true,
        ..TrainingOptions::default()
    };
    let (split, _) = self::line(TrainingKind::Trl, split);
    assert_eq!(split["prompt"].as_array().unwrap().len(), 2);
    assert_eq!(split["completion"].as_array().unwrap().len(), 4);
}

#[test]
fn reasoning_is_dropped_inline_or_a_member() {
    let with = |thinking| {
        let options = TrainingOptions {
            thinking,
            ..TrainingOptions::default()
        };
        let (line, report) = line(TrainingKind::Trl, options);
        assert_eq!(
            report.losses.contains_key(&Loss::Reasoning),
            thinking == TrainingThinking::Drop
        );
        line["messages"][2].clone()
    };
    assert_eq!(with(TrainingThinking::Drop).get("reasoning_content"), None);
    assert_eq!(with(TrainingThinking::Field)["reasoning_content"], "I read.");
    assert_eq!(
        with(TrainingThinking::Inline)["content"],
        "<think>\nI read.\n</think>\n\n"
    );
}
