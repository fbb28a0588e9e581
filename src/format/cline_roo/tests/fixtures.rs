//! Tests with sample histories.

use super::session;
use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;
use crate::model::json;

fn files() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let files = truth::files("cline-roo").into_iter().map(|truth| {
        let panel = std::fs::read(truth.path.with_file_name("ui_messages.json")).unwrap();
        (truth.name, std::fs::read(&truth.path).unwrap(), panel)
    });
    files.collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn recorded_usage_is_read_from_the_panel_file() {
    for (name, bytes, panel) in files() {
        let session = session(&bytes, Some(&panel));
        let used =
            (0..session.len()).filter(|index| json::member(session.record(*index).body, "usage").is_some());
        assert_eq!(used.count(), if name.contains("roo") { 4 } else { 1 }, "{name}");
        let mut report = Report::default();
        truth::read(
            Format::ClineRoo,
            &truth::dir("cline-roo").join(&name),
            &mut report,
        )
        .unwrap();
        assert!(report.findings.is_empty(), "{name}: {report:?}");
        let panel = truth::dir("cline-roo")
            .join(&name)
            .with_file_name("ui_messages.json");
        assert!(truth::read(Format::ClineRoo, &panel, &mut Report::default()).is_err());
    }
}
