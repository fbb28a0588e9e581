//! I7 and I9: required messages are kept unchanged, and calls keep their results.

use super::case::{Case, Done};
use crate::model::exchange::Cuts;
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// The state of an item of the original view afterwards.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ItemOutcome {
    Same,
    Changed,
    Dropped,
}

/// The outcome of each item: lines are matched by index, inserted messages by id.
pub fn outcomes(case: &Case, done: &Done) -> Vec<ItemOutcome> {
    let key = |session: &Session, item: &Item| match item {
        Item::Line(index) | Item::Edited(index, _) => format!("line {index}"),
        Item::Inserted(_) => format!("id {}", item.message(session).unwrap().id().unwrap()),
        Item::Summary(index) => format!("summary {index}"),
    };
    let after: HashMap<String, &Item> = done
        .view
        .items
        .iter()
        .map(|item| (key(&done.after, item), item))
        .collect();
    let outcome = |item: &Item| match after.get(&key(&case.before, item)) {
        None => ItemOutcome::Dropped,
        Some(now) if now.body(&done.after) == item.body(&case.before) => ItemOutcome::Same,
        Some(_) => ItemOutcome::Changed,
    };
    case.view.items.iter().map(outcome).collect()
}

pub fn hold(case: &Case, done: &Done) -> Result<(), TestCaseError> {
    let outcomes = outcomes(case, done);
    let (view, session) = (&case.view, &case.before);
    let newest = Cuts::of(session, view)
        .exchange_starts()
        .last()
        .copied()
        .unwrap_or(0);
    let asks = |item: &Item| {
        let traits = item.traits(session);
        traits.is_some_and(|traits| traits.role == Role::User && traits.category != Category::Context)
    };
    let (first_user, newest_user) = (
        view.items.iter().position(asks),
        view.items.iter().rposition(asks),
    );
    let waiting = waiting(session, view);
    let steps = case.options.steps;
    // These steps may cut an exchange after its request, and shorten the request.
    let cuts = steps.mask && steps.head_tail && (steps.summary || steps.drop);
    let movable = |item: &Item| !item.is_never_dropped(session) && !matches!(item, Item::Summary(_));
    let last = view.items.iter().rposition(movable).unwrap_or(0);
    for (at, item) in view.items.iter().enumerate() {
        let Some(message) = item.message(session) else {
            continue;
        };
        let pinned = message
            .id()
            .is_some_and(|id| case.options.pins.iter().any(|pin| *pin == id));
        let first = case.options.pin_first_user && first_user == Some(at);
        if pinned || first || message.category() == Category::System {
            prop_assert_eq!(outcomes[at], ItemOutcome::Same, "I7: item {} must stay", at);
        }
        let newest_of_all = at == last || newest_user == Some(at);
        if newest_of_all || at >= newest && !cuts {
            prop_assert!(
                outcomes[at] != ItemOutcome::Dropped,
                "I7: item {} is of the newest exchange",
                at
            );
        }
        if newest_user == Some(at) && !cuts && case.options.media != super::super::Media::Drop {
            prop_assert_eq!(outcomes[at], ItemOutcome::Same, "I7: the newest question");
        }
        if waiting.contains(&at) {
            prop_assert!(
                outcomes[at] != ItemOutcome::Changed,
                "I9: item {} waits for a result",
                at
            );
        }
    }
    // A call and its results are kept or dropped together.
    for (result, caller) in pairs(session, view) {
        let removed = |at: usize| outcomes[at] == ItemOutcome::Dropped;
        prop_assert_eq!(
            removed(result),
            removed(caller),
            "call {} and result {} are parted",
            caller,
            result
        );
    }
    // A view that began with a user message or a record still does.
    let opens = |session: &Session, view: &View| {
        let first = view
            .items
            .iter()
            .find(|item| matches!(item, Item::Summary(_)) || !item.is_never_dropped(session));
        first.is_none_or(|item| {
            item.message(session)
                .is_none_or(|message| message.role() == Role::User)
        })
    };
    prop_assert!(
        !opens(session, view) || opens(&done.after, &done.view),
        "it begins with a reply"
    );
    Ok(())
}

/// Results and their calls, if the id is unambiguous.
fn pairs(session: &Session, view: &View) -> Vec<(usize, usize)> {
    let mut calls: HashMap<String, Vec<usize>> = HashMap::new();
    let mut results: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, item) in view.items.iter().enumerate() {
        let Some(message) = item.message(session).filter(|_| !item.is_never_dropped(session)) else {
            continue;
        };
        for call in message.tool_calls() {
            calls.entry(call.id.into_owned()).or_default().push(at);
        }
        if let (Role::Tool, Some(id)) = (message.role(), message.tool_call_id()) {
            results.entry(id.into_owned()).or_default().push(at);
        }
    }
    let one = |(id, places): (String, Vec<usize>)| {
        let caller = calls
            .get(&id)
            .filter(|callers| callers.len() == 1 && !id.is_empty())?[0];
        (places.len() == 1 && caller < places[0]).then(|| (places[0], caller))
    };
    results.into_iter().filter_map(one).collect()
}

/// Items with a call that has no later result; a result without an id may belong to any call.
fn waiting(session: &Session, view: &View) -> HashSet<usize> {
    let mut answered = HashSet::new();
    let mut found = HashSet::new();
    for (at, item) in view.items.iter().enumerate().rev() {
        let Some(message) = item.message(session) else {
            continue;
        };
        if message.role() == Role::Tool {
            match message.tool_call_id().filter(|id| !id.is_empty()) {
                Some(id) => _ = answered.insert(id.into_owned()),
                None => break,
            }
        }
        let open = |id: &str| !id.is_empty() && !answered.contains(id);
        if message.tool_calls().iter().any(|call| open(&call.id)) {
            found.insert(at);
        }
    }
    found
}
