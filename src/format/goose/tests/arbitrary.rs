//! Property tests with sessions of goose and of other formats.

use super::{cut, read, returned, sessions, shown, through_lines, written};
use crate::format::Purpose;
use crate::model::json;
use crate::model::session::Session;
use proptest::prelude::*;

fn block(nth: usize, kind: u8) -> String {
    match kind % 10 {
        0 => r#"{"type":"thinking","thinking":"t","signature":"s"}"#.to_string(),
        1 => format!(
            r#"{{"type":"toolRequest","id":"c{nth}","toolCall":{{"status":"success","value":{{"name":"f","arguments":{{"a": 1.50}}}}}}}}"#
        ),
        2 => format!(r#"{{"type":"toolRequest","id":"c{nth}","toolCall":{{"status":"error","error":"e"}}}}"#),
        3 => format!(
            r#"{{"type":"toolResponse","id":"c{}","toolResult":{{"status":"success","value":{{"content":[{{"type":"text","text":"r"}}],"isError":true}}}}}}"#,
            nth % 7
        ),
        4 => format!(
            r#"{{"type":"toolResponse","id":"c{}","toolResult":{{"status":"error","error":"e"}}}}"#,
            nth % 7
        ),
        5 => r#"{"type":"systemNotification","notificationType":"x","msg":"m"}"#.to_string(),
        6 => r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#.to_string(),
        7 => r#"{"type":"new","x":[1]}"#.to_string(),
        _ => r#"{"type":"text","text":"\u00fc \/"}"#.to_string(),
    }
}

/// A message: whether it is from the model, its id, its visibility, and its blocks.
type Message = (bool, u8, u8, Vec<u8>);

fn message(nth: usize, (model, id, seen, blocks): &Message) -> String {
    let blocks: Vec<String> = blocks
        .iter()
        .enumerate()
        .map(|(at, kind)| block(nth * 10 + at, *kind))
        .collect();
    let id = match id % 4 {
        0 => r#""id":null,"#.to_string(),
        1 => String::new(),
        _ => format!(r#""id":"m{}","#, id % 16),
    };
    let seen = match seen % 4 {
        0 => String::new(),
        1 => r#","metadata":{"userVisible":true,"agentVisible":false}"#.to_string(),
        2 => r#","metadata":{"userVisible":false,"agentVisible":true}"#.to_string(),
        _ => r#","metadata":{"agentVisible":true}"#.to_string(),
    };
    let role = if *model { "assistant" } else { "user" };
    format!(
        r#"{{{id}"role":"{role}","created":{},"content":[{}]{seen}}}"#,
        1000 + nth,
        blocks.join(",")
    )
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let blocks = prop::collection::vec(any::<u8>(), 0..5);
    prop::collection::vec((any::<bool>(), any::<u8>(), any::<u8>(), blocks), 0..8)
}

fn inputs(messages: &[Message]) -> [String; 2] {
    let messages: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(nth, one)| message(nth, one))
        .collect();
    let lines = format!(
        "{{\"working_dir\":\"/w\",\"message_count\":{}}}\n{}",
        messages.len(),
        messages.join("\n")
    );
    [
        lines,
        format!(
            r#"{{"id":"i", "conversation":[ {} ], "message_count": 3}}"#,
            messages.join(",\n")
        ),
    ]
}

proptest! {
    #[test]
    fn sessions_are_restored_unchanged(messages in messages()) {
        let [lines, document] = inputs(&messages);
        for text in [&lines, &document] {
            let all = sessions(text.as_bytes());
            prop_assert_eq!(returned(&all, true).unwrap(), text.as_bytes());
        }
        let (built, _) = written(&through_lines(&sessions(lines.as_bytes())[0]), Purpose::Export);
        let built = String::from_utf8(built).unwrap();
        prop_assert_eq!(built.lines().count(), lines.lines().count());
        for (ours, theirs) in built.lines().zip(lines.lines()) {
            prop_assert!(json::same(ours.as_bytes(), theirs.as_bytes()), "{}\n{}", ours, theirs);
        }
    }

    #[test]
    fn cuts_read_back_as_the_planned_view(mut messages in messages(), keep in 0usize..6) {
        // A model does not receive a message that only has a notice.
        let blocks = messages.iter_mut().flat_map(|(_, _, _, blocks)| blocks);
        blocks.filter(|kind| **kind % 10 == 5).for_each(|kind| *kind = 7);
        for text in inputs(&messages) {
            let all = sessions(text.as_bytes());
            let Some(cut) = cut(&all[0], keep) else { continue };
            let after = returned(std::slice::from_ref(&cut), true).unwrap();
            prop_assert_eq!(shown(&sessions(&after)[0]), shown(&cut), "{}", String::from_utf8_lossy(&after));
        }
    }

    #[test]
    fn converted_sessions_read_back_equal(kinds in prop::collection::vec(0u8..5, 1..8)) {
        let mut session = Session::default();
        for (nth, kind) in kinds.iter().enumerate() {
            let lines = match kind {
                0 => vec![r#"{"role":"user","content":"u"}"#.to_string()],
                1 => vec![r#"{"role":"user","content":"w","category":"context"}"#.to_string()],
                2 => vec![r#"{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}],"reasoning":[{"type":"thinking","text":"t","signature":"s"}]}"#.to_string()],
                _ => vec![
                    format!(r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{nth}","type":"function","function":{{"name":"f","arguments":"{{\"a\": 1}}"}}}},{{"id":"d{nth}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#),
                    format!(r#"{{"role":"tool","content":"r","tool_call_id":"c{nth}"}}"#),
                    format!(r#"{{"role":"tool","content":[{{"type":"text","text":"1"}},{{"type":"text","text":"2"}}],"tool_call_id":"d{nth}"}}"#),
                ],
            };
            lines.iter().for_each(|line| session.push_new(line.as_bytes()));
        }
        let (built, _) = written(&session, Purpose::Export);
        prop_assert_eq!(shown(&sessions(&built)[0]), shown(&session));
    }

    #[test]
    fn arbitrary_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:a-z0-9 \n]{0,60}") {
        for text in [bytes, text.clone().into_bytes(), format!(r#"{{"conversation":[{text}]}}"#).into_bytes(), format!("{{\"role\":\"user\"}}\n{text}\n").into_bytes()] {
            let (all, _, tail) = read(&text);
            if !all.is_empty() {
                prop_assert_eq!([returned(&all, false).unwrap(), tail].concat(), text.clone());
                let _ = returned(&all, true);
            }
        }
    }
}
