use super::super::openai_agents::{DUE, TrimOutputs, candidates, last_items, trim_outputs};
use super::super::{CompatHistory, Precedence, ViewChanges};
use super::{Tally, indexes, json, lines, list, lost, session};
use crate::error::ErrorKind;
use crate::model::view::View;
use crate::sample_data;
use serde_json::{Value, json as value};
use std::collections::BTreeSet;

const DIFFERENT: [(&str, &str); 2] = [
    (
        "sess-013 sess-026 sess-039 sess-052 sess-065",
        "a negative limit is wrong usage",
    ),
    (
        "sess-022 sess-032 sess-033 sess-035",
        "an output would be there without its call: both stay out",
    ),
];

/// Converts items to messages: one each, or as few as possible.
fn messages(items: &[Value], grouped: bool) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    // Progress within the last message: 1 reasoning, 2 text, 3 calls.
    let mut state = 0;
    for item in items {
        let (stage, message) = match item["type"].as_str() {
            Some("reasoning") => (
                1,
                value!({"role": "assistant", "content": null, "reasoning": [item]}),
            ),
            Some("function_call") => {
                let function = value!({"name": item["name"], "arguments": item["arguments"]});
                let call = value!({"id": item["call_id"], "type": "function", "function": function});
                (
                    3,
                    value!({"role": "assistant", "content": null, "tool_calls": [call]}),
                )
            }
            Some("function_call_output") => (
                0,
                value!({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}),
            ),
            _ if item["role"] == "assistant" => (2, item.clone()),
            _ => (0, item.clone()),
        };
        let fits = grouped && stage > 0 && (stage > state || stage == 3 || (stage, state) == (1, 1));
        match messages.last_mut().filter(|_| fits && state > 0) {
            Some(last) if stage == 3 && last["tool_calls"].is_array() => {
                last["tool_calls"]
                    .as_array_mut()
                    .unwrap()
                    .push(message["tool_calls"][0].clone());
            }
            Some(last) => {
                for (name, member) in message.as_object().unwrap() {
                    if !member.is_null() {
                        last[name] = member.clone();
                    }
                }
            }
            None => messages.push(message),
        }
        state = stage;
    }
    messages
}

