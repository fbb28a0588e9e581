//! Merges two sides session by session and record by record.

use super::hidden;
use super::merged::{Conflict, LineSource, MergeOptions, Merged, MergedLine};
use super::record::{ChosenVersion, HeaderChange, choose_version, conflict, edit};
use super::side::{self, SearchScope, SidePart, Sides};
use crate::error::{Position, Result};
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::Class;
use crate::model::{json, key};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Derives the id of a branch created by the merge.
pub(super) fn branch_id(parent: Option<&str>, at: Option<&str>, first: &[u8]) -> String {
    let from = format!(
        "{}\n{}\n{}",
        parent.unwrap_or_default(),
        at.unwrap_or_default(),
        String::from_utf8_lossy(first)
    );
    key::id_from("branch_", from)
}

/// A record of the second side that the first one lacks.
pub(super) struct IncomingRecord {
    pub line: usize,
    /// Whether the record was added after the sides diverged.
    pub is_new: bool,
}

/// The destination of a session of the second side.
enum MergeTarget {
    /// Part of this session of the first side.
    Home(usize),
    /// Merged into all sessions that have its records: an earlier merge made it a branch.
    Dissolved,
    /// A new session after the others.
    New,
}

pub(super) struct Merging<'s, 'o> {
    pub sides: Sides<'s>,
    pub options: MergeOptions<'o>,
    pub at: String,
    /// For each session of the first side: the lines to insert before a line number.
    pub placed: Vec<BTreeMap<usize, Vec<MergedLine<'s>>>>,
    /// Lines to append to each session, and branches after it.
    ends: Vec<Vec<MergedLine<'s>>>,
    pub branches: Vec<Vec<Vec<MergedLine<'s>>>>,
    replaced: HashMap<(usize, usize), MergedLine<'s>>,
    omitted: HashSet<(usize, usize)>,
    /// New sessions, after this one of the first side.
    added: Vec<(Option<usize>, Vec<MergedLine<'s>>)>,
    pub merged: Merged<'s>,
}

impl<'s, 'o> Merging<'s, 'o> {
    pub fn new(sides: Sides<'s>, options: &MergeOptions<'o>, at: String) -> Merging<'s, 'o> {
        let count = sides.a.parts.len();
        Merging {
            sides,
            options: *options,
            at,
            placed: vec![BTreeMap::new(); count],
            ends: vec![Vec::new(); count],
            branches: vec![Vec::new(); count],
            replaced: HashMap::new(),
            omitted: HashSet::new(),
            added: Vec::new(),
            merged: Merged::default(),
        }
    }

    /// Merges all sessions.
    pub fn merged(mut self) -> Result<Merged<'s>> {
        let mut after = None;
        for nth in 0..self.sides.b.parts.len() {
            match self.target(nth) {
                MergeTarget::Home(home) => {
                    after = Some(home);
                    self.unite(nth, Some(home))?;
                }
                MergeTarget::Dissolved => self.unite(nth, None)?,
                MergeTarget::New => self.add(nth, after),
            }
        }
        self.deletions();
        Ok(self.assemble())
    }

    fn target(&self, nth: usize) -> MergeTarget {
        let part = &self.sides.b.parts[nth];
        if let Some(home) = self.sides.a.counterpart(part) {
            return MergeTarget::Home(home);
        }
        let lineage = part.lineage.as_ref().filter(|_| part.is_branch());
        let is_message = |line: &usize| matches!(part.session.class(*line), Class::Message(_));
        let first = (0..part.keys.len()).find(is_message);
        let Some((lineage, first)) = lineage.zip(first) else {
            return MergeTarget::New;
        };
        let body = self.sides.b.record((nth, first)).body;
        let id = branch_id(lineage.parent.as_deref(), lineage.at.as_deref(), body);
        let is_known = self
            .sides
            .a
            .has(SearchScope::Family(part.family), &part.keys[first]);
        match is_known && part.name.as_ref() == Some(&id) {
            true => MergeTarget::Dissolved,
            false => MergeTarget::New,
        }
    }

