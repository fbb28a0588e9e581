//! Generates ids for new elements.

use crate::model::json::{self, quoted};
use crate::model::key;
use std::collections::{HashMap, HashSet};

/// Assigns unique ids to new elements.
#[derive(Default)]
pub struct NewIds {
    given: HashSet<String>,
    /// The next attempt by first attempt, so that equal messages do not repeat attempts.
    next: HashMap<String, u64>,
}

impl NewIds {
    /// The id of a message if it is unique, else a new UUID.
    pub fn id(&mut self, body: &[u8]) -> Vec<u8> {
        let own = json::member_text(body, "id");
        let own = own.filter(|id| !id.is_empty() && self.given.insert(id.to_string()));
        if let Some(own) = own {
            return quoted(&own);
        }
        let attempt = |nth: u64| key::uuid(&[format!("{nth}\n").as_bytes(), body].concat());
        let next = self.next.entry(attempt(0)).or_default();
        let mut attempts = (*next..).map(|nth| {
            *next = nth + 1;
            attempt(nth)
        });
        let id = attempts.find(|id| self.given.insert(id.clone()));
        quoted(&id.unwrap_or_default())
    }
}

impl FromIterator<String> for NewIds {
    /// With ids that are already assigned.
    fn from_iter<I: IntoIterator<Item = String>>(ids: I) -> NewIds {
        NewIds {
            given: ids.into_iter().collect(),
            next: HashMap::new(),
        }
    }
}
