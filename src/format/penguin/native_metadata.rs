//! Data of the native format that Penguin cannot represent. It is stored as `metadata.convo`, because Penguin preserves
//! metadata. On reading, its members become members of the line again; null marks a member that the line did not have.

use crate::model::chain::{COPIED_FROM, MARKER};
use crate::model::json::{self, Dialect, Members};
use std::borrow::Cow;

/// Name of the metadata member.
pub(super) const MEMBER: &str = "convo";

/// Its member with a `summary` event, for the message with the text of the summary.
pub(super) const SUMMARY: &str = "summary_event";

/// Members of a line that Penguin can always represent.
const NEVER: [&str; 1] = ["content"];

/// The members of an object in order, including repeated ones; `None` if it is not an object. Unlike [`json::members`],
/// it is equally fast for a thousand members and for a thousand objects with one member.
pub(super) fn in_order(object: &[u8]) -> Option<Vec<(Cow<'_, str>, &[u8])>> {
    let mut scan = Members::new(object, Dialect::Python).ok()?;
    let mut all = Vec::new();
    while let Some(member) = scan.next().ok()? {
        all.push((json::unescape(member.key), member.value));
    }
    Some(all)
}

/// The stored members.
#[derive(Default)]
pub(super) struct PreservedMembers<'a> {
    members: Vec<(Cow<'a, str>, &'a [u8])>,
}

impl<'a> PreservedMembers<'a> {
    /// From the metadata of a message or session; empty if the member has another meaning.
    pub fn of(metadata: &'a [u8]) -> PreservedMembers<'a> {
        let raw = json::member(metadata, MEMBER).filter(|raw| raw.first() == Some(&b'{'));
        let members = raw.and_then(in_order);
        let members = members.filter(|members| {
            members
                .iter()
                .all(|(name, _)| !name.is_empty() && !NEVER.contains(&name.as_ref()))
        });
        PreservedMembers {
            members: members.unwrap_or_default(),
        }
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let found = self.members.iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    /// The value for the line: the stored one if present (null means absent), else `own`.
    pub fn or(&self, name: &str, own: Option<&'a [u8]>) -> Option<&'a [u8]> {
        match self.get(name) {
            Some(b"null") => None,
            Some(raw) => Some(raw),
            None => own,
        }
    }

    /// Members of Penguin's metadata that were copied from the line's own metadata.
    pub fn shared_marks(&self, metadata: &[u8]) -> Vec<&'static str> {
        let own = self.get("metadata").map(marks).unwrap_or_default();
        let shared = own
            .into_iter()
            .filter(|(name, value)| json::member(metadata, name).is_some_and(|raw| json::same(raw, value)));
        shared.map(|(name, _)| name).collect()
    }

    /// The members except those with these names.
    pub fn others(&self, names: &[&str]) -> impl Iterator<Item = (&str, &'a [u8])> {
        let others = self
            .members
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_ref()));
        others.map(|(name, value)| (name.as_ref(), *value))
    }

    /// The line's `metadata`: stored members, and Penguin's own as its member `penguin`.
    pub fn metadata(&self, kept: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let own = self.get("metadata");
        let Some(kept) = kept else {
            return own.map(<[u8]>::to_vec);
        };
        let changes = [("penguin", Some(kept.as_slice()))];
        let with = own.and_then(|own| json::with_members(own, &changes).ok());
        with.or_else(|| {
            let changes = [(MEMBER, own), ("penguin", Some(kept.as_slice()))];
            json::with_members(b"{}", &changes).ok()
        })
    }
}

/// Metadata members of a continuation marker that Penguin expects in its own metadata.
const MARKER_MEMBERS: [&str; 3] = ["type", "previous_session", "previous_session_tokens"];

/// The members of a line's metadata that are also written to Penguin's metadata.
pub(super) fn marks(metadata: &[u8]) -> Vec<(&'static str, &[u8])> {
    let kind = json::member_text(metadata, "type");
    let marker = match kind.as_deref() == Some(MARKER) {
        true => &MARKER_MEMBERS[..],
        false => &[],
    };
    let names = marker.iter().copied().chain([COPIED_FROM]);
    names
        .filter_map(|name| Some((name, json::member(metadata, name)?)))
        .collect()
}

/// The event of the summary whose text is this message.
pub(super) fn summary(metadata: &[u8]) -> Option<&[u8]> {
    let raw = PreservedMembers::of(metadata).get(SUMMARY)?;
    (raw.first() == Some(&b'{')).then_some(raw)
}

/// The positions of the members that were moved from metadata to a line; `None` for the default positions, which are at
/// the front in this order, and for `convo` at the end.
pub(super) fn member_positions(metadata: &[u8], taken: &[&str]) -> Option<Vec<u8>> {
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
            MEMBER => at + 1 == members.len(),
            _ => at == first,
        };
        first += 1;
    }
    (!by_default).then(|| built.finish())
}

/// Restores metadata in Penguin's order: `rest`, with `taken` at the recorded positions, or by default at the front.
pub(super) fn restore_order(
    rest: Vec<(Cow<'_, str>, Vec<u8>)>,
    taken: Vec<(&str, Vec<u8>)>,
    places: Option<&[u8]>,
) -> Vec<u8> {
    let mut members = rest;
    members.retain(|(name, _)| !taken.iter().any(|(taken, _)| taken == name));
    let place = |name: &str| -> Option<usize> {
        let raw = json::member(places?, name)?;
        json::number(raw)
    };
    let mut placed: Vec<(usize, &str, Vec<u8>)> = Vec::new();
    for (front, (name, value)) in taken.into_iter().enumerate() {
        let by_default = match name {
            MEMBER => usize::MAX,
            _ => front,
        };
        placed.push((place(name).unwrap_or(by_default), name, value));
    }
    placed.sort_by_key(|(place, ..)| *place);
    for (place, name, value) in placed {
        let place = place.min(members.len());
        members.insert(place, (Cow::Borrowed(name), value));
    }
    json::object(members)
}
