//! Combines several edits of one message, so that the message is encoded once.

use crate::model::event::MessageEdit;
use crate::model::json::{self, quoted};
use std::borrow::Cow;
use std::collections::HashMap;

/// A member and its new value; `None` if it is unset.
type RecordChange<'a> = (Cow<'a, str>, Option<Cow<'a, [u8]>>);

/// Member changes of one message: the last value of each member; `None` if it is removed.
#[derive(Debug, Default)]
pub struct MemberChanges<'a> {
    members: Vec<RecordChange<'a>>,
    places: HashMap<Cow<'a, str>, usize>,
    /// Whether the message has an id; unknown before the first edit.
    has_id: Option<bool>,
}

impl<'a> MemberChanges<'a> {
    pub fn add(&mut self, edit: MessageEdit<'a>, message: &[u8]) {
        let has_id = *self
            .has_id
            .get_or_insert_with(|| json::member(message, "id").is_some());
        let is_set = |name: &str| edit.set.iter().any(|(set, _)| set == name);
        let unset: Vec<_> = edit.unset.into_iter().filter(|name| !is_set(name)).collect();
        let is_empty = edit.set.is_empty() && unset.is_empty();
        // A token count applies to the old content only.
        let tokens = !is_empty && !is_set("tokens") && !unset.iter().any(|name| name == "tokens");
        self.has_id = Some(!unset.iter().any(|name| name == "id") || !has_id);
        for (name, value) in edit.set {
            self.change(name, Some(Cow::Borrowed(value)));
        }
        for name in unset {
            self.change(name, None);
        }
        if tokens {
            self.change(Cow::Borrowed("tokens"), None);
        }
        // Store the derived id in the message: it was derived from the old line, and later events refer to it.
        if !has_id {
            let id = quoted(&edit.of.id);
            self.change(Cow::Borrowed("id"), Some(Cow::Owned(id)));
        }
    }

    fn change(&mut self, name: Cow<'a, str>, value: Option<Cow<'a, [u8]>>) {
        match self.places.get(&name) {
            Some(place) => self.members[*place].1 = value,
            None => {
                self.places.insert(name.clone(), self.members.len());
                self.members.push((name, value));
            }
        }
    }

    /// The value of a member after the edits.
    pub fn member<'m>(&'m self, message: &'m [u8], name: &str) -> Option<&'m [u8]> {
        match self.places.get(name) {
            Some(place) => self.members[*place].1.as_deref(),
            None => json::member(message, name),
        }
    }

    /// The message after the edits; `None` if there are none, or if it is not an object.
    pub fn apply(&self, message: &[u8]) -> Option<Vec<u8>> {
        if self.members.is_empty() {
            return None;
        }
        let changes: Vec<(&str, Option<&[u8]>)> = self
            .members
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_deref()))
            .collect();
        json::with_members(message, &changes).ok()
    }
}
