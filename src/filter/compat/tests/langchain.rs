use super::super::langchain::{
    ClearToolUses, KeepLimit, LangchainTrim, MessageKind, TrimStrategy, clear_tool_uses, summarization, trim,
};
use super::super::{CompatHistory, Precedence, ViewChanges};
use super::{Tally, json, kept, lines, list, lost, measure, session};
use crate::error::{ErrorKind as Fault, Result};
use crate::model::view::View;
use crate::sample_data;
use serde_json::{Value, json as value};

/// Cases where convo's rules apply, by reason.
const TRIM: [(&str, &str); 3] = [
    (
        "trim-030 trim-044 trim-114 trim-118",
        "a call would be parted from its result: the atom goes whole",
    ),
    (
        "trim-010 trim-056 trim-125 trim-144",
        "the system message alone is over the limit: told as not fitting",
    ),
    (
        "trim-073 trim-078 trim-081",
        "langchain counts the lines of a cut text in reverse, and ends over the limit",
    ),
];
const CLEAR: [(&str, &str); 1] = [(
    "mw-009 mw-029 mw-039",
    "the least gain says whether to act at all, not where to stop",
)];
const SUMMARIZATION: [(&str, &str); 1] = [("mw-100 mw-105", "only the system message would be summarised")];

fn kinds(value: &Value) -> Vec<MessageKind> {
    let names = match value {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
        _ => Vec::new(),
    };
    names
        .into_iter()
        .map(|name| MessageKind::from_name(name).unwrap())
        .collect()
}

