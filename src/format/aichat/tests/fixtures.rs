//! Tests with sample files.

use super::{returned, session, shown, written};
use crate::format::Format;
use crate::format::tests::truth;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_counts_what_it_is_known_to_hold() {
    truth::hold(Format::Aichat, truth::anthropic_usage);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_is_written_back_as_what_it_was() {
    let mut files = 0;
    for truth in truth::files("aichat") {
        let text = std::fs::read_to_string(&truth.path).unwrap();
        let (read, report) = session(&text);
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
        assert_eq!(returned(&read, true).unwrap(), text);
        // The records alone yield the same session.
        let (again, told) = session(&written(&read).0);
        assert!(told.findings.is_empty(), "{}: {told:?}", truth.name);
        assert_eq!(shown(&again), shown(&read));
        let messages = |session: &crate::model::session::Session| session.messages().count();
        assert_eq!(messages(&again), messages(&read));
        files += 1;
    }
    eprintln!("aichat: {files} files are written back as the bytes that they were");
}
