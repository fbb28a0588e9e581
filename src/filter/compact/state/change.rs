//! The operations of steps on a view: change lines, drop groups and exchanges, insert a summary.

use super::super::event::InsertedSummary;
use super::{Atom, AtomLevel, CompactionState, Exchange, PlannedInsert, read};
use crate::model::json::{self, Dialect};
use std::sync::Arc;

impl CompactionState<'_> {
    /// The line of an item with these members changed, and its tokens; none if it is not smaller.
    pub fn tried(&self, at: usize, changes: &[(&str, Option<&[u8]>)]) -> Option<(Vec<u8>, u64)> {
        // A cached count, and a copy of the original from another API, describe the old text.
        let metadata = self.message(at)?.metadata.and_then(without_copies);
        let mut changes = changes.to_vec();
        changes.push(("tokens", None));
        changes.extend(
            metadata
                .as_ref()
                .map(|metadata| ("metadata", Some(metadata.as_slice()))),
        );
        let body = json::with_members(self.body(at), &changes).ok()?;
        let tokens = self.counter.message(&read(&body)?);
        (tokens < self.items[at].now).then_some((body, tokens))
    }

    /// Changes members of an item if that makes it smaller.
    pub fn edit(
        &mut self,
        at: usize,
        changes: &[(&str, Option<&[u8]>)],
        level: AtomLevel,
        reason: &'static str,
    ) {
        if let Some(smaller) = self.tried(at, changes) {
            self.reduce(at, smaller, level, reason);
        }
    }

    /// Replaces the line of an item with a smaller one, given with its tokens.
    pub fn reduce(
        &mut self,
        at: usize,
        (body, tokens): (Vec<u8>, u64),
        level: AtomLevel,
        reason: &'static str,
    ) {
        self.set(at, &body, tokens);
        if let Some(atom) = self.items[at].atom() {
            let atom = &mut self.atoms[atom];
            if level >= atom.level {
                atom.level = level;
                atom.reason = reason;
            }
        }
    }

    /// Replaces the line of an item.
    pub fn set(&mut self, at: usize, body: &[u8], tokens: u64) {
        self.add_tokens(at, tokens);
        // The copy has no spare capacity, and does not keep memory of a thread that computed it.
        self.bodies.insert(at, Arc::new(body.to_vec()));
    }

    fn add_tokens(&mut self, at: usize, tokens: u64) {
        let now = std::mem::replace(&mut self.items[at].now, tokens);
        self.total = self.total - now + tokens;
        if self.is_result(at) {
            self.tool_tokens = self.tool_tokens - now + tokens;
        }
    }

    /// Drops a message group from the view.
    pub fn drop_atom(&mut self, atom: usize, level: AtomLevel, reason: &'static str) {
        for nth in 0..self.atoms[atom].items.len() {
            self.add_tokens(self.atoms[atom].items[nth], 0);
        }
        let left = &mut self.atoms[atom];
        if left.level < AtomLevel::Digest {
            self.dropped_messages += left.items.len() as u64;
            let exchange = &mut self.exchanges[left.exchange];
            exchange.dropped += 1;
            self.dropped_exchanges += u64::from(exchange.dropped == exchange.atoms.len());
            let is_dropped = |exchange: &Exchange| exchange.dropped == exchange.atoms.len();
            while self.exchanges.get(self.first).is_some_and(is_dropped) {
                self.first += 1;
            }
        }
        left.level = level;
        left.reason = reason;
    }

    /// Takes back all dropped groups, with the lines they had.
    pub fn take_back(&mut self) {
        for atom in 0..self.atoms.len() {
            if self.atoms[atom].level < AtomLevel::Dropped {
                continue;
            }
            let mut level = AtomLevel::Full;
            let items = self.atoms[atom].items.clone();
            for at in items.iter().copied() {
                let tokens = match self.bodies.get(&at) {
                    Some(body) => {
                        level = AtomLevel::Masked;
                        self.cost(body)
                    }
                    None => self.items[at].before,
                };
                self.add_tokens(at, tokens);
            }
            let back = &mut self.atoms[atom];
            back.level = level;
            self.dropped_messages -= back.items.len() as u64;
            let exchange = &mut self.exchanges[back.exchange];
            self.dropped_exchanges -= u64::from(exchange.dropped == exchange.atoms.len());
            exchange.dropped -= 1;
            self.first = self.first.min(back.exchange);
        }
        self.remove_new_summary();
    }

    /// Gives a group the lines that it has in another state.
    pub fn put_back(&mut self, atom: usize, from: &CompactionState<'_>) {
        let items = self.atoms[atom].items.clone();
        for at in items.iter().copied() {
            self.add_tokens(at, from.items[at].now);
            match from.bodies.get(&at) {
                Some(body) => drop(self.bodies.insert(at, Arc::clone(body))),
                None => drop(self.bodies.remove(&at)),
            }
        }
        self.atoms[atom].level = from.atoms[atom].level;
        self.atoms[atom].reason = from.atoms[atom].reason;
    }

    /// Tokens of the summary in the view, whether new or an earlier one.
    pub fn summary_tokens(&self) -> u64 {
        let earlier = self.summary_item.map_or(0, |at| self.items[at].now);
        self.summary.as_ref().map_or(earlier, |(_, tokens)| *tokens)
    }

    /// Drops these groups of an exchange from the view, unless they are pinned.
    pub fn drop_atoms(&mut self, exchange: usize, which: impl Fn(&Atom) -> bool, reason: &'static str) {
        for number in self.exchanges[exchange].atoms.clone() {
            let atom = &self.atoms[number];
            if !atom.pinned && atom.level < AtomLevel::Dropped && which(atom) {
                self.drop_atom(number, AtomLevel::Dropped, reason);
            }
        }
    }

    /// Drops all groups of an exchange that may be dropped, and its digest.
    pub fn drop_exchange(&mut self, exchange: usize, reason: &'static str) {
        self.drop_atoms(exchange, |_| true, reason);
        if let Some(digest) = self.inserts.remove(&exchange) {
            self.total -= digest.tokens;
        }
    }

    /// Replaces an exchange with a digest if that is smaller; whether it was.
    pub fn digest(&mut self, exchange: usize, body: Vec<u8>) -> bool {
        let tokens = self.cost(&body);
        if tokens >= self.exchange_tokens(exchange) {
            return false;
        }
        let atoms = self.exchanges[exchange].atoms.clone();
        let before = self.atoms[atoms.start].items[0];
        for atom in atoms {
            self.drop_atom(atom, AtomLevel::Digest, "digest");
        }
        self.total += tokens;
        let insert = PlannedInsert { before, body, tokens };
        self.inserts.insert(exchange, insert);
        true
    }

    /// Inserts a summary in place of the earlier one.
    pub fn summarize(&mut self, summary: InsertedSummary, tokens: u64) {
        self.remove_new_summary();
        self.remove_summary();
        self.total += tokens;
        self.summary = Some((summary, tokens));
    }

    /// Reverts changes to the summary: removes the inserted one and brings back the earlier one.
    pub fn remove_new_summary(&mut self) {
        if let Some((_, tokens)) = self.summary.take() {
            self.total -= tokens;
        }
        if let Some(at) = self.summary_item {
            self.add_tokens(at, self.items[at].before);
        }
        self.drops_summary = false;
    }

    fn has_digest_before(&self, at: usize) -> bool {
        let first = self.inserts.first_key_value();
        first.is_some_and(|(_, insert)| insert.before < at)
    }

    /// Whether a digest or a summary precedes an item.
    pub fn has_record_before(&self, at: usize) -> bool {
        let old = self.summary_item.filter(|_| !self.drops_summary);
        let new = self.summary.as_ref().map(|(summary, _)| summary.before);
        old.is_some_and(|old| old < at) || new.is_some_and(|new| new <= at) || self.has_digest_before(at)
    }

    /// Whether the view can do without the summary in its place: the view then begins with a user message or another
    /// record, and no reply loses its question. A summary at the end is required, since it represents the newest
    /// question.
    pub fn can_drop_summary(&self) -> bool {
        let there = |at: &usize| self.items[*at].atom().is_some() && !self.is_dropped(*at);
        let after = |from: usize| (from..self.items.len()).find(there);
        let Some(first) = after(0) else { return false };
        let behind = self.summary_item.and_then(after);
        (self.has_digest_before(first) || self.items[first].is_user())
            && (self.summary_item.is_none() || behind.is_some_and(|behind| self.items[behind].is_user()))
    }

    /// Drops the summary from the view, if that is allowed.
    pub fn drop_summary(&mut self) {
        self.remove_new_summary();
        if self.can_drop_summary() {
            self.remove_summary();
        }
    }

    /// Whether the earlier summary is dropped and not replaced.
    pub fn has_lost_summary(&self) -> bool {
        self.drops_summary && self.summary.is_none()
    }

    pub(super) fn remove_summary(&mut self) {
        if let Some(at) = self.summary_item {
            self.add_tokens(at, 0);
            self.drops_summary = true;
        }
    }
}

/// The metadata without the copies of elements that readers of other APIs keep in it; none if there are none.
fn without_copies(metadata: &[u8]) -> Option<Vec<u8>> {
    let members = json::members(metadata, Dialect::Strict)?;
    let changed: Vec<(String, Vec<u8>)> = members
        .iter()
        .filter(|(_, value)| json::member(value, "raw").is_some())
        .filter_map(|(name, value)| {
            Some((
                name.to_string(),
                json::with_members(value, &[("raw", None)]).ok()?,
            ))
        })
        .collect();
    if changed.is_empty() {
        return None;
    }
    let changes: Vec<_> = changed
        .iter()
        .map(|(name, value)| (name.as_str(), Some(value.as_slice())))
        .collect();
    json::with_members(metadata, &changes).ok()
}