fn run(messages: &[Value], options: &Value, rules: Precedence) -> (Result<ViewChanges>, Vec<Value>) {
    let session = session(messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let options_of = LangchainTrim {
        max: options["max_tokens"].as_u64().unwrap(),
        strategy: if options["strategy"] == "first" {
            TrimStrategy::First
        } else {
            TrimStrategy::Last
        },
        start_on: kinds(&options["start_on"]),
        end_on: kinds(&options["end_on"]),
        include_system: options["include_system"] == true,
        allow_partial: options["allow_partial"] == true,
    };
    let choice = trim(
        &history,
        &options_of,
        rules,
        &measure(options["counter"].as_str().unwrap()),
    );
    let left = choice
        .as_ref()
        .map_or(Vec::new(), |choice| lines(&session, &view, choice));
    (choice, left)
}

fn total(messages: &[Value], counter: &Value) -> u64 {
    let session = session(messages);
    let view = View::replay(&session);
    view.messages(&session)
        .map(|message| measure(counter.as_str().unwrap())(&message))
        .sum()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn trim_messages_agrees_with_langchain() {
    let path = sample_data::path("compaction/langchain_trim_messages.json");
    let file = json(&path);
    let mut tally = Tally::of("langchain trim_messages");
    for case in list(&file["cases"]) {
        let id = case["id"].as_str().unwrap();
        let input = list(&file["inputs"][case["input"].as_str().unwrap()]);
        let (choice, left) = run(input, &case["options"], Precedence::Convo);
        if case["expected"]["error"] == "usage" {
            assert_eq!(choice.unwrap_err().kind, Fault::Usage, "{id}");
            tally.agree();
            continue;
        }
        let choice = choice.unwrap();
        let counter = &case["options"]["counter"];
        assert_eq!(
            total(input, counter),
            case["facts"]["input_tokens"].as_u64().unwrap(),
            "{id}"
        );
        let expected = list(&case["expected"]["messages"]);
        if case["mark"] == "match" {
            assert_eq!(left, expected, "{id}");
            assert!(choice.fits, "{id}");
            tally.agree();
            continue;
        }
        assert!(left != expected || !choice.fits, "{id} does not differ");
        let fits = total(&left, counter) <= case["options"]["max_tokens"].as_u64().unwrap();
        assert_eq!(fits, choice.fits, "{id}");
        assert!(
            !left.is_empty() && lost(left.iter()).is_subset(&lost(input.iter())),
            "{id}: {left:?}"
        );
        // langchain's own result must still be available, except for texts that it counts in reverse.
        if fits && case["options"]["allow_partial"] != true {
            assert_eq!(
                run(input, &case["options"], Precedence::Theirs).1,
                expected,
                "{id}"
            );
        }
        tally.differ(id);
    }
    tally.close(&TRIM);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn clear_tool_uses_agrees_with_langchain() {
    let path = sample_data::path("compaction/langchain_clear_tool_uses.json");
    let file = json(&path);
    let mut tally = Tally::of("langchain ClearToolUsesEdit");
    for case in list(&file["cases"]) {
        let id = case["id"].as_str().unwrap();
        let input = list(&file["inputs"][case["input"].as_str().unwrap()]);
        let options = &case["options"];
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let run = |min_gain: u64| {
            let session = session(input);
            let view = View::replay(&session);
            let history = CompatHistory::of(&session, &view);
            let with = ClearToolUses {
                trigger: options["trigger"].as_u64().unwrap(),
                keep: options["keep"].as_u64().unwrap() as usize,
                min_gain,
                inputs: options["clear_tool_inputs"] == true,
                exclude: options["exclude_tools"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(text)
                    .collect(),
                placeholder: options["placeholder"].as_str().unwrap_or("[cleared]").to_string(),
            };
            let choice = clear_tool_uses(&history, &with, &measure("words"));
            let left = lines(&session, &view, &choice);
            let changed = left
                .into_iter()
                .zip(input)
                .enumerate()
                .filter(|(_, (left, was))| left != *was);
            value!(
                changed
                    .map(|(index, (left, _))| value!({"index": index, "message": left}))
                    .collect::<Vec<_>>()
            )
        };
        let min_gain = options["clear_at_least"].as_u64().unwrap_or(0);
        if case["mark"] == "match" {
            assert_eq!(run(min_gain), case["expected"]["changed"], "{id}");
            tally.agree();
        } else {
            // Either everything is cleared or, if the gain is too small, nothing.
            assert_eq!(run(min_gain), run(0), "{id}");
            assert_eq!(run(1000), value!([]), "{id}");
            tally.differ(id);
        }
    }
    tally.close(&CLEAR);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn summarization_agrees_with_langchain() {
    let path = sample_data::path("compaction/langchain_summarization.json");
    let file = json(&path);
    let mut tally = Tally::of("langchain SummarizationMiddleware");
    for case in list(&file["cases"]) {
        let id = case["id"].as_str().unwrap();
        let input = list(&file["inputs"][case["input"].as_str().unwrap()]);
        let session = session(input);
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let keep = &case["options"]["keep"];
        let most = keep[1].as_u64().unwrap();
        let keep = if keep[0] == "messages" {
            KeepLimit::Messages(most as usize)
        } else {
            KeepLimit::Tokens(most)
        };
        let choice = summarization(&history, keep, Precedence::Convo, &measure("words")).unwrap();
        let cut = case["expected"]["cut"].as_u64().unwrap_or(0) as usize;
        let covered: Vec<usize> = (0..cut).filter(|at| input[*at]["role"] != "system").collect();
        assert_eq!(choice.summarised, covered, "{id}");
        assert_eq!(kept(&history, &choice).len(), input.len() - covered.len(), "{id}");
        if case["mark"] == "match" {
            assert_eq!(choice.changes(), case["expected"]["changed"] == true, "{id}");
            tally.agree();
        } else {
            assert!(!choice.changes(), "{id}");
            tally.differ(id);
        }
    }
    tally.close(&SUMMARIZATION);
}

fn call(id: &str) -> Value {
    let function = value!({"name": "f", "arguments": "{\"q\":1}"});
    value!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

#[test]
fn a_late_result_is_not_separated_from_its_call() {
    let result = value!({"role": "tool", "tool_call_id": "a", "content": "late"});
    let user = value!({"role": "user", "content": "go on"});
    let messages = [user.clone(), call("a"), user.clone(), result, user.clone()];
    let options = value!({"max_tokens": 3, "strategy": "last", "counter": "messages"});
    assert_eq!(run(&messages, &options, Precedence::Convo).1, [user]);
    assert_eq!(run(&messages, &options, Precedence::Theirs).1, messages[2..]);
}

#[test]
fn the_end_moves_inward_when_results_may_not_end_it() {
    let user = value!({"role": "user", "content": "ask"});
    let result = value!({"role": "tool", "tool_call_id": "a", "content": "r"});
    let messages = [user.clone(), call("a"), result];
    let options = value!({"max_tokens": 9, "strategy": "last", "counter": "messages", "end_on": "ai"});
    assert_eq!(run(&messages, &options, Precedence::Convo).1, [user]);
}

#[test]
fn a_cached_count_does_not_outlive_a_cut_text() {
    let messages = [value!({"role": "user", "content": "one two\nthree", "tokens": 3})];
    let options = value!({"max_tokens": 1, "strategy": "last", "counter": "words", "allow_partial": true});
    assert_eq!(
        run(&messages, &options, Precedence::Convo).1,
        [value!({"role": "user", "content": "three"})]
    );
}

#[test]
fn parts_other_than_text_are_cut_as_a_whole() {
    let image = value!({"type": "image_url", "image_url": {"url": "x"}});
    let text = value!({"type": "text", "text": "a b\nc"});
    let messages = [value!({"role": "user", "content": [text, image]})];
    let options = value!({"max_tokens": 1, "strategy": "last", "counter": "words", "allow_partial": true});
    assert_eq!(
        run(&messages, &options, Precedence::Convo).1,
        [value!({"role": "user", "content": [image]})]
    );
    let first = value!({"max_tokens": 2, "strategy": "first", "counter": "words", "allow_partial": true});
    assert_eq!(
        run(&messages, &first, Precedence::Convo).1,
        [value!({"role": "user", "content": "a b\n"})]
    );
}

#[test]
fn a_cut_at_an_orphaned_result_moves_after_the_result() {
    let user = value!({"role": "user", "content": "ask"});
    let result = value!({"role": "tool", "tool_call_id": "nobody", "content": "r"});
    let session = session(&[user.clone(), user.clone(), result, user]);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let choice = summarization(
        &history,
        KeepLimit::Messages(2),
        Precedence::Convo,
        &measure("messages"),
    )
    .unwrap();
    assert_eq!(choice.summarised, [0, 1, 2]);
    assert!(
        summarization(
            &history,
            KeepLimit::Tokens(0),
            Precedence::Convo,
            &measure("messages")
        )
        .is_err()
    );
}

#[test]
fn results_are_cleared_only_over_the_trigger_and_only_those_of_the_nearest_call() {
    let result = |text: &str| value!({"role": "tool", "tool_call_id": "a", "content": text});
    let reply = value!({"role": "assistant", "content": "so"});
    let messages = [call("a"), result("one two"), reply, result("late")];
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let run = |trigger: u64, inputs: bool| {
        let options = ClearToolUses {
            trigger,
            keep: 0,
            inputs,
            ..ClearToolUses::default()
        };
        let choice = clear_tool_uses(&history, &options, &measure("words"));
        lines(&session, &view, &choice)
    };
    assert_eq!(run(4, false), messages);
    let cleared = run(3, true);
    assert_eq!(cleared[1]["content"], "[cleared]");
    assert_eq!(cleared[0]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(cleared[2..], messages[2..]);
    assert_eq!(run(3, false)[0], messages[0]);
}
