//! Random histories: messages, all events that change the view, damage, duplicate ids.

use crate::error::Position;
use crate::filter::materialize::materialize;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use proptest::prelude::*;

/// A line of a random history; the numbers select among earlier messages.
#[derive(Clone, Debug)]
pub enum Step {
    User { context: bool },
    System,
    Reply { reasons: bool },
    Calls(Vec<u8>),
    Result(u8),
    Bare,
    Garbage,
    Truncate(usize),
    Summary(usize, usize),
    Compact(usize, usize, bool),
    Restore(usize),
}

/// Generates any line.
pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<bool>().prop_map(|context| Step::User { context }),
        1 => Just(Step::System),
        3 => any::<bool>().prop_map(|reasons| Step::Reply { reasons }),
        3 => proptest::collection::vec(0u8..4, 1..3).prop_map(Step::Calls),
        4 => (0u8..4).prop_map(Step::Result),
        1 => Just(Step::Bare),
        1 => Just(Step::Garbage),
        1 => any::<usize>().prop_map(Step::Truncate),
        1 => (any::<usize>(), 0usize..4).prop_map(|(first, more)| Step::Summary(first, more)),
        1 => (any::<usize>(), 0usize..3, any::<bool>()).prop_map(|(first, more, sums)| Step::Compact(first, more, sums)),
        1 => any::<usize>().prop_map(Step::Restore),
    ]
}

/// Builds a session from these lines.
pub fn history(steps: &[Step], repeated: bool) -> Session {
    let mut session = Session::default();
    session.push_new(br#"{"type":"session","version":1,"id":"s"}"#);
    let (mut ids, mut events, mut put_in) = (Vec::new(), Vec::new(), Vec::<String>::new());
    for (nth, step) in steps.iter().enumerate() {
        // Imported ids may repeat.
        let id = if repeated {
            format!("m{}", nth % 5)
        } else {
            format!("m{nth}")
        };
        let at = r#""at":"2026-01-01T00:00:00Z""#;
        let pick = |from: &[String], index: usize| from.get(index % from.len().max(1)).cloned();
        let range = |first: usize, more: usize| {
            let ids: &[String] = &ids;
            let start = first % ids.len().max(1);
            Some((
                ids.get(start)?.clone(),
                ids.get((start + more).min(ids.len() - 1))?.clone(),
            ))
        };
        let line = match step {
            Step::User { context } => {
                let category = if *context { r#","category":"context""# } else { "" };
                Some(format!(r#"{{"role":"user","content":"{nth}","id":"{id}"{category}}}"#))
            }
            Step::System => Some(format!(r#"{{"role":"system","content":"{nth}","id":"{id}"}}"#)),
            Step::Reply { reasons } => {
                let reasoning = if *reasons { r#","reasoning":[{"type":"text","text":"t"}]"# } else { "" };
                Some(format!(r#"{{"role":"assistant","content":"{nth}","id":"{id}"{reasoning}}}"#))
            }
            Step::Calls(calls) => {
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| format!(r#"{{"id":"c{call}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#))
                    .collect();
                Some(format!(r#"{{"role":"assistant","tool_calls":[{}],"id":"{id}"}}"#, calls.join(",")))
            }
            Step::Result(call) => {
                Some(format!(r#"{{"role":"tool","tool_call_id":"c{call}","content":"{nth}","id":"{id}"}}"#))
            }
            Step::Bare => Some(r#"{"role":"user","content":"same"}"#.to_string()),
            Step::Garbage => Some("not json".to_string()),
            Step::Truncate(index) => pick(&ids, *index)
                .map(|id| format!(r#"{{"type":"truncate","id":"e{nth}",{at},"before":"{id}"}}"#)),
            Step::Summary(first, more) => range(*first, *more).map(|(first, last)| {
                format!(r#"{{"type":"summary","id":"e{nth}",{at},"content":"s{nth}","covers":["{first}","{last}"]}}"#)
            }),
            Step::Compact(first, more, sums) => range(*first, *more).map(|(first, last)| {
                let edit = format!(r#"{{"id":"{last}","content":"edited {nth}"}}"#);
                let insert = format!(r#"{{"before":"{last}","message":{{"role":"user","content":"put in {nth}","id":"i{nth}"}}}}"#);
                // Messages that an earlier compaction inserted are dropped by id too.
                let old = pick(&put_in, nth).filter(|_| nth % 2 == 0);
                let old = old.map_or_else(String::new, |id| format!(r#","{id}""#));
                let summary = match (sums, nth % 3) {
                    (false, _) => String::new(),
                    (true, 0) => r#","summary":null"#.to_string(),
                    (true, _) => format!(r#","summary":{{"before":"{first}","content":"c{nth}"}}"#),
                };
                format!(r#"{{"type":"compact","id":"e{nth}",{at},"drop":["{first}"{old}],"edit":[{edit}],"insert":[{insert}]{summary}}}"#)
            }),
            Step::Restore(index) => pick(&events, *index)
                .map(|of| format!(r#"{{"type":"restore","id":"e{nth}",{at},"of":"{of}"}}"#)),
        };
        let Some(line) = line else { continue };
        if matches!(step, Step::Compact(..)) {
            put_in.push(format!("i{nth}"));
        }
        match step {
            Step::Truncate(_) | Step::Summary(..) | Step::Compact(..) | Step::Restore(_) => {
                events.push(format!("e{nth}"))
            }
            Step::Bare | Step::Garbage => {}
            _ => ids.push(id),
        }
        session.push_new(line.as_bytes());
    }
    session
}

/// The content a model would receive: messages as written, summaries by text.
pub fn sent(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    let body = |item: &Item| match item.summary(session) {
        Some(text) => format!("summary {text}"),
        None => String::from_utf8_lossy(item.body(session)).into_owned(),
    };
    view.items.iter().map(body).collect()
}

/// Parses a stream again.
pub fn reread(bytes: &[u8]) -> Session {
    let mut session = Session::default();
    let mut place = Position::default();
    for full in bytes.split_inclusive(|byte| *byte == b'\n') {
        place.line += 1;
        session.push(&Record::parse(full, place));
        place.offset += full.len() as u64;
    }
    session
}

/// The output of a stream.
pub fn materialized(session: &Session) -> Vec<u8> {
    let mut out = Vec::new();
    materialize(session, &View::replay(session), &mut out).unwrap();
    out
}
