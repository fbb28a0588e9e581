//! Truncated, damaged and malicious files.

use super::{returned, sessions};
use crate::model::session::Class;
use proptest::prelude::*;

fn entry(id: u8, parent: Option<u8>, kind: u8) -> String {
    let parent = parent.map_or("null".to_string(), |parent| format!("\"e{parent}\""));
    let rest = match kind % 5 {
        0 => r#""type":"compaction","summary":"s","firstKeptEntryId":"e1","tokensBefore":1"#,
        1 => r#""type":"label","label":"x""#,
        2 => r#""type":"message","message":{"role":"assistant","content":[]}"#,
        3 => r#""type":"message","message":{"role":"bashExecution","command":"c","excludeFromContext":true}"#,
        _ => r#""type":"message","message":{"role":"user","content":"u"}"#,
    };
    format!(r#"{{"id":"e{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00Z",{rest}}}"#)
}

/// Number of messages in all sessions.
fn messages(file: &[u8]) -> usize {
    sessions(file)
        .0
        .iter()
        .map(|session| session.messages().count())
        .sum()
}

#[test]
fn a_malformed_line_is_reported_and_preserved() {
    let file = format!("{}\nnot json\n{}\n", entry(1, None, 4), entry(2, Some(1), 4));
    let (all, report) = sessions(file.as_bytes());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].place.line, 2);
    assert!(report.findings[0].damage);
    assert_eq!(all.len(), 1);
    assert_eq!(
        (0..all[0].len())
            .filter(|at| all[0].class(*at) == Class::Unreadable)
            .count(),
        1
    );
    assert_eq!(all[0].messages().count(), 2);
}

#[test]
fn a_cycle_of_parents_terminates() {
    let file = format!(
        "{}\n{}\n{}\n",
        entry(1, Some(2), 4),
        entry(2, Some(1), 4),
        entry(3, None, 4)
    );
    let (all, _) = sessions(file.as_bytes());
    assert_eq!(messages(file.as_bytes()), 3);
    assert_eq!(all.len(), 2);
}

#[test]
fn branches_of_a_deep_tree_take_less_than_quadratic_time() {
    let entry = |id: String, parent: String, kind: &str| {
        format!(
            r#"{{"id":"{id}","parentId":"{parent}","type":"{kind}","summary":"s","firstKeptEntryId":"m1"}}"#
        ) + "\n"
    };
    let deep = 20_000;
    let mut file: String = (1..=deep)
        .map(|nth| entry(format!("m{nth}"), format!("m{}", nth - 1), "label"))
        .collect();
    for nth in 0..deep {
        file += &entry(format!("b{nth}"), format!("m{deep}"), "compaction");
    }
    let (all, _) = sessions(file.as_bytes());
    assert_eq!(all.len(), deep);
}

proptest! {
    #[test]
    fn no_message_is_lost_or_read_twice(
        tree in prop::collection::vec((0u8..12, prop::option::of(0u8..12), 0u8..5), 0..30),
    ) {
        let lines: Vec<String> = tree.iter().map(|(id, parent, kind)| entry(*id, *parent, *kind)).collect();
        let file = lines.join("\n");
        let expected = tree.iter().filter(|(_, _, kind)| matches!(kind % 5, 2..=4)).count();
        prop_assert_eq!(messages(file.as_bytes()), expected);
        let (all, _) = sessions(file.as_bytes());
        for session in &all {
            let view = crate::model::view::View::replay(session);
            prop_assert!(view.dangling.is_empty(), "{:?}\n{}", view.dangling, session.text());
        }
        let back = returned(&all, file.as_bytes()).unwrap();
        prop_assert!(back == file.as_bytes());
    }
}
