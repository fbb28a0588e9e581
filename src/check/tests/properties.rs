//! Property tests with generated invalid histories for every API.

use super::*;
use proptest::prelude::*;

/// The elements of generated histories, by API.
pub(crate) fn palette(api: Api) -> Vec<&'static str> {
    match api {
        Api::OpenaiChat => vec![
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#,
            r#"{"role":"user","content":null}"#,
            r#"{"role":"system","content":"s"}"#,
            r#"{"role":"assistant","content":"ok"}"#,
            r#"{"role":"assistant","content":"ok","tool_calls":[]}"#,
            r#"{"role":"assistant","content":null}"#,
            r#"{"role":"assistant","content":null,"refusal":"no"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            r#"{"role":"assistant","content":"x","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{oops"}}]}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":{"a":1}}},{"id":"c1","type":"custom","custom":{"name":"f","input":"x"}},{"id":"c1"}]}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"cccccccccccccccccccccccccccccccccccccccccccccccc","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"cccccccccccccccccccccccccccccccccccccccccccccccc","content":"r"}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"r"}"#,
            r#"{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"r"},{"type":"image_url"}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":null}"#,
            r#"{"role":"tool","content":{"a":1}}"#,
            r#"{"role":"human","content":"hi"}"#,
            r#"{"role":"bot","content":"hi"}"#,
        ],
        Api::OpenaiResponses => vec![
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"user","id":"msg_1","content":[{"type":"input_text","text":"x"}]}"#,
            r#"{"role":"user","content":[{"type":"output_text","text":"x"},{"type":"input_image"},"x"]}"#,
            r#"{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"x"}]}"#,
            r#"{"type":"message","role":"assistant","id":"msg_2","_had_reasoning":true,"content":[{"type":"input_text","text":"x"}]}"#,
            r#"{"role":"assistant","content":"x"}"#,
            r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
            r#"{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"x"}"#,
            r#"{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}"#,
            r#"{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"}"#,
            r#"{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"}"#,
            r#"{"type":"computer_call","call_id":"c3","id":"cu_1"}"#,
            r#"{"type":"local_shell_call","call_id":"c4","id":"lsh_1"}"#,
            r#"{"type":"function_call_output","call_id":"c1","output":"r"}"#,
            r#"{"type":"function_call_output","call_id":"c2","output":[{"type":"input_file"}]}"#,
            r#"{"type":"custom_tool_call_output","call_id":"c1","output":"r"}"#,
            r#"{"type":"local_shell_call_output","id":"c4","output":"r"}"#,
            r#"{"type":"compaction","id":"cmp_1"}"#,
            r#"{"type":"compaction","id":"cmp_2","encrypted_content":"x"}"#,
            r#"{"type":"web_search_call","id":"ws_1"}"#,
            r#"{"type":"item_reference","id":"rs_1"}"#,
        ],
        Api::Anthropic => vec![
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"user","content":" "}"#,
            r#"{"role":"user","content":[]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"","cache_control":{"type":"ephemeral"}}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}],"cache_control":{"type":"ephemeral"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"},{"type":"tool_result","tool_use_id":"t1","content":"r"},{"type":"tool_result","tool_use_id":"t1","content":"r"}]}"#,
            r#"{"role":"user","content":[{"type":"thinking","thinking":"t","signature":"s"}]}"#,
            r#"{"role":"assistant","content":"ok"}"#,
            r#"{"role":"assistant","content":""}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"tool_use","id":"t1","name":"f","input":{}}]}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t2","name":"f","input":{"a":1}}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t1","name":"f","input":{}}]}"#,
            r#"{"role":"assistant","content":[{"type":"compaction","content":""}]}"#,
            r#"{"role":"tool","tool_use_id":"t1","content":"r"}"#,
            r#"{"role":"tool","content":"r"}"#,
            r#"{"role":"system","content":"s"}"#,
            r#"{"role":"bot","content":"s"}"#,
        ],
        Api::Gemini => vec![
            r#"{"role":"user","parts":[{"text":"q"}]}"#,
            r#"{"parts":[{"text":"q"}]}"#,
            r#"{"role":"user","parts":[{"text":""}]}"#,
            r#"{"role":"user","parts":[]}"#,
            r#"{"role":"model","parts":[{"text":"a"},{}]}"#,
            r#"{"role":"model","parts":[{"text":"","thoughtSignature":"s"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}"#,
            r#"{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"},{"functionCall":{"name":"g","args":{}}}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"f","id":"i","args":{}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"r"}}},{"functionResponse":{"name":"f","response":{"output":"r"}}}]}"#,
            r#"{"role":"function","parts":[{"functionResponse":{"name":"f","response":{}}},{"text":"x"}]}"#,
            r#"{"role":"user","parts":[{"function_response":{"name":"f","id":"i","response":{}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"f","id":"j","response":{}}}]}"#,
            r#"{"role":"assistant","parts":[{"text":"a"}]}"#,
            r#"{"role":"system","parts":[{"text":"a"}]}"#,
        ],
    }
}

