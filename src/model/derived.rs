//! What a session without the long values of its messages has instead: the ids of messages that have none cannot be
//! derived from its lines.

use super::key::{self, Derive, Short};

/// What a session has of the long values of messages.
#[derive(Clone, Debug, Default)]
pub(super) enum Detail {
    /// Everything.
    #[default]
    Whole,
    /// Their digests, and the ids of messages that have none.
    Digests(Box<DerivedIds>),
    /// Nothing.
    Ids,
}

/// The id of the message in a line.
#[derive(Clone, Copy, Debug)]
struct Derived {
    line: usize,
    /// Of the SHA-256 of the message.
    digest: Short,
    /// How many of the same came before.
    ordinal: u64,
    /// What the id shows.
    id: Short,
}

/// The ids, in the order of the lines.
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
            // Another id than in the other session. Which one cannot be derived without the message, and nothing names it.
            let digest = key::digest([&derived.digest[..], &ordinal.to_le_bytes()]);
            derived.id.copy_from_slice(&digest[..8]);
        }
        self.ids.push(Derived { ordinal, ..derived });
    }

    /// Takes note of a line ahead of all.
    pub fn shift(&mut self) {
        self.ids.iter_mut().for_each(|derived| derived.line += 1);
    }

    /// What each shows.
    pub fn shown(&self) -> impl Iterator<Item = Short> + '_ {
        self.ids.iter().map(|derived| derived.id)
    }
}
