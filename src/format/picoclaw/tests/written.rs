//! Compares written files with those of PicoClaw.

use super::super::line::MessageLine;
use super::super::log_lines;
use super::super::member::ParseRules;
use super::fixtures::{base64, fixtures};
use crate::format::report::Report;
use crate::model::key::Derive;

fn written(body: &str) -> (String, Report) {
    let mut report = Report::default();
    let lines = log_lines(&[body.as_bytes().to_vec()], "2026-11-20T18:02:03Z", &mut report).unwrap();
    (String::from_utf8(lines.concat()).unwrap(), report)
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn fixtures_are_restored_byte_for_byte() {
    let root = fixtures();
    let path = root.join("02-full-messages/sessions/agent_main_direct_user123.jsonl");
    let log = std::fs::read_to_string(path).unwrap();
    for line in log.lines() {
        let read = MessageLine::read(line.as_bytes(), ParseRules::Log).unwrap();
        assert_eq!(String::from_utf8(read.encoded()).unwrap(), line);
        let native = String::from_utf8(read.native(&Derive::default().id(line.as_bytes()))).unwrap();
        let (back, report) = written(&native);
        assert_eq!(back, line);
        assert!(report.losses.is_empty() && report.findings.is_empty(), "{native}");
    }
    let vectors = std::fs::read_to_string(root.join("line-vectors.jsonl")).unwrap();
    let mut compared = 0;
    for vector in vectors.lines() {
        let vector: serde_json::Value = serde_json::from_str(vector).unwrap();
        let line = base64(vector["line_base64"].as_str().unwrap());
        let (Some(rewritten), Ok(read)) = (
            vector["rewritten"].as_str(),
            MessageLine::read(&line, ParseRules::Log),
        ) else {
            continue;
        };
        assert_eq!(String::from_utf8(read.encoded()).unwrap(), rewritten, "{vector}");
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}
