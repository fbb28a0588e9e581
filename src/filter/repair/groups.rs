//! Groups the items of a view with the request elements that they produced. An element may hold several items, an
//! item may span several elements, and some elements are read together. Unchanged groups are skipped.

use super::align::{OriginalMessage, RepairGroup, RepairedMessage};
use super::call_ids::CallIdMap;
use crate::check::{Api, Fixed};
use crate::format::request::{self, ProviderRequest};
use crate::model::json;
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::VecDeque;

/// A disjoint-set forest.
struct DisjointSets {
    parents: Vec<usize>,
}

impl DisjointSets {
    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, items: impl IntoIterator<Item = usize>) {
        let mut items = items.into_iter();
        let Some(first) = items.next() else { return };
        let first = self.root(first);
        for item in items {
            let other = self.root(item);
            self.parents[other] = first;
        }
    }
}

/// The groups that a repair changed, in the order of the elements.
pub(super) fn of(
    api: Api,
    (session, view): (&Session, &View),
    request: &ProviderRequest,
    fixed: &Fixed,
) -> Vec<RepairGroup> {
    let items = view.items.len();
    let raws: Vec<&[u8]> = request
        .elements
        .iter()
        .map(|element| element.raw.as_slice())
        .collect();
    let before = request::read(api, &raws);
    let raws: Vec<&[u8]> = fixed
        .elements
        .iter()
        .map(|element| element.raw.as_slice())
        .collect();
    let after = request::read(api, &raws);
    let names = CallIdMap::of(api, (session, view), request, fixed, (&before, &after));
    let items_before = |unit: &request::RequestUnit| -> Vec<usize> {
        let elements = &request.elements[unit.elements.clone()];
        elements
            .iter()
            .flat_map(|element| element.items.iter().copied())
            .collect()
    };
    let items_after = |unit: &request::RequestUnit| -> Vec<usize> {
        let elements = fixed.elements[unit.elements.clone()].iter();
        let from = elements.flat_map(|element| element.from.iter());
        from.flat_map(|from| request.elements[*from].items.iter().copied())
            .collect()
    };
    let mut joined = DisjointSets {
        parents: (0..items).collect(),
    };
    for unit in &before {
        joined.join(items_before(unit));
    }
    for unit in &after {
        joined.join(items_after(unit));
    }
    for range in moved(fixed) {
        let elements = &request.elements[range];
        joined.join(elements.iter().flat_map(|element| element.items.iter().copied()));
    }
    let mut groups: Vec<RepairGroup> = Vec::new();
    // The group of each set.
    let mut places: Vec<Option<usize>> = vec![None; items];
    let mut listed = vec![false; items];
    for unit in &before {
        let own = items_before(unit);
        let Some(first) = own.first() else { continue };
        let root = joined.root(*first);
        let at = *places[root].get_or_insert_with(|| {
            groups.push(RepairGroup::default());
            groups.len() - 1
        });
        let group = &mut groups[at];
        for item in own {
            if !std::mem::replace(&mut listed[item], true) {
                group.items.push(item);
            }
        }
        let old = unit.records.iter().map(|body| OriginalMessage {
            body: names.native(body.clone()),
        });
        group.old.extend(old);
    }
    for group in &mut groups {
        pair_up(group, (session, view));
    }
    dropped(request, fixed, &mut joined, &places, &mut groups);
    let mut new: Vec<RepairGroup> = Vec::new();
    let mut last = None;
    for unit in &after {
        let elements = &fixed.elements[unit.elements.clone()];
        let own = items_after(unit);
        let group = match own.first() {
            Some(first) => {
                let root = joined.root(*first);
                // Every item that produced an element is in a group.
                let Some(at) = places[root] else { continue };
                last = groups[at].items.iter().copied().max();
                &mut groups[at]
            }
            None => {
                new.push(RepairGroup {
                    place: last.map(|item| item + 1),
                    changed: true,
                    ..RepairGroup::default()
                });
                let at = new.len() - 1;
                &mut new[at]
            }
        };
        group.changed |= elements.iter().any(|element| element.changed);
        let mut built: Vec<RepairedMessage> = unit
            .records
            .iter()
            .map(|body| RepairedMessage::from(names.restore_call_ids(body.clone())))
            .collect();
        if let Some(first) = built.first_mut() {
            first.id = elements.iter().find_map(|element| element.id.clone());
        }
        let calling = built.iter().position(RepairedMessage::calls).unwrap_or_default();
        if let Some(built) = built.get_mut(calling) {
            built.notes = elements
                .iter()
                .flat_map(|element| element.notes.iter().cloned())
                .collect();
        }
        group.new.extend(built);
    }
    groups
        .into_iter()
        .chain(new)
        .filter(|group| group.changed)
        .collect()
}

/// Ranges of the original elements within which a repair changed the order.
fn moved(fixed: &Fixed) -> Vec<std::ops::Range<usize>> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    let mut last = 0;
    for from in fixed
        .elements
        .iter()
        .flat_map(|element| element.from.iter().copied())
    {
        if from < last {
            // Overlapping ranges are merged.
            let mut start = from;
            while let Some(before) = ranges.pop_if(|before| before.end > start) {
                start = start.min(before.start);
            }
            ranges.push(start..last + 1);
        }
        last = last.max(from);
    }
    ranges
}

/// Sorts the items like their messages: an element may have results first that came later.
fn pair_up(group: &mut RepairGroup, (session, view): (&Session, &View)) {
    if group.old.len() != group.items.len() {
        return;
    }
    let is_result = |item: &usize| {
        let traits = view.items[*item].traits(session);
        traits.is_some_and(|traits| traits.role == Role::Tool)
    };
    let (mut results, mut others): (VecDeque<usize>, VecDeque<usize>) =
        group.items.iter().partition(|item| is_result(item));
    let next = |old: &OriginalMessage| match json::member(&old.body, "role") {
        Some(b"\"tool\"") => results.pop_front(),
        _ => others.pop_front(),
    };
    match group.old.iter().map(next).collect::<Option<Vec<usize>>>() {
        Some(items) => group.items = items,
        None => group.old.clear(),
    }
}

/// Marks groups with dropped elements as changed.
fn dropped(
    request: &ProviderRequest,
    fixed: &Fixed,
    joined: &mut DisjointSets,
    places: &[Option<usize>],
    groups: &mut [RepairGroup],
) {
    let mut stays = vec![false; request.elements.len()];
    for element in &fixed.elements {
        for from in &element.from {
            stays[*from] = true;
        }
    }
    for (element, _) in request.elements.iter().zip(stays).filter(|(_, stays)| !stays) {
        for item in &element.items {
            let root = joined.root(*item);
            if let Some(at) = places[root] {
                groups[at].changed = true;
            }
        }
    }
}