fn options(bits: u8) -> CheckOptions {
    CheckOptions {
        stateless: bits & 1 > 0,
        previous_response: bits & 2 > 0,
        thinking: bits & 4 > 0,
        no_tools: bits & 8 > 0,
        prefill: bits & 16 > 0,
        gemini: if bits & 32 > 0 { 2 } else { 3 },
        open_end: bits & 64 > 0,
        alternate: bits & 128 > 0,
        ..CheckOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn a_repaired_history_violates_no_rule(
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
        api in prop::sample::select(Api::ALL.to_vec()),
        mode in prop::sample::select(MODES.to_vec()),
        bits: u8,
    ) {
        let palette = palette(api);
        let history: Vec<&[u8]> = picks.iter().map(|pick| pick.get(&palette).as_bytes()).collect();
        let options = options(bits);
        let found = check(api, &history, &options);
        let fixed = fix(api, &history, &options, &repair(mode));
        let shown = || {
            let lines = |raws: Vec<&[u8]>| String::from_utf8_lossy(&raws.join(&b"\n"[..])).into_owned();
            let after = fixed.elements.iter().map(|element| element.raw.as_slice()).collect();
            format!("{mode:?}\n{}\n->\n{}\n{:?}", lines(history.clone()), lines(after), fixed.changes)
        };
        // Only an empty history cannot be repaired.
        let empty = usize::from(api == Api::OpenaiChat && fixed.elements.is_empty());
        prop_assert_eq!(fixed.errors().count(), empty, "{:?}\n{}", fixed.left, shown());
        let raws: Vec<&[u8]> = fixed.elements.iter().map(|element| element.raw.as_slice()).collect();
        prop_assert_eq!(check(api, &raws, &options), fixed.left.clone());
        // A second repair changes nothing.
        let again = fix(api, &raws, &options, &repair(mode));
        prop_assert!(again.changes.is_empty(), "{:?}\n{}", again.changes, shown());
        // Unchanged elements keep their bytes and their order.
        for element in fixed.elements.iter().filter(|element| !element.changed) {
            prop_assert_eq!(&element.raw[..], history[element.from[0]], "{}", shown());
        }
        let order = fixed.elements.iter().filter(|element| !element.changed).flat_map(|element| &element.from);
        prop_assert!(order.is_sorted(), "{}", shown());
        for element in &fixed.elements {
            prop_assert!(serde_json::from_slice::<Value>(&element.raw).is_ok());
            prop_assert_eq!(element.from.is_empty(), element.id.is_some());
        }
        // Without a repairable violation, nothing is changed.
        let needed = found.iter().any(|finding| !finding.open && finding.rule.fix != "only reported");
        prop_assert_eq!(!fixed.changes.is_empty(), needed && !(history.is_empty()), "{:?}\n{}", found, shown());
        // The number of passes does not depend on the number of violations.
        prop_assert!(fixed.passes <= 20, "{} passes\n{}", fixed.passes, shown());
    }

    #[test]
    fn arbitrary_bytes_are_checked_without_panic(elements in proptest::collection::vec(r#"[\[\]{}":,a-z0-9\\]{0,40}"#, 0..6)) {
        for api in Api::ALL {
            check(api, &elements, &CheckOptions::default());
            fix(api, &elements, &CheckOptions::default(), &repair(None));
        }
    }
}
