//! Ids derived from full messages, for sessions whose messages were loaded without their long values.

use super::key::{self, Derive, Short};

/// How much of the messages' long values a session holds.
#[derive(Clone, Debug, Default)]
pub(super) enum Detail {
    #[default]
    Whole,
    /// Digests of the values, and the derived ids of messages without an id.
    Digests(Box<DerivedIds>),
    /// Nothing, only ids.
    Ids,
}

/// The derived id of the message in one line.
#[derive(Clone, Copy, Debug)]
struct Derived {
    line: usize,
    /// First bytes of the SHA-256 of the message.
    digest: Short,
    /// Number of identical messages before this one.
    ordinal: u64,
    /// First bytes of the digest that the id shows.
    id: Short,
}

/// Derived ids, in line order.
#[derive(Clone, Debug, Default)]
pub(super) struct DerivedIds {
    derive: Derive,
    ids: Vec<Derived>,
}

impl DerivedIds {
    /// Adds a message.
    pub fn add(&mut self, line: usize, body: &[u8]) {
        let (digest, id) = self.derive.next(body);
        let ordinal = self.derive.ordinal(digest);
        self.ids.push(Derived {
            line,
            digest,
            ordinal,
            id,
        });
    }

    /// Adds a message of another session.
    pub fn copy(&mut self, line: usize, others: &DerivedIds, other: usize) {
        let Ok(at) = others.ids.binary_search_by_key(&other, |known| known.line) else {
            return;
        };
        let mut derived = Derived {
            line,
            ..others.ids[at]
        };
        let ordinal = self.derive.count(derived.digest);
        if ordinal != derived.ordinal {
            // The ordinal differs, so the id does too. It cannot be derived without the message, and no event refers to
            // it.
            let digest = key::digest([&derived.digest[..], &ordinal.to_le_bytes()]);
            derived.id.copy_from_slice(&digest[..8]);
        }
        self.ids.push(Derived { ordinal, ..derived });
    }

    /// Shifts all entries by one line, for a line inserted at the start.
    pub fn shift(&mut self) {
        self.ids.iter_mut().for_each(|derived| derived.line += 1);
    }

    /// What each shows.
    pub fn shown(&self) -> impl Iterator<Item = Short> + '_ {
        self.ids.iter().map(|derived| derived.id)
    }
}
