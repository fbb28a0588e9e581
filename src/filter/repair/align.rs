//! Lays what a group of messages is read as now beside what it was read as before: equal readings keep their message,
//! and what stands in the place of another becomes an edit of it.

use crate::model::json;
use std::collections::{HashMap, VecDeque};

/// What elements were read as before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Old {
    /// The body.
    pub(super) body: Vec<u8>,
}

/// How far a message that takes another's place is looked for.
const NEAR: usize = 64;

/// What they are read as now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// The body.
    pub(super) body: Vec<u8>,
    /// The id that it gets when it is new.
    pub(super) id: Option<String>,
    /// What is kept beside it.
    pub(super) notes: Vec<(String, String)>,
}

impl Made {
    /// Whether it calls tools.
    pub(super) fn calls(&self) -> bool {
        json::member(&self.body, "tool_calls").is_some()
    }
}

impl From<Vec<u8>> for Made {
    fn from(body: Vec<u8>) -> Made {
        Made {
            body,
            id: None,
            notes: Vec::new(),
        }
    }
}

/// Items that are written together, and what becomes of them.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// The items, in the order of their readings.
    pub(super) items: Vec<usize>,
    /// What the elements were read as, when there is one reading for each item.
    pub(super) old: Vec<Old>,
    /// What they are read as now.
    pub(super) new: Vec<Made>,
    /// Where a message without items of its own goes: behind this place.
    pub(super) place: Option<usize>,
    /// Whether a repair touched it.
    pub(super) changed: bool,
}

/// One thing to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An item goes.
    Goes(usize),
    /// An item becomes another message: what it was read as, and what it is read as now.
    Becomes(usize, Vec<u8>, Made),
    /// A message is put in before this item; none: where the history begins.
    New(Option<usize>, Made),
}

/// What makes the new readings of the old ones.
pub(super) fn steps(group: Group) -> Vec<Step> {
    let Group {
        items,
        old,
        new,
        place,
        ..
    } = group;
    // Without a reading for each item there is nothing to lay beside each other.
    if old.len() != items.len() {
        let place = items.iter().map(|item| item + 1).max().or(place);
        let gone = items.into_iter().map(Step::Goes);
        return gone
            .chain(new.into_iter().map(|made| Step::New(place, made)))
            .collect();
    }
    let mut steps = Vec::new();
    let mut next = 0;
    let mut gap: Vec<Made> = Vec::new();
    let matches = matches(&old, &new);
    for (made, found) in new.into_iter().zip(matches) {
        let Some(found) = found else {
            gap.push(made);
            continue;
        };
        fill(
            &items,
            &old,
            next..found,
            std::mem::take(&mut gap),
            place,
            &mut steps,
        );
        if !made.notes.is_empty() {
            steps.push(Step::Becomes(items[found], old[found].body.clone(), made));
        }
        next = found + 1;
    }
    fill(&items, &old, next..old.len(), gap, place, &mut steps);
    steps
}

/// For each new reading the old one that is equal, both in order.
fn matches(old: &[Old], new: &[Made]) -> Vec<Option<usize>> {
    let mut known: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
    for (at, old) in old.iter().enumerate() {
        known.entry(&old.body).or_default().push_back(at);
    }
    let mut least = 0;
    new.iter()
        .map(|made| {
            let places = known.get_mut(made.body.as_slice())?;
            while places.front().is_some_and(|at| *at < least) {
                places.pop_front();
            }
            let found = places.pop_front()?;
            least = found + 1;
            Some(found)
        })
        .collect()
}

/// Between two equal readings: what has the role of an old one takes its place, the rest goes or is new.
fn fill(
    items: &[usize],
    old: &[Old],
    range: std::ops::Range<usize>,
    gap: Vec<Made>,
    place: Option<usize>,
    steps: &mut Vec<Step>,
) {
    let role = |body: &[u8]| json::member(body, "role").map(<[u8]>::to_vec);
    let mut rest = range.clone();
    // In front of everything a group holds when it stands there, else behind what came last.
    let mut before = range
        .start
        .checked_sub(1)
        .map(|at| items[at] + 1)
        .or_else(|| items.first().copied())
        .or(place);
    let alone = gap.len() == range.len();
    for made in gap {
        let own = role(&made.body);
        // A result and a message of another role are never one and the same.
        let fits = |at: &usize| {
            let other = role(&old[*at].body);
            let result = [&own, &other].contains(&&Some(b"\"tool\"".to_vec()));
            other == own || alone && !result
        };
        match rest.clone().take(NEAR).find(fits) {
            Some(at) => {
                steps.extend((rest.start..at).map(|gone| Step::Goes(items[gone])));
                steps.push(Step::Becomes(items[at], old[at].body.clone(), made));
                before = Some(items[at] + 1);
                rest = at + 1..range.end;
            }
            None => steps.push(Step::New(before, made)),
        }
    }
    steps.extend(rest.map(|gone| Step::Goes(items[gone])));
}
