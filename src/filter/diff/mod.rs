//! Compares two sessions message by message.

mod align;
mod earlier;
mod entry;
mod pair;
#[cfg(test)]
mod tests;

pub use earlier::{before, event, event_id};
pub use entry::{DiffEntry, FIELDS, SUMMARY};

use crate::model::session::Session;
use crate::model::view::View;
use std::collections::BTreeMap;

/// The difference of one message, by its indexes in the two lists of a [`SessionDiff`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffStep {
    /// Equal on both sides.
    Equal(usize, usize),
    /// Same place, but the named [`FIELDS`] differ.
    Changed(usize, usize, Vec<&'static str>),
    /// Moved; with the names of fields that differ as well.
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
    pub a: Vec<DiffEntry<'v>>,
    /// The messages of the second side.
    pub b: Vec<DiffEntry<'v>>,
    /// Every message of both sides once, in the order of the second side; dropped ones at their old places.
    pub steps: Vec<DiffStep>,
    /// Header members that differ between two states of one session.
    pub members: Vec<String>,
}

/// Counts per kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffTotals {
    /// Equal messages.
    pub equal: u64,
    /// Messages changed in place.
    pub changed: u64,
    /// Moved messages.
    pub moved: u64,
    /// Messages only on the first side.
    pub dropped: u64,
    /// Messages only on the second side.
    pub added: u64,
}

impl<'v> SessionDiff<'v> {
    /// Compares two sessions through these views.
    pub fn of(a: (&'v Session, &'v View), b: (&'v Session, &'v View)) -> SessionDiff<'v> {
        let entries = [DiffEntry::all(a.0, a.1), DiffEntry::all(b.0, b.1)];
        let steps = steps(&entries[0], &entries[1]);
        let members = members(a.0, b.0);
        let [a, b] = entries;
        SessionDiff { a, b, steps, members }
    }

    /// Counts the differences by kind.
    pub fn totals(&self) -> DiffTotals {
        let mut totals = DiffTotals::default();
        for step in &self.steps {
            match step {
                DiffStep::Equal(..) => totals.equal += 1,
                DiffStep::Changed(..) => totals.changed += 1,
                DiffStep::Moved(..) => totals.moved += 1,
                DiffStep::Dropped(_) => totals.dropped += 1,
                DiffStep::Added(_) => totals.added += 1,
            }
        }
        totals
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.totals().equal == self.steps.len() as u64
    }
}

fn steps(a: &[DiffEntry<'_>], b: &[DiffEntry<'_>]) -> Vec<DiffStep> {
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
        steps.extend(
            (next_a..at_a)
                .filter(|at| !from.contains(at))
                .map(DiffStep::Dropped),
        );
        steps.extend((next_b..at_b).map(|at| match to.get(&at) {
            Some(was) => DiffStep::Moved(*was, at, fields(*was, at)),
            None => DiffStep::Added(at),
        }));
        if at_a < a.len() && at_b < b.len() {
            let fields = fields(at_a, at_b);
            steps.push(match fields.is_empty() {
                true => DiffStep::Equal(at_a, at_b),
                false => DiffStep::Changed(at_a, at_b, fields),
            });
        }
        (next_a, next_b) = (at_a + 1, at_b + 1);
    }
    steps
}

/// Header members that differ between sessions with the same id. The origin of a copy is not compared.
fn members(a: &Session, b: &Session) -> Vec<String> {
    let id = |session: &Session| session.header_text("id");
    if id(a).is_none() || id(a) != id(b) {
        return Vec::new();
    }
    let [a, b] = [a, b].map(|session| {
        session
            .header()
            .iter()
            .map(|(name, raw)| (name, raw))
            .collect::<BTreeMap<_, _>>()
    });
    let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
    names
        .filter(|name| !["type", "version", "source"].contains(&name.as_str()))
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| name.to_string())
        .collect()
}
