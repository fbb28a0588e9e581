//! Checks over random histories and plans that a `compact` event changes the view as planned.

use super::histories::{history, materialized, reread, sent, step};
use crate::filter::Stamp;
use crate::filter::compact::event::{CompactionInfo, InsertedSummary, ItemChange, ViewEdit};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use proptest::prelude::*;

/// The expected view: a new message is directly before its anchor, the summary first.
fn expected(session: &Session, view: &View, plan: &ViewEdit) -> Vec<String> {
    let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
    let length = view.items.len();
    let is_summary = |at: usize| matches!(view.items[at], Item::Summary(_));
    let anchor = |at: usize| (at..length).find(|at| !is_summary(*at)).unwrap_or(length);
    let mut shown = Vec::new();
    for at in 0..=length {
        if at == length || !is_summary(at) {
            let summary = plan
                .summary
                .as_ref()
                .filter(|summary| anchor(summary.before) == at);
            shown.extend(summary.map(|summary| format!("summary {}", summary.content)));
            let new = plan.inserts.iter().filter(|(before, _)| anchor(*before) == at);
            shown.extend(new.map(|(_, body)| text(body)));
        }
        let Some(item) = view.items.get(at) else { break };
        match (item, &plan.changes[at]) {
            (Item::Summary(_), ItemChange::Keep) => {
                let is_standing = plan.summary.is_none();
                shown.extend(is_standing.then(|| format!("summary {}", item.summary(session).unwrap())));
            }
            (_, ItemChange::Keep) => shown.push(text(item.body(session))),
            (_, ItemChange::Drop) => {}
            (_, ItemChange::Replace(body)) => shown.push(text(&named(session, item, body))),
        }
    }
    shown
}

/// A changed line keeps its derived id.
fn named(session: &Session, item: &Item, body: &[u8]) -> Vec<u8> {
    let derived = |line| session.derived_ids().find(|(index, _)| *index == line);
    match (json::member(body, "id"), item.line().and_then(derived)) {
        (None, Some((_, id))) => {
            json::with_members(body, &[("id", Some(format!("\"{id}\"").as_bytes()))]).unwrap()
        }
        _ => body.to_vec(),
    }
}

proptest! {
    #[test]
    fn an_event_applies_the_plan(
        steps in proptest::collection::vec(step(), 0..25),
        repeated: bool,
        choices in proptest::collection::vec((0u8..5, 0u8..8), 40),
        sums in proptest::option::of(0usize..20),
    ) {
        let before = history(&steps, repeated);
        let view = View::replay(&before);
        let mut plan = ViewEdit::of(&view);
        for (at, item) in view.items.iter().enumerate() {
            let (choice, insert) = choices[at % choices.len()];
            if insert == 0 {
                plan.inserts.push((at, format!(r#"{{"role":"user","content":"new {at}","id":"n{at}"}}"#).into_bytes()));
            }
            plan.changes[at] = match choice {
                0 => ItemChange::Drop,
                1 if !matches!(item, Item::Summary(_)) => {
                    let changes: [(&str, Option<&[u8]>); 2] = [("content", Some(b"\"changed\"")), ("name", None)];
                    ItemChange::Replace(json::with_members(item.body(&before), &changes).unwrap())
                }
                _ => ItemChange::Keep,
            };
        }
        plan.summary = sums.map(|at| InsertedSummary {
            before: at.min(view.items.len()),
            content: "the sum".into(),
            covers: (0..view.items.len()).filter(|at| plan.changes[*at] == ItemChange::Drop).collect(),
            by: "extract".into(),
            role: None,
        });
        let stamp = Stamp { id: "evt_new".into(), at: "2026-01-02T00:00:00Z".into() };
        let event = plan.event(&before, &view, &CompactionInfo::default(), &stamp).unwrap();
        let mut after = before.clone();
        after.push_new(&event);
        let expected = expected(&before, &view, &plan);
        prop_assert_eq!(sent(&after), &expected[..], "{}", after.text());
        let dangling = |view: &View| view.dangling.len();
        prop_assert_eq!(dangling(&View::replay(&after)), dangling(&view));
        prop_assert_eq!(sent(&reread(&materialized(&after))), &expected[..]);
        after.push_new(br#"{"type":"restore","id":"e_undo","at":"2026-01-03T00:00:00Z","of":"evt_new"}"#);
        prop_assert_eq!(sent(&after), sent(&before));
    }
}
