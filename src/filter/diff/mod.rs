//! What differs between two sessions, message by message.

mod align;
mod earlier;
mod entry;
mod pair;
#[cfg(test)]
mod tests;

pub use earlier::{before, event, event_id};
pub use entry::{Entry, FIELDS, SUMMARY};

use crate::model::session::Session;
use crate::model::view::View;
use std::collections::BTreeMap;

/// What became of a message, by its places in the two lists of a [`SessionDiff`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Equal on both sides.
    Equal(usize, usize),
    /// Its [`FIELDS`] of these names differ.
    Changed(usize, usize, Vec<&'static str>),
    /// It is elsewhere; the names of fields that differ as well.
    Moved(usize, usize, Vec<&'static str>),
    /// Only the first side has it.
    Dropped(usize),
    /// Only the second side has it.
    Added(usize),
}

/// The difference of two sessions.
#[derive(Debug)]
pub struct SessionDiff<'v> {
    /// The messages of the first side.
    pub a: Vec<Entry<'v>>,
    /// The messages of the second side.
    pub b: Vec<Entry<'v>>,
    /// Every message of both sides once: those of the second side in their order, dropped ones where they were.
    pub steps: Vec<Step>,
    /// Members of the header that differ between two states of one session.
    pub members: Vec<String>,
}

/// How many messages were equal, changed, ...
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Equal ones.
    pub equal: u64,
    /// Changed ones, at their place.
    pub changed: u64,
    /// Those elsewhere.
    pub moved: u64,
    /// Those of the first side only.
    pub dropped: u64,
    /// Those of the second side only.
    pub added: u64,
}

impl<'v> SessionDiff<'v> {
    /// Compares two sessions by these views of them.
    pub fn of(a: (&'v Session, &'v View), b: (&'v Session, &'v View)) -> SessionDiff<'v> {
        let entries = [Entry::all(a.0, a.1), Entry::all(b.0, b.1)];
        let steps = steps(&entries[0], &entries[1]);
        let members = members(a.0, b.0);
        let [a, b] = entries;
        SessionDiff { a, b, steps, members }
    }

    /// How many messages became what.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for step in &self.steps {
            match step {
                Step::Equal(..) => totals.equal += 1,
                Step::Changed(..) => totals.changed += 1,
                Step::Moved(..) => totals.moved += 1,
                Step::Dropped(_) => totals.dropped += 1,
                Step::Added(_) => totals.added += 1,
            }
        }
        totals
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.totals().equal == self.steps.len() as u64
    }
}

fn steps(a: &[Entry<'_>], b: &[Entry<'_>]) -> Vec<Step> {
    let pairs = pair::pairs(a, b);
    let fields = |at_a: usize, at_b: usize| -> Vec<&'static str> {
        let differs = |name: &&str| a[at_a].field(name) != b[at_b].field(name);
        FIELDS.into_iter().filter(differs).collect()
    };
    let from: std::collections::HashSet<usize> = pairs.moved.iter().map(|(at, _)| *at).collect();
    let to: std::collections::HashMap<usize, usize> =
        pairs.moved.iter().map(|(at_a, at_b)| (*at_b, *at_a)).collect();
    let mut steps = Vec::with_capacity(a.len().max(b.len()));
    let (mut next_a, mut next_b) = (0, 0);
    for (at_a, at_b) in pairs.in_order.into_iter().chain([(a.len(), b.len())]) {
        steps.extend((next_a..at_a).filter(|at| !from.contains(at)).map(Step::Dropped));
        steps.extend((next_b..at_b).map(|at| match to.get(&at) {
            Some(was) => Step::Moved(*was, at, fields(*was, at)),
            None => Step::Added(at),
        }));
        if at_a < a.len() && at_b < b.len() {
            let fields = fields(at_a, at_b);
            steps.push(match fields.is_empty() {
                true => Step::Equal(at_a, at_b),
                false => Step::Changed(at_a, at_b, fields),
            });
        }
        (next_a, next_b) = (at_a + 1, at_b + 1);
    }
    steps
}

/// Members of the headers that differ, of two sessions of one id. The origin of a copy is not compared.
fn members(a: &Session, b: &Session) -> Vec<String> {
    let id = |session: &Session| session.header_text("id");
    if id(a).is_none() || id(a) != id(b) {
        return Vec::new();
    }
    let [a, b] = [a, b].map(|session| session.header().into_iter().collect::<BTreeMap<_, _>>());
    let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
    names
        .filter(|name| !["type", "version", "source"].contains(&name.as_str()))
        .filter(|name| a.get(*name) != b.get(*name))
        .cloned()
        .collect()
}
