//! An input of a merge, with an index of its sessions and records.

use crate::format::LineKeys;
use crate::model::json;
use crate::model::key::digest;
use crate::model::lineage::{Lineage, SideBranch};
use crate::model::record::{Record, RecordKind};
use crate::model::session::{Class, Session};
use std::collections::{HashMap, HashSet};

/// Identifies a record by id, or by bytes and occurrence number without an id.
pub(super) type RecordKey = [u8; 32];

/// Where to search for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SearchScope {
    Session(usize),
    /// In a session and its branches.
    Family(usize),
}

/// A session of a side.
pub(super) struct SidePart<'s> {
    pub session: &'s Session,
    /// Its id.
    pub name: Option<String>,
    pub lineage: Option<Lineage>,
    /// The number of the session that it is a branch of, or its own; the same on all sides.
    pub family: usize,
    pub keys: Vec<RecordKey>,
    /// Whether each record has an id. A record without an id is only compared within its session.
    has_id: Vec<bool>,
}

impl<'s> SidePart<'s> {
    fn of(session: &'s Session, keyed: Option<LineKeys>) -> SidePart<'s> {
        let lines = || (0..session.len()).map(|index| session.record(index));
        let header = lines().find(|record| record.event().is_some_and(|event| event.is_header()));
        let named = match (&header, keyed) {
            (Some(header), _) => json::member(header.body, "id"),
            (None, Some(keyed)) => lines().find_map(|record| json::member(record.body, keyed.session)),
            (None, None) => None,
        };
        let lineage = header.and_then(|header| Lineage::of_header(header.body));
        let mut seen: HashMap<RecordKey, u64> = HashMap::new();
        let keys = lines().map(|record| {
            let (key, has_id) = key(&record, keyed);
            let nth = seen.entry(key).or_default();
            *nth += 1;
            match *nth {
                1 => (key, has_id),
                nth => (digest([&key[..], &nth.to_be_bytes()]), has_id),
            }
        });
        let (keys, has_id) = keys.unzip();
        SidePart {
            session,
            name: named.and_then(json::text).map(|name| name.into_owned()),
            lineage,
            family: 0,
            keys,
            has_id,
        }
    }

    pub fn is_branch(&self) -> bool {
        self.lineage.as_ref().and_then(Lineage::side_branch) == Some(SideBranch::Branch)
    }

    /// The number of headers at the beginning.
    pub fn start(&self) -> usize {
        let is_header = |index: &usize| self.session.class(*index) == Class::Header;
        (0..self.keys.len()).take_while(is_header).count()
    }
}

/// The key of a record, and whether it is based on an id.
pub(super) fn key(record: &Record<'_>, keyed: Option<LineKeys>) -> (RecordKey, bool) {
    let (kind, id) = match (&record.kind, keyed) {
        (RecordKind::Event(event), _) if event.is_header() => return ([0; 32], false),
        (RecordKind::Message(_) | RecordKind::Event(_), Some(keyed)) => {
            ("id", json::member_text(record.body, keyed.id))
        }
        (RecordKind::Message(message), None) => ("id", message.id()),
        (RecordKind::Event(event), None) => ("event", event.id()),
        _ => ("", None),
    };
    match id {
        Some(id) => (digest([kind.as_bytes(), id.as_bytes()]), true),
        None => (digest([&b"line"[..], record.body]), false),
    }
}

/// An input.
pub(super) struct MergeSide<'s> {
    pub parts: Vec<SidePart<'s>>,
    places: HashMap<(SearchScope, RecordKey), (usize, usize)>,
    /// The sessions of each family.
    families: HashMap<usize, Vec<usize>>,
}

