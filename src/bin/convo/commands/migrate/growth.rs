//! Computes the lines that a source has gained since it was stored.

use super::candidates::MatchCandidates;
use super::session_lines::{LineSort, SessionLine, entries};
use convo::error::Result;
use convo::filter::Stamp;
use convo::format::Format;
use convo::model::event::Event;
use convo::model::json::{self, Dialect, ObjectBuilder};
use convo::model::session::{Class, Session};
use convo::model::view::View;
use convo::store::log;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// How a stored session relates to its source.
#[derive(Debug, PartialEq, Eq)]
pub enum Growth {
    /// The stored session has everything that the source has.
    None,
    /// Lines to append.
    Lines(Vec<Vec<u8>>),
    /// Neither is a prefix of the other.
    Diverged,
}

/// A stored session and the current content of its source.
pub struct GrowthSources<'s> {
    /// The stored session, including the lines that `gc` moved to the archive.
    pub stored: &'s Session,
    pub new: &'s Session,
    /// Whether the source has another format, so that its header is generated and its messages can change.
    pub converted: bool,
    /// Returns the lines that the source had when it was last stored; none if the source no longer begins with the same
    /// bytes.
    pub before: &'s dyn Fn() -> Option<HashSet<Vec<u8>>>,
    /// Generates id and time of an event with this content.
    pub stamp: &'s dyn Fn(&str) -> Result<Stamp>,
}

/// Header members that an update never changes.
const FIXED: [&str; 8] = [
    "type", "version", "id", "created_at", "continued_from", "continued_to", "continuation_index",
    "original_created_at",
];

/// The SHA-256 of the source when the session was last stored or updated.
pub fn source_hash(header: &[(String, Vec<u8>)]) -> Option<String> {
    let (_, source) = header.iter().find(|(name, _)| name == "source")?;
    json::text(json::member(source, "sha256")?).map(Cow::into_owned)
}

/// The format of the source at that time.
pub fn source_format(header: &[(String, Vec<u8>)]) -> Option<Format> {
    let (_, source) = header.iter().find(|(name, _)| name == "source")?;
    let name = json::text(json::member(source, "format")?)?;
    Format::from_name(&name)
}

