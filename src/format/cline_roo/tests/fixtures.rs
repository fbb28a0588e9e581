//! The histories that are at hand.

use super::{cut, session, shown, through_lines, written};
use crate::format::report::{Loss, Report};
use crate::format::tests::truth;
use crate::format::{Format, Purpose};
use crate::model::json;
use crate::model::session::Session;
use std::collections::BTreeMap;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_counts_what_it_is_known_to_hold() {
    truth::hold(Format::ClineRoo, |_| BTreeMap::new());
}

fn files() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let files = truth::files("cline-roo").into_iter().map(|truth| {
        let panel = std::fs::read(truth.path.with_file_name("ui_messages.json")).unwrap();
        (truth.name, std::fs::read(&truth.path).unwrap(), panel)
    });
    files.collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn what_was_used_is_told() {
    for (name, bytes, panel) in files() {
        let session = session(&bytes, Some(&panel));
        let used =
            (0..session.len()).filter(|index| json::member(session.record(*index).body, "usage").is_some());
        assert_eq!(used.count(), if name.contains("roo") { 4 } else { 1 }, "{name}");
        let mut report = Report::default();
        truth::read(
            Format::ClineRoo,
            &truth::folder("cline-roo").join(&name),
            &mut report,
        )
        .unwrap();
        assert!(report.findings.is_empty(), "{name}: {report:?}");
        let panel = truth::folder("cline-roo")
            .join(&name)
            .with_file_name("ui_messages.json");
        assert!(truth::read(Format::ClineRoo, &panel, &mut Report::default()).is_err());
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn what_does_not_change_is_the_bytes_it_was() {
    let mut held = 0;
    for (name, bytes, panel) in files() {
        let read = session(&bytes, Some(&panel));
        assert_eq!(written(&read, Purpose::Return).unwrap().0, bytes, "{name}");
        let (stream, report) = written(&through_lines(&read), Purpose::Export).unwrap();
        if name.contains("roo") {
            assert!(report.losses.is_empty(), "{report:?}");
            assert!(json::same(stream.trim_ascii_end(), &bytes), "{name}");
        } else {
            // What is left out in another file does not come along, and is told.
            assert!(report.losses.contains_key(&Loss::Event), "{report:?}");
            assert_eq!(shown(&session(&stream, None)), shown(&read), "{name}");
        }
        held += 1;
    }
    eprintln!("cline-roo: {held} files are written back as the bytes that they were");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_cut_shows_what_is_left() {
    let mut cuts = 0;
    for (name, bytes, panel) in files() {
        let read = session(&bytes, Some(&panel));
        for keep in 1..8 {
            let Some(changed) = cut(&read, keep) else { continue };
            let tagged: Session = match written(&changed, Purpose::Return) {
                Ok((after, _)) => session(&after, None),
                Err(_) => {
                    assert!(name.contains("cline-range"));
                    session(
                        &written(&through_lines(&changed), Purpose::Export).unwrap().0,
                        None,
                    )
                }
            };
            assert_eq!(shown(&tagged), shown(&changed), "{name}, last {keep}");
            cuts += 1;
        }
    }
    eprintln!("cline-roo: {cuts} cuts");
}
