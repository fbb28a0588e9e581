//! Property tests with arbitrary bytes: no panic, no loss, and the view follows the rules.

use super::super::{InputKind, facts, lines};
use super::{TestDir, message, read_in, read_pair, thought};
use crate::model::record::without_mark;
use crate::model::view::{Item, View};
use proptest::prelude::*;

/// An error that a program or a disk may cause.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let lines = [
        message("user", r"a\u003c\ud800"),
        message("system", "rules"),
        thought(),
        r#"{"role":"assistant","content":"","created_at":"2026-01-01T00:00:00Z","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}","thought_signature":"s"},"extra_content":{"google":{}}}],"media":["m"]}"#.to_string() + "\n",
        r#"{"key":"k","messages":[{"role":"user","content":["x"]}],"created":"2026-01-01T00:00:00Z"}"#.to_string() + "\n",
    ];
    let line = prop::sample::select(lines.to_vec()).prop_map(String::into_bytes);
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\n\r\\ n0".to_vec())];
    let bytes = prop::collection::vec(line, 1..6).prop_map(|lines| lines.concat());
    (
        bytes,
        prop::collection::vec((any::<prop::sample::Index>(), byte, 0..3u8), 0..6),
    )
        .prop_map(|(mut bytes, edits)| {
            for (index, byte, edit) in edits {
                let at = index.index(bytes.len());
                match edit {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ if bytes.len() > 1 => drop(bytes.remove(at)),
                    _ => {}
                }
            }
            bytes
        })
}

/// Number of PicoClaw's raw lines that are neither empty nor only a byte order mark.
fn copied(bytes: &[u8]) -> usize {
    lines(bytes).filter(|raw| !raw.text.is_empty()).count()
}

proptest! {
    #[test]
    fn arbitrary_pairs_lose_no_line_and_cause_no_panic(
        bytes in prop_oneof![mutated(), prop::collection::vec(any::<u8>(), 0..200)],
        sidecar in prop_oneof![Just(Vec::new()), any::<u8>().prop_map(|skip| format!("{{\"skip\":{}}}", skip % 8).into_bytes()), mutated()],
    ) {
        let dir = TestDir::from([("s.meta.json".to_string(), sidecar.clone()), ("t.jsonl".to_string(), bytes.clone())]);
        for name in [None, Some("s.json"), Some("t.meta.json")] {
            let _ = read_in(&dir, name, &bytes);
        }
        if let Ok(read) = read_in(&dir, Some("s.jsonl"), &bytes)
            && matches!(facts::input_kind(without_mark(&bytes)), InputKind::Other | InputKind::NotOneObject(_))
        {
            let events = ["summary", "truncate", "compact"];
            let built = (0..read.session.len()).filter(|index| {
                let record = read.session.record(*index);
                record.event().is_some_and(|event| event.is_header() || events.contains(&event.name().as_ref()))
            });
            prop_assert_eq!(read.session.len() - built.count(), copied(&bytes));
        }
    }

    #[test]
    fn the_view_follows_the_rules(
        kinds in prop::collection::vec(0..7usize, 0..20), skip in 0..24usize, summary in any::<bool>(),
    ) {
        let line = |(nth, kind): (usize, &usize)| match kind {
            0 => message("user", &format!("{nth}")),
            1 => message("assistant", &format!("{nth}")),
            2 => message("system", &format!("{nth}")),
            3 => thought(),
            4 => "torn\n".to_string(),
            5 => format!("\r\n{}", message("tool", &format!("{nth}"))),
            _ => message("developer", &format!("{nth}")),
        };
        let lines: String = kinds.iter().enumerate().map(line).collect();
        let kept = kinds.iter().enumerate().skip(skip).filter(|(_, kind)| !matches!(kind, 3 | 4));
        let expected: Vec<String> = kept.map(|(nth, _)| nth.to_string()).collect();
        let summary = if summary { "what was said" } else { " " };
        let read = read_pair(&lines, &format!("{{\"skip\":{skip},\"summary\":\"{summary}\"}}"));
        prop_assert_eq!(read.texts(), expected);
        prop_assert_eq!(read.summary(), summary.trim());
        if !summary.trim().is_empty() {
            let view = View::replay(&read.session);
            let before = view.items.iter().take_while(|item| !matches!(item, Item::Summary(_)));
            let rules = before.into_iter().all(|item| item.is_never_dropped(&read.session));
            prop_assert!(rules, "only rules stand before a summary");
        }
    }
}
