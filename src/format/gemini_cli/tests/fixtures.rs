//! What the Gemini CLI itself wrote, where that is at hand.

use super::{cut, returned, sessions, shown, through_lines, written};
use crate::format::report::Report;
use crate::format::tests::truth;
use crate::format::{Format, Purpose};
use crate::model::session::Session;
use serde_json::Value;
use std::collections::BTreeMap;

fn usage(usage: &Value) -> BTreeMap<&'static str, u64> {
    let number = |name: &str| usage[name].as_u64().unwrap_or(0);
    BTreeMap::from([
        ("input_total", number("input")),
        ("cache_read", number("cached")),
        ("cache_write", 0),
        ("output", number("output")),
        ("reasoning", number("thoughts")),
    ])
}

/// The files that hold a session.
fn files() -> Vec<(String, Vec<u8>, Vec<Session>)> {
    let truths = truth::files("gemini-cli").into_iter();
    let held = truths.filter(|truth| truth.expected["sessions"] != 0);
    held.map(|truth| {
        let bytes = std::fs::read(&truth.path).unwrap();
        let (sessions, report) = sessions(&bytes);
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
        (truth.name, bytes, sessions)
    })
    .collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_counts_what_it_is_known_to_hold() {
    truth::hold(Format::GeminiCli, usage);
    for truth in truth::files("gemini-cli")
        .iter()
        .filter(|truth| truth.expected["sessions"] == 0)
    {
        assert!(truth::read(Format::GeminiCli, &truth.path, &mut Report::default()).is_err());
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn records_make_the_messages_that_they_were() {
    let (mut held, mut lines) = (0, 0);
    for (name, _, sessions) in files() {
        let (log, report) = written(&through_lines(&sessions[0]), Purpose::Export);
        assert!(report.losses.is_empty(), "{name}: {report:?}");
        let (again, _) = super::sessions(&log);
        let body = |session: &Session| -> Vec<Vec<u8>> {
            let lines = (1..session.len()).map(|index| session.record(index).body.to_vec());
            lines.collect()
        };
        assert_eq!(body(&again[0]), body(&sessions[0]), "{name}");
        let metadata = |session: &Session| session.header().into_iter().find(|(name, _)| name == "metadata");
        assert_eq!(metadata(&again[0]), metadata(&sessions[0]), "{name}");
        lines += body(&again[0]).len();
        held += 1;
    }
    eprintln!("gemini-cli: {held} files, {lines} records come back as they were");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_cut_shows_what_is_left_and_touches_nothing_else() {
    let mut cuts = 0;
    for (name, bytes, sessions) in files() {
        for keep in [0, 1, 2, 3, 5, 8] {
            let Some(cut) = cut(&sessions[0], keep) else {
                continue;
            };
            let wanted = shown(&cut);
            let after = returned(&[cut], true);
            let (again, report) = super::sessions(&after);
            assert!(report.findings.is_empty(), "{name}: {report:?}");
            assert_eq!(shown(&again[0]), wanted, "{name}, last {keep}");
            if name.ends_with("l") {
                assert!(after.starts_with(&bytes), "{name}, last {keep}");
            } else if keep > 0 {
                let kept = after.split(|byte| *byte == b'\n').collect::<Vec<_>>();
                let before: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
                let strange = kept
                    .iter()
                    .filter(|line| !before.contains(line) && line.len() > 10);
                assert_eq!(strange.count(), 0, "{name}, last {keep}");
            }
            cuts += 1;
        }
    }
    eprintln!("gemini-cli: {cuts} cuts");
}
