//! The documents that are at hand.

use super::{session, shown, through_lines, without, written};
use crate::format::report::Report;
use crate::format::tests::truth;
use crate::format::{Format, Purpose};
use crate::model::json;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A session tells what all of it used, and its messages some of that.
fn total(session: &crate::model::session::Session) -> Value {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata").unwrap();
    let metadata: Value = serde_json::from_slice(metadata).unwrap();
    let usage = &metadata["continue"]["session"]["usage"];
    json!({"input_total": usage["promptTokens"], "output": usage["completionTokens"], "cache_read": 0, "cache_write": 0, "reasoning": 0})
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_counts_what_it_is_known_to_hold() {
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

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn what_does_not_change_is_the_bytes_it_was_and_a_cut_shows_what_is_left() {
    let (mut held, mut cuts) = (0, 0);
    for truth in truth::files("continue") {
        if truth.expected["sessions"] == 0 {
            continue;
        }
        let bytes = std::fs::read(&truth.path).unwrap();
        let read = session(&bytes);
        assert_eq!(written(&read, Purpose::Return).0, bytes, "{}", truth.name);
        let (stream, report) = written(&through_lines(&read), Purpose::Export);
        assert!(report.losses.is_empty(), "{}: {report:?}", truth.name);
        assert!(json::same(&stream, &bytes), "{}", truth.name);
        for (from, count) in [(0, 1), (1, 1), (0, 9)] {
            let changed = without(&read, from, count);
            for changed in [through_lines(&changed), changed] {
                let after = session(&written(&changed, Purpose::Return).0);
                assert_eq!(shown(&after), shown(&changed), "{}", truth.name);
                cuts += 1;
            }
        }
        held += 1;
    }
    eprintln!("continue: {held} files are written back as the bytes that they were; {cuts} cuts");
}
