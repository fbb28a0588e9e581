//! Aligns the messages read from a group of elements before and after a repair: equal ones keep their message, a
//! replacement becomes an edit.

use crate::model::json;
use std::collections::{HashMap, VecDeque};

/// A message read from the original elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OriginalMessage {
    pub(super) body: Vec<u8>,
}

/// Search distance for a message that replaces another.
const NEAR: usize = 64;

/// A message read from the repaired elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RepairedMessage {
    pub(super) body: Vec<u8>,
    /// The id for a new message.
    pub(super) id: Option<String>,
    /// Data preserved in its metadata.
    pub(super) notes: Vec<(String, String)>,
}

impl RepairedMessage {
    /// Whether it calls tools.
    pub(super) fn calls(&self) -> bool {
        json::member(&self.body, "tool_calls").is_some()
    }
}

impl From<Vec<u8>> for RepairedMessage {
    fn from(body: Vec<u8>) -> RepairedMessage {
        RepairedMessage {
            body,
            id: None,
            notes: Vec::new(),
        }
    }
}

/// Items that are encoded together, and their repair.
#[derive(Debug, Default)]
pub(super) struct RepairGroup {
    /// The items, in the order of their messages.
    pub(super) items: Vec<usize>,
    /// The original messages, if there is one for each item.
    pub(super) old: Vec<OriginalMessage>,
    pub(super) new: Vec<RepairedMessage>,
    /// Insert messages without an item after this place.
    pub(super) place: Option<usize>,
    pub(super) changed: bool,
}

/// A single change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AlignStep {
    /// Drop an item.
    Drop(usize),
    /// Change an item: the original message and the repaired one.
    Replace(usize, Vec<u8>, RepairedMessage),
    /// Insert a message before this item; none: at the beginning of the history.
    Insert(Option<usize>, RepairedMessage),
}

/// Computes the changes from the original to the repaired messages.
pub(super) fn steps(group: RepairGroup) -> Vec<AlignStep> {
    let RepairGroup {
        items,
        old,
        new,
        place,
        ..
    } = group;
    // Without one message per item there is nothing to align.
    if old.len() != items.len() {
        let place = items.iter().map(|item| item + 1).max().or(place);
        let removed = items.into_iter().map(AlignStep::Drop);
        return removed
            .chain(new.into_iter().map(|built| AlignStep::Insert(place, built)))
            .collect();
    }
    let mut steps = Vec::new();
    let mut next = 0;
    let mut gap: Vec<RepairedMessage> = Vec::new();
    let matches = matches(&old, &new);
    for (built, found) in new.into_iter().zip(matches) {
        let Some(found) = found else {
            gap.push(built);
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
        if !built.notes.is_empty() {
            steps.push(AlignStep::Replace(items[found], old[found].body.clone(), built));
        }
        next = found + 1;
    }
    fill(&items, &old, next..old.len(), gap, place, &mut steps);
    steps
}

/// For each repaired message the equal original, both in order.
fn matches(old: &[OriginalMessage], new: &[RepairedMessage]) -> Vec<Option<usize>> {
    let mut known: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
    for (at, old) in old.iter().enumerate() {
        known.entry(&old.body).or_default().push_back(at);
    }
    let mut least = 0;
    new.iter()
        .map(|built| {
            let places = known.get_mut(built.body.as_slice())?;
            while places.front().is_some_and(|at| *at < least) {
                places.pop_front();
            }
            let found = places.pop_front()?;
            least = found + 1;
            Some(found)
        })
        .collect()
}

/// Between two equal messages: a message of the same role replaces the original; the rest is dropped or new.
fn fill(
    items: &[usize],
    old: &[OriginalMessage],
    range: std::ops::Range<usize>,
    gap: Vec<RepairedMessage>,
    place: Option<usize>,
    steps: &mut Vec<AlignStep>,
) {
    let role = |body: &[u8]| json::member(body, "role").map(<[u8]>::to_vec);
    let mut rest = range.clone();
    // Insert before everything that the group contains, else after the previous item.
    let mut before = range
        .start
        .checked_sub(1)
        .map(|at| items[at] + 1)
        .or_else(|| items.first().copied())
        .or(place);
    let alone = gap.len() == range.len();
    for built in gap {
        let own = role(&built.body);
        // A result never replaces a message of another role.
        let fits = |at: &usize| {
            let other = role(&old[*at].body);
            let result = [&own, &other].contains(&&Some(b"\"tool\"".to_vec()));
            other == own || alone && !result
        };
        match rest.clone().take(NEAR).find(fits) {
            Some(at) => {
                steps.extend((rest.start..at).map(|removed| AlignStep::Drop(items[removed])));
                steps.push(AlignStep::Replace(items[at], old[at].body.clone(), built));
                before = Some(items[at] + 1);
                rest = at + 1..range.end;
            }
            None => steps.push(AlignStep::Insert(before, built)),
        }
    }
    steps.extend(rest.map(|removed| AlignStep::Drop(items[removed])));
}
