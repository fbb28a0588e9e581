//! Tests with sample documents.

use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A session has its total usage, its messages only part of it.
fn total(session: &crate::model::session::Session) -> Value {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata").unwrap();
    let metadata: Value = serde_json::from_slice(metadata).unwrap();
    let usage = &metadata["continue"]["session"]["usage"];
    json!({"input_total": usage["promptTokens"], "output": usage["completionTokens"], "cache_read": 0, "cache_write": 0, "reasoning": 0})
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_has_its_expected_counts() {
    let mut equal = 0;
    for truth in truth::files("continue") {
        let mut report = Report::default();
        let read = truth::read(Format::Continue, &truth.path, &mut report);
        if truth.expected["sessions"] == 0 {
            assert!(read.is_err());
            continue;
        }
        let sessions = read.unwrap();
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
        let mut counted = truth::counts(&sessions, |_| BTreeMap::new());
        counted["usage"] = total(&sessions[0]);
        let differences = truth::differences(&truth.expected, &counted);
        assert!(
            differences.is_empty(),
            "{}: {}",
            truth.name,
            differences.join("; ")
        );
        equal += 1;
    }
    eprintln!("continue: {equal} files are what truth.json says");
}
