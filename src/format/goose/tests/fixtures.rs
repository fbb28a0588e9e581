//! Tests with public files, and invariants for every session.

use super::{LINES, cut, document, returned, sessions, shown, through_lines, with, written};
use crate::format::WritePurpose;
use crate::format::tests::truth;
use crate::model::view::View;

/// The available sessions, those of this repository first.
fn inputs() -> Vec<(String, Vec<u8>)> {
    let files = truth::files("goose").into_iter();
    let files = files.map(|truth| (truth.name, std::fs::read(truth.path).unwrap()));
    let own = [
        ("lines".to_string(), LINES.as_bytes().to_vec()),
        ("document".to_string(), document().into_bytes()),
    ];
    own.into_iter().chain(files).collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn cuts_edits_drops_and_summaries_read_back_equal() {
    let mut changes = 0;
    for (name, bytes) in inputs() {
        let all = sessions(&bytes);
        let mut changed: Vec<_> = (0..8).filter_map(|keep| cut(&all[0], keep)).collect();
        let view = View::replay(&all[0]);
        let messages: Vec<_> = view.messages(&all[0]).collect();
        let first = messages[0].id().unwrap().into_owned();
        for message in &messages {
            let id = message.id().unwrap().into_owned();
            let event = |members: String| {
                format!(r#"{{"type":"compact","id":"evt_e","at":"2026-01-01T00:00:00Z","strategy":"s",{members}}}"#).into_bytes()
            };
            let more = br#"{"role":"user","content":"more"}"#.to_vec();
            let edit = event(format!(r#""edit":[{{"id":"{id}","content":"short"}}]"#));
            changed.push(with(&all[0], &[edit, more.clone()]));
            changed.push(with(
                &all[0],
                &[event(format!(r#""drop":["{id}"]"#)), more.clone()],
            ));
            let summary = format!(
                r#"{{"type":"summary","id":"evt_e","at":"2026-01-01T00:00:00Z","content":"all that","covers":["{first}","{id}"]}}"#
            );
            changed.push(with(&all[0], &[summary.clone().into_bytes(), more.clone()]));
            let drop = event(format!(r#""drop":["{id}"]"#));
            let restore =
                br#"{"type":"restore","id":"evt_r","at":"2026-01-01T00:00:00Z","of":"evt_e"}"#.to_vec();
            changed.push(with(&all[0], &[drop, restore, more]));
        }
        for changed in changed {
            for after in [
                returned(std::slice::from_ref(&changed), true).unwrap(),
                written(&through_lines(&changed), WritePurpose::Return).0,
            ] {
                let again = sessions(&after);
                assert_eq!(shown(&again[0]), shown(&changed), "{name}: {}", changed.text());
                // Nothing is removed.
                assert!(again[0].messages().count() >= all[0].messages().count());
                // The added messages are read back unchanged.
                assert!(returned(&again, true).unwrap() == after, "{name}");
            }
            changes += 1;
        }
    }
    eprintln!("goose: {changes} changes show what they are to show");
}
