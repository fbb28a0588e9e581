//! Generated documents.

use crate::format::Format;
use crate::format::tests::in_place;
use proptest::prelude::*;

fn part(nth: usize, kind: u8, odd: bool) -> String {
    let ids = match odd {
        true => format!(r#""id":"prt_{nth:03}""#),
        false => format!(r#""id":"prt_{nth:03}","sessionID":"ses_1","messageID":"msg_ID""#),
    };
    let rest = match kind % 12 {
        0 => r#""type":"step-start""#.to_string(),
        1 => r#""type":"step-finish","reason":"stop","tokens":{"input":1,"output":2,"cache":{"read":3,"write":4}}"#.to_string(),
        2 => r#""type":"reasoning","text":"th","metadata":{"x":{"signature":"s"}}"#.to_string(),
        3 => format!(r#""type":"tool","callID":"c{nth}","tool":"f","state":{{"status":"completed","input":{{"a":1.50}},"output":"o","time":{{"end":5}}}}"#),
        4 => format!(r#""type":"tool","callID":"c{}","tool":"f","state":{{"status":"error","input":{{}},"error":"o"}}"#, nth % 3),
        5 => r#""type":"tool","tool":"f","state":{"status":"completed","input":{},"output":{"a":1},"time":{"compacted":1}}"#.to_string(),
        6 => format!(r#""type":"tool","callID":"c{nth}","tool":"f","state":{{"status":"pending","raw":"{{"}}"#),
        7 => r#""type":"patch","hash":"h""#.to_string(),
        8 => r#""type":"file","mime":"image/png","url":"data:image/png;base64,AA==","filename":"f""#.to_string(),
        9 => r#""type":"file","mime":"text/plain","url":"file:///a""#.to_string(),
        10 => r#""type":"text","text":"i","ignored":true"#.to_string(),
        _ => r#""type":"text","text":"\u00fc \/""#.to_string(),
    };
    format!("{{{ids},{rest}}}")
}

/// A message: its sender, the message that it answers or keeps, and its parts.
type Message = (u8, u8, Vec<(u8, bool)>);

fn message(nth: usize, (kind, other, parts): &Message) -> String {
    let mut encoded: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(at, (kind, odd))| part(nth * 100 + at, *kind, *odd))
        .collect();
    let info = match kind % 6 {
        0 | 1 => {
            encoded.retain(|part| !part.contains("tool\"") && !part.contains("reasoning"));
            r#""role":"user""#.to_string()
        }
        2 => {
            encoded = vec![format!(
                r#"{{"type":"compaction","auto":true,"tail_start_id":"msg_{other:03}"}}"#
            )];
            r#""role":"user""#.to_string()
        }
        3 => format!(
            r#""role":"assistant","summary":true,"finish":"stop","parentID":"msg_{:03}""#,
            nth.saturating_sub(1)
        ),
        4 => r#""role":"assistant","error":{"name":"MessageAbortedError"}"#.to_string(),
        _ => format!(r#""role":"assistant","parentID":"msg_{other:03}","modelID":"m""#),
    };
    format!(
        r#"{{"info":{{"id":"msg_{nth:03}","sessionID":"ses_1",{info},"time":{{"created":{}}}}},"parts":[{}]}}"#,
        1000 * nth,
        encoded.join(", ")
    )
    .replace("msg_ID", &format!("msg_{nth:03}"))
}

fn document(messages: &[Message]) -> String {
    let messages: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(nth, one)| message(nth, one))
        .collect();
    format!(
        r#"{{"info":{{"id":"ses_1","title":"t"}}, "messages":[ {} ]}}"#,
        messages.join(",\n")
    )
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let parts = prop::collection::vec((any::<u8>(), prop::bool::weighted(0.1)), 0..6);
    prop::collection::vec((any::<u8>(), 0u8..8, parts), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_documents_satisfy_all_laws(messages in messages()) {
        in_place::hold(Format::Opencode, document(&messages));
    }
}
