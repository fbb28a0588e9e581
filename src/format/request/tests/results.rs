//! Which call a result answers that has no id.

use super::{Api, printed, read, same};
use crate::format::Purpose;

/// A result goes to a call of its name; one of a tool that nobody called keeps the name that it has.
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
            &printed(Api::Gemini, &read(Api::Gemini, &text), Purpose::Return).0,
            &text,
        );
    }
}
