//! Property tests: any state is restored, directly and through lines.

use super::{counted_lines, of, session, state, through_lines, written_back};
use crate::format::go_json;
use crate::model::summary;
use proptest::prelude::*;

/// Contents of JSON strings with various escapes.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{0,4}",
        Just("\\u0061".to_string()),
        Just("\\ud800".to_string()),
        Just("\\ud83d\\ude00".to_string()),
        Just("\\/\\n\\\"".to_string()),
        Just("<&>".to_string()),
        Just("\u{2028}\u{e9}\u{7f}".to_string()),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        text(),
        Just("null".to_string()),
        Just("1.0".to_string()),
        Just("-0".to_string()),
        Just("12345678901234567890".to_string()),
        Just("true".to_string()),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|all| format!("[ {} ]", all.join(" ,"))),
            prop::collection::vec((text(), inner), 0..3).prop_map(|all| {
                let members = all.into_iter().map(|(name, value)| format!("{name}: {value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

/// Members in any order, with names in any case and values of any type.
fn member() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "role", "Role", "ROLE", "content", "CONTENT", "name", "tool_calls", "tool_call_id", "Tool_Calls",
        "id", "timestamp", "category", "tokens", "usage", "model", "metadata", "reasoning",
        "reasoning_content", "type", "x",
    ]);
    let value = prop_oneof![
        4 => value(),
        2 => prop::sample::select(vec!["\"user\"", "\"assistant\"", "\"system\"", "\"tool\""]).prop_map(str::to_string),
        1 => Just("[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]".to_string()),
    ];
    (name, value).prop_map(|(name, value)| format!("\"{name}\" : {value}"))
}

fn element() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::collection::vec(member(), 0..5).prop_map(|all| format!("{{{}}}", all.join(" , "))),
        4 => text().prop_map(|text| format!("{{\"role\":\"user\",\"content\":{text}}}")),
        1 => value(),
        1 => "[a-z</>]{0,6}".prop_map(|text| String::from_utf8(summary::message(&text, Some("user"))).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_state_is_restored(elements in prop::collection::vec(element(), 0..5), processed in 0_usize..6) {
        let spaced = of(processed, &elements.join(" ,\n "));
        let mut expected = Vec::new();
        go_json::push_raw(&mut expected, spaced.as_bytes());
        let expected = String::from_utf8(expected).unwrap();
        let session = session(&spaced);
        prop_assert_eq!(counted_lines(&session).count(), elements.len());
        prop_assert_eq!(&written_back(&session), &expected);
        prop_assert_eq!(&written_back(&through_lines(&session)), &expected);
    }

    /// Damaged states are rejected or read, without a panic.
    #[test]
    fn truncated_and_changed_bytes_are_refused_or_read(elements in prop::collection::vec(element(), 0..3), at in 0_usize..400, byte in any::<u8>()) {
        let mut bytes = of(1, &elements.join(",")).into_bytes();
        let at = at % bytes.len();
        let _ = state(&bytes[..at]);
        bytes[at] = byte;
        let _ = state(&bytes);
    }
}
