//! Tests of repair modes, options, and large histories.

use super::*;

/// The repaired history, and the rules that are still violated.
fn repaired(
    api: Api,
    history: &str,
    options: &CheckOptions,
    mode: Option<RepairMode>,
) -> (String, Vec<&'static str>) {
    let fixed = fix(api, &elements(history), options, &repair(mode));
    (Value::from(values(&fixed)).to_string(), rules(&fixed.left))
}

/// A history for comparison: without white space, with sorted members.
fn plain(history: &str) -> String {
    serde_json::from_str::<Value>(history).unwrap().to_string()
}

fn chat(history: &str, mode: RepairMode) -> String {
    repaired(Api::OpenaiChat, history, &CheckOptions::default(), Some(mode)).0
}

const CALL: &str =
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"custom","custom":{}}]}"#;

#[test]
fn an_open_call_is_dropped_or_gets_a_result() {
    let history = format!(r#"[{{"role":"user","content":"u"}},{CALL},{{"role":"user","content":"v"}}]"#);
    let without = plain(r#"[{"role":"user","content":"u"},{"role":"user","content":"v"}]"#);
    assert_eq!(chat(&history, RepairMode::Drop), without);
    for mode in [RepairMode::Stub, RepairMode::Text] {
        assert!(chat(&history, mode).contains(r#""content":"aborted""#));
    }
    let options = CheckOptions::default();
    let anthropic = r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"a"}]},{"role":"user","content":"v"}]"#;
    assert_eq!(
        repaired(Api::Anthropic, anthropic, &options, Some(RepairMode::Drop)).0,
        without
    );
    let responses = r#"[{"role":"user","content":"u"},{"type":"reasoning","id":"rs"},{"type":"function_call","call_id":"a"},{"role":"user","content":"v"}]"#;
    assert_eq!(
        repaired(Api::OpenaiResponses, responses, &options, Some(RepairMode::Drop)).0,
        without
    );
    // Reasoning that belongs to another item is kept.
    let two = r#"[{"type":"reasoning","id":"rs"},{"type":"function_call","call_id":"a"},{"type":"function_call","call_id":"b"},{"type":"function_call_output","call_id":"b","output":""}]"#;
    assert!(
        repaired(Api::OpenaiResponses, two, &options, Some(RepairMode::Drop))
            .0
            .contains("reasoning")
    );
}

#[test]
fn an_orphaned_result_is_dropped_or_becomes_text() {
    let lost = r#"{"role":"tool","tool_call_id":"x","content":"r"}"#;
    let result = r#"{"role":"tool","tool_call_id":"a","content":"s"}"#;
    let history = format!("[{CALL},{lost},{result}]");
    assert_eq!(
        chat(&history, RepairMode::Drop),
        plain(&format!("[{CALL},{result}]"))
    );
    // After the run, because it would separate a call from its result.
    let text = r#"{"role":"user","content":"[tool result] r"}"#;
    assert_eq!(
        chat(&history, RepairMode::Text),
        plain(&format!("[{CALL},{result},{text}]"))
    );
    let options = CheckOptions::default();
    let anthropic = r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r"}]}]"#;
    let text = r#"[{"role":"user","content":[{"type":"text","text":"[tool result] r"}]}]"#;
    assert_eq!(
        repaired(Api::Anthropic, anthropic, &options, Some(RepairMode::Text)).0,
        plain(text)
    );
    let gemini = r#"[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}]"#;
    let text = r#"[{"role":"user","parts":[{"text":"[tool result] r"}]}]"#;
    assert_eq!(
        repaired(Api::Gemini, gemini, &options, Some(RepairMode::Text)).0,
        plain(text)
    );
}

#[test]
fn messages_that_an_api_merges_keep_their_results() {
    let parts = r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}]"#;
    let (text, left) = repaired(Api::Anthropic, parts, &CheckOptions::default(), None);
    assert!(
        left.is_empty() && !text.contains("aborted") && text.matches("tool_result").count() == 2,
        "{text}"
    );
    let parts = r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"s"},{"functionCall":{"name":"g"}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"g"}}]}]"#;
    let (text, left) = repaired(Api::Gemini, parts, &CheckOptions::default(), None);
    assert!(
        left.is_empty() && !text.contains("aborted") && text.matches("functionResponse").count() == 2,
        "{text}"
    );
}

