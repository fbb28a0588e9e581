//! Checks over random histories that a stream and the store show the same after a change.

use super::histories::{history, materialized, reread, sent, step};
use crate::error::Result;
use crate::filter::truncate::{self, CutPoint};
use crate::filter::{Plan, Stamp, gc, restore};
use crate::model::message::Role;
use crate::model::session::{DerivedLine, Session};
use crate::model::view::{Item, View};
use proptest::prelude::*;
use std::collections::HashMap;

/// The texts of tool results in the view without an earlier call.
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
    fn a_stream_and_the_store_have_equal_views(
        steps in proptest::collection::vec(step(), 0..25),
        repeated: bool,
        keep in 0usize..4,
        messages: bool,
    ) {
        let before = history(&steps, repeated);
        let stamp = |_: &str| -> Result<Stamp> { Ok(Stamp { id: "e_new".into(), at: "2026-01-02T00:00:00Z".into() }) };
        let cut = if messages { CutPoint::LastMessages(keep) } else { CutPoint::LastExchanges(keep) };
        // Settling alone does not change what is sent.
        prop_assert_eq!(sent(&reread(&materialized(&before))), sent(&before));
        let mut store = before.clone();
        let planned = truncate::plan(&before, &cut, stamp).unwrap();
        if let Plan::Lines(lines, _) = &planned {
            lines.iter().for_each(|line| store.push_new(line));
        }
        let stream = materialized(&store);
        prop_assert_eq!(sent(&reread(&stream)), sent(&store));
        // A second cut and a second settling change nothing.
        let again = reread(&stream);
        // A message that a compaction inserted is bound to another message in the log, but independent in a stream.
        let put_in = View::replay(&before).items.iter().any(|item| matches!(item, Item::Inserted(_)));
        let second = truncate::plan(&again, &cut, stamp).unwrap();
        prop_assert!(put_in || matches!(second, Plan::Nothing(_)), "{}", String::from_utf8_lossy(&stream));
        prop_assert_eq!(&materialized(&again), &stream);
        // A cut separates no result from its call.
        if keep > 0 {
            let known = orphans(&before);
            prop_assert!(orphans(&store).iter().all(|orphan| known.contains(orphan)), "{:?}", sent(&store));
        }
        // Damage and instructions are never cut off, and undoing restores the original.
        let garbage = |session: &Session| (0..session.len()).filter(|index| session.full(*index) == b"not json\n").count();
        prop_assert_eq!(garbage(&again), garbage(&before));
        if let Plan::Lines(..) = planned {
            store.push_new(br#"{"type":"restore","id":"e_undo","at":"2026-01-03T00:00:00Z","of":"e_new"}"#);
            prop_assert_eq!(sent(&store), sent(&before));
        }
    }
}

/// The session of a planned log.
fn derived_session(session: &Session, pieces: &[DerivedLine]) -> Session {
    let mut new = Session::default();
    for piece in pieces {
        match piece {
            DerivedLine::Line(index) => new.push_new(session.record(*index).body),
            DerivedLine::Edited(_, body) | DerivedLine::Generated(body) => new.push_new(body),
        }
    }
    new
}

proptest! {
    #[test]
    fn the_view_is_unchanged_by_a_gc(steps in proptest::collection::vec(step(), 0..25), old in 0usize..26) {
        let before = history(&steps, false);
        // With every event old enough, unneeded lines are removed, and a second gc finds nothing.
        if let Ok(Some(pieces)) = gc::plan(&before, None) {
            let after = derived_session(&before, &pieces);
            prop_assert_eq!(sent(&after), sent(&before));
            prop_assert_eq!(gc::plan(&after, None).unwrap(), None);
            let damage = |session: &Session| (0..session.len()).filter(|index| session.full(*index) == b"not json\n").count();
            prop_assert_eq!(damage(&after), damage(&before));
        }
        // Recent events can still be undone, with the same effect.
        let mut aged = Session::default();
        for index in 0..before.len() {
            let line = String::from_utf8_lossy(before.record(index).body).into_owned();
            let time = if index < old { "2020" } else { "2026" };
            aged.push_new(line.replace("\"at\":\"2026", &format!("\"at\":\"{time}")).as_bytes());
        }
        let until = crate::model::time::seconds("2021-01-01T00:00:00Z");
        if let Ok(Some(pieces)) = gc::plan(&aged, until) {
            let mut after = derived_session(&aged, &pieces);
            prop_assert_eq!(sent(&after), sent(&aged));
            let young = restore::events(&after).into_iter();
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
