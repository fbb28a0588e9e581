//! Maps call ids of request elements to those of the session. An element may use another id because an API accepts
//! only some ids, or none.

use crate::check::{Api, Fixed};
use crate::error::Position;
use crate::format::request::{ProviderRequest, RequestUnit};
use crate::model::json::{self, quoted};
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::HashMap;

/// The session's call ids by those of the elements.
#[derive(Debug, Default)]
pub(super) struct CallIdMap {
    /// For the original elements.
    before: HashMap<String, String>,
    /// For ids generated for calls without one, which depend on the content of the call: the new id and the old one.
    generated: HashMap<String, String>,
}

/// Id, name and arguments of a call.
type CallKey = (String, String, String);

/// Collects the calls of messages, in order.
fn calls<'b>(bodies: impl IntoIterator<Item = &'b [u8]>) -> Vec<CallKey> {
    let mut found = Vec::new();
    for body in bodies {
        let record = Record::parse(body, Position { line: 0, offset: 1 });
        for call in record
            .message()
            .map(|message| message.tool_calls())
            .unwrap_or_default()
        {
            found.push((
                call.id.into_owned(),
                call.name.into_owned(),
                call.arguments.into_owned(),
            ));
        }
    }
    found
}

fn of_unit(unit: &RequestUnit) -> Vec<CallKey> {
    calls(unit.records.iter().map(Vec::as_slice))
}

impl CallIdMap {
    /// Builds the maps from the elements of a request before and after the repair.
    pub(super) fn of(
        api: Api,
        (session, view): (&Session, &View),
        request: &ProviderRequest,
        fixed: &Fixed,
        (before, after): (&[RequestUnit], &[RequestUnit]),
    ) -> CallIdMap {
        let mut names = CallIdMap::default();
        let mut own: Vec<Vec<CallKey>> = Vec::with_capacity(before.len());
        // A message may span several readings, so its calls are consumed in order.
        let mut taken: HashMap<usize, usize> = HashMap::new();
        for unit in before {
            let read = of_unit(unit);
            let mut native = Vec::new();
            let elements = &request.elements[unit.elements.clone()];
            let mut items: Vec<usize> = elements
                .iter()
                .flat_map(|element| element.items.iter().copied())
                .collect();
            items.dedup();
            for item in items {
                let skip = taken.entry(item).or_default();
                let calls = calls([view.items[item].body(session)]);
                let rest = calls
                    .into_iter()
                    .skip(*skip)
                    .take(read.len() - native.len().min(read.len()));
                let rest: Vec<CallKey> = rest.collect();
                *skip += rest.len();
                native.extend(rest);
            }
            if native.len() == read.len() {
                for ((id, ..), (known, ..)) in read.iter().zip(native) {
                    names.before.entry(id.clone()).or_insert(known);
                }
            }
            own.push(read);
        }
        if api == Api::Gemini {
            names.rename_new_calls(request, fixed, (before, &own), after);
        }
        names.before.retain(|id, known| id != known);
        names.generated.retain(|id, known| id != known);
        names
    }

    fn rename_new_calls(
        &mut self,
        request: &ProviderRequest,
        fixed: &Fixed,
        (before, own): (&[RequestUnit], &[Vec<CallKey>]),
        after: &[RequestUnit],
    ) {
        let mut units = vec![0; request.elements.len()];
        for (at, unit) in before.iter().enumerate() {
            units[unit.elements.clone()].fill(at);
        }
        for unit in after {
            let elements = fixed.elements[unit.elements.clone()].iter();
            let mut from: Vec<usize> = elements
                .flat_map(|element| element.from.iter().map(|from| units[*from]))
                .collect();
            from.dedup();
            let old: Vec<&CallKey> = from.iter().flat_map(|unit| &own[*unit]).collect();
            let new = of_unit(unit);
            let all = old.len() == new.len();
            let mut rest = old.into_iter();
            for (id, name, arguments) in &new {
                let same = |call: &&CallKey| all || call.1 == *name && call.2 == *arguments;
                let Some(call) = rest.find(same) else { break };
                self.generated.entry(id.clone()).or_insert_with(|| call.0.clone());
            }
        }
    }

    /// Restores the session's ids in a message read from original elements.
    pub(super) fn native(&self, body: Vec<u8>) -> Vec<u8> {
        if self.before.is_empty() {
            return body;
        }
        renamed(body, |id| self.before.get(id))
    }

    /// Restores the session's ids in a message read from repaired elements.
    pub(super) fn restore_call_ids(&self, body: Vec<u8>) -> Vec<u8> {
        if self.before.is_empty() && self.generated.is_empty() {
            return body;
        }
        renamed(body, |id| {
            let known = self.generated.get(id);
            let old = known.map_or(id, String::as_str);
            self.before.get(old).or(known)
        })
    }
}

/// Replaces the call ids of a message.
fn renamed<'n>(body: Vec<u8>, name: impl Fn(&str) -> Option<&'n String>) -> Vec<u8> {
    let other = |object: &[u8], member: &str| -> Option<Vec<u8>> {
        let id = json::member_text(object, member)?;
        let raw = quoted(name(&id)?);
        json::with_members(object, &[(member, Some(&raw))]).ok()
    };
    let body = other(&body, "tool_call_id").unwrap_or(body);
    let Some(list) =
        json::member(&body, "tool_calls").and_then(|raw| json::elements(raw, json::Dialect::Strict))
    else {
        return body;
    };
    let calls = list
        .into_iter()
        .map(|call| other(call, "id").unwrap_or_else(|| call.to_vec()));
    json::with_members(&body, &[("tool_calls", Some(&json::array(calls)))]).unwrap_or(body)
}
