//! Merges a single record that both sides have.

use crate::model::event::{self, Meta};
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::key;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Which side wins when both changed a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefer {
    /// Neither: report a conflict.
    #[default]
    Neither,
    /// The first side.
    Ours,
    /// The second side.
    Theirs,
}

/// Which version of a record to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChosenVersion {
    A,
    B,
    Conflict,
}

/// Decides by comparison with the common base.
pub(super) fn choose_version(base: Option<&[u8]>, a: &[u8], b: &[u8], prefer: Prefer) -> ChosenVersion {
    if a == b || is_redacted(a, b) {
        return ChosenVersion::A;
    }
    if is_redacted(b, a) {
        return ChosenVersion::B;
    }
    match (base, prefer) {
        (Some(base), _) if base == b => ChosenVersion::A,
        (Some(base), _) if base == a => ChosenVersion::B,
        (_, Prefer::Ours) => ChosenVersion::A,
        (_, Prefer::Theirs) => ChosenVersion::B,
        (_, Prefer::Neither) => ChosenVersion::Conflict,
    }
}

const MARK: &[u8] = b"[REDACTED:";

/// Whether a line equals another one except for placeholders. A placeholder replaces text within one string.
fn is_redacted(line: &[u8], other: &[u8]) -> bool {
    let Some(first) = memchr::memmem::find(line, MARK) else {
        return false;
    };
    let Some(mut rest) = other.strip_prefix(&line[..first]) else {
        return false;
    };
    let mut line = &line[first..];
    loop {
        let Some(end) = memchr::memchr(b']', line) else {
            return false;
        };
        line = &line[end + 1..];
        let next = memchr::memmem::find(line, MARK);
        let literal = &line[..next.unwrap_or(line.len())];
        let Some(at) = (match next {
            Some(_) => memchr::memmem::find(rest, literal),
            None => rest
                .len()
                .checked_sub(literal.len())
                .filter(|_| rest.ends_with(literal)),
        }) else {
            return false;
        };
        if !is_within_string(&rest[..at]) {
            return false;
        }
        rest = &rest[at + literal.len()..];
        match next {
            Some(next) => line = &line[next..],
            None => return true,
        }
    }
}

fn is_within_string(text: &[u8]) -> bool {
    let mut escaped = false;
    text.iter().all(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        !ends
    })
}

type MemberValues<'r> = Vec<(Cow<'r, str>, &'r [u8])>;

fn values(object: &[u8]) -> MemberValues<'_> {
    json::members(object, Dialect::Python).unwrap_or_default()
}

fn value<'r>(values: &MemberValues<'r>, name: &str) -> Option<&'r [u8]> {
    values
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| *value)
}

/// The changes that turn the first of two headers of a session into the merged one.
pub(super) struct HeaderChange<'r> {
    /// Names and new values; no value removes the member.
    pub changes: Vec<(String, Option<&'r [u8]>)>,
    /// Whether both sides changed a member.
    pub is_conflict: bool,
}

