//! Malicious histories.

use super::{session, shown, with, without};
use crate::format::Format;
use crate::format::tests::in_place;
use proptest::prelude::*;

fn element(kind: u8, nth: usize) -> String {
    let text = |role: &str, more: &str| {
        format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{nth}"}}]{more}}}"#)
    };
    match kind % 11 {
        0 => text("user", ""),
        1 => text("assistant", r#","ts":5"#),
        2 => text("user", r#","truncationParent":"t""#),
        3 => text("assistant", r#","condenseParent":"s","id":"x""#),
        4 => text("user", r#","isSummary":true,"condenseId":"s""#),
        5 => text("user", r#","isTruncationMarker":true,"truncationId":"t""#),
        6 => {
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"n": 5e-06}}]}"#
                .to_string()
        }
        7 => format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c","content":"{nth}"}},{{"type":"text","text":"and"}}]}}"#
        ),
        8 => r#"{"type":"reasoning","encrypted_content":"z"}"#.to_string(),
        9 => "7".to_string(),
        _ => format!(r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"{nth}"}}]}}"#),
    }
}

fn history(kinds: &[u8]) -> Vec<u8> {
    let elements: Vec<String> = kinds
        .iter()
        .enumerate()
        .map(|(nth, kind)| element(*kind, nth))
        .collect();
    // Tags, so that it is recognized as Roo's, and a message.
    format!("[{}\n, {}]", element(2, 100), elements.join(",  ")).into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_histories_satisfy_all_laws(kinds in prop::collection::vec(0u8..11, 1..14)) {
        in_place::hold(Format::ClineRoo, history(&kinds));
    }

    #[test]
    fn dropped_messages_are_removed_and_others_kept(
        kinds in prop::collection::vec(0u8..11, 1..14),
        from in 0usize..8,
        count in 1usize..8,
        grows in any::<bool>(),
    ) {
        let file = in_place::opened(Format::ClineRoo, history(&kinds));
        let mut changed = without(&file.sessions[0], from, count);
        if grows {
            changed = with(&changed, &[r#"{"role":"user","content":[{"type":"text","text":"new"}]}"#]);
        }
        // Results of dropped calls are not sent.
        let is_result = |shown: &String| shown.starts_with("\"tool\"");
        in_place::hold_change(&file, changed, |session| {
            shown(session).into_iter().filter(|shown| !is_result(shown)).collect()
        });
    }
}

#[test]
fn many_tags_take_less_than_quadratic_time() {
    let many = 4_000;
    let kinds: Vec<u8> = (0..many).map(|nth| if nth % 2 == 0 { 2 } else { 5 }).collect();
    let bytes = history(&kinds);
    let read = session(&bytes, None);
    assert_eq!(read.messages().count(), many / 2 + 1);
}

#[test]
fn tags_are_kept_next_to_a_damaged_summary() {
    in_place::hold(Format::ClineRoo, history(&[5, 4, 0, 0, 1, 2, 7, 0, 3, 1, 2, 0]));
}
