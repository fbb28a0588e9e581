//! Malicious documents.

use super::{shown, with, without};
use crate::format::Format;
use crate::format::tests::in_place;
use proptest::prelude::*;

fn item(kind: u8, nth: usize) -> String {
    let item = |role: &str, more: &str| {
        format!(r#"{{"message":{{"role":"{role}","content":"{nth}"}},"contextItems":[]{more}}}"#)
    };
    match kind % 11 {
        0 => item("user", ""),
        1 => item("assistant", r#","x":5e-06"#),
        2 => item("thinking", ""),
        3 => item("user", r#","conversationSummary":"S""#),
        4 => r#"{"message":{"role":"assistant","content":"","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"contextItems":[],"toolCallStates":[{"toolCallId":"c","output":[{"content":"r"}]}]}"#.to_string(),
        5 => r#"{"message":{"role":"assistant","content":"","toolCalls":[{"id":"d","type":"function","function":{"name":"f","arguments":"{}"}}]},"contextItems":[]}"#.to_string(),
        6 => format!(r#"{{"message":{{"role":"tool","content":"{nth}","toolCallId":"d"}},"contextItems":[]}}"#),
        7 => "7".to_string(),
        8 => r#"{"message":{"role":"assistant","content":null,"id":"i"}}"#.to_string(),
        9 => item("thinking", r#","conversationSummary":"T""#),
        _ => item("system", ""),
    }
}

fn document(kinds: &[u8]) -> Vec<u8> {
    let items: Vec<String> = kinds
        .iter()
        .enumerate()
        .map(|(nth, kind)| item(*kind, nth))
        .collect();
    format!("{{\"sessionId\":\"s\",\"history\":[ {}\n]}}", items.join(",  ")).into_bytes()
}

/// The expected view: adjacent reasoning items are joined with the reply that follows.
fn joined(all: Vec<String>) -> Vec<String> {
    const THOUGHTS: &str = r#"[{"type":"thinking""#;
    let mut out: Vec<String> = Vec::new();
    for shown in all.into_iter().filter(|shown| !shown.starts_with("\"tool\"")) {
        let alone = |last: &&String| last.starts_with(&format!("\"assistant\"\nnull\n{THOUGHTS}"));
        let reasoning_parts = out.last().filter(alone).and_then(|last| last.rsplit('\n').next());
        let Some(reasoning_parts) = reasoning_parts.filter(|_| shown.starts_with("\"assistant\"\n")) else {
            out.push(shown);
            continue;
        };
        let whole = match shown.rsplit_once('\n') {
            Some((before, own)) if own.starts_with(THOUGHTS) => {
                format!(
                    "{before}\n{},{}",
                    &reasoning_parts[..reasoning_parts.len() - 1],
                    &own[1..]
                )
            }
            _ => format!("{shown}\n{reasoning_parts}"),
        };
        out.pop();
        out.push(whole);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_documents_satisfy_all_laws(kinds in prop::collection::vec(0u8..11, 1..12)) {
        in_place::hold(Format::Continue, document(&kinds));
    }

    #[test]
    fn dropped_messages_are_removed_and_others_kept(
        kinds in prop::collection::vec(0u8..11, 1..12),
        from in 0usize..8,
        count in 0usize..8,
        grows in any::<bool>(),
    ) {
        let file = in_place::opened(Format::Continue, document(&kinds));
        let mut changed = without(&file.sessions[0], from, count);
        if grows {
            changed = with(&changed, &[r#"{"role":"user","content":"new"}"#]);
        }
        in_place::hold_change(&file, changed, |session| joined(shown(session)));
    }
}
