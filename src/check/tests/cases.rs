//! A small case for each rule: a history that violates it, the options, and the repaired history.

use super::*;

/// Rule, options, history, and the history repaired with the default mode.
const CASES: [(&str, &str, &str, &str); 43] = [
    (
        "OC01",
        "",
        r#"[{"role":"user","content":"u"},{"role":"tool","tool_call_id":"a","content":"r"}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "OC02",
        "",
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"u"}]"#,
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"aborted"},{"role":"user","content":"u"}]"#,
    ),
    (
        "OC03",
        "",
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{}},{"id":"a","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}]"#,
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{}},{"id":"ID","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"ID","content":"2"}]"#,
    ),
    (
        "OC04",
        "",
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}]"#,
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"a","content":"1"}]"#,
    ),
    (
        "OC05",
        "",
        r#"[{"role":"user"},{"role":"user","content":"u"}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "OC06",
        "",
        r#"[{"role":"assistant","content":"a","tool_calls":[ ]}]"#,
        r#"[{"role":"assistant","content":"a"}]"#,
    ),
    (
        "OC07",
        "",
        r#"[{"role":"GPT","content":"a"}]"#,
        r#"[{"role":"assistant","content":"a"}]"#,
    ),
    (
        "OC08",
        "",
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"t"},{"type":"image_url"}]}]"#,
        r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"t"},{"type":"text","text":"[convo: image_url left out]"}]}]"#,
    ),
    (
        "OC09",
        "open",
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{x"}},{"id":"b","function":{"name":"f","arguments":{"n":1.0}}}]}]"#,
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{\"n\":1.0}"}}]}]"#,
    ),
    (
        "OC10",
        "",
        r#"[{"role":"assistant","tool_calls":[{"id":"a-very-long-id-of-more-than-forty-characters","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"a-very-long-id-of-more-than-forty-characters","content":"r"}]"#,
        r#"[{"role":"assistant","tool_calls":[{"id":"ID","type":"custom","custom":{}}]},{"role":"tool","tool_call_id":"ID","content":"r"}]"#,
    ),
    ("OC11", "", "[]", "[]"),
    (
        "OR01",
        "",
        r#"[{"role":"user","content":"u"},{"type":"custom_tool_call_output","call_id":"a","output":"r"}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "OR02",
        "",
        r#"[{"type":"shell_call","call_id":"a"},{"role":"user","content":"u"}]"#,
        r#"[{"type":"shell_call","call_id":"a"},{"type":"shell_call_output","call_id":"a","output":[{"stdout":"","stderr":"aborted","outcome":{"type":"exit","exit_code":1}}]},{"role":"user","content":"u"}]"#,
    ),
    (
        "OR03",
        "",
        r#"[{"type":"reasoning","id":"rs_1"},{"type":"reasoning","id":"rs_2"},{"role":"user","content":"u"}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "OR04",
        "",
        r#"[{"role":"assistant","id":"msg_1","_had_reasoning":true,"content":"a"}]"#,
        r#"[{"role":"assistant","content":"a"}]"#,
    ),
    (
        "OR05",
        "stateless",
        r#"[{"type":"reasoning","id":"rs_1"},{"role":"assistant","id":"msg_1","content":"a"}]"#,
        r#"[{"role":"assistant","content":"a"}]"#,
    ),
    (
        "OR06",
        "",
        r#"[{"role":"user","content":[{"type":"output_text","text":"t","annotations":[]}]},{"role":"assistant","content":[{"type":"input_image","file_id":"f"}]}]"#,
        r#"[{"role":"user","content":[{"type":"input_text","text":"t"}]},{"role":"assistant","content":[{"type":"output_text","text":"[convo: input_image left out]"}]}]"#,
    ),
    (
        "OR07",
        "",
        r#"[{"type":"compaction","encrypted_content":""},{"role":"user","content":"u"}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "OR08",
        "",
        r#"[{"role":"user","id":"msg_1","content":"u"},{"role":"user","id":"msg_1","content":"v"},{"type":"item_reference","id":"msg_1"}]"#,
        r#"[{"role":"user","id":"msg_1","content":"u"},{"role":"user","id":"ID","content":"v"},{"type":"item_reference","id":"msg_1"}]"#,
    ),
    (
        "OR09",
        "",
        r#"[{"role":"user","content":[{"type":"input_file"}]}]"#,
        r#"[{"role":"user","content":[{"type":"input_text","text":"[convo: input_file left out]"}]}]"#,
    ),
    (
        "AN01",
        "",
        r#"[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"tool","tool_call_id":"t","content":"r"}]"#,
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]"#,
    ),
    (
        "AN02",
        "",
        r#"[{"role":"assistant","content":"a"},{"role":"user","content":"u"}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "AN03",
        "",
        r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"},{"type":"text","text":"x"}]}]"#,
        r#"[{"role":"user","content":[{"type":"text","text":"x"}]}]"#,
    ),
    (
        "AN04",
        "",
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}]"#,
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"aborted"}]}]"#,
    ),
    (
        "AN05",
        "",
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t"}]}]"#,
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"x"}]}]"#,
    ),
    (
        "AN06",
        "",
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"tool_result","tool_use_id":"t"}]}]"#,
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]},{"role":"assistant","content":[{"type":"tool_use","id":"ID"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID"}]}]"#,
    ),
    (
        "AN07",
        "",
        r#"[{"role":"user","content":[{"type":"text","text":"\n"},{"type":"text","text":"x"}]}]"#,
        r#"[{"role":"user","content":[{"type":"text","text":"x"}]}]"#,
    ),
    (
        "AN08",
        "",
        r#"[{"role":"user","content":""},{"role":"user","content":"u"}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "AN09",
        "",
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]"#,
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]"#,
    ),
    (
        "AN10",
        "thinking",
        r#"[{"role":"user","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"x"}]}]"#,
        r#"[{"role":"user","content":[{"type":"text","text":"x"}]}]"#,
    ),
    (
        "AN11",
        "thinking",
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]"#,
        r#"[{"role":"user","content":"u"}]"#,
    ),
    (
        "AN12",
        "no-tools",
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]"#,
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"text","text":"[tool use f] {\"a\":1}"}]},{"role":"user","content":[{"type":"text","text":"[tool result] r"}]}]"#,
    ),
    (
        "AN13",
        "",
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"compaction","content":"c","encrypted_content":""},{"type":"text","text":"x"}]}]"#,
        r#"[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"text","text":"x"}]}]"#,
    ),
    (
        "AN14",
        "",
        r#"[{"role":"user","content":[{"type":"text","text":"1","cache_control":{}},{"type":"text","text":"2","cache_control":{}},{"type":"text","text":"3","cache_control":{}}]},{"role":"user","content":[{"type":"text","text":"4","cache_control":{}},{"type":"text","text":"5","cache_control":{}}]}]"#,
        r#"[{"role":"user","content":[{"type":"text","text":"1"},{"type":"text","text":"2","cache_control":{}},{"type":"text","text":"3","cache_control":{}}]},{"role":"user","content":[{"type":"text","text":"4","cache_control":{}},{"type":"text","text":"5","cache_control":{}}]}]"#,
    ),
    (
        "GE01",
        "",
        r#"[{"role":"human","parts":[{"text":"u"}]},{"role":"bot","parts":[{"text":"a"}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]}]"#,
    ),
    (
        "GE02",
        "old",
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]"#,
    ),
    (
        "GE03",
        "old",
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g","id":"i"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g","id":"i"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"id":"i","name":"g","response":{"output":"aborted"}}}]}]"#,
    ),
    (
        "GE04",
        "",
        r#"[{"role":"user","parts":[{"text":"u"},{"functionResponse":{"name":"f","response":{}}}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]}]"#,
    ),
    (
        "GE05",
        "",
        r#"[{"role":"user","parts":[]},{"role":"user","parts":[{},{"text":"u"}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]}]"#,
    ),
    (
        "GE06",
        "",
        r#"[{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"u"}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]}]"#,
    ),
    (
        "GE07",
        "",
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]"#,
    ),
    (
        "GE08",
        "old",
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"name":"g"}},{"text":"x"},{"functionResponse":{"name":"f"}}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"g"}},{"text":"x"}]}]"#,
    ),
    (
        "GE09",
        "",
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]}]"#,
        r#"[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]}]"#,
    ),
];

