//! Property tests with generated documents and sessions.

use super::{cut, returned, sessions, sessions_and_tail, shown, through_lines, written};
use crate::format::Purpose;
use crate::model::json;
use crate::model::session::Session;
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

fn native() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        Just(r#"{"role":"user","content":"u"}"#.to_string()),
        Just(r#"{"role":"user","content":"w","category":"context"}"#.to_string()),
        Just(r#"{"role":"assistant","content":"a"}"#.to_string()),
        Just(r#"{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}],"reasoning":[{"type":"thinking","text":"t","signature":"s"}]}"#.to_string()),
    ];
    let exchange = (0u8..3).prop_map(|calls| {
        let call = |nth: u8| format!(r#"{{"id":"cID_{nth}","type":"function","function":{{"name":"f","arguments":"{{\"a\": 1}}"}}}}"#);
        let calls: Vec<u8> = (0..=calls).collect();
        let built: Vec<String> = calls.iter().map(|nth| call(*nth)).collect();
        let mut lines = vec![format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, built.join(","))];
        lines.extend(calls.iter().map(|nth| format!(r#"{{"role":"tool","content":"r{nth}","tool_call_id":"cID_{nth}"}}"#)));
        lines
    });
    let some = prop_oneof![line.prop_map(|line| vec![line]), exchange];
    prop::collection::vec(some, 1..8).prop_map(|all| {
        let lines = all.into_iter().enumerate();
        lines
            .flat_map(|(nth, lines)| {
                lines
                    .into_iter()
                    .map(move |line| line.replace("cID", &format!("c{nth}")))
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn documents_are_restored_unchanged(messages in messages()) {
        let text = document(&messages);
        let (all, report) = sessions(text.as_bytes());
        prop_assert!(report.findings.is_empty(), "{:?}", report);
        prop_assert_eq!(returned(&all, true).unwrap(), text.as_bytes());
        let (built, _) = written(&through_lines(&all[0]), Purpose::Export);
        prop_assert!(json::same(built.trim_ascii_end(), text.as_bytes()), "{}\n{}", text, String::from_utf8_lossy(&built));
    }

    #[test]
    fn cuts_read_back_as_the_planned_view(messages in messages(), keep in 0usize..6) {
        let text = document(&messages);
        let (all, _) = sessions(text.as_bytes());
        let Some(cut) = cut(&all[0], keep) else { return Ok(()) };
        let after = returned(std::slice::from_ref(&cut), true).unwrap();
        let (again, report) = sessions(&after);
        prop_assert!(report.findings.is_empty(), "{:?}", report);
        prop_assert_eq!(shown(&again[0]), shown(&cut), "{}\n{}", text, String::from_utf8_lossy(&after));
    }

    #[test]
    fn converted_sessions_read_back_equal(lines in native()) {
        let mut session = Session::default();
        lines.iter().for_each(|line| session.push_new(line.as_bytes()));
        let (built, _) = written(&session, Purpose::Export);
        let (again, report) = sessions(&built);
        prop_assert!(report.findings.is_empty(), "{:?}", report);
        let named = |line: String| line.replace(",\"name\":\"f\"", "");
        let (before, after): (Vec<_>, Vec<_>) = (shown(&session), shown(&again[0]).into_iter().map(named).collect());
        prop_assert_eq!(before, after);
    }

    #[test]
    fn arbitrary_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:a-z0-9 \n]{0,60}") {
        let _ = sessions(&bytes);
        let _ = sessions(text.as_bytes());
        let inside = format!(r#"{{"info":{{}},"messages":[{text}]}}"#);
        let (all, _, tail) = sessions_and_tail(inside.as_bytes());
        prop_assert_eq!([returned(&all, false).unwrap(), tail].concat(), inside.as_bytes());
    }
}
