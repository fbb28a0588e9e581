//! What the record stream has and Penguin has no member for: it travels in the metadata, which Penguin keeps as it
//! is, as `metadata.convo`. On the way back every member of it is a member of the line again; null says that the
//! line had none.

use crate::model::chain::{COPIED_FROM, MARKER};
use crate::model::json::{self, Dialect, Members};
use std::borrow::Cow;

/// The member of Penguin's metadata.
pub(super) const CARRIED: &str = "convo";

/// In it: the members of a `summary` event, of which the message is the text.
pub(super) const SUMMARY: &str = "summary_event";

/// Members of a line that Penguin always has a place for.
const NEVER: [&str; 1] = ["content"];

/// The members of an object in order, repeated ones among them; none when it is no object. Unlike [`json::members`]
/// it takes no longer for a thousand members than for a thousand objects of one.
pub(super) fn in_order(object: &[u8]) -> Option<Vec<(Cow<'_, str>, &[u8])>> {
    let mut scan = Members::new(object, Dialect::Python).ok()?;
    let mut all = Vec::new();
    while let Some(member) = scan.next().ok()? {
        all.push((json::unescape(member.key), member.value));
    }
    Some(all)
}

/// Members that are carried.
#[derive(Default)]
pub(super) struct Carried<'a> {
    members: Vec<(Cow<'a, str>, &'a [u8])>,
}

impl<'a> Carried<'a> {
    /// Out of the metadata of a message or of a session; empty when this is something else that has the name.
    pub fn of(metadata: &'a [u8]) -> Carried<'a> {
        let raw = json::member(metadata, CARRIED).filter(|raw| raw.first() == Some(&b'{'));
        let members = raw.and_then(in_order);
        let members = members.filter(|members| {
            members
                .iter()
                .all(|(name, _)| !name.is_empty() && !NEVER.contains(&name.as_ref()))
        });
        Carried {
            members: members.unwrap_or_default(),
        }
    }

    /// Whether nothing is carried.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A member.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let found = self.members.iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    /// What the line has: what is carried if anything is, of which null is nothing.
    pub fn or(&self, name: &str, own: Option<&'a [u8]>) -> Option<&'a [u8]> {
        match self.get(name) {
            Some(b"null") => None,
            Some(raw) => Some(raw),
            None => own,
        }
    }

    /// The members of Penguin's metadata that the line's own metadata has too, because they were written from there.
    pub fn shared_marks(&self, metadata: &[u8]) -> Vec<&'static str> {
        let own = self.get("metadata").map(marks).unwrap_or_default();
        let shared = own
            .into_iter()
            .filter(|(name, value)| json::member(metadata, name).is_some_and(|raw| json::same(raw, value)));
        shared.map(|(name, _)| name).collect()
    }

    /// The members but those of these names.
    pub fn others(&self, names: &[&str]) -> impl Iterator<Item = (&str, &'a [u8])> {
        let others = self
            .members
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_ref()));
        others.map(|(name, value)| (name.as_ref(), *value))
    }

    /// The `metadata` of the line: what is carried, and what was Penguin's as its member `penguin`.
    pub fn metadata(&self, kept: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let own = self.get("metadata");
        let Some(kept) = kept else {
            return own.map(<[u8]>::to_vec);
        };
        let changes = [("penguin", Some(kept.as_slice()))];
        let with = own.and_then(|own| json::with_members(own, &changes).ok());
        with.or_else(|| {
            let changes = [(CARRIED, own), ("penguin", Some(kept.as_slice()))];
            json::with_members(b"{}", &changes).ok()
        })
    }
}

/// Members of a message's metadata that Penguin looks for in its own: of the marker of a continuation.
const MARKER_MEMBERS: [&str; 3] = ["type", "previous_session", "previous_session_tokens"];

/// The members of a line's metadata that have their place in Penguin's metadata as well.
pub(super) fn marks(metadata: &[u8]) -> Vec<(&'static str, &[u8])> {
    let kind = json::member(metadata, "type").and_then(json::text);
    let marker = match kind.as_deref() == Some(MARKER) {
        true => &MARKER_MEMBERS[..],
        false => &[],
    };
    let names = marker.iter().copied().chain([COPIED_FROM]);
    names
        .filter_map(|name| Some((name, json::member(metadata, name)?)))
        .collect()
}

/// The event of a summary, of which this message is the text.
pub(super) fn summary(metadata: &[u8]) -> Option<&[u8]> {
    let raw = Carried::of(metadata).get(SUMMARY)?;
    (raw.first() == Some(&b'{')).then_some(raw)
}

/// Where the members stand that a line has taken out of an object of metadata; none where they stand by default:
/// these first, in this order, and what is carried last.
pub(super) fn places(metadata: &[u8], taken: &[&str]) -> Option<Vec<u8>> {
    let members = in_order(metadata)?;
    let mut built = json::ObjectBuilder::default();
    let mut by_default = true;
    let mut first = 0;
    for name in taken {
        let Some(at) = members.iter().position(|(known, _)| known == name) else {
            continue;
        };
        built.raw(name, at.to_string());
        by_default &= match *name {
            CARRIED => at + 1 == members.len(),
            _ => at == first,
        };
        first += 1;
    }
    (!by_default).then(|| built.finish())
}

/// Metadata in Penguin's order: `rest` with `taken` at the places that were noted, or by default at the front.
pub(super) fn in_places(
    rest: Vec<(Cow<'_, str>, Vec<u8>)>,
    taken: Vec<(&str, Vec<u8>)>,
    places: Option<&[u8]>,
) -> Vec<u8> {
    let mut members = rest;
    members.retain(|(name, _)| !taken.iter().any(|(taken, _)| taken == name));
    let place = |name: &str| -> Option<usize> {
        let raw = json::member(places?, name)?;
        std::str::from_utf8(raw).ok()?.parse().ok()
    };
    let mut placed: Vec<(usize, &str, Vec<u8>)> = Vec::new();
    for (front, (name, value)) in taken.into_iter().enumerate() {
        let by_default = match name {
            CARRIED => usize::MAX,
            _ => front,
        };
        placed.push((place(name).unwrap_or(by_default), name, value));
    }
    placed.sort_by_key(|(place, ..)| *place);
    for (place, name, value) in placed {
        let place = place.min(members.len());
        members.insert(place, (Cow::Borrowed(name), value));
    }
    let mut built = json::ObjectBuilder::default();
    for (name, value) in members {
        built.raw(&name, value);
    }
    built.finish()
}
