//! Encodes messages as the elements of a group.

use super::element::milliseconds;
use crate::format::blocks;
use crate::format::report::Report;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, array, quoted};
use crate::model::message::Role;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Call ids that are unique in a history.
#[derive(Default)]
pub struct CallIds {
    given: HashSet<String>,
    /// The latest replacement of each id, and the number that the next one tries first.
    last: HashMap<String, (String, u64)>,
}

impl CallIds {
    /// Replaces repeated call ids of a message, or the id of the answered call; `None` if unchanged.
    fn renamed(&mut self, annotated: &AnnotatedMessage<'_>) -> Option<(&'static str, Vec<u8>)> {
        if annotated.message.role() == Role::Tool {
            let (id, _) = self.last.get(annotated.message.tool_call_id()?.as_ref())?;
            return Some(("tool_call_id", quoted(id)));
        }
        let mut is_renamed = false;
        let calls = annotated.calls().into_iter().map(|call| {
            let id = json::member_text(call, "id").unwrap_or_default();
            if self.given.insert(id.to_string()) {
                return call.to_vec();
            }
            is_renamed = true;
            let first = self.last.get(&*id).map_or(2, |(_, next)| *next);
            let mut others = (first..).map(|nth| (format!("{id}_{nth}"), nth + 1));
            let other = others
                .find(|(other, _)| self.given.insert(other.clone()))
                .unwrap_or_default();
            let call = json::with_members(call, &[("id", Some(&quoted(&other.0)))]);
            self.last.insert(id.into_owned(), other);
            call.unwrap_or_default()
        });
        let calls: Vec<Vec<u8>> = calls.collect();
        is_renamed.then(|| ("tool_calls", array(calls)))
    }
}

/// Encodes messages as a group, an array. New groups have unique call ids and a time.
pub fn group(
    messages: &[AnnotatedMessage<'_>],
    mut new: Option<&mut CallIds>,
    report: &mut Report,
) -> Option<Vec<u8>> {
    let mut group: Vec<Vec<u8>> = Vec::new();
    let mut bodies = Vec::new();
    for annotated in messages {
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        if !matches!(
            annotated.message.role(),
            Role::User | Role::Assistant | Role::Tool
        ) {
            // The format has no other roles.
            changes.push(("role", Some(b"\"user\"".to_vec())));
        }
        match &mut new {
            Some(ids) => changes.extend(ids.renamed(annotated).map(|(name, value)| (name, Some(value)))),
            None => {
                let is_element = |part: &&[u8]| json::member(part, "type") == Some(b"\"reasoning\"");
                let (reasoning_parts, rest): (Vec<_>, Vec<_>) =
                    annotated.reasoning().into_iter().partition(is_element);
                if !reasoning_parts.is_empty() {
                    changes.push(("reasoning", (!rest.is_empty()).then(|| array(rest))));
                }
                group.extend(reasoning_parts.into_iter().map(<[u8]>::to_vec));
            }
        }
        bodies.push(match changes.is_empty() {
            true => Cow::Borrowed(annotated.body),
            false => Cow::Owned(json::with_owned_members(annotated.body, &changes).ok()?),
        });
    }
    let built = blocks::encoded(&bodies, new.is_some(), report);
    let stamp = messages
        .first()
        .and_then(|first| milliseconds(first.message.timestamp?));
    let stamp = stamp.filter(|_| new.is_some());
    let is_made = !built.is_empty();
    group.extend(built.into_iter().map(|built| match &stamp {
        Some(stamp) => json::with_members(&built, &[("ts", Some(stamp.as_bytes()))]).unwrap_or(built),
        None => built,
    }));
    is_made.then(|| array(group))
}
