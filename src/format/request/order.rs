//! Orders a history for a request: tool results directly follow the message with their calls.

use crate::format::report::{Loss, Report};
use crate::model::json;
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::{HashMap, HashSet, VecDeque};

/// The items of a view in request order.
#[derive(Debug, Default)]
pub struct RequestOrder {
    /// Indexes of view items.
    pub items: Vec<usize>,
    /// For each result: the item with the call, and the index of the call.
    pub calls: HashMap<usize, (usize, usize)>,
}

/// The latest message with calls, and its calls that results without an id may still answer.
struct LastCalls {
    caller: usize,
    all: VecDeque<usize>,
    by_name: HashMap<String, VecDeque<usize>>,
}

/// Moves results after their calls, unless the history is `kept` in its order. A result belongs to the nearest earlier
/// call with its id that has no result yet; without an id, to the first unanswered call of the latest message with
/// calls, with the same name if it has one. Reports calls without results, and the reverse.
pub fn order(session: &Session, view: &View, kept: bool, report: &mut Report) -> RequestOrder {
    let mut open: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut results: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut calls = HashMap::new();
    let mut answered: HashSet<(usize, usize)> = HashSet::new();
    // The latest message with calls, for results without an id.
    let mut last: Option<LastCalls> = None;
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
            last = Some(LastCalls {
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
                None => report.count_loss(Loss::Orphan, 1),
            }
        }
    }
    report.count_loss(Loss::Orphan, unanswered);
    if kept {
        let items = (0..view.items.len()).collect();
        return RequestOrder { items, calls };
    }
    let mut items = Vec::with_capacity(view.items.len());
    for index in (0..view.items.len()).filter(|index| !calls.contains_key(index)) {
        items.push(index);
        let mut answers = results.remove(&index).unwrap_or_default();
        // Without ids, results are identified by their position.
        answers.sort_by_key(|answer| calls[answer].1);
        items.extend(answers);
    }
    RequestOrder { items, calls }
}
