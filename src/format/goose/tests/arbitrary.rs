//! Generated sessions.

use crate::format::Format;
use crate::format::tests::in_place;
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
            r#"{{"id":"i", "conversation":[ {} ], "message_count": {}}}"#,
            messages.join(",\n"),
            messages.len()
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_sessions_satisfy_all_laws(mut messages in messages()) {
        // A model does not receive a message that only has notices.
        let blocks = messages.iter_mut().flat_map(|(_, _, _, blocks)| blocks);
        blocks.filter(|kind| **kind % 10 == 5).for_each(|kind| *kind = 7);
        inputs(&messages).iter().for_each(|text| in_place::hold(Format::Goose, text));
    }
}