/// Converts messages to items.
fn items(messages: &[Value]) -> Vec<Value> {
    let mut items = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            items.push(value!({
                "type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]
            }));
            continue;
        }
        items.extend(message["reasoning"].as_array().into_iter().flatten().cloned());
        if !message["content"].is_null() {
            let mut text = message.clone();
            for name in ["reasoning", "tool_calls"] {
                text.as_object_mut().unwrap().remove(name);
            }
            items.push(text);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            items.push(value!({
                "type": "function_call", "call_id": call["id"],
                "name": function["name"], "arguments": function["arguments"]
            }));
        }
    }
    items
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn session_items_agree_with_openai_agents() {
    let path = sample_data::path("compaction/openai_agents_sessions.json");
    let file = json(&path);
    let mut tally = Tally::of("openai-agents sessions");
    let mut others = BTreeSet::new();
    for case in list(&file["cases"]) {
        let id = case["id"].as_str().unwrap();
        let input = list(&file["inputs"][case["input"].as_str().unwrap()]);
        for grouped in [false, true] {
            let messages = messages(input, grouped);
            assert_eq!(items(&messages), input, "{id}");
            let session = session(&messages);
            let view = View::replay(&session);
            let history = CompatHistory::of(&session, &view);
            let options = &case["options"];
            let of = |choice: &ViewChanges| items(&lines(&session, &view, choice));
            match case["op"].as_str().unwrap() {
                "get_items" | "get_items_settings" => {
                    let limit = options["limit"]
                        .as_i64()
                        .or(options["session_settings_limit"].as_i64());
                    let choice = last_items(&history, limit, Precedence::Convo);
                    if limit.is_some_and(|limit| limit < 0) {
                        assert_eq!(choice.unwrap_err().kind, ErrorKind::Usage, "{id}");
                        continue;
                    }
                    let theirs = last_items(&history, limit, Precedence::Theirs).unwrap();
                    assert_eq!(of(&theirs), list(&case["expected"]), "{id}");
                    let choice = choice.unwrap();
                    if case["mark"] == "match" {
                        assert_eq!(of(&choice), list(&case["expected"]), "{id}");
                        continue;
                    }
                    let left = lines(&session, &view, &choice);
                    assert!(items(&left).len() <= limit.unwrap() as usize, "{id}");
                    assert!(!left.is_empty() && lost(left.iter()).is_empty(), "{id}");
                }
                "compaction_candidates" => {
                    let (choice, number) = candidates(&history, Precedence::Convo);
                    let expected = list(&case["expected"]["candidates"]);
                    assert_eq!(number, expected.len(), "{id}");
                    assert_eq!(number >= DUE, case["expected"]["trigger_default"] == true, "{id}");
                    let taken: Vec<Value> =
                        choice.summarised.iter().map(|at| messages[*at].clone()).collect();
                    assert_eq!(items(&taken), expected, "{id}");
                }
                other => drop(others.insert((other, id))),
            }
        }
        if !others.iter().any(|(_, other)| *other == id) {
            match case["mark"].as_str().unwrap() {
                "match" => tally.agree(),
                _ => tally.differ(id),
            }
        }
    }
    // Undoing items and repairing histories is not trimming.
    let operations: BTreeSet<&str> = others.iter().map(|(operation, _)| *operation).collect();
    eprintln!(
        "openai-agents sessions: {} cases are no trimming: {operations:?}",
        others.len()
    );
    assert_eq!(
        operations,
        [
            "drop_orphan_function_calls", "pop_item", "strip_orphaned_assistant_ids"
        ]
        .into()
    );
    tally.close(&DIFFERENT);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn outputs_become_previews() {
    let path = sample_data::path("compaction/openai_agents_tool_output_trimmer.json");
    let file = json(&path);
    let input = list(&file["input"]);
    let mut tally = Tally::of("openai-agents ToolOutputTrimmer");
    for case in list(&file["cases"]) {
        let id = case["id"].as_str().unwrap();
        tally.agree();
        // Values that cannot be a length are rejected when options are parsed.
        let number = |name: &str, default: usize| match case["options"].get(name) {
            Some(given) => given.as_u64().map(|given| given as usize),
            None => Some(default),
        };
        let (Some(recent_turns), Some(most), Some(preview)) = (
            number("recent_turns", 2),
            number("max_output_chars", 500),
            number("preview_chars", 200),
        ) else {
            assert_eq!(case["expected"]["error"], "usage", "{id}");
            continue;
        };
        let tools = case["options"]["trimmable_tools"].as_array();
        let tools = tools.map(|tools| {
            tools
                .iter()
                .map(|tool| tool.as_str().unwrap().to_string())
                .collect()
        });
        let options = TrimOutputs {
            recent_turns,
            most,
            preview,
            tools,
        };
        let session = session(&messages(input, false));
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let choice = trim_outputs(&history, &options);
        if case["expected"]["error"] == "usage" {
            assert_eq!(choice.unwrap_err().kind, ErrorKind::Usage, "{id}");
            continue;
        }
        let left = lines(&session, &view, &choice.unwrap());
        let before = messages(input, false);
        let changed: Vec<usize> = (0..left.len()).filter(|at| left[*at] != before[*at]).collect();
        let expected = list(&case["expected"]["trimmed"]);
        let indexes: Vec<usize> = indexes(&value!(
            expected.iter().map(|row| &row["index"]).collect::<Vec<_>>()
        ));
        assert_eq!(changed, indexes, "{id}");
        for row in expected {
            let at = row["index"].as_u64().unwrap() as usize;
            let (text, was) = (
                left[at]["content"].as_str().unwrap(),
                before[at]["content"].as_str().unwrap(),
            );
            let mark = format!("[convo: {} of {} bytes elided]", was.len() - preview, was.len());
            let cut = if preview == 0 {
                mark
            } else {
                format!("{mark}\n{}", &was[..preview])
            };
            assert_eq!(text, cut, "{id}");
        }
    }
    tally.close(&[]);
}

#[test]
fn a_preview_counts_characters_and_reports_bytes() {
    let long = "ä".repeat(700);
    let call = value!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let user = value!({"role": "user", "content": "u"});
    let messages = [
        value!({"role": "assistant", "content": null, "tool_calls": [call]}),
        value!({"role": "tool", "tool_call_id": "a", "content": long, "tokens": 9}),
        user.clone(),
        user,
    ];
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let choice = trim_outputs(&history, &TrimOutputs::default()).unwrap();
    let expected = format!("[convo: 1,000 of 1,400 bytes elided]\n{}", "ä".repeat(200));
    let left = lines(&session, &view, &choice);
    assert_eq!(left[1]["content"], expected);
    assert_eq!(left[1]["tokens"], Value::Null);
}

#[test]
fn instructions_and_open_calls_are_not_candidates() {
    let call = value!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let messages = [
        value!({"role": "system", "content": "s"}),
        value!({"role": "user", "content": "u"}),
        value!({"role": "assistant", "content": "x"}),
        value!({"role": "user", "content": "u"}),
        value!({"role": "assistant", "content": null, "tool_calls": [call]}),
    ];
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let none = last_items(&history, Some(0), Precedence::Convo).unwrap();
    assert_eq!(lines(&session, &view, &none), messages[..1]);
    let (choice, number) = candidates(&history, Precedence::Convo);
    assert_eq!((choice.summarised, number), (vec![2], 1));
    assert_eq!(candidates(&history, Precedence::Theirs).1, 2);
}

#[test]
fn an_open_loop_keeps_its_reasoning_or_is_dropped() {
    let reasoning = value!([{"type": "reasoning", "id": "rs_1", "summary": []}]);
    let user = value!({"role": "user", "content": "u"});
    let reply = value!({"role": "assistant", "content": "a", "reasoning": reasoning});
    let run = |messages: &[Value], limit: i64| {
        let session = session(messages);
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        lines(
            &session,
            &view,
            &last_items(&history, Some(limit), Precedence::Convo).unwrap(),
        )
    };
    assert_eq!(run(&[user.clone(), reply.clone()], 1), Vec::<Value>::new());
    let closed = run(&[user.clone(), reply, user.clone()], 2);
    assert_eq!(closed, [value!({"role": "assistant", "content": "a"}), user]);
}