fn options(words: &str) -> CheckOptions {
    CheckOptions {
        open_end: words == "open",
        stateless: words == "stateless",
        thinking: words == "thinking",
        no_tools: words == "no-tools",
        gemini: if words == "old" { 2 } else { 3 },
        ..CheckOptions::default()
    }
}

/// Replaces every generated id, which ends in 32 hex digits, by `ID`.
fn without_ids(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::new();
    for piece in text.split('"') {
        let digits = piece.rsplit('_').next().unwrap_or_default();
        let built = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        out.push_str(if built { "ID" } else { piece });
        out.push('"');
    }
    out
}

#[test]
fn each_rule_has_a_case_and_a_repair() {
    for ((id, words, history, repaired), rule) in CASES.iter().zip(&RULES) {
        assert_eq!(*id, rule.id);
        let api = rule.api.unwrap();
        let options = options(words);
        let found = check(api, &elements(history), &options);
        assert!(rules(&found).contains(id), "{id}: {found:?}");
        let level = found.iter().find(|finding| finding.rule.id == *id).unwrap().level;
        assert_eq!(level, rule.level, "{id}");
        let fixed = fix(api, &elements(history), &options, &repair(None));
        let expected: Value = serde_json::from_str(repaired).unwrap();
        assert_eq!(
            without_ids(&values(&fixed).into()),
            without_ids(&expected),
            "{id}"
        );
        // A configured level applies, and disabled rules are not checked.
        for level in [Severity::Off, Severity::Warn, Severity::Error] {
            let options = CheckOptions {
                levels: vec![(rule, level)],
                ..options.clone()
            };
            let found = check(api, &elements(history), &options);
            let levels: Vec<Severity> = found
                .iter()
                .filter(|finding| finding.rule.id == *id)
                .map(|finding| finding.level)
                .collect();
            assert!(
                levels.iter().all(|found| *found == level) && levels.is_empty() == (level == Severity::Off),
                "{id}"
            );
        }
    }
}