impl<'s> MergeSide<'s> {
    fn of(sessions: &'s [Session], keyed: Option<LineKeys>) -> MergeSide<'s> {
        MergeSide {
            parts: sessions
                .iter()
                .map(|session| SidePart::of(session, keyed))
                .collect(),
            places: HashMap::new(),
            families: HashMap::new(),
        }
    }

    /// For each session, by position, the session that it is a branch of, or itself.
    fn roots(&self) -> Vec<usize> {
        let named = |name: &str| {
            let mut parts = self.parts.iter();
            parts.position(|part| part.name.as_deref() == Some(name))
        };
        let root = |of: usize| {
            let mut at = of;
            for _ in 0..self.parts.len() {
                let part = &self.parts[at];
                let parent = part
                    .lineage
                    .as_ref()
                    .and_then(|lineage| lineage.parent.as_deref());
                match parent.filter(|_| part.is_branch()).and_then(named) {
                    Some(parent) => at = parent,
                    None => return at,
                }
            }
            of
        };
        (0..self.parts.len()).map(root).collect()
    }

    fn index(&mut self) {
        for (nth, part) in self.parts.iter().enumerate() {
            self.families.entry(part.family).or_default().push(nth);
            for (line, key) in part.keys.iter().enumerate() {
                self.places.insert((SearchScope::Session(nth), *key), (nth, line));
                let family = (SearchScope::Family(part.family), *key);
                if part.has_id[line] {
                    self.places.entry(family).or_insert((nth, line));
                }
            }
        }
    }

    /// The position of a record.
    pub fn place(&self, scope: SearchScope, key: &RecordKey) -> Option<(usize, usize)> {
        self.places.get(&(scope, *key)).copied()
    }

    /// The session that corresponds to a session of another side.
    pub fn counterpart(&self, other: &SidePart<'_>) -> Option<usize> {
        let family = self.families.get(&other.family)?;
        let place = |is_it: &dyn Fn(&SidePart<'_>) -> bool| {
            family.iter().copied().find(|nth| is_it(&self.parts[*nth]))
        };
        let is_root = |part: &SidePart<'_>| {
            part.lineage
                .as_ref()
                .is_none_or(|lineage| lineage.side_branch().is_none())
        };
        let by_name = place(&|part| part.name == other.name);
        by_name.or_else(|| place(&is_root).filter(|_| !other.is_branch()))
    }

    /// Finds a record of another side's session in its counterpart or a branch of that.
    pub fn find(&self, other: &SidePart<'_>, key: &RecordKey) -> Option<(usize, usize)> {
        let own = self.counterpart(other).map(SearchScope::Session);
        let scopes = own.into_iter().chain([SearchScope::Family(other.family)]);
        scopes.into_iter().find_map(|scope| self.place(scope, key))
    }

    /// Whether the scope contains a record.
    pub fn has(&self, scope: SearchScope, key: &RecordKey) -> bool {
        self.places.contains_key(&(scope, *key))
    }

    pub fn record(&self, (nth, line): (usize, usize)) -> Record<'s> {
        self.parts[nth].session.record(line)
    }

    pub fn key(&self, (nth, line): (usize, usize)) -> RecordKey {
        self.parts[nth].keys[line]
    }
}

/// The three inputs, with equal numbers for corresponding sessions.
pub(super) struct Sides<'s> {
    pub base: MergeSide<'s>,
    pub a: MergeSide<'s>,
    pub b: MergeSide<'s>,
}

impl<'s> Sides<'s> {
    /// None when the inputs have nothing in common.
    pub fn of(
        base: &'s [Session],
        a: &'s [Session],
        b: &'s [Session],
        keyed: Option<LineKeys>,
    ) -> Option<Sides<'s>> {
        let [mut base, mut a, mut b] = [base, a, b].map(|sessions| MergeSide::of(sessions, keyed));
        let mut families: HashMap<String, usize> = HashMap::new();
        let mut number = |side: &mut MergeSide<'_>, alias: Option<usize>| {
            let roots = side.roots();
            let alone: HashSet<&usize> = roots.iter().collect();
            let alias = alias.filter(|_| alone.len() == 1);
            let mut unnamed = 0;
            let names: Vec<String> = side
                .parts
                .iter()
                .map(|part| match &part.name {
                    Some(name) => format!("={name}"),
                    None => {
                        unnamed += 1;
                        format!("#{unnamed}")
                    }
                })
                .collect();
            for (nth, root) in roots.iter().enumerate() {
                let next = families.len();
                side.parts[nth].family = match (alias, families.get(&names[*root])) {
                    (Some(alias), None) => *families.entry(names[*root].clone()).or_insert(alias),
                    (_, Some(known)) => *known,
                    (None, None) => *families.entry(names[*root].clone()).or_insert(next),
                };
            }
            alone.len() == 1
        };
        let single = number(&mut a, None);
        a.index();
        // With one session each, a shared record makes them the same session, whatever their ids.
        let shares = |other: &MergeSide<'_>| {
            let mut keys = other.parts.iter().flat_map(|part| &part.keys);
            keys.any(|key| {
                *key != [0; 32] && (0..a.parts.len()).any(|nth| a.has(SearchScope::Session(nth), key))
            })
        };
        let alias = |other: &MergeSide<'_>| (single && shares(other)).then_some(0);
        let of_b = alias(&b);
        number(&mut b, of_b);
        let of_base = alias(&base);
        number(&mut base, of_base);
        let in_a: HashSet<usize> = a.parts.iter().map(|part| part.family).collect();
        let is_related = b.parts.iter().any(|part| in_a.contains(&part.family));
        b.index();
        base.index();
        let is_empty = a.parts.is_empty() || b.parts.is_empty();
        (is_related || is_empty).then_some(Sides { base, a, b })
    }
}
