//! Tests which call a result without an id belongs to.

use super::*;
use crate::format::report::Loss;
use crate::model::json;

/// A result belongs to a call with its name; a result of a tool that was not called keeps its name.
#[test]
fn a_result_without_an_id_answers_a_call_of_its_name() {
    let call = |name: &str| format!(r#"{{"functionCall":{{"name":"{name}","args":{{}}}}}}"#);
    let response = |name: &str| {
        format!(r#"{{"functionResponse":{{"name":"{name}","response":{{"output":"{name}"}}}}}}"#)
    };
    let history = |calls: &[&str], results: &[&str]| {
        let calls: Vec<String> = calls.iter().map(|name| call(name)).collect();
        let results: Vec<String> = results.iter().map(|name| response(name)).collect();
        format!(
            r#"[{{"role":"model","parts":[{}]}},{{"role":"user","parts":[{}]}}]"#,
            calls.join(","),
            results.join(",")
        )
    };
    for (calls, results) in [
        (&["f"][..], &["g"][..]),
        (&["f", "g"], &["g"]),
        (&["f", "g"], &["g", "f"]),
        (&["f", "f"], &["f", "g", "f"]),
    ] {
        let text = history(calls, results);
        same(
            &printed(Api::Gemini, &read(Api::Gemini, &text), WritePurpose::Return).0,
            &text,
        );
    }
}

#[test]
fn results_without_ids_answer_the_last_calls_one_by_one() {
    let calls = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}},{"id":"b","type":"function","function":{"name":"f","arguments":""}}]}"#;
    let bare = r#"{"role":"tool","content":"r"}"#;
    let named = r#"{"role":"tool","tool_call_id":"b","content":"r"}"#;
    for (lines, orphans) in [
        (vec![calls, bare, bare], 0),
        (vec![calls, bare, named], 0),
        (vec![calls, named, bare], 0),
        (vec![calls, bare, bare, bare], 1),
        (vec![bare, calls], 3),
    ] {
        let report = request(Api::Anthropic, &native(&lines)).1;
        assert_eq!(
            report.losses.get(&Loss::Orphan).copied().unwrap_or(0),
            orphans,
            "{lines:?}"
        );
    }
}

#[test]
fn gemini_calls_without_ids_are_paired_by_name_and_position() {
    let text = r#"[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"i":1}},"thoughtSignature":"S"},{"functionCall":{"name":"f","args":{"i":1}}},{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"3"}}},{"functionResponse":{"name":"f","response":{"error":"1"}}},{"functionResponse":{"name":"f","response":{"list":[1.0]}}}]}]"#;
    let session = read(Api::Gemini, text);
    let view = View::replay(&session);
    let messages: Vec<_> = view.messages(&session).collect();
    let ids: Vec<_> = messages[1].tool_calls().into_iter().map(|call| call.id).collect();
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 3);
    let answered: Vec<_> = messages[2..].iter().map(|m| m.tool_call_id().unwrap()).collect();
    assert_eq!(answered, [ids[2].clone(), ids[0].clone(), ids[1].clone()]);
    let texts: Vec<_> = messages[2..].iter().map(|m| m.text()).collect();
    assert_eq!(texts, ["3", "1", "{\"list\":[1.0]}"]);
    let failed = |m: &Message<'_>| {
        m.metadata
            .is_some_and(|raw| json::member(raw, "is_error").is_some())
    };
    assert_eq!(
        messages[2..].iter().map(failed).collect::<Vec<_>>(),
        [false, true, false]
    );
    same(&printed(Api::Gemini, &session, WritePurpose::Return).0, text);
}

#[test]
fn gemini_results_are_paired_by_id_and_by_position() {
    let text = r#"[{"role":"model","parts":[{"functionCall":{"id":"own","name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"own","name":"f","response":{"output":"1"}}},{"functionResponse":{"name":"f","response":{"output":"2"}}},{"functionResponse":{"name":"f","response":{"output":"3"}}}]}]"#;
    let session = read(Api::Gemini, text);
    let view = View::replay(&session);
    let messages: Vec<_> = view.messages(&session).collect();
    let ids: Vec<_> = messages[0].tool_calls().into_iter().map(|call| call.id).collect();
    let answered: Vec<_> = messages[1..].iter().map(Message::tool_call_id).collect();
    assert_eq!(answered, [Some(ids[0].clone()), Some(ids[1].clone()), None]);
}