impl<'r> HeaderChange<'r> {
    /// Merges member by member.
    pub fn of(base: Option<&'r [u8]>, a: &'r [u8], b: &'r [u8], prefer: Prefer) -> HeaderChange<'r> {
        let (of_a, of_b, of_base) = (values(a), values(b), base.map(values));
        let mut change = HeaderChange {
            changes: Vec::new(),
            is_conflict: false,
        };
        if value(&of_a, "id") != value(&of_b, "id") {
            return change;
        }
        let names: BTreeSet<&str> = of_a.iter().chain(&of_b).map(|(name, _)| name.as_ref()).collect();
        for name in names.into_iter().filter(|name| !Meta::FIXED[..3].contains(name)) {
            let (in_a, in_b) = (value(&of_a, name), value(&of_b, name));
            let before = match &of_base {
                Some(base) => value(base, name),
                // Without a common base, a member that one side lacks counts as new on the other.
                None => None,
            };
            let taken = match () {
                () if in_a == in_b || in_b == before => ChosenVersion::A,
                () if in_a == before => ChosenVersion::B,
                () => match prefer {
                    Prefer::Ours => ChosenVersion::A,
                    Prefer::Theirs => ChosenVersion::B,
                    Prefer::Neither => ChosenVersion::Conflict,
                },
            };
            match taken {
                ChosenVersion::A => {}
                ChosenVersion::B => change.changes.push((name.to_string(), in_b)),
                ChosenVersion::Conflict => change.is_conflict = true,
            }
        }
        change
    }

    /// Applies the changes to a header; none without changes.
    pub fn applied(&self, header: &[u8]) -> Option<Vec<u8>> {
        let changes: Vec<_> = self
            .changes
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let changed = || json::with_members(header, &changes).ok();
        if changes.is_empty() { None } else { changed() }
    }

    /// Encodes the changes as an event, for an append-only log.
    pub fn event(&self, header: &[u8], at: &str) -> Option<Vec<u8>> {
        let changed = self.applied(header)?;
        let mut set = ObjectBuilder::default();
        let mut unset = Vec::new();
        for (name, value) in &self.changes {
            match value {
                Some(value) => drop(set.raw(name, value)),
                None => unset.push(name.as_str()),
            }
        }
        let mut event = event("meta", &changed, at);
        event.raw("set", set.finish());
        if !unset.is_empty() {
            event.raw("unset", json::texts(unset));
        }
        Some(event.finish())
    }
}

/// Builds an event with an id derived from these bytes.
fn event(name: &str, of: &[u8], at: &str) -> ObjectBuilder {
    let id = key::id_from("evt_", format!("{name}\n{}", String::from_utf8_lossy(of)));
    let mut event = event::begin(name, &id);
    event.text("at", at);
    event
}

/// The event that stores the rejected version of a record.
pub(super) fn conflict(of: &str, theirs: &[u8], at: &str) -> Vec<u8> {
    let whole = [of.as_bytes(), b"\n", theirs].concat();
    let mut event = event("conflict", &whole, at);
    event.text("of", of).raw("theirs", theirs);
    event.finish()
}

/// The event that undoes another event.
pub(super) fn restore(of: &str, at: &str) -> Vec<u8> {
    let mut event = event("restore", of.as_bytes(), at);
    event.text("of", of);
    event.finish()
}

/// The event that changes a message to another version, for an append-only log.
pub(super) fn edit(id: &str, a: &[u8], b: &[u8], at: &str) -> Vec<u8> {
    let (of_a, of_b) = (values(a), values(b));
    let mut edit = ObjectBuilder::default();
    edit.raw("id", quoted(id));
    for (name, new) in of_b.iter().filter(|(name, _)| name != "id") {
        if value(&of_a, name) != Some(new) {
            edit.raw(name, new);
        }
    }
    let removed = of_a.iter().filter(|(name, _)| value(&of_b, name).is_none());
    let removed: Vec<&str> = removed.map(|(name, _)| name.as_ref()).collect();
    if !removed.is_empty() {
        edit.raw("unset", json::texts(removed));
    }
    let mut event = event("compact", b, at);
    event
        .text("strategy", "merge")
        .raw("edit", json::array([edit.finish()]));
    event.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redacted_record_is_the_other_with_placeholders() {
        let plain = br#"{"role":"user","content":"key ghp_1 and \"ghp_2\" end","id":"m"}"#;
        let redacted =
            br#"{"role":"user","content":"key [REDACTED:github-token:1f0c93a2] and \"[REDACTED:x:2]\" end","id":"m"}"#;
        assert!(is_redacted(redacted, plain));
        assert!(!is_redacted(plain, redacted));
        for other in [
            &br#"{"role":"user","content":"key ghp_1 and \"ghp_2\" END","id":"m"}"#[..],
            br#"{"role":"user","content":"key ghp_1","x":" and \"ghp_2\" end","id":"m"}"#,
            b"",
        ] {
            assert!(!is_redacted(redacted, other));
        }
        for prefer in [Prefer::Neither, Prefer::Ours, Prefer::Theirs] {
            assert_eq!(
                choose_version(Some(redacted), plain, redacted, prefer),
                ChosenVersion::B
            );
            assert_eq!(
                choose_version(Some(plain), redacted, plain, prefer),
                ChosenVersion::A
            );
        }
    }
}
