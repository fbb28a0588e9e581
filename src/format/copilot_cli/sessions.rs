//! Assigns events to sessions and messages.

use super::event::{data, is_message, member};
use crate::format::kit::{Assembly, SideSession};
use crate::format::object::text;
use crate::model::json;
use std::collections::HashMap;

/// The sessions and messages of a log.
pub fn assemble(events: &[&[u8]]) -> Assembly {
    let mut assembly = Assembly {
        first: chunks(events),
        session: vec![0; events.len()],
        others: Vec::new(),
    };
    subagents(events, &mut assembly);
    rewinds(events, &mut assembly);
    assembly
}

/// For each event, the first event of its message.
fn chunks(events: &[&[u8]]) -> Vec<usize> {
    let mut calls: HashMap<String, usize> = HashMap::new();
    let first = events.iter().enumerate().map(|(nth, event)| {
        let message = data(event, "assistant.message");
        let count = message.and_then(|message| json::number(json::member(message, "chunkCount")?));
        let call = message.and_then(|message| text(message, "apiCallId"));
        match call.filter(|_| count.is_some_and(|count: u64| count > 1)) {
            Some(call) => *calls.entry(call).or_insert(nth),
            None => nth,
        }
    });
    first.collect()
}

/// The subagent of an event: the call that started it, else its own id.
fn agent(event: &[u8]) -> Option<String> {
    let call = member(event, "parentToolCallId").and_then(json::text);
    let call = call.map(|call| call.into_owned()).filter(|call| !call.is_empty());
    call.or_else(|| text(event, "agentId"))
}

fn subagents(events: &[&[u8]], assembly: &mut Assembly) {
    let agents: Vec<Option<String>> = events.iter().map(|event| agent(event)).collect();
    let mut sessions: HashMap<&str, usize> = HashMap::new();
    for (event, agent) in events.iter().zip(&agents) {
        let Some(agent) = agent.as_deref().filter(|_| is_message(event)) else {
            continue;
        };
        sessions.entry(agent).or_insert_with(|| {
            let is_result = |event: &&&[u8]| {
                let data = data(event, "tool.execution_complete");
                data.is_some_and(|data| text(data, "toolCallId").as_deref() == Some(agent))
            };
            assembly.others.push(SideSession {
                kind: "sidechain",
                at: events.iter().find(is_result).and_then(|event| text(event, "id")),
                id: Some(agent.to_string()),
            });
            assembly.others.len()
        });
    }
    for (nth, agent) in agents.iter().enumerate() {
        assembly.session[nth] = agent
            .as_deref()
            .and_then(|agent| sessions.get(agent))
            .copied()
            .unwrap_or(0);
    }
}

/// Turns the events that a rewind removed into a branch: the named one and all after it.
fn rewinds(events: &[&[u8]], assembly: &mut Assembly) {
    let ids: HashMap<String, usize> = { events.iter().enumerate() }
        .filter_map(|(nth, event)| Some((text(event, "id")?, nth)))
        .collect();
    for (nth, event) in events.iter().enumerate() {
        let from = data(event, "session.snapshot_rewind").and_then(|data| text(data, "upToEventId"));
        let Some(from) = from.and_then(|id| ids.get(&id)).filter(|from| **from < nth) else {
            continue;
        };
        let removed: Vec<usize> = (*from..nth).filter(|nth| assembly.session[*nth] == 0).collect();
        if !removed.iter().any(|nth| is_message(events[*nth])) {
            continue;
        }
        let mut before = (0..*from)
            .rev()
            .filter(|nth| assembly.session[*nth] == 0 && is_message(events[*nth]));
        assembly.others.push(SideSession {
            kind: "branch",
            at: before.next().and_then(|nth| text(events[nth], "id")),
            id: None,
        });
        for nth in removed {
            assembly.session[nth] = assembly.others.len();
        }
    }
}
