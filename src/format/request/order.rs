//! The order in which a history is sent: results stand right behind the message that owns their calls.

use crate::format::report::{Loss, Report};
use crate::model::json;
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::{HashMap, HashSet, VecDeque};

/// The items of a view in the order in which they are sent.
#[derive(Debug, Default)]
pub struct Order {
    /// Indexes into the view's items.
    pub items: Vec<usize>,
    /// For a result: the item that calls, and which of its calls is meant.
    pub calls: HashMap<usize, (usize, usize)>,
}

/// The message that called last, and which of its calls may still be meant by results that name none.
struct Last {
    caller: usize,
    all: VecDeque<usize>,
    by_name: HashMap<String, VecDeque<usize>>,
}

/// Puts results behind their calls, unless the history stays as it was `kept`. A result belongs to the nearest
/// earlier call of its id that has none yet; without an id to the first such call of the message that called last, of its
/// name where it has one. Halves without the other are told.
pub fn order(session: &Session, view: &View, kept: bool, report: &mut Report) -> Order {
    let mut open: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut results: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut calls = HashMap::new();
    let mut answered: HashSet<(usize, usize)> = HashSet::new();
    // The message that called last: for results that name no call.
    let mut last: Option<Last> = None;
    let mut unanswered = 0;
    for (index, item) in view.items.iter().enumerate() {
        let Some(traits) = item.traits(session) else {
            continue;
        };
        if !traits.calls && traits.role != Role::Tool {
            continue;
        }
        let Some(message) = item.message(session) else {
            continue;
        };
        let called = message.tool_calls();
        if !called.is_empty() {
            let mut by_name: HashMap<String, VecDeque<usize>> = HashMap::new();
            for (nth, call) in called.iter().enumerate() {
                by_name.entry(call.name.to_string()).or_default().push_back(nth);
            }
            last = Some(Last {
                caller: index,
                all: (0..called.len()).collect(),
                by_name,
            });
        }
        for (nth, call) in called.into_iter().enumerate() {
            open.entry(call.id.into_owned()).or_default().push((index, nth));
            unanswered += 1;
        }
        if traits.role == Role::Tool {
            let id = message.tool_call_id().unwrap_or_default();
            let free = |call: &(usize, usize)| !answered.contains(call);
            let call = match (id.is_empty(), &mut last) {
                (true, Some(last)) => {
                    let name = message.name.and_then(json::text).unwrap_or_default();
                    let queue = match name.is_empty() {
                        true => Some(&mut last.all),
                        false => last.by_name.get_mut(name.as_ref()),
                    };
                    let caller = last.caller;
                    queue.and_then(|queue| {
                        std::iter::from_fn(|| queue.pop_front())
                            .map(|nth| (caller, nth))
                            .find(free)
                    })
                }
                (true, None) => None,
                (false, _) => open.get_mut(id.as_ref()).and_then(|calls| {
                    while calls.last().is_some_and(|call| !free(call)) {
                        calls.pop();
                    }
                    calls.pop()
                }),
            };
            match call {
                Some(call) => {
                    answered.insert(call);
                    results.entry(call.0).or_default().push(index);
                    calls.insert(index, call);
                    unanswered -= 1;
                }
                None => report.lose(Loss::Orphan, 1),
            }
        }
    }
    report.lose(Loss::Orphan, unanswered);
    if kept {
        let items = (0..view.items.len()).collect();
        return Order { items, calls };
    }
    let mut items = Vec::with_capacity(view.items.len());
    for index in (0..view.items.len()).filter(|index| !calls.contains_key(index)) {
        items.push(index);
        let mut answers = results.remove(&index).unwrap_or_default();
        // Where there are no ids, results are told apart by their place.
        answers.sort_by_key(|answer| calls[answer].1);
        items.extend(answers);
    }
    Order { items, calls }
}
