//! Tests of the formulas, also with recorded cases of the original systems, if available.

use super::*;
use crate::error::Position;
use crate::model::record::Record;
use serde_json::Value;

fn tokens(estimate: Estimate, line: &str) -> u64 {
    let record = Record::parse(line.as_bytes(), Position::default());
    estimate.message(record.message().unwrap())
}

#[test]
fn texts_by_each_formula() {
    for (text, chars4, picoclaw, penguiflow, quarter, plus_one) in [
        ("", 0, 0, 1, 0, 1),
        ("abc", 0, 1, 1, 0, 1),
        ("abcd", 1, 1, 2, 1, 2),
        ("abcdefgh", 2, 3, 3, 2, 3),
        ("é", 0, 0, 1, 0, 1),
        ("👋", 1, 0, 1, 0, 1),
        ("日本語日本語日", 5, 2, 2, 1, 2),
    ] {
        let counts = [
            (Estimate::Chars4, chars4),
            (Estimate::Picoclaw, picoclaw),
            (Estimate::Penguiflow, penguiflow),
            (Estimate::Quarter, quarter),
            (Estimate::QuarterPlusOne, plus_one),
        ];
        for (estimate, count) in counts {
            assert_eq!(estimate.count(text), count, "{} of {text:?}", estimate.name());
        }
    }
}

#[test]
fn estimates_of_private_tokenizers_are_at_least_o200k() {
    for (text, claude, gemini) in [
        ("", 0, 0),
        ("The quick brown fox jumps over the lazy dog.", 13, 11),
        ("世界您好世界您好", 4, 4),
        ("{}{}{}{}", 4, 4),
    ] {
        let base = Encoding::O200k.count(text);
        assert_eq!(Estimate::Claude.count(text), claude.max(base), "{text}");
        assert_eq!(Estimate::Gemini.count(text), gemini.max(base), "{text}");
    }
}

#[test]
fn messages_by_each_formula() {
    let call = r#"{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"t_1","arguments":"{\"k\":\"1\"}"}}]}"#;
    assert_eq!(tokens(Estimate::Picoclaw, call), 13);
    assert_eq!(tokens(Estimate::Picoclaw, r#"{"role":"user","content":"hi"}"#), 5);
    assert_eq!(
        tokens(
            Estimate::Picoclaw,
            r#"{"role":"tool","content":"res","tool_call_id":"1"}"#
        ),
        6
    );
    let media = r#"{"role":"user","content":"hi","metadata":{"picoclaw":{"media":["a","b"],"system_parts":[{"text":"0123456789"}]}}}"#;
    assert_eq!(tokens(Estimate::Picoclaw, media), (30 + 12) * 2 / 5 + 512);
    // assistant, 1, t_1, {"k":"1"}
    assert_eq!(tokens(Estimate::Chars4, call), (9 + 1 + 3 + 9) / 4);
    assert_eq!(tokens(Estimate::Penguiflow, call), (9 + 1 + 3 + 9) / 4 + 1);
    assert_eq!(tokens(Estimate::Quarter, call), 0);
    let parts = r#"{"role":"user","content":[{"type":"text","text":"abcdefg"},{"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":"abcd"}]}"#;
    assert_eq!(tokens(Estimate::Quarter, parts), 1 + 4000 + 1);
    assert_eq!(tokens(Estimate::QuarterPlusOne, parts), (7 + 4000 + 4) / 4 + 1);
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(crate::sample_data::path(name)).unwrap()
}

/// A message in the form of PicoClaw's reader.
fn from_picoclaw(mut message: Value) -> String {
    let members = message.as_object_mut().unwrap();
    if let Some(text) = members.remove("reasoning_content") {
        members.insert(
            "reasoning".into(),
            serde_json::json!([{"type": "text", "text": text}]),
        );
    }
    let mut own = serde_json::Map::new();
    for name in ["media", "system_parts"] {
        own.extend(members.remove(name).map(|list| (name.to_string(), list)));
    }
    members.insert("metadata".into(), serde_json::json!({"picoclaw": own}));
    message.to_string()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn cases_of_picoclaw_agree() {
    let cases = fixture("picoclaw/compaction-cases.jsonl");
    let mut compared = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let histories = case["history"]
            .as_array()
            .unwrap()
            .iter()
            .zip(case["token_estimates"].as_array().unwrap());
        for (message, estimate) in histories {
            let line = from_picoclaw(message.clone());
            assert_eq!(
                tokens(Estimate::Picoclaw, &line),
                estimate.as_u64().unwrap(),
                "{line}"
            );
            compared += 1;
        }
    }
    eprintln!("{compared} messages compared");
    assert!(compared > 100);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn cases_of_penguiflow_agree() {
    let table = fixture("penguiflow/tables/token_estimator.json");
    let table: Value = serde_json::from_str(&table).unwrap();
    let rows = table["rows"].as_array().unwrap();
    for row in rows {
        let text = row["text"].as_str().unwrap();
        assert_eq!(
            Estimate::Penguiflow.count(text),
            row["tokens"].as_u64().unwrap(),
            "{text}"
        );
    }
    eprintln!("{} texts compared", rows.len());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn cases_of_penguin_agree() {
    let counts = fixture("penguin/token-counts.json");
    let counts: Value = serde_json::from_str(&counts).unwrap();
    let (mut compared, mut passed) = (0, 0);
    for (dir, cases) in counts["cases"].as_object().unwrap() {
        for case in cases.as_array().unwrap() {
            let name = format!("{dir}/conversations/{}", case["file"].as_str().unwrap());
            // Some are damaged, and some are missing.
            let text = std::fs::read(crate::sample_data::path("penguin").join(&name)).unwrap_or_default();
            let messages = serde_json::from_slice::<Value>(&text).ok();
            let message =
                messages.map(|file| file["messages"][case["index"].as_u64().unwrap() as usize].clone());
            // Values that are measured by their Python representation are not reproduced.
            let plain =
                |part: &Value| part.is_string() || part["text"].is_string() || !part["image_url"].is_null();
            let content = message
                .map(|message| message["content"].clone())
                .unwrap_or_default();
            let known =
                content.is_string() || content.as_array().is_some_and(|parts| parts.iter().all(plain));
            if !known || case.get("python_text").is_some() {
                passed += 1;
                continue;
            }
            let line = serde_json::json!({"role": "user", "content": content}).to_string();
            assert_eq!(
                tokens(Estimate::Quarter, &line),
                case["quarter"].as_u64().unwrap(),
                "{name} {line}"
            );
            assert_eq!(
                tokens(Estimate::QuarterPlusOne, &line),
                case["quarter_plus_one"].as_u64().unwrap(),
                "{line}"
            );
            if let Some(text) = content.as_str() {
                assert_eq!(
                    Encoding::Cl100k.count(text),
                    case["cl100k"].as_u64().unwrap(),
                    "{text}"
                );
            }
            compared += 1;
        }
    }
    for case in counts["special"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        assert_eq!(
            Encoding::Cl100k.count(text),
            case["convo"].as_u64().unwrap(),
            "{text}"
        );
    }
    eprintln!("{compared} messages compared, {passed} passed over");
    assert!(compared > 50);
}