#[test]
fn a_placeholder_marks_an_otherwise_empty_beginning() {
    for (api, history) in [
        (Api::Anthropic, r#"[{"role":"assistant","content":"a"}]"#),
        (Api::Gemini, r#"[{"role":"model","parts":[{"text":"a"}]}]"#),
    ] {
        let (text, _) = repaired(api, history, &CheckOptions::default(), None);
        assert!(
            text.contains("the beginning of the conversation is left out"),
            "{text}"
        );
        let found = repaired(
            api,
            history,
            &CheckOptions {
                prefill: true,
                ..CheckOptions::default()
            },
            None,
        )
        .1;
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn options_waive_their_rules() {
    let found = |api, history: &str, options: CheckOptions| rules(&check(api, &elements(history), &options));
    let output = r#"[{"type":"function_call_output","call_id":"a","output":""}]"#;
    let options = CheckOptions {
        previous_response: true,
        ..CheckOptions::default()
    };
    assert!(found(Api::OpenaiResponses, output, options).is_empty());
    let open = CheckOptions {
        open_end: true,
        ..CheckOptions::default()
    };
    for (api, history) in [
        (Api::OpenaiChat, format!("[{CALL}]")),
        (Api::OpenaiResponses, r#"[{"type":"function_call","call_id":"a"}]"#.to_string()),
        (Api::Anthropic, r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}]"#.to_string()),
        (Api::Gemini, r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"s"}]}]"#.to_string()),
    ] {
        assert!(check(api, &elements(&history), &CheckOptions::default()).iter().any(ApiViolation::is_error), "{history}");
        let warned = check(api, &elements(&history), &open);
        assert_eq!(warned.iter().map(|finding| finding.level).collect::<Vec<_>>(), [Severity::Warn], "{history}");
        assert!(fix(api, &elements(&history), &open, &repair(None)).changes.is_empty(), "{history}");
    }
    let system =
        r#"[{"role":"user","content":"u"},{"role":"system","content":"s"},{"role":"user","content":"u"}]"#;
    let roles = CheckOptions {
        roles: vec!["system".into()],
        ..CheckOptions::default()
    };
    assert!(found(Api::Anthropic, system, roles).is_empty());
    assert_eq!(found(Api::Anthropic, system, CheckOptions::default()), ["AN01"]);
    let marked = r#"[{"role":"user","content":[{"type":"text","text":"1","cache_control":{}}]}]"#;
    assert_eq!(
        found(
            Api::Anthropic,
            marked,
            CheckOptions {
                marks: 4,
                ..CheckOptions::default()
            }
        ),
        ["AN14"]
    );
}

#[test]
fn roles_alternate_on_request() {
    let options = CheckOptions {
        alternate: true,
        ..CheckOptions::default()
    };
    let history = r#"[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":[{"type":"text","text":"c"}]}]"#;
    let (text, left) = repaired(Api::OpenaiChat, history, &options, None);
    let whole = r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c"}]}]"#;
    assert_eq!((text, left.len()), (plain(whole), 0));
    assert!(check(Api::OpenaiChat, &elements(history), &CheckOptions::default()).is_empty());
}

#[test]
fn arguments_that_are_not_json_are_preserved_in_notes() {
    let history =
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{x"}}]}]"#;
    let options = CheckOptions {
        open_end: true,
        ..CheckOptions::default()
    };
    let fixed = fix(Api::OpenaiChat, &elements(history), &options, &repair(None));
    assert_eq!(fixed.elements[0].notes, [("a".to_string(), "{x".to_string())]);
    let errors = Repair {
        warnings: false,
        ..repair(None)
    };
    assert!(
        fix(Api::OpenaiChat, &elements(history), &options, &errors)
            .changes
            .is_empty()
    );
}

/// Each pass is linear, and the number of passes is bounded even if each repair causes another along the history.
#[test]
fn long_histories_take_a_few_passes() {
    let chains: [(Api, &[&str]); 6] = [
        (Api::OpenaiChat, &[CALL]),
        (
            Api::OpenaiChat,
            &[r#"{"role":"tool","tool_call_id":"x","content":"r"}"#],
        ),
        (
            Api::OpenaiResponses,
            &[
                r#"{"type":"reasoning","id":"rs"}"#,
                r#"{"type":"function_call","call_id":"a"}"#,
            ],
        ),
        (
            Api::Anthropic,
            &[
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}"#,
            ],
        ),
        (
            Api::Anthropic,
            &[r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}"#],
        ),
        (
            Api::Gemini,
            &[
                r#"{"role":"model","parts":[{"functionCall":{"name":"f"}}]}"#,
                r#"{"role":"user","parts":[{"functionResponse":{"name":"g"}}]}"#,
            ],
        ),
    ];
    for (api, chain) in chains {
        let history: Vec<&[u8]> = chain
            .iter()
            .cycle()
            .take(5_000)
            .map(|raw| raw.as_bytes())
            .collect();
        for alternate in [false, true] {
            let options = CheckOptions {
                alternate,
                ..CheckOptions::default()
            };
            let fixed = fix(api, &history, &options, &repair(None));
            let empty = api == Api::OpenaiChat && fixed.elements.is_empty();
            assert_eq!(fixed.errors().count(), usize::from(empty));
            assert!(fixed.passes <= 20, "{api:?}: {} passes", fixed.passes);
        }
    }
}
