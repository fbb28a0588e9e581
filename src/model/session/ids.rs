//! The ids of a session's messages, and the messages of an id.

use super::{Class, Line, Session};
use crate::model::derived::Detail;
use crate::model::key::{Derive, hash};
use crate::model::message::Message;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;

impl Session {
    /// The id of a message: its own, or the derived one.
    pub fn id(&self, index: usize) -> Option<String> {
        let record = self.record(index);
        match record.message()?.id() {
            Some(id) => Some(id.into_owned()),
            // Derived ids depend on the identical lines before.
            None => self
                .derived_ids()
                .find(|(line, _)| *line == index)
                .map(|(_, id)| id),
        }
    }

    /// The messages of each of these ids, in order: line indexes by id. Ids of which there is none are left out.
    pub fn places(&self, ids: HashSet<String>) -> HashMap<String, Vec<usize>> {
        let mut wanted: HashMap<NonZeroU64, Vec<String>> = HashMap::new();
        for id in ids {
            wanted.entry(hash(&id)).or_default().push(id);
        }
        let mut found: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, line) in self.lines.iter().enumerate() {
            let Some(named) = line.id.and_then(|id| wanted.get(&id)) else {
                continue;
            };
            let record = self.record(index);
            let Some(id) = record.message().and_then(Message::id) else {
                continue;
            };
            if let Some(name) = named.iter().find(|name| **name == id) {
                match found.get_mut(name) {
                    Some(places) => places.push(index),
                    None => drop(found.insert(name.clone(), vec![index])),
                }
            }
        }
        // A message's own id comes before one that is derived.
        let rest: HashSet<String> = wanted.into_values().flatten().collect();
        if rest.iter().any(|id| !found.contains_key(id)) {
            let derived: Vec<_> = self.derived_ids().filter(|(_, id)| rest.contains(id)).collect();
            let own: HashSet<String> = found.keys().cloned().collect();
            for (index, id) in derived.into_iter().filter(|(_, id)| !own.contains(id)) {
                found.entry(id).or_default().push(index);
            }
        }
        found
    }

    /// The messages of this id, in order.
    pub fn all_of(&self, id: &str) -> Vec<usize> {
        self.places([id.to_string()].into())
            .remove(id)
            .unwrap_or_default()
    }

    /// Messages without an id of their own: line index and derived id.
    pub fn derived_ids(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        let mut derive = Derive::default();
        let is_known = self.derives_ids();
        let without =
            move |line: &Line| is_known && matches!(line.class, Class::Message(_)) && line.id.is_none();
        let lines = self
            .lines
            .iter()
            .enumerate()
            .filter(move |(_, line)| without(line));
        let known = match &self.detail {
            Detail::Digests(derived) => Some(derived.ids()),
            _ => None,
        };
        let mut known = known.into_iter().flatten();
        let mut id = move |index| known.next().unwrap_or_else(|| derive.id(self.record(index).body));
        lines.map(move |(index, _)| (index, id(index)))
    }
}