    /// A line of the first side, unchanged.
    pub fn unchanged_line(&self, nth: usize, line: usize) -> MergedLine<'s> {
        part_line(&self.sides.a.parts[nth], line)
    }

    /// A line of the second side, unchanged.
    pub fn line(&self, nth: usize, line: usize) -> MergedLine<'s> {
        let session = self.sides.b.parts[nth].session;
        let (full, body) = (session.full(line), session.record(line).body);
        // A byte order mark belongs to the start of an input.
        let start = if full.starts_with(body) {
            0
        } else {
            full.len().min(3)
        };
        MergedLine {
            bytes: Cow::Borrowed(&full[start..]),
            from: LineSource::B,
        }
    }

    /// Adds a session that only the second side has.
    fn add(&mut self, nth: usize, after: Option<usize>) {
        let part = &self.sides.b.parts[nth];
        let lines = (0..part.keys.len()).map(|line| self.line(nth, line)).collect();
        let records = (0..part.keys.len()).filter(|line| part.session.class(*line) != Class::Blank);
        self.merged.totals.from_b += records.count() as u64;
        self.added.push((after, lines));
    }

    /// Merges each record of a session.
    fn unite(&mut self, nth: usize, home: Option<usize>) -> Result<()> {
        let family = SearchScope::Family(self.sides.b.parts[nth].family);
        let mut at = home.map(|home| (home, self.sides.a.parts[home].start()));
        let mut groups: Vec<((usize, usize), Vec<IncomingRecord>)> = Vec::new();
        for line in 0..self.sides.b.parts[nth].keys.len() {
            let key = self.sides.b.key((nth, line));
            let is_header = self.sides.b.parts[nth].session.class(line) == Class::Header;
            let own = home.and_then(|home| self.sides.a.place(SearchScope::Session(home), &key));
            if is_header && (home.is_none() || own.is_none() && self.options.appends) {
                continue;
            }
            let found = own.or_else(|| self.sides.a.place(family, &key).filter(|_| !is_header));
            if let Some(place) = found {
                self.both(place, (nth, line));
                at = Some((place.0, place.1 + 1));
                continue;
            }
            let before = self.sides.base.find(&self.sides.b.parts[nth], &key);
            let was = before.map(|place| self.sides.base.record(place).body);
            if was == Some(self.sides.b.record((nth, line)).body) {
                match self.options.deletions {
                    true => self.merged.totals.deleted += 1,
                    false => self.merged.totals.kept += 1,
                }
                if self.options.deletions {
                    continue;
                }
            }
            let root = || {
                let parts = &self.sides.a.parts;
                let root = parts
                    .iter()
                    .position(|part| SearchScope::Family(part.family) == family);
                root.map_or((0, 0), |root| (root, parts[root].start()))
            };
            let place = match is_header {
                true => (at.unwrap_or_default().0, 0),
                false => at.unwrap_or_else(root),
            };
            let incoming = IncomingRecord {
                line,
                is_new: was.is_none(),
            };
            match groups.last_mut().filter(|(known, _)| *known == place) {
                Some((_, lines)) => lines.push(incoming),
                None => groups.push((place, vec![incoming])),
            }
        }
        groups
            .into_iter()
            .try_for_each(|(place, lines)| self.place(nth, place, &lines))
    }

    /// Merges a record that both sides have.
    fn both(&mut self, place: (usize, usize), other: (usize, usize)) {
        let (a, b) = (self.sides.a.record(place), self.sides.b.record(other));
        if !matches!(a.kind, Line::Blank) {
            self.merged.totals.both += 1;
        }
        if a.body == b.body {
            return;
        }
        let base = (self.sides.base).find(&self.sides.b.parts[other.0], &self.sides.b.key(other));
        let base = base.map(|place| self.sides.base.record(place).body);
        let is_header = a.event().is_some_and(|event| event.is_header());
        if is_header {
            let change = HeaderChange::of(base, a.body, b.body, self.options.prefer);
            if self.options.appends {
                let event = change.event(a.body, &self.at);
                event.into_iter().for_each(|event| self.event(place, event));
            } else if let Some(header) = change.applied(a.body) {
                // If only one side changed, its bytes are kept.
                match header == b.body || base == Some(a.body) {
                    true => drop(self.replaced.insert(place, self.line(other.0, other.1))),
                    false => drop(self.replaced.insert(place, generated_line(header))),
                }
            }
            if change.is_conflict {
                self.conflict(place, &b);
            }
            return;
        }
        match choose_version(base, a.body, b.body, self.options.prefer) {
            ChosenVersion::A => {}
            ChosenVersion::B if self.options.appends => {
                match (a.message().and_then(|message| message.id()), &b.kind) {
                    (Some(id), Line::Message(_)) => self.event(place, edit(&id, a.body, b.body, &self.at)),
                    _ => self.merged.totals.refused += 1,
                }
            }
            ChosenVersion::B => drop(self.replaced.insert(place, self.line(other.0, other.1))),
            ChosenVersion::Conflict => self.conflict(place, &b),
        }
    }

    /// Stores the second side's version in an event, unless the conflict was resolved before.
    fn conflict(&mut self, (nth, line): (usize, usize), theirs: &Record<'_>) {
        let part = &self.sides.a.parts[nth];
        let own = part.session.record(line);
        let name = self.options.keyed.map_or("id", |keyed| keyed.id);
        let of = json::member_text(own.body, name);
        let of = of.map(|of| of.into_owned()).unwrap_or_default();
        let mut conflict_id = None;
        if self.options.keyed.is_none() {
            let event = conflict(&of, theirs.body, &self.at);
            let id = event_id(&event);
            if self.undone_events(nth).contains(&id) {
                return;
            }
            self.event((nth, line), event);
            conflict_id = Some(id);
        }
        self.merged.conflicts.push(Conflict {
            session: self.sides.a.parts[nth].name.clone(),
            id: conflict_id,
            of,
        });
    }

    /// Appends a generated event to a session unless the session has it.
    fn event(&mut self, (nth, _): (usize, usize), event: Vec<u8>) {
        let record = Record::parse(&event, Position::default());
        let (key, _) = side::key(&record, None);
        let is_there = self.sides.a.has(SearchScope::Session(nth), &key);
        // The second side may have it too; then it is placed with its other lines.
        let comes = self
            .sides
            .b
            .has(SearchScope::Family(self.sides.a.parts[nth].family), &key);
        if !is_there && !comes {
            self.ends[nth].push(generated_line(event));
        }
    }

    /// The ids of events that a session of the first side undoes.
    fn undone_events(&self, nth: usize) -> HashSet<String> {
        hidden::undone_events(&self.sides.a.parts[nth])
    }

    /// Counts the first side's records that the second lacks, and omits those that it deleted.
    fn deletions(&mut self) {
        for (nth, part) in self.sides.a.parts.iter().enumerate() {
            for (line, key) in part.keys.iter().enumerate() {
                let class = part.session.class(line);
                let is_there = match class {
                    Class::Header => self.sides.b.parts.iter().any(|other| other.name == part.name),
                    _ => self.sides.b.find(part, key).is_some(),
                };
                if class == Class::Blank || is_there {
                    continue;
                }
                let was = self.sides.base.find(part, key).filter(|_| class != Class::Header);
                let was = was.map(|place| self.sides.base.record(place).body);
                match was == Some(part.session.record(line).body) {
                    true if self.options.deletions => {
                        self.omitted.insert((nth, line));
                        self.merged.totals.deleted += 1;
                    }
                    true => self.merged.totals.kept += 1,
                    false => self.merged.totals.from_a += 1,
                }
            }
        }
    }

    fn assemble(mut self) -> Merged<'s> {
        let parts = &self.sides.a.parts;
        let mut sessions = Vec::new();
        let mut added = std::mem::take(&mut self.added);
        let mut after = |nth: Option<usize>, sessions: &mut Vec<Vec<MergedLine<'s>>>| {
            let (here, later) = std::mem::take(&mut added)
                .into_iter()
                .partition(|(at, _)| *at == nth);
            added = later;
            let here: Vec<(Option<usize>, Vec<MergedLine<'s>>)> = here;
            sessions.extend(here.into_iter().map(|(_, lines)| lines));
        };
        after(None, &mut sessions);
        let mut branches = Vec::new();
        for (nth, part) in parts.iter().enumerate() {
            let mut lines = Vec::with_capacity(part.keys.len());
            for line in 0..=part.keys.len() {
                lines.extend(self.placed[nth].remove(&line).unwrap_or_default());
                if line == part.keys.len() || self.omitted.contains(&(nth, line)) {
                    continue;
                }
                lines.push(
                    self.replaced
                        .remove(&(nth, line))
                        .unwrap_or_else(|| part_line(part, line)),
                );
            }
            lines.append(&mut self.ends[nth]);
            sessions.push(lines);
            branches.append(&mut self.branches[nth]);
            // Branches follow the last session of their family.
            if parts.get(nth + 1).is_none_or(|next| next.family != part.family) {
                sessions.append(&mut branches);
            }
            after(Some(nth), &mut sessions);
        }
        self.merged.sessions = sessions;
        self.merged
    }
}

fn part_line<'s>(part: &SidePart<'s>, line: usize) -> MergedLine<'s> {
    MergedLine {
        bytes: Cow::Borrowed(part.session.full(line)),
        from: LineSource::A,
    }
}

pub(super) fn generated_line(body: Vec<u8>) -> MergedLine<'static> {
    MergedLine {
        bytes: Cow::Owned(body),
        from: LineSource::Made,
    }
}

pub(super) fn event_id(event: &[u8]) -> String {
    let id = json::member_text(event, "id");
    id.map(|id| id.into_owned()).unwrap_or_default()
}
