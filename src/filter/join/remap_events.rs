//! Rewrites the events of a joined session: the messages that they name may have another id there, or be left out.

use crate::model::event::{Action, Event, MessageRange, MessageTarget};
use crate::model::json::{self, Dialect, quoted};
use crate::model::replay::Sweep;
use crate::model::session::Session;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// How a message is joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JoinChange {
    /// Kept, perhaps with a new id.
    Kept(Option<String>),
    /// Left out as a copy of the message with this id.
    Copy(String),
    /// Left out without a replacement.
    Removed,
}

/// The change of each message of a session, by line.
pub(super) struct JoinChanges(Vec<Option<JoinChange>>);

impl JoinChanges {
    pub fn new(lines: usize) -> JoinChanges {
        JoinChanges(vec![None; lines])
    }

    pub fn insert(&mut self, line: usize, change: JoinChange) {
        self.0[line] = Some(change);
    }

    pub fn get(&self, line: usize) -> Option<&JoinChange> {
        self.0[line].as_ref()
    }

    pub fn iter(&self) -> impl Iterator<Item = &JoinChange> {
        self.0.iter().flatten()
    }
}

/// The messages of a session by id.
pub(super) struct MessageIds<'s> {
    changes: &'s JoinChanges,
    places: HashMap<String, Vec<usize>>,
    /// The id of each message, and its position among messages with that id.
    ids: HashMap<usize, (String, u64)>,
    /// Ids of messages that events insert; they have no line of their own.
    inserted: HashSet<String>,
    /// The number of left-out lines before each line.
    left_out: Vec<usize>,
    /// For each line the nearest kept message, at or after it and at or before it.
    kept_from: Vec<Option<usize>>,
    kept_until: Vec<Option<usize>>,
}

