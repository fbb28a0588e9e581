//! Tests with public files, and invariants for every document.

use super::{DOCUMENT, returned, sessions, shown, through_lines, with, written};
use crate::format::WritePurpose;
use crate::format::tests::truth;
use crate::model::view::View;

/// The available documents, that of this repository first.
fn documents() -> Vec<(String, Vec<u8>)> {
    let files = truth::files("opencode").into_iter();
    let files = files.map(|truth| (truth.name, std::fs::read(truth.path).unwrap()));
    let own = ("document.json".to_string(), DOCUMENT.as_bytes().to_vec());
    std::iter::once(own).chain(files).collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn edits_drops_and_summaries_read_back_equal() {
    let mut changes = 0;
    for (name, bytes) in documents() {
        let (all, _) = sessions(&bytes);
        let view = View::replay(&all[0]);
        let ids: Vec<String> = view
            .messages(&all[0])
            .map(|message| message.id().unwrap().into_owned())
            .collect();
        for (nth, id) in ids.iter().enumerate() {
            let event = |members: String| {
                format!(
                    r#"{{"type":"compact","id":"evt_e","at":"2026-01-01T00:00:00Z","strategy":"s",{members}}}"#
                )
            };
            let is_user = view
                .items
                .iter()
                .filter_map(|item| item.message(&all[0]))
                .nth(nth)
                .unwrap()
                .role_name()
                == "user";
            let mut events = vec![event(format!(r#""edit":[{{"id":"{id}","content":"short"}}]"#))];
            if is_user {
                events.push(event(format!(r#""drop":["{id}"]"#)));
                let first = &ids[0];
                events.push(format!(
                    r#"{{"type":"summary","id":"evt_e","at":"2026-01-01T00:00:00Z","content":"all that","covers":["{first}","{id}"]}}"#
                ));
            }
            for event in events {
                let changed = with(
                    &all[0],
                    &[
                        event.clone().into_bytes(),
                        br#"{"role":"user","content":"more"}"#.to_vec(),
                    ],
                );
                for after in [
                    returned(std::slice::from_ref(&changed), true).unwrap(),
                    written(&through_lines(&changed), WritePurpose::Return).0,
                ] {
                    let (again, report) = sessions(&after);
                    assert!(report.findings.is_empty(), "{name}: {event}: {report:?}");
                    assert_eq!(shown(&again[0]), shown(&changed), "{name}: {event}");
                }
                changes += 1;
            }
        }
    }
    eprintln!("opencode: {changes} changes show what they are to show");
}
