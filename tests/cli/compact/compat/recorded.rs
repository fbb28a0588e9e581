//! Runs the recorded cases of langchain and openai-agents through the program where it supports the options. Lines
//! contain their counts in thousandths, because only counts above 0 are used.

use super::{compat, ids};
use crate::sample_data;
use serde_json::{Value, json};

/// The cases in a file.
fn cases(name: &str) -> Value {
    let text = std::fs::read(sample_data::path("compaction").join(name)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Builds the session: each message gets its index as id, and the count of the case.
fn session(messages: &[Value], count: impl Fn(&Value) -> Option<u64>) -> String {
    let mut text = json!({"type": "session", "version": 1, "id": "s", "tokenizer": "o200k_base"}).to_string();
    for (at, message) in messages.iter().enumerate() {
        let mut message = message.clone();
        message["id"] = format!("m{at}").into();
        if let Some(tokens) = count(&message) {
            message["tokens"] = tokens.into();
        }
        text.push_str(&format!("\n{message}"));
    }
    text + "\n"
}

fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        parts => list(parts)
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
    }
}

fn count(counter: &str, message: &Value) -> Option<u64> {
    let text = text(message);
    let words = text.split_whitespace().count() as u64;
    let count = match counter {
        "messages" => 1,
        "words" => words,
        "words_plus3" => words + 3,
        "chars" => text.chars().count() as u64,
        _ => return None,
    };
    Some((count * THOUSAND).max(1))
}

const THOUSAND: u64 = 1000;

/// A limit in the unit of the counts. An empty message counts 1, and there are few of these.
fn limit(value: &Value) -> String {
    match value.as_u64().unwrap() {
        0 => "0".to_string(),
        limit => (limit * THOUSAND + THOUSAND / 2).to_string(),
    }
}

fn names(value: &Value) -> String {
    match value {
        Value::String(name) => name.clone(),
        names => list(names)
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(","),
    }
}

fn places(range: impl Iterator<Item = usize>) -> Vec<String> {
    range.map(|at| format!("m{at}")).collect()
}

