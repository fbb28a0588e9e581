//! Tests with files written by pi, if available.

use super::{cut, returned, sessions, shown, with};
use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;
use crate::model::session::Session;
use crate::model::view::{Item, View};

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn no_file_is_damaged() {
    for truth in truth::files("pi") {
        let mut report = Report::default();
        truth::read(Format::Pi, &truth.path, &mut report).unwrap();
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
    }
}

/// The bytes of all files, and their sessions.
fn all() -> Vec<(String, Vec<u8>, Vec<Session>)> {
    let files = truth::files("pi").into_iter().map(|truth| {
        let bytes = std::fs::read(&truth.path).unwrap();
        let sessions = sessions(&bytes).0;
        (truth.name, bytes, sessions)
    });
    files.collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_cut_adds_one_entry() {
    let mut cuts = 0;
    for (name, bytes, sessions) in all() {
        // One cut suffices for a large file.
        let keeps: &[usize] = if bytes.len() > 1 << 20 { &[20] } else { &[0, 2, 20] };
        for keep in keeps {
            let Some(cut) = cut(&sessions[0], *keep) else {
                continue;
            };
            let mut changed = sessions.clone();
            changed[0] = cut;
            let after = returned(&changed, &bytes).unwrap();
            assert!(after.starts_with(&bytes), "{name}, last {keep}");
            let more = after[bytes.len()..]
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty());
            assert_eq!(more.count(), 1, "{name}, last {keep}");
            let again = super::sessions(&after).0;
            assert_eq!(again.len(), sessions.len(), "{name}, last {keep}");
            assert_eq!(shown(&again[0]), shown(&changed[0]), "{name}, last {keep}");
            cuts += 1;
        }
    }
    eprintln!("pi: {cuts} cuts are an entry each");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn an_edit_in_the_middle_becomes_a_branch_if_supported() {
    let (mut branched, mut refused) = (0, 0);
    for (name, bytes, sessions) in all() {
        let view = View::replay(&sessions[0]);
        let Some(line) = view.items.get(1).and_then(Item::line) else {
            continue;
        };
        let id = sessions[0].id(line).unwrap();
        let edit = format!(
            r#"{{"type":"compact","id":"evt_e","at":"2026-01-01T00:00:00Z","strategy":"s","edit":[{{"id":"{id}","content":"short"}}]}}"#
        );
        let mut changed = sessions.clone();
        changed[0] = with(&sessions[0], &[edit.into_bytes()]);
        match returned(&changed, &bytes) {
            Ok(after) => {
                assert!(after.starts_with(&bytes), "{name}");
                let again = super::sessions(&after).0;
                assert_eq!(again.len(), sessions.len() + 1, "{name}");
                let (now, wanted) = (shown(&again[0]), shown(&changed[0]));
                assert_eq!(now.len(), wanted.len(), "{name}");
                let differ = now
                    .iter()
                    .zip(&wanted)
                    .filter(|(one, other)| one != other)
                    .count();
                // The edited string is a block now.
                assert!(differ <= 1, "{name}: {differ}");
                branched += 1;
            }
            Err(error) => {
                assert_eq!(error.kind, crate::error::ErrorKind::Usage, "{name}");
                refused += 1;
            }
        }
    }
    eprintln!("pi: {branched} edits are branches, {refused} are refused for want of them");
}
