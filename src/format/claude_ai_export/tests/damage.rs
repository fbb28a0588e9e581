//! Truncated, damaged and malicious exports.

use super::{after, conversation, message, read, sessions, text};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn truncated_input_is_reported_and_preserved() {
    let talk = conversation(&[message("m", "human", json!([text("Hello.")]))]).to_string();
    let whole = format!("[{talk}, {talk}]");
    for length in 2..whole.len() {
        let (all, report) = sessions(&whole.as_bytes()[..length]);
        assert!(report.is_damaged(), "{length}");
        let all = all.unwrap();
        assert_eq!(
            all.iter().any(|session| session.messages().count() == 1),
            length > talk.len(),
            "{length}"
        );
        let kept: usize = all.iter().map(|session| session.text().len()).sum();
        assert!(kept > length, "{length}");
    }
}

#[test]
fn messages_without_a_sender_are_preserved() {
    let (all, report) = sessions(
        conversation(&[json!({"uuid": "a"}), json!(7)])
            .to_string()
            .as_bytes(),
    );
    let all = all.unwrap();
    assert_eq!(report.findings.len(), 2);
    assert!(all[0].text().contains(r#""raw":{"uuid":"a"}"#));
    assert!(all[0].text().contains(r#""raw":7"#));
    let (all, report) = sessions(br#"[{"uuid":"a"},{"chat_messages":{}}]"#);
    assert_eq!((all.unwrap().len(), report.findings.len()), (2, 2));
}

#[test]
fn a_deep_tree_takes_less_than_quadratic_time() {
    let child = |uuid: String, parent: String| after(&parent, message(&uuid, "human", json!([])));
    let deep = 5_000;
    let mut messages: Vec<Value> = (1..=deep)
        .map(|nth| child(format!("m{nth}"), format!("m{}", nth - 1)))
        .collect();
    messages.extend((0..deep).map(|nth| child(format!("b{nth}"), format!("m{deep}"))));
    assert_eq!(read(&messages).len(), deep);
}

proptest! {
    #[test]
    fn no_message_is_lost_or_read_twice(tree in prop::collection::vec((0u8..12, 0u8..14), 0..30)) {
        let child = |(id, parent): &(u8, u8)| {
            after(&format!("n{parent}"), message(&format!("n{id}"), "human", json!([text("x")])))
        };
        let messages: Vec<Value> = tree.iter().map(child).collect();
        let all = read(&messages);
        let count: usize = all.iter().map(|session| session.len() - 1).sum();
        prop_assert_eq!(count, tree.len());
    }
}