fn report(what: &str, ran: usize, all: usize) {
    eprintln!("{what}, through the program: {ran} of {all} cases ran and agree");
    assert!(ran * 2 > all, "{what}: {ran} of {all}");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn trim_messages() {
    let file = cases("langchain_trim_messages.json");
    let (mut ran, all) = (0, list(&file["cases"]));
    for case in all.iter().filter(|case| case["mark"] == "match") {
        let input = list(&file["inputs"][case["input"].as_str().unwrap()]);
        let options = &case["options"];
        let counter = options["counter"].as_str().unwrap();
        // Shortened messages are counted again.
        if options["allow_partial"] == true || counter == "langchain_approx" {
            continue;
        }
        let budget = limit(&options["max_tokens"]);
        let mut call = vec!["langchain", "--budget", &budget, "--tokenizer", "o200k_base"];
        let (start, end) = (names(&options["start_on"]), names(&options["end_on"]));
        for (flag, value) in [("--start-on", start.as_str()), ("--end-on", end.as_str())] {
            if !value.is_empty() {
                call.extend([flag, value]);
            }
        }
        if options["strategy"] == "first" {
            call.extend(["--keep-end", "first"]);
        }
        if options["include_system"] == true {
            call.push("--include-system");
        }
        let run = compat(&call, &session(input, |message| count(counter, message)));
        let id = &case["id"];
        ran += 1;
        if case["expected"]["error"] == "usage" {
            run.status(2);
            continue;
        }
        let run = run.status(0);
        let kept: Vec<&Value> = ids(&run)
            .iter()
            .map(|id| &input[id[1..].parse::<usize>().unwrap()])
            .collect();
        let expected: Vec<&Value> = list(&case["expected"]["messages"]).iter().collect();
        assert_eq!(kept, expected, "{id}");
    }
    report("langchain trim_messages", ran, all.len());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn clear_tool_uses() {
    let file = cases("langchain_clear_tool_uses.json");
    let (mut ran, all) = (0, list(&file["cases"]));
    for case in all.iter().filter(|case| case["mark"] == "match") {
        let options = &case["options"];
        let placeholder = options["placeholder"].as_str().unwrap_or("[cleared]");
        let mut input = list(&file["inputs"][case["input"].as_str().unwrap()]).to_vec();
        let results = input.iter_mut().filter(|message| message["role"] == "tool");
        // Only results worth clearing; none grows here.
        for result in results.filter(|message| message["content"] != placeholder) {
            result["content"] = "a long result of a tool ".repeat(20).into();
        }
        let keep = options["keep"].to_string();
        let mut call = vec![
            "langchain", "--mask-tools", "--keep-tools", &keep, "--placeholder", placeholder,
        ];
        let trigger = format!("tokens>{}", options["trigger"]);
        call.extend(["--when", &trigger]);
        if options["clear_tool_inputs"] == true {
            call.push("--mask-inputs");
        }
        for name in list(&options["exclude_tools"]) {
            call.extend(["--exclude-tool", name.as_str().unwrap()]);
        }
        let run = compat(&call, &session(&input, |_| None)).status(0);
        let mut expected = input.clone();
        for change in list(&case["expected"]["changed"]) {
            expected[change["index"].as_u64().unwrap() as usize] = change["message"].clone();
        }
        let left: Vec<Value> = run.objects().split_off(1);
        for (at, (left, mut expected)) in left.into_iter().zip(expected).enumerate() {
            expected["id"] = format!("m{at}").into();
            assert_eq!(left, expected, "{} {at}", case["id"]);
        }
        ran += 1;
    }
    report("langchain ClearToolUsesEdit", ran, all.len());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn summarization() {
    let file = cases("langchain_summarization.json");
    let (mut ran, all) = (0, list(&file["cases"]));
    for case in all.iter().filter(|case| case["mark"] == "match") {
        let input = list(&file["inputs"][case["input"].as_str().unwrap()]);
        let keep = &case["options"]["keep"];
        let (flag, number) = match keep[0] == "tokens" {
            true => ("--keep-tokens", limit(&keep[1])),
            false => ("--keep-messages", keep[1].to_string()),
        };
        let call = [
            "langchain", flag, &number, "--with", "none", "--tokenizer", "o200k_base",
        ];
        let run = compat(&call, &session(input, |message| count("words", message))).status(0);
        let cut = case["expected"]["cut"].as_u64().unwrap_or(0) as usize;
        let stays = |at: &usize| *at >= cut || input[*at]["role"] == "system";
        assert_eq!(
            ids(&run),
            places((0..input.len()).filter(stays)),
            "{}",
            case["id"]
        );
        ran += 1;
    }
    report("langchain SummarizationMiddleware", ran, all.len());
}

/// Converts each item to a message.
fn message(item: &Value) -> Value {
    match item["type"].as_str() {
        Some("reasoning") => json!({"role": "assistant", "content": null, "reasoning": [item]}),
        Some("function_call") => {
            let function = json!({"name": item["name"], "arguments": item["arguments"]});
            let call = json!({"id": item["call_id"], "type": "function", "function": function});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        }
        Some("function_call_output") => {
            json!({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        }
        _ => item.clone(),
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn sessions() {
    let file = cases("openai_agents_sessions.json");
    let (mut ran, all) = (0, list(&file["cases"]));
    for case in all {
        let items = list(&file["inputs"][case["input"].as_str().unwrap()]);
        let messages: Vec<Value> = items.iter().map(message).collect();
        let session = session(&messages, |_| None);
        let options = &case["options"];
        let limit = options["limit"]
            .as_i64()
            .or(options["session_settings_limit"].as_i64());
        let id = &case["id"];
        let kept = |call: &[&str]| -> Vec<Value> {
            let run = compat(call, &session).status(0);
            ids(&run)
                .iter()
                .map(|id| items[id[1..].parse::<usize>().unwrap()].clone())
                .collect()
        };
        match (case["op"].as_str().unwrap(), limit) {
            ("get_items" | "get_items_settings", Some(limit @ ..0)) => {
                compat(&["openai-agents", &format!("--keep-items={limit}")], &session).status(2);
            }
            ("get_items" | "get_items_settings", Some(limit)) => {
                let limit = limit.to_string();
                let theirs = kept(&["openai-agents", "--keep-items", &limit, "--compat-exact"]);
                assert_eq!(theirs, list(&case["expected"]), "{id}");
                if case["mark"] == "match" {
                    assert_eq!(kept(&["openai-agents", "--keep-items", &limit]), theirs, "{id}");
                }
            }
            ("compaction_candidates", _) if case["mark"] == "match" => {
                let left = kept(&["openai-agents", "--with", "none", "--when", "messages>=0"]);
                let candidates = list(&case["expected"]["candidates"]);
                assert_eq!(left.len() + candidates.len(), items.len(), "{id}");
                assert!(left.iter().all(|item| !candidates.contains(item)), "{id}");
            }
            _ => continue,
        }
        ran += 1;
    }
    report("openai-agents sessions", ran, all.len());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn tool_output_trimmer() {
    let file = cases("openai_agents_tool_output_trimmer.json");
    let messages: Vec<Value> = list(&file["input"]).iter().map(message).collect();
    let session = session(&messages, |_| None);
    let all = list(&file["cases"]);
    for case in all {
        let options = &case["options"];
        // Counted by length: a line with one letter has few tokens.
        let mut call = ["openai-agents", "--tokenizer", "chars4"]
            .map(str::to_string)
            .to_vec();
        let most = options["max_output_chars"].as_i64().unwrap_or(500);
        call.push(format!("--tool-output-max={most}"));
        for (name, flag) in [("recent_turns", "--keep-last"), ("preview_chars", "--preview")] {
            call.extend(options[name].as_i64().map(|number| format!("{flag}={number}")));
        }
        let tools = list(&options["trimmable_tools"]).iter();
        call.extend(tools.map(|tool| format!("--only-tool={}", tool.as_str().unwrap())));
        let run = compat(&call.iter().map(String::as_str).collect::<Vec<_>>(), &session);
        if case["expected"]["error"].is_string() {
            run.status(2);
            continue;
        }
        let left = run.status(0).objects().split_off(1);
        let changed = |at: &usize| left[*at]["content"] != messages[*at]["content"];
        let changed: Vec<usize> = (0..messages.len()).filter(changed).collect();
        let trimmed = list(&case["expected"]["trimmed"]);
        let index = |row: &Value| row["index"].as_u64().unwrap() as usize;
        assert_eq!(
            changed,
            trimmed.iter().map(index).collect::<Vec<_>>(),
            "{}",
            case["id"]
        );
    }
    report("openai-agents ToolOutputTrimmer", all.len(), all.len());
}
