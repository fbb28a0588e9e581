//! Tests with public training sets.

use super::{sessions, through_lines, written};
use crate::format::entries::Entries;
use crate::format::tests::truth;
use crate::format::{Format, Purpose};
use crate::model::json;
use serde_json::Value;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_counts_what_it_is_known_to_hold() {
    truth::hold(Format::Sharegpt, |_: &Value| Default::default());
    for truth in truth::files("sharegpt") {
        let (_, report) = sessions(&std::fs::read(&truth.path).unwrap());
        assert!(
            report.findings.is_empty() && report.losses.is_empty(),
            "{}: {report:?}",
            truth.name
        );
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn records_are_made_again_of_their_messages() {
    let (mut files, mut records) = (0, 0);
    for truth in truth::files("sharegpt") {
        let bytes = std::fs::read(&truth.path).unwrap();
        let (all, _) = sessions(&bytes);
        let mut values = Entries::open(Vec::new(), Box::new(std::io::Cursor::new(bytes))).unwrap();
        let mut all = all.iter();
        while let Some(value) = values.next().unwrap() {
            if value.bytes.is_empty() {
                continue;
            }
            let session = through_lines(all.next().unwrap());
            assert!(!session.text().contains(r#""raw":"#), "{}", session.text());
            let (record, _) = written(&session, Purpose::Return);
            assert!(
                json::same(&record, value.bytes),
                "{}",
                String::from_utf8_lossy(&record)
            );
            records += 1;
        }
        files += 1;
    }
    eprintln!("sharegpt: {records} records of {files} files are the same JSON again");
}
