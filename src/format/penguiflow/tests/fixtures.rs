use super::super::{Observation, digest, reply, request};
use super::{fixture, rewritten, rows, session, state, through_lines};
use crate::model::scope::float_text;
use serde_json::{Value, json};
use std::borrow::Cow;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn states_are_restored_byte_for_byte() {
    let dir = fixture("states");
    let mut seen = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let (read, report) = session(&bytes);
        let read = read.unwrap();
        assert!(report.findings.is_empty(), "{path:?}: {:?}", report.findings);
        let (written, report) = rewritten(&through_lines(&read));
        assert_eq!(written, String::from_utf8_lossy(&bytes), "{path:?}");
        assert!(report.losses.is_empty(), "{path:?}: {:?}", report.losses);
        seen += 1;
    }
    eprintln!("penguiflow states: {seen} of {seen} come back byte for byte");
    assert!(seen >= 12);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn documents_are_accepted_and_refused_as_in_the_table() {
    let (mut agree, mut differ) = (0, 0);
    for row in rows("tables/from_dict.json") {
        let case = row["case"].as_str().unwrap();
        let (read, report) = session(row["in"].to_string().as_bytes());
        let differs = row["mark"] == "differ";
        let refused = match case {
            "version true" | "turns string" => true,
            _ => row["out"].is_null(),
        };
        assert_eq!(read.is_err(), refused, "{case}");
        if let Err(error) = &read {
            assert_eq!(error.kind.status(), 65, "{case}");
            let path = match case {
                "turn digest wrong" => "turns[0].trajectory_digest",
                "ts bad" => "turns[0].ts",
                "turns object" | "turns string" => "turns",
                _ if case.contains("health") => "health",
                _ => "version",
            };
            let named = error.message.strip_prefix("missing ").unwrap_or(&error.message);
            assert!(named.starts_with(path), "{case}: {}", error.message);
        } else {
            let (written, _) = rewritten(&read.unwrap());
            let mut written: Value = serde_json::from_str(&written).unwrap();
            let mut expected = row["out"].clone();
            let reported = ["ts string", "user number", "turns empty string"].contains(&case);
            assert_eq!(report.is_damaged(), reported, "{case}");
            match case {
                "turn extra keys dropped" | "ts string" | "user number" => {
                    expected["turns"] = row["in"]["turns"].clone()
                }
                "top extra key dropped" => expected["extra"] = json!(1),
                "config_snapshot ignored" => {
                    expected["config_snapshot"] = row["in"]["config_snapshot"].clone()
                }
                // Missing members are not added to unchanged data.
                "turn empty object" | "ts null" => expected["turns"] = row["in"]["turns"].clone(),
                "turns empty string" => {}
                // Unchanged data keeps its encoding.
                "ts int" => expected["turns"] = row["in"]["turns"].clone(),
                _ => assert!(!differs, "{case}"),
            }
            written
                .as_object_mut()
                .unwrap()
                .retain(|name, _| !expected[name].is_null());
            assert_eq!(written, expected, "{case}");
        }
        if differs { differ += 1 } else { agree += 1 }
    }
    eprintln!("penguiflow documents: {agree} agree, {differ} differ as expected");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn doubles_are_encoded_as_in_python() {
    let rows = rows("tables/float_text.json");
    for row in &rows {
        let bits = u64::from_str_radix(row["bits"].as_str().unwrap(), 16).unwrap();
        assert_eq!(float_text(f64::from_bits(bits)), row["json"].as_str().unwrap());
    }
    eprintln!("penguiflow doubles: {} agree", rows.len());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn summaries_are_quoted_and_replies_parsed() {
    let wrapped = rows("tables/session_summary_wrapper.json");
    for row in &wrapped {
        let text = row["in"].as_str().unwrap();
        let expected = match text.contains("no close") {
            true => "<session_summary>no close</session_summary>", // differs: newline added
            false => row["out"].as_str().unwrap(),
        };
        assert_eq!(reply::wrapped(text), expected);
    }
    let replies = rows("tables/summarizer_replies.json");
    for row in &replies {
        let read = reply::read(row["model_reply"].as_str().unwrap()).ok();
        assert_eq!(read.as_deref(), row["out"]["summary"].as_str(), "{row}");
    }
    let (wrapped, replies) = (wrapped.len(), replies.len());
    eprintln!(
        "penguiflow summaries: {wrapped} wrapped (1 differs: its missing end is added), {replies} replies agree"
    );
    assert!(reply::read(r#"{"summary":" <session_summary> </session_summary>"}"#).is_err());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_request_equals_that_of_penguiflow() {
    let path = fixture("tables/summarizer_request.json");
    let table: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let expected = table["user_content"].as_str().unwrap();
    let content: Value = serde_json::from_str(expected).unwrap();
    let turns: Vec<Value> = content["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| {
            json!({
                "user_message": turn["user"], "assistant_response": turn["assistant"],
                "trajectory_digest": turn["trajectory_digest"],
            })
        })
        .collect();
    let document = json!({"version": 1, "health": "healthy", "pending": turns}).to_string();
    let state = state(&session(document.as_bytes()).0.unwrap());
    let built = request(
        content["previous_summary"].as_str().unwrap(),
        state.turns.iter().map(|placed| &placed.turn),
        true,
    );
    assert_eq!(String::from_utf8(built).unwrap(), expected);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn runs_become_turns() {
    let rows = rows("tables/turn_from_run.json");
    for row in &rows {
        let steps: Vec<&Value> = row["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|step| step["error"].is_null())
            .collect();
        let observed: Vec<(Cow<'_, str>, Vec<u8>)> = steps
            .iter()
            .map(|step| {
                (
                    step["tool"].as_str().unwrap().into(),
                    step["observation"].to_string().into_bytes(),
                )
            })
            .collect();
        let observations: Vec<Observation<'_>> = observed
            .iter()
            .map(|(tool, value)| Observation {
                tool: tool.clone(),
                value: Cow::Borrowed(value.as_slice()),
            })
            .collect();
        let built = digest(&observations, row["metadata"]["thought"].as_str())
            .filter(|_| row["include_trajectory_digest"] == true)
            .map_or(Value::Null, |raw| serde_json::from_slice(&raw).unwrap());
        let expected = &row["turn_without_ts"];
        assert_eq!(built, expected["trajectory_digest"], "{row}");
    }
    eprintln!("penguiflow runs: {} agree", rows.len());
}
