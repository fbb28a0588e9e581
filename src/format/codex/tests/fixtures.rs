//! Tests with logs written by Codex, if available.

use super::{cut, full_lines, returned, session, shown};
use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;
use crate::model::json;
use crate::model::session::Session;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// This file has one record of every kind and is not a session; its records are counted differently.
const HEAP: &str = "stage0_all_event_types.jsonl";

/// Cached tokens are included in the input.
fn usage(usage: &Value) -> BTreeMap<&'static str, u64> {
    let [read, write] = ["cached_input_tokens", "cache_write_input_tokens"];
    truth::members(
        usage,
        [
            "input_tokens", read, write, "output_tokens", "reasoning_output_tokens",
        ],
    )
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_log_has_its_expected_counts() {
    let (mut equal, mut wrong) = (0, Vec::new());
    for mut truth in truth::files("codex") {
        let mut report = Report::default();
        let sessions = truth::read(Format::Codex, &truth.path, &mut report).unwrap();
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
        let mut counted = truth::counts(&sessions, usage);
        // The line that became the header is not a message either.
        let foreign = counted["foreign_records"].as_u64().unwrap_or(0);
        counted["foreign_records"] = json!(foreign + 1);
        if truth.name == HEAP {
            truth.expected["foreign_records"] = Value::Null;
        }
        // The messages inserted by a compaction are visible, too.
        if let Some(inserted) = truth.expected["view_from_replacement"].as_object().cloned() {
            for (role, count) in inserted {
                let messages = truth.expected["view"][&role].as_u64().unwrap_or(0);
                truth.expected["view"][role] = json!(messages + count.as_u64().unwrap());
            }
        }
        let session = &sessions[0];
        let inherited = (0..session.len()).filter(|index| {
            let metadata = json::member(session.record(*index).body, "metadata");
            metadata.and_then(|raw| json::member(raw, "inherited")).is_some()
        });
        let known = truth.expected["inherited_messages"].as_u64().unwrap_or(0);
        assert_eq!(inherited.count() as u64, known, "{}", truth.name);
        if let Some(id) = truth.expected["session_id"].as_str() {
            assert_eq!(session.header_text("id").as_deref(), Some(id));
        }
        match truth::differences(&truth.expected, &counted) {
            same if same.is_empty() => equal += 1,
            differences => wrong.push(format!("{}: {}", truth.name, differences.join("; "))),
        }
    }
    eprintln!("codex: {equal} files are what truth.json says");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The sessions of all files, with names and bytes.
fn logs() -> Vec<(String, Vec<u8>, Session)> {
    let files = truth::files("codex").into_iter().map(|truth| {
        let bytes = std::fs::read(&truth.path).unwrap();
        let session = session(&bytes).0;
        (truth.name, bytes, session)
    });
    files.collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_cut_removes_whole_lines() {
    let (mut cuts, mut kept) = (0, 0);
    for (name, bytes, session) in logs() {
        for keep in [0, 2, 5, 40] {
            let Some(cut) = cut(&session, keep) else { continue };
            let after = returned(&cut, &bytes);
            let mut left = full_lines(&bytes).into_iter();
            for line in full_lines(&after) {
                let compaction = json::member(line, "type") == Some(b"\"compacted\"");
                assert!(
                    compaction || left.any(|other| other == line),
                    "{name}, last {keep}"
                );
                kept += 1;
            }
            assert_eq!(
                shown(&super::session(&after).0),
                shown(&cut),
                "{name}, last {keep}"
            );
            cuts += 1;
        }
    }
    eprintln!("codex: {cuts} cuts leave {kept} lines as they were");
}