impl GrowthSources<'_> {
    /// Compares the stored session with its source.
    pub fn growth(&self) -> Result<Growth> {
        let (stored, new) = (entries(self.stored), entries(self.new));
        let updates = stored.iter().map(|entry| entry.index);
        let updates: BTreeSet<usize> = updates
            .filter(|index| {
                self.converted && self.stored.record(*index).event().is_some_and(Event::is_update)
            })
            .collect();
        let replaced = self.replaced(&updates);
        let stored_messages = stored.iter().filter(|entry| {
            entry.sort != LineSort::Passthrough
                && !updates.contains(&entry.index)
                && !replaced.contains(&entry.index)
        });
        let sequence: Vec<&SessionLine<'_>> = new
            .iter()
            .filter(|entry| entry.sort != LineSort::Passthrough)
            .collect();
        let walked = self.walk(stored_messages, &sequence, &stored);
        let added = &sequence[walked.matched..];
        if walked.is_unproven && !added.is_empty() {
            return Ok(Growth::Diverged); // the added lines may be lines that were discarded here
        }
        let events = added.iter().filter(|entry| entry.sort == LineSort::Event);
        let events: HashSet<String> = events.filter_map(|entry| entry.id()).collect();
        let (restated, local): (Vec<&SessionLine<'_>>, Vec<&SessionLine<'_>>) = walked
            .local
            .iter()
            .partition(|entry| entry.id().is_some_and(|id| events.contains(&id)));
        let is_changed_here = local
            .iter()
            .any(|entry| View::is_moved_by(self.stored, entry.index));
        let mut lines = Vec::new();
        if !walked.rest.is_empty() {
            let before = (self.before)();
            let removed =
                |entry: &SessionLine<'_>| before.as_ref().is_some_and(|lines| lines.contains(&*entry.body));
            if added.is_empty() && !walked.rest.iter().all(|entry| removed(entry)) {
                return Ok(Growth::None); // messages were appended here, or the source is an older copy
            }
            let candidates = MatchCandidates::new(added);
            let mut rest = walked.rest.iter().enumerate();
            let explained =
                rest.all(|(nth, entry)| removed(entry) || (self.converted && candidates.include(entry, nth)));
            if !explained || (is_changed_here && self.hides(&walked.rest)) {
                return Ok(Growth::Diverged);
            }
            lines.push(self.replacement(&walked.rest)?);
        }
        for entry in restated {
            lines.push(self.withdrawal(&entry.id().unwrap_or_default())?);
        }
        // Passthrough records are added in the order of the source.
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        for entry in stored.iter().filter(|entry| entry.sort == LineSort::Passthrough) {
            *known.entry(&entry.body).or_default() += 1;
        }
        let first = added.first().map_or(usize::MAX, |entry| entry.index);
        for entry in new {
            let is_new = match (entry.sort, known.get_mut(&*entry.body)) {
                (LineSort::Passthrough, Some(left)) if *left > 0 => {
                    *left -= 1;
                    false
                }
                (LineSort::Passthrough, _) => true,
                _ => entry.index >= first,
            };
            if is_new {
                lines.push(entry.body.into_owned());
            }
        }
        let updated = self.header(&updates, !lines.is_empty())?;
        // The header comes last because its hash states that all lines of the source are stored.
        lines.extend(updated);
        if lines.is_empty() {
            return Ok(Growth::None);
        }
        match is_changed_here || walked.is_shortened || self.shows_the_source(&lines) {
            true => Ok(Growth::Lines(lines)),
            false => Ok(Growth::Diverged),
        }
    }

    /// Finds messages and events that earlier updates replaced.
    fn replaced(&self, updates: &BTreeSet<usize>) -> HashSet<usize> {
        let mut replaced: HashSet<usize> = HashSet::new();
        let mut withdrawn: HashSet<Vec<u8>> = HashSet::new();
        for index in (0..self.stored.len())
            .rev()
            .filter(|index| self.stored.class(*index) == Class::Event)
        {
            let record = self.stored.record(index);
            let member = |name| json::member(record.body, name);
            if updates.contains(&index) {
                withdrawn.extend(member("of").map(<[u8]>::to_vec));
            } else if member("id").is_some_and(|id| withdrawn.contains(id)) {
                replaced.insert(index);
            }
        }
        let moved = |index: &usize| View::is_moved_by(self.stored, *index);
        let events: Vec<usize> = updates.iter().copied().filter(moved).collect();
        if !events.is_empty() {
            let view = View::after(self.stored, events);
            let visible: HashSet<usize> = view.items.iter().filter_map(|item| item.line()).collect();
            let messages = self.stored.messages().map(|(index, _)| index);
            replaced.extend(messages.filter(|index| !visible.contains(index)));
        }
        replaced
    }

    /// Walks both sequences as far as they are equal.
    fn walk<'e, 's>(
        &self,
        stored: impl Iterator<Item = &'e SessionLine<'s>>,
        new: &[&SessionLine<'_>],
        all: &[SessionLine<'_>],
    ) -> WalkResult<'e, 's> {
        let mut walked = WalkResult::default();
        // After `gc --discard`, only the source can show which lines were stored here.
        let shared: HashSet<&[u8]> = new.iter().map(|entry| &*entry.body).collect();
        let has_discarded = all
            .iter()
            .any(|entry| is_discard(entry) && !shared.contains(&*entry.body));
        let destroyed = !self.stored.destroyed().is_empty() || has_discarded;
        let (lines, before): (HashSet<&[u8]>, _) = match destroyed {
            true => (all.iter().map(|entry| &*entry.body).collect(), (self.before)()),
            false => (HashSet::new(), None),
        };
        walked.is_unproven = destroyed && before.is_none();
        let was_destroyed = |entry: &SessionLine<'_>| {
            before
                .as_ref()
                .is_some_and(|before| before.contains(&*entry.body))
                && !lines.contains(&*entry.body)
        };
        for entry in stored {
            if walked.rest.is_empty() {
                while new
                    .get(walked.matched)
                    .is_some_and(|next| next.body != entry.body && was_destroyed(next))
                {
                    walked.matched += 1;
                    walked.is_shortened = true;
                }
                if new
                    .get(walked.matched)
                    .is_some_and(|next| next.body == entry.body)
                {
                    walked.matched += 1;
                    continue;
                }
            }
            match entry.sort {
                LineSort::Event => walked.local.push(entry),
                _ => walked.rest.push(entry),
            }
        }
        if walked.rest.is_empty() {
            while new.get(walked.matched).is_some_and(|next| was_destroyed(next)) {
                walked.matched += 1;
                walked.is_shortened = true;
            }
        }
        walked
    }

    /// Whether a local change hides any of these messages.
    fn hides(&self, messages: &[&SessionLine<'_>]) -> bool {
        let view = View::replay(self.stored);
        let visible: HashSet<usize> = view.items.iter().filter_map(|item| item.line()).collect();
        messages.iter().any(|entry| !visible.contains(&entry.index))
    }

    /// Creates the event that hides messages that the source no longer has or has changed.
    fn replacement(&self, messages: &[&SessionLine<'_>]) -> Result<Vec<u8>> {
        let derived: HashMap<usize, String> = self.stored.derived_ids().collect();
        let mut counts: HashMap<String, u64> = HashMap::new();
        let mut names: HashMap<usize, (String, u64)> = HashMap::new();
        for (index, _) in self.stored.messages() {
            let own = || json::member_string(self.stored.record(index).body, "id");
            if let Some(id) = derived.get(&index).cloned().or_else(own) {
                let nth = counts.entry(id.clone()).or_default();
                *nth += 1;
                names.insert(index, (id, *nth));
            }
        }
        let dropped =
            messages
                .iter()
                .filter_map(|entry| names.get(&entry.index))
                .map(|(id, nth)| match nth {
                    1 => serde_json::json!(id),
                    nth => serde_json::json!([id, nth]),
                });
        let dropped = serde_json::Value::Array(dropped.collect()).to_string();
        let stamp = (self.stamp)(&dropped)?;
        let mut event = stamp.event("compact");
        event.text("by", "migrate").raw("drop", dropped);
        Ok(event.finish())
    }

    /// Creates the event that undoes an event that the source has changed.
    fn withdrawal(&self, id: &str) -> Result<Vec<u8>> {
        let stamp = (self.stamp)(id)?;
        let mut event = stamp.event("restore");
        event.text("by", "migrate").text("of", id);
        Ok(event.finish())
    }

    /// Creates the event that updates the header; members that were changed locally are kept.
    fn header(&self, updates: &BTreeSet<usize>, has_lines: bool) -> Result<Option<Vec<u8>>> {
        let first = |session: &Session| match session.is_empty() {
            true => Vec::new(),
            false => members(session.record(0).body),
        };
        let mut base = first(self.stored);
        for index in updates {
            let record = self.stored.record(*index);
            let set = json::member(record.body, "set").map(members).unwrap_or_default();
            for (name, value) in set {
                base.retain(|(known, _)| *known != name);
                base.push((name, value));
            }
        }
        let now = self.stored.header();
        let of = |all: &[(String, Vec<u8>)], name: &str| {
            all.iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
        };
        let mut set = ObjectBuilder::default();
        let mut only_source = true;
        for (name, value) in first(self.new) {
            let old = of(&base, &name);
            let is_local = name != "source" && of(now, &name) != old;
            if old.as_deref() == Some(&value) || is_local || FIXED.contains(&name.as_str()) {
                continue;
            }
            only_source &= name == "source";
            set.raw(&name, value);
        }
        if set.is_empty() || (only_source && !has_lines) {
            return Ok(None);
        }
        let set = set.finish();
        let stamp = (self.stamp)(&String::from_utf8_lossy(&set))?;
        let mut event = stamp.event("meta");
        event.text("by", "migrate").raw("set", set);
        Ok(Some(event.finish()))
    }

    /// Whether the view equals that of the source once these lines are appended.
    fn shows_the_source(&self, lines: &[Vec<u8>]) -> bool {
        let mut updated = self.stored.clone();
        lines.iter().for_each(|line| updated.push_new(line));
        let shown = |session: &Session| {
            let shown = View::replay(session).shown(session).into_iter();
            shown
                .map(|body| log::strip(&body).into_owned())
                .collect::<Vec<_>>()
        };
        shown(&updated) == shown(self.new)
    }
}

/// The result of [`GrowthSources::walk`].
#[derive(Default)]
struct WalkResult<'e, 's> {
    /// Number of new lines that are stored.
    matched: usize,
    /// Stored messages from the first difference on.
    rest: Vec<&'e SessionLine<'s>>,
    /// Stored events that the source does not have or has changed.
    local: Vec<&'e SessionLine<'s>>,
    /// Whether `gc --discard` destroyed lines that cannot be identified in the source.
    is_unproven: bool,
    /// Whether lines were destroyed by `gc --discard`.
    is_shortened: bool,
}

fn members(object: &[u8]) -> Vec<(String, Vec<u8>)> {
    let all = json::members(object, Dialect::Strict).unwrap_or_default();
    let own = |(name, value): (Cow<'_, str>, &[u8])| (name.into_owned(), value.to_vec());
    all.into_iter()
        .filter(|(name, _)| name != "_crc")
        .map(own)
        .collect()
}

/// Whether a record reports lines that no archive has.
fn is_discard(entry: &SessionLine<'_>) -> bool {
    entry.sort == LineSort::Event && json::member(&entry.body, "discarded") == Some(b"true")
}
