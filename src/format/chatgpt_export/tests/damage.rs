//! Truncated, damaged and malicious exports.

use super::{conversation, read, sessions, text_node};
use crate::model::session::Class;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Number of messages in all sessions.
fn messages(input: &str) -> usize {
    let all = sessions(input.as_bytes()).0.unwrap();
    all.iter().map(|session| session.messages().count()).sum()
}

fn talk() -> String {
    conversation(
        "a",
        &[
            text_node("u", "", "user", "Hello."),
            text_node("a", "u", "assistant", "Yes?"),
        ],
    )
}

#[test]
fn several_arrays_and_lone_conversations_are_read() {
    let talk = talk();
    assert_eq!(messages(&format!("[{talk},{talk}]\n[{talk}]")), 6);
    assert_eq!(messages(&format!("{talk}\n{talk}\n")), 4);
    let spread = talk.replace(",\"", ",\n  \"");
    assert_eq!(messages(&spread), 2);
    assert_eq!(messages(&format!("[\n{spread},\n{spread}\n]\n")), 4);
}

#[test]
fn a_damaged_element_is_reported_and_the_next_is_read() {
    let talk = talk();
    let input = format!(
        "[{talk},\n{},\n{{\"x\":1}},{talk}]",
        talk.replace("\"title\":", "\"title\"")
    );
    let (all, report) = sessions(input.as_bytes());
    let all = all.unwrap();
    assert_eq!(all.len(), 4);
    assert_eq!(report.findings.len(), 2, "{report:?}");
    assert_eq!(
        (report.findings[0].place.line, report.findings[1].place.line),
        (2, 3)
    );
    assert_eq!(all[1].class(1), Class::Unreadable);
    assert_eq!(all[2].class(1), Class::Event);
    assert_eq!(all[3].messages().count(), 2);
}

#[test]
fn truncated_input_is_reported_and_preserved() {
    let talk = talk();
    let whole = format!("[{talk},{talk}]");
    for length in 0..whole.len() {
        let (all, report) = sessions(&whole.as_bytes()[..length]);
        let Ok(all) = all else {
            assert!(length < 2, "{length}");
            continue;
        };
        assert!(report.is_damaged(), "{length}");
        let read = all
            .iter()
            .filter(|session| session.messages().count() == 2)
            .count();
        assert_eq!(
            read,
            usize::from(length > talk.len()) + usize::from(length == whole.len() - 1),
            "{length}"
        );
        let kept: usize = all.iter().map(|session| session.text().len()).sum();
        assert!(kept > length, "{length}");
    }
}

#[test]
fn malformed_trees_are_read_completely() {
    let circle = [
        text_node("a", "b", "user", "1"),
        text_node("b", "a", "user", "2"),
        text_node("c", "c", "user", "3"),
    ];
    let all = read("a", &circle);
    assert_eq!(all.iter().map(|session| session.len() - 1).sum::<usize>(), 3);
    let lost = [
        text_node("a", "nobody", "user", "1"),
        json!({"id": "b", "message": 7}),
        json!({"id": "c"}),
    ];
    let (all, report) = sessions(conversation("a", &lost).as_bytes());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(all.unwrap().len(), 2);
    // Of two nodes with the same id, only the first can have children.
    let twice = [text_node("a", "", "user", "1"), text_node("a", "", "user", "2")];
    let (all, _) = sessions(conversation("a", &twice).as_bytes());
    assert_eq!(
        all.unwrap()
            .iter()
            .map(|session| session.messages().count())
            .sum::<usize>(),
        2
    );
}

#[test]
fn branches_of_a_deep_tree_take_less_than_quadratic_time() {
    let deep = 20_000;
    let mut nodes: Vec<Value> = (1..=deep)
        .map(|nth| json!({"id": format!("m{nth}"), "parent": format!("m{}", nth - 1), "message": null}))
        .collect();
    nodes.extend((0..deep).map(|nth| text_node(&format!("b{nth}"), &format!("m{deep}"), "user", "x")));
    assert_eq!(read("b0", &nodes).len(), deep);
}

proptest! {
    #[test]
    fn no_message_is_lost_or_read_twice(tree in prop::collection::vec((0u8..12, 0u8..14), 1..30)) {
        let nodes: Vec<Value> = tree
            .iter()
            .map(|(id, parent)| text_node(&format!("n{id}"), &format!("n{parent}"), "user", "x"))
            .collect();
        prop_assert_eq!(messages(&conversation("n3", &nodes)), tree.len());
    }
}
