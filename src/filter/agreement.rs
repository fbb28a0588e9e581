//! What a stream shows after a change and what the store shows are the same: a property over random histories.

use super::settle::settle;
use super::truncate::{self, Cut};
use super::{Plan, Stamp, gc};
use crate::error::{Place, Result};
use crate::model::message::Role;
use crate::model::record::Record;
use crate::model::session::{Piece, Session};
use crate::model::view::{Item, View};
use proptest::prelude::*;
use std::collections::HashMap;

/// A line of a random history; numbers choose among the messages before it.
#[derive(Clone, Debug)]
enum Step {
    User { context: bool },
    System,
    Reply { reasons: bool },
    Calls(Vec<u8>),
    Result(u8),
    Bare,
    Garbage,
    Truncate(usize),
    Summary(usize, usize),
    Compact(usize, usize),
    Restore(usize),
}

fn step() -> impl Strategy<Value = Step> {
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
        1 => (any::<usize>(), 0usize..3).prop_map(|(first, more)| Step::Compact(first, more)),
        1 => any::<usize>().prop_map(Step::Restore),
    ]
}

fn history(steps: &[Step], repeated: bool) -> Session {
    let mut session = Session::default();
    session.push_new(br#"{"type":"session","version":1,"id":"s"}"#);
    let (mut ids, mut events) = (Vec::new(), Vec::new());
    for (nth, step) in steps.iter().enumerate() {
        // Ids from elsewhere may repeat.
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
            Step::Compact(first, more) => range(*first, *more).map(|(first, last)| {
                let edit = format!(r#"{{"id":"{last}","content":"edited {nth}"}}"#);
                let insert = format!(r#"{{"before":"{last}","message":{{"role":"user","content":"put in {nth}"}}}}"#);
                format!(r#"{{"type":"compact","id":"e{nth}",{at},"drop":["{first}"],"edit":[{edit}],"insert":[{insert}]}}"#)
            }),
            Step::Restore(index) => pick(&events, *index)
                .map(|of| format!(r#"{{"type":"restore","id":"e{nth}",{at},"of":"{of}"}}"#)),
        };
        let Some(line) = line else { continue };
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

/// What a model would be sent: messages as they are written, summaries by their text.
fn sent(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    let body = |item: &Item| match item.summary(session) {
        Some(text) => format!("summary {text}"),
        None => String::from_utf8_lossy(item.body(session)).into_owned(),
    };
    view.items.iter().map(body).collect()
}

fn reread(bytes: &[u8]) -> Session {
    let mut session = Session::default();
    let mut place = Place::default();
    for full in bytes.split_inclusive(|byte| *byte == b'\n') {
        place.line += 1;
        session.push(&Record::parse(full, place));
        place.offset += full.len() as u64;
    }
    session
}

fn settled(session: &Session) -> Vec<u8> {
    let mut out = Vec::new();
    settle(session, &View::replay(session), &mut out).unwrap();
    out
}

/// Results in view without a call ahead of them, by their text.
fn orphans(session: &Session) -> Vec<String> {
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    for message in View::replay(session).messages(session) {
        for call in message.tool_calls() {
            *open.entry(call.id.into_owned()).or_default() += 1;
        }
        if message.role() == Role::Tool {
            let left = open
                .entry(message.tool_call_id().unwrap_or_default().into_owned())
                .or_default();
            if *left == 0 {
                found.push(message.text().into_owned());
            }
            *left = left.saturating_sub(1);
        }
    }
    found
}

proptest! {
    #[test]
    fn a_stream_and_the_store_show_the_same(
        steps in proptest::collection::vec(step(), 0..25),
        repeated: bool,
        keep in 0usize..4,
        messages: bool,
    ) {
        let before = history(&steps, repeated);
        let stamp = |_: &str| -> Result<Stamp> { Ok(Stamp { id: "e_new".into(), at: "2026-01-02T00:00:00Z".into() }) };
        let cut = if messages { Cut::LastMessages(keep) } else { Cut::LastExchanges(keep) };
        // Settling alone changes nothing of what is sent.
        prop_assert_eq!(sent(&reread(&settled(&before))), sent(&before));
        let mut store = before.clone();
        let planned = truncate::plan(&before, &cut, stamp).unwrap();
        if let Plan::Lines(lines, _) = &planned {
            lines.iter().for_each(|line| store.push_new(line));
        }
        let stream = settled(&store);
        prop_assert_eq!(sent(&reread(&stream)), sent(&store));
        // A second cut, and a second settling, change no byte.
        let again = reread(&stream);
        // What a compaction put in is bound to a message in the log, and a message like any other in a stream.
        let put_in = View::replay(&before).items.iter().any(|item| matches!(item, Item::Inserted(_)));
        let second = truncate::plan(&again, &cut, stamp).unwrap();
        prop_assert!(put_in || matches!(second, Plan::Nothing(_)), "{}", String::from_utf8_lossy(&stream));
        prop_assert_eq!(&settled(&again), &stream);
        // No result loses its call by a cut.
        if keep > 0 {
            let known = orphans(&before);
            prop_assert!(orphans(&store).iter().all(|orphan| known.contains(orphan)), "{:?}", sent(&store));
        }
        // Damage and rules are never cut off, and undoing gives back what there was.
        let garbage = |session: &Session| (0..session.len()).filter(|index| session.full(*index) == b"not json\n").count();
        prop_assert_eq!(garbage(&again), garbage(&before));
        if let Plan::Lines(..) = planned {
            store.push_new(br#"{"type":"restore","id":"e_undo","at":"2026-01-03T00:00:00Z","of":"e_new"}"#);
            prop_assert_eq!(sent(&store), sent(&before));
        }
    }
}

/// The session of a planned log.
fn made(session: &Session, pieces: &[Piece]) -> Session {
    let mut new = Session::default();
    for piece in pieces {
        match piece {
            Piece::Line(index) => new.push_new(session.record(*index).body),
            Piece::Made(body) => new.push_new(body),
        }
    }
    new
}

proptest! {
    #[test]
    fn what_a_gc_leaves_shows_the_same(steps in proptest::collection::vec(step(), 0..25), old in 0usize..26) {
        let before = history(&steps, false);
        // Everything is old enough: what no view needs goes, and a second gc finds nothing.
        if let Ok(Some(pieces)) = gc::plan(&before, None) {
            let after = made(&before, &pieces);
            prop_assert_eq!(sent(&after), sent(&before));
            prop_assert_eq!(gc::plan(&after, None).unwrap(), None);
            let damage = |session: &Session| (0..session.len()).filter(|index| session.full(*index) == b"not json\n").count();
            prop_assert_eq!(damage(&after), damage(&before));
        }
        // Some events are young: those can still be taken back, with the same effect.
        let mut aged = Session::default();
        for index in 0..before.len() {
            let line = String::from_utf8_lossy(before.record(index).body).into_owned();
            let time = if index < old { "2020" } else { "2026" };
            aged.push_new(line.replace("\"at\":\"2026", &format!("\"at\":\"{time}")).as_bytes());
        }
        let until = crate::model::time::seconds("2021-01-01T00:00:00Z");
        if let Ok(Some(pieces)) = gc::plan(&aged, until) {
            let mut after = made(&aged, &pieces);
            prop_assert_eq!(sent(&after), sent(&aged));
            let young = super::restore::events(&after).into_iter();
            let young: Vec<String> = young.filter(|event| event.counts && event.at.starts_with("2026")).map(|event| event.id).collect();
            for id in young.iter().rev() {
                let undo = format!(r#"{{"type":"restore","id":"u{id}","at":"2026-01-03T00:00:00Z","of":"{id}"}}"#);
                after.push_new(undo.as_bytes());
                aged.push_new(undo.as_bytes());
                prop_assert_eq!(sent(&after), sent(&aged), "without {}:\n{}\n{}", id, aged.text(), after.text());
            }
        }
    }
}
