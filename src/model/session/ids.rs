//! Lookup of messages by id.

use super::{Class, LineSpan, Session};
use crate::model::derived::Detail;
use crate::model::key::{Derive, Short, derived_digest, derived_id, hash};
use crate::model::message::Message;
use crate::model::threads::over_cores;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;

impl Session {
    /// The id of a message: its own, or the derived one.
    pub fn id(&self, index: usize) -> Option<String> {
        let record = self.record(index);
        match record.message()?.id() {
            Some(id) => Some(id.into_owned()),
            // Derived ids depend on the identical lines before.
            None => self.derived_id(index),
        }
    }

    /// Line indexes of the messages with each of these ids, in order. Unknown ids are omitted.
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
        let rest = wanted.into_values().flatten();
        let rest: HashMap<Short, String> = rest
            .filter(|id| !found.contains_key(id))
            .filter_map(|id| Some((derived_digest(&id)?, id)))
            .collect();
        if !rest.is_empty() {
            for (index, shown) in self.derived() {
                let Some(id) = rest.get(shown) else { continue };
                match found.get_mut(id) {
                    Some(places) => places.push(*index),
                    None => drop(found.insert(id.clone(), vec![*index])),
                }
            }
        }
        found
    }

    /// Of these messages those whose id another message may have too.
    pub fn repeated(&self, lines: impl Iterator<Item = usize>) -> HashSet<usize> {
        let several = |mut all: Vec<u64>| -> HashSet<u64> {
            all.sort_unstable();
            let pairs = all.windows(2).filter(|pair| pair[0] == pair[1]);
            pairs.map(|pair| pair[0]).collect()
        };
        let own = several(
            self.lines
                .iter()
                .filter_map(|line| Some(line.id?.get()))
                .collect(),
        );
        let derived = self.derived();
        let shown = several(
            derived
                .iter()
                .map(|(_, shown)| u64::from_be_bytes(*shown))
                .collect(),
        );
        let shows = |index: &usize| {
            let at = derived.binary_search_by_key(index, |(line, _)| *line);
            at.is_ok_and(|at| shown.contains(&u64::from_be_bytes(derived[at].1)))
        };
        let is_one = |index: &usize| match self.lines[*index].id {
            Some(id) => own.contains(&id.get()),
            None => !shown.is_empty() && shows(index),
        };
        lines.filter(is_one).collect()
    }

    /// The messages of this id, in order.
    pub fn all_of(&self, id: &str) -> Vec<usize> {
        self.places([id.to_string()].into())
            .remove(id)
            .unwrap_or_default()
    }

    /// Messages without an id of their own: line index and derived id.
    pub fn derived_ids(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        self.derived()
            .iter()
            .map(|(line, shown)| (*line, derived_id(*shown)))
    }

    /// The derived id of the message in a line; none where it has its own.
    pub fn derived_id(&self, index: usize) -> Option<String> {
        let derived = self.derived();
        let at = derived.binary_search_by_key(&index, |(line, _)| *line).ok()?;
        Some(derived_id(derived[at].1))
    }

    /// The lines of messages without an id of their own, and what their derived ids show. Each message is read once, whoever
    /// asks how often.
    fn derived(&self) -> &[(usize, Short)] {
        self.derived.get_or_init(|| {
            let is_known = self.derives_ids();
            let without =
                |line: &LineSpan| is_known && matches!(line.class, Class::Message(_)) && line.id.is_none();
            let lines = self.lines.iter().enumerate();
            let lines = lines.filter(|(_, line)| without(line)).map(|(index, _)| index);
            if let Detail::Digests(derived) = &self.detail {
                return lines.zip(derived.shown()).collect();
            }
            let lines: Vec<usize> = lines.collect();
            let mut derive = Derive::default();
            let digests = over_cores(lines.len(), self.size(), |nth| {
                Derive::digest(self.body(lines[nth]))
            });
            let shown = lines.into_iter().zip(digests);
            shown
                .map(|(line, digest)| (line, derive.shown(digest, self.body(line))))
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = br#"{"role":"user","content":"so"}"#;

    fn named(id: &str) -> Vec<u8> {
        format!(r#"{{"role":"user","id":"{id}","content":"so"}}"#).into_bytes()
    }

    #[test]
    fn derived_ids_depend_on_the_present_lines() {
        let mut session = Session::default();
        session.push_new(LINE);
        let first = session.derived_id(0);
        session.push_new(&named("m"));
        session.push_new(LINE);
        let both: Vec<_> = session.derived_ids().collect();
        assert_eq!(both.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(Some(both[0].1.clone()), first);
        assert_ne!(both[0].1, both[1].1);
        assert_eq!(session.derived_id(1), None);
        both.iter()
            .for_each(|(line, id)| assert_eq!(session.all_of(id), [*line]));
        assert!(session.all_of("msg_0").is_empty());
        let mut other = Session::default();
        assert_eq!(other.derived_ids().count(), 0);
        other.push_from(&session, 2);
        assert_eq!(other.derived_id(0), first);
        let session = session.with_first(br#"{"type":"session","version":1,"id":"s"}"#);
        assert_eq!(session.derived_id(1), first);
        assert_eq!(session.derived_id(3).as_ref(), Some(&both[1].1));
    }

    #[test]
    fn shared_ids_are_reported_as_repeated() {
        let mut session = Session::default();
        let lines = [LINE.to_vec(), named("a"), named("b"), LINE.to_vec(), named("a")];
        lines.iter().for_each(|line| session.push_new(line));
        assert_eq!(session.repeated(0..5), HashSet::from([1, 4]));
        assert_eq!(session.repeated(2..5), HashSet::from([4]));
    }
}