impl<'s> MessageIds<'s> {
    pub fn of(session: &'s Session, changes: &'s JoinChanges) -> MessageIds<'s> {
        let mut names = MessageIds {
            changes,
            places: HashMap::new(),
            ids: HashMap::new(),
            inserted: HashSet::new(),
            left_out: vec![0],
            kept_from: vec![None; session.len() + 1],
            kept_until: Vec::new(),
        };
        for (index, _) in session.messages() {
            if let Some(id) = session.record(index).message().and_then(|message| message.id()) {
                let places = names.places.entry(id.to_string()).or_default();
                places.push(index);
                names.ids.insert(index, (id.into_owned(), places.len() as u64));
            }
        }
        for (index, id) in session.derived_ids() {
            names.places.entry(id.clone()).or_insert_with(|| vec![index]);
            names.ids.insert(index, (id, 1));
        }
        for index in session.live_events() {
            if let Some(Action::Compact(compact)) = session.record(index).event().map(Event::action) {
                let ids = compact
                    .insert
                    .iter()
                    .filter_map(|insert| json::member(insert.message, "id"));
                names
                    .inserted
                    .extend(ids.filter_map(json::text).map(|id| id.into_owned()));
            }
        }
        for index in 0..session.len() {
            let left_out = matches!(
                changes.get(index),
                Some(JoinChange::Copy(_) | JoinChange::Removed)
            );
            names.left_out.push(names.left_out[index] + usize::from(left_out));
            let kept = matches!(changes.get(index), Some(JoinChange::Kept(_))).then_some(index);
            let before = names.kept_until.last().copied().flatten();
            names.kept_until.push(kept.or(before));
        }
        for index in (0..session.len()).rev() {
            let kept = matches!(changes.get(index), Some(JoinChange::Kept(_))).then_some(index);
            names.kept_from[index] = kept.or(names.kept_from[index + 1]);
        }
        names
    }

    fn line(&self, event: usize, id: &str, nth: Option<u64>) -> Option<usize> {
        let nth = usize::try_from(nth.unwrap_or(1).checked_sub(1)?).ok()?;
        self.places
            .get(id)?
            .get(nth)
            .copied()
            .filter(|line| *line < event)
    }

    /// The id of a message in the joined session; none if it has no counterpart.
    fn target(&self, event: usize, id: &str, nth: Option<u64>) -> Option<(String, Option<u64>)> {
        let Some(line) = self.line(event, id, nth) else {
            return self.inserted.contains(id).then(|| (id.to_string(), nth));
        };
        self.named(line, id, nth)
    }

    fn named(&self, line: usize, id: &str, nth: Option<u64>) -> Option<(String, Option<u64>)> {
        match self.changes.get(line)? {
            JoinChange::Kept(None) => Some((id.to_string(), nth)),
            JoinChange::Kept(Some(other)) => Some((other.clone(), nth)),
            JoinChange::Copy(original) => Some((original.clone(), None)),
            JoinChange::Removed => None,
        }
    }

    /// Like `target`, or else the first kept message after it.
    fn from(&self, event: usize, target: &MessageTarget<'_>) -> Option<(String, Option<u64>)> {
        let found = self.target(event, &target.id, target.nth);
        found.or_else(|| {
            let line = self.line(event, &target.id, target.nth)?;
            let (id, nth) = self.new_id(self.kept_from[line + 1].filter(|line| *line < event)?)?;
            Some((id, Some(nth).filter(|nth| *nth > 1)))
        })
    }

    /// The new id of a kept message, and its position among messages with that id.
    fn new_id(&self, line: usize) -> Option<(String, u64)> {
        let (id, nth) = self.ids.get(&line)?;
        match self.changes.get(line)? {
            JoinChange::Kept(Some(other)) => Some((other.clone(), *nth)),
            JoinChange::Kept(None) => Some((id.clone(), *nth)),
            _ => None,
        }
    }

    /// The lines between two messages; none when one of them is missing.
    fn between(
        &self,
        event: usize,
        ends: &[impl AsRef<str>; 2],
        nth: [u64; 2],
    ) -> Option<RangeInclusive<usize>> {
        let first = self.line(event, ends[0].as_ref(), Some(nth[0]))?;
        Some(first..=self.line(event, ends[1].as_ref(), Some(nth[1]))?)
    }

    /// Translates a range of a `drop`: the range itself, or one by one the kept messages and the originals of copies.
    /// `named` holds the lines that the event already names.
    fn dropped(&self, event: usize, ends: &[impl AsRef<str>; 2], named: &mut Sweep) -> Vec<Vec<u8>> {
        let Some(lines) = self.between(event, ends, [1, 1]) else {
            return Vec::new();
        };
        let (start, end) = (*lines.start(), *lines.end() + 1);
        if start >= end || self.left_out[start] == self.left_out[end] {
            let named = [*lines.start(), *lines.end()].map(|line| self.new_id(line));
            return match named {
                [Some((first, _)), Some((last, _))] => vec![pair(&[first, last])],
                _ => Vec::new(),
            };
        }
        let one = |line: usize| match self.changes.get(line)? {
            JoinChange::Copy(original) => Some(single(original, None)),
            _ => self
                .new_id(line)
                .map(|(id, nth)| single(&id, Some(nth).filter(|nth| *nth > 1))),
        };
        let mut elements = Vec::new();
        named.over(start..end, self.left_out.len() - 1, |line| {
            elements.extend(one(line))
        });
        elements
    }

    /// Rewrites an event for the joined session; none when it has no effect there.
    pub fn rewritten(&self, index: usize, event: &Event<'_>) -> Option<Vec<u8>> {
        match event.action() {
            Action::Truncate(cut) => {
                let Some(before) = cut.before else {
                    return Some(event.raw.to_vec());
                };
                let target = MessageTarget {
                    id: before,
                    nth: cut.nth,
                };
                self.line(index, &target.id, target.nth)?;
                let (id, nth) = self.from(index, &target).unzip();
                let before = id.map_or(b"null".to_vec(), |id| quoted(&id));
                let nth = nth.flatten().map(|nth| nth.to_string().into_bytes());
                changed(event.raw, &[("before", Some(&before)), ("nth", nth.as_deref())])
            }
            Action::Summary(summary) => {
                let Some(covers) = &summary.covers else {
                    return Some(event.raw.to_vec());
                };
                // References to earlier sessions are unchanged: the messages were copies.
                let lines = self.between(index, covers, summary.nth);
                let own = lines.and_then(|lines| {
                    let first = self.kept_from[*lines.start()].filter(|line| lines.contains(line))?;
                    let last = self.kept_until[*lines.end()].filter(|line| lines.contains(line))?;
                    Some((self.new_id(first)?, self.new_id(last)?))
                });
                let Some(((first, one), (last, other))) = own else {
                    let removed = [("covers", None), ("nth", None), ("here", Some(&b"true"[..]))];
                    return changed(event.raw, &removed);
                };
                let nth = format!("[{one},{other}]");
                let nth = (one > 1 || other > 1).then_some(nth.as_bytes());
                changed(
                    event.raw,
                    &[("covers", Some(&pair(&[first, last]))), ("nth", nth)],
                )
            }
            Action::Compact(_) => self.compact(index, event.raw),
            _ => Some(event.raw.to_vec()),
        }
    }

    fn compact(&self, index: usize, raw: &[u8]) -> Option<Vec<u8>> {
        let list =
            |name: &str| json::member(raw, name).and_then(|list| json::elements(list, Dialect::Strict));
        let (mut drop, mut named) = (Vec::new(), Sweep::default());
        for span in list("drop").unwrap_or_default() {
            match MessageRange::read(span)? {
                MessageRange::One(target) => {
                    let name = self.target(index, &target.id, target.nth);
                    drop.extend(name.map(|(id, nth)| single(&id, nth)));
                }
                MessageRange::Range(ends) => drop.extend(self.dropped(index, &ends, &mut named)),
            }
        }
        let moved = |element: &[u8], name: &str| -> Option<Vec<u8>> {
            let text = json::member_text(element, name)?;
            let nth = json::member(element, "nth").and_then(json::number);
            let target = MessageTarget { id: text, nth };
            let (id, nth) = match name {
                "id" => self.target(index, &target.id, target.nth)?,
                _ => self.from(index, &target)?,
            };
            let nth = nth.map(|nth| nth.to_string().into_bytes());
            changed(element, &[(name, Some(&quoted(&id))), ("nth", nth.as_deref())])
        };
        let edit: Vec<Vec<u8>> = list("edit")
            .unwrap_or_default()
            .into_iter()
            .filter_map(|edit| moved(edit, "id"))
            .collect();
        let placed = |element: &[u8]| moved(element, "before").unwrap_or_else(|| element.to_vec());
        let insert: Vec<Vec<u8>> = list("insert")
            .unwrap_or_default()
            .into_iter()
            .map(placed)
            .collect();
        let summary = json::member(raw, "summary").map(placed);
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        for (name, elements) in [("drop", drop), ("edit", edit), ("insert", insert)] {
            if json::member(raw, name).is_some() {
                changes.push((
                    name,
                    Some([b"[", elements.join(&b","[..]).as_slice(), b"]"].concat()),
                ));
            }
        }
        changes.extend(summary.map(|summary| ("summary", Some(summary))));
        let changes: Vec<(&str, Option<&[u8]>)> = changes
            .iter()
            .map(|(name, raw)| (*name, raw.as_deref()))
            .collect();
        changed(raw, &changes)
    }
}

fn changed(raw: &[u8], changes: &[(&str, Option<&[u8]>)]) -> Option<Vec<u8>> {
    json::with_members(raw, changes).ok()
}

fn single(id: &str, nth: Option<u64>) -> Vec<u8> {
    let id = quoted(id);
    match nth {
        Some(nth) => [b"[", id.as_slice(), b",", nth.to_string().as_bytes(), b"]"].concat(),
        None => id,
    }
}

fn pair(ids: &[String; 2]) -> Vec<u8> {
    [
        b"[",
        quoted(&ids[0]).as_slice(),
        b",",
        quoted(&ids[1]).as_slice(),
        b"]",
    ]
    .concat()
}
