//! The members of a session's header after its `meta` events.

use super::event::{Action, Event, Meta};
use super::json::{self, Dialect};
use super::record::Record;
use std::borrow::Cow;
use std::collections::HashMap;

/// The value of a header member, if present.
pub fn member<'h>(header: &'h [(String, Vec<u8>)], name: &str) -> Option<&'h [u8]> {
    let found = header.iter().find(|(known, _)| known == name);
    found.map(|(_, raw)| raw.as_slice())
}

/// Members in order, with an index by name.
#[derive(Default)]
struct HeaderMembers {
    /// `None` where a member was unset.
    all: Vec<Option<(String, Vec<u8>)>>,
    places: HashMap<String, usize>,
}

impl HeaderMembers {
    fn set(&mut self, name: Cow<'_, str>, value: &[u8]) {
        let member = Some((name.to_string(), value.to_vec()));
        match self.places.get(name.as_ref()) {
            Some(place) => self.all[*place] = member,
            None => {
                self.places.insert(name.into_owned(), self.all.len());
                self.all.push(member);
            }
        }
    }

    fn unset(&mut self, name: &str) {
        if let Some(place) = self.places.remove(name) {
            self.all[place] = None;
        }
    }
}

/// Name and raw value of each header member, in order, after these events.
pub(super) fn of<'r>(line: &[u8], events: impl Iterator<Item = Record<'r>>) -> Vec<(String, Vec<u8>)> {
    let mut header = HeaderMembers::default();
    for (name, value) in json::members(line, Dialect::Strict).unwrap_or_default() {
        header.set(name, value);
    }
    for record in events {
        let Some(Action::Meta(meta)) = record.event().map(Event::action) else {
            continue;
        };
        let changes = |name: &str| !Meta::FIXED.contains(&name);
        let set = meta.set.and_then(|raw| json::members(raw, Dialect::Strict));
        for (name, value) in set.unwrap_or_default() {
            if changes(&name) {
                header.set(name, value);
            }
        }
        for name in meta.unset.iter().filter(|name| changes(name)) {
            header.unset(name);
        }
    }
    header.all.into_iter().flatten().collect()
}
