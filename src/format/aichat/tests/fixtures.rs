//! Tests with sample files.

use super::{returned, session, shown, written};
use crate::format::Format;
use crate::format::tests::truth;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_has_its_expected_counts() {
    truth::hold(Format::Aichat, truth::anthropic_usage);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_is_written_back_unchanged() {
    let mut files = 0;
    for truth in truth::files("aichat") {
        let text = std::fs::read_to_string(&truth.path).unwrap();
        let (read, report) = session(&text);
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
        assert_eq!(returned(&read, true).unwrap(), text);
        // The records alone yield the same session.
        let (again, reported) = session(&written(&read).0);
        assert!(reported.findings.is_empty(), "{}: {reported:?}", truth.name);
        assert_eq!(shown(&again), shown(&read));
        let messages = |session: &crate::model::session::Session| session.messages().count();
        assert_eq!(messages(&again), messages(&read));
        files += 1;
    }
    eprintln!("aichat: {files} files are written back as the bytes that they were");
}
