//! Tests with real histories, if available.

use super::{role_texts, sessions, written};
use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;
use serde_json::{Value, json};

/// Adapts the expected counts: console output becomes events here, not messages with a role of their own.
fn expected(truth: &Value) -> Value {
    let mut expected = truth.clone();
    let shown = expected["messages"]["event"].clone();
    for name in ["messages", "view"] {
        expected[name].as_object_mut().unwrap().remove("event");
    }
    expected["foreign_records"] = json!(truth["foreign_records"].as_u64().unwrap() + shown.as_u64().unwrap());
    expected
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_has_its_expected_counts() {
    let mut equal = 0;
    for truth in truth::files("aider") {
        let all = truth::read(Format::Aider, &truth.path, &mut Report::default()).unwrap();
        let counted = truth::counts(&all, truth::anthropic_usage);
        let differences = truth::differences(&expected(&truth.expected), &counted);
        assert!(differences.is_empty(), "{}: {differences:?}", truth.name);
        equal += 1;
    }
    eprintln!("aider: {equal} files are what truth.json says");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_written_history_reads_back_equal() {
    let mut files = 0;
    for truth in truth::files("aider") {
        let bytes = std::fs::read(&truth.path).unwrap();
        let (all, _) = sessions(std::str::from_utf8(&bytes).unwrap());
        let text: String = all.iter().map(|session| written(session).0).collect();
        let (again, _) = sessions(&text);
        assert_eq!(again.len(), all.len());
        for (one, other) in all.iter().zip(&again) {
            assert_eq!(role_texts(one), role_texts(other), "{}", truth.name);
        }
        files += 1;
    }
    eprintln!("aider: {files} files say the same when they are written and read again");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_truncated_history_is_read_up_to_its_end() {
    for truth in truth::files("aider") {
        let bytes = std::fs::read(&truth.path).unwrap();
        for tenth in 0..10 {
            let end = bytes.len() * tenth / 10;
            let text = String::from_utf8_lossy(&bytes[..end]);
            let (all, _) = sessions(&text);
            assert!(tenth == 0 || !all.is_empty());
        }
    }
}
