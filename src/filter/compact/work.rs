//! A view on the table: what each item costs, and what has become of it so far. `layout.rs` lays it out.

use super::event::{Fate, Reshaping, Size, Summary};
use super::piece::{Atom, Entry, Exchange, Insert, Level, read};
use super::when::Measures;
use crate::model::json::{self, Dialect};
use crate::model::message::{Message, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

/// The view on the table.
pub struct Work<'s> {
    /// The log.
    pub session: &'s Session,
    /// Its view.
    pub view: &'s View,
    /// How messages are counted.
    pub counter: Counter,
    /// The items.
    pub items: Vec<Entry>,
    /// The atoms, in the order of their first items.
    pub atoms: Vec<Atom>,
    /// The exchanges, oldest first.
    pub exchanges: Vec<Exchange>,
    /// Messages that are put in, by exchange.
    pub inserts: BTreeMap<usize, Insert>,
    /// The summary that is in view as it came.
    pub summary_item: Option<usize>,
    /// The summary that is put in, and its tokens.
    pub summary: Option<(Summary, u64)>,
    /// Whether the one before leaves, and none takes its place.
    pub(super) drops_summary: bool,
    /// Tokens of the whole.
    pub total: u64,
    /// Tokens of tool results.
    pub(super) tool_tokens: u64,
    /// Messages that have left.
    pub(super) gone: u64,
    /// Exchanges that have left whole.
    pub(super) gone_exchanges: u64,
    /// For each result: its call's item and the place in that message's calls.
    pub owners: HashMap<usize, (usize, usize)>,
    /// Ids of messages that have none of their own, by line; made when the first is asked for.
    pub(super) derived: OnceCell<HashMap<usize, String>>,
}

impl<'s> Work<'s> {
    /// Number of the newest exchange; none in a view without any.
    pub fn newest(&self) -> Option<usize> {
        self.exchanges.len().checked_sub(1)
    }

    /// Whether the atom may leave: neither pinned nor of the newest exchange, and still there.
    pub fn may_leave(&self, atom: usize) -> bool {
        let atom = &self.atoms[atom];
        !atom.pinned && Some(atom.exchange) != self.newest() && atom.level < Level::Digest
    }

    /// The line of an item as it stands.
    pub fn body(&self, at: usize) -> &[u8] {
        match &self.items[at].body {
            Some(body) => body,
            None => self.view.items[at].body(self.session),
        }
    }

    /// An item's message as it stands; none for a summary.
    pub fn message(&self, at: usize) -> Option<Message<'_>> {
        match &self.items[at].body {
            Some(body) => read(body),
            None => self.view.items[at].message(self.session),
        }
    }

    /// An item's message as the log has it, whatever earlier compactions made of it; none for a summary.
    pub fn original(&self, at: usize) -> Option<Message<'_>> {
        match &self.view.items[at] {
            Item::Line(index) | Item::Edited(index, _) => self.session.record(*index).message().copied(),
            item => item.message(self.session),
        }
    }

    /// The id of a message: its own, or the derived one.
    pub fn id(&self, at: usize) -> String {
        let item = &self.view.items[at];
        match (item.message(self.session), item.line()) {
            (Some(message), Some(line)) => self.line_id(line, &message),
            (Some(message), None) => message.id().unwrap_or_default().into_owned(),
            (None, _) => String::new(),
        }
    }

    /// The id of a line's message.
    pub fn line_id(&self, line: usize, message: &Message<'_>) -> String {
        let derived = || self.derived.get_or_init(|| self.session.derived_ids().collect());
        match message.id() {
            Some(id) => id.into_owned(),
            None => derived().get(&line).cloned().unwrap_or_default(),
        }
    }

    /// What an item would cost with these members, and its line; none when that is no smaller.
    pub fn tried(&self, at: usize, changes: &[(&str, Option<&[u8]>)]) -> Option<(Vec<u8>, u64)> {
        // A count that was cached, and a copy of what another interface had, are of the text that was.
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

    /// Changes members of an item when that makes it smaller; whether it did.
    pub fn edit(
        &mut self,
        at: usize,
        changes: &[(&str, Option<&[u8]>)],
        level: Level,
        reason: &'static str,
    ) -> bool {
        let Some((body, tokens)) = self.tried(at, changes) else {
            return false;
        };
        self.set(at, body, tokens);
        if let Some(atom) = self.items[at].atom {
            let atom = &mut self.atoms[atom];
            if level >= atom.level {
                atom.level = level;
                atom.reason = reason;
            }
        }
        true
    }

    /// Gives an item this line.
    pub fn set(&mut self, at: usize, body: Vec<u8>, tokens: u64) {
        self.charge(at, tokens);
        self.items[at].body = Some(body);
    }

    fn charge(&mut self, at: usize, tokens: u64) {
        let now = std::mem::replace(&mut self.items[at].now, tokens);
        self.total = self.total - now + tokens;
        if self.is_result(at) {
            self.tool_tokens = self.tool_tokens - now + tokens;
        }
    }

    /// Whether an item is a tool's result.
    pub fn is_result(&self, at: usize) -> bool {
        self.items[at]
            .traits
            .is_some_and(|traits| traits.role == Role::Tool)
    }

    /// Takes an atom out of the view.
    pub fn leave(&mut self, atom: usize, level: Level, reason: &'static str) {
        for nth in 0..self.atoms[atom].items.len() {
            self.charge(self.atoms[atom].items[nth], 0);
        }
        let left = &mut self.atoms[atom];
        if left.level < Level::Digest {
            self.gone += left.items.len() as u64;
            let exchange = &mut self.exchanges[left.exchange];
            exchange.gone += 1;
            self.gone_exchanges += u64::from(exchange.gone == exchange.atoms.len());
        }
        left.level = level;
        left.reason = reason;
    }

    /// Takes what may leave of an exchange out of the view, its digest included.
    pub fn leave_exchange(&mut self, exchange: usize, reason: &'static str) {
        for nth in 0..self.exchanges[exchange].atoms.len() {
            let atom = self.exchanges[exchange].atoms[nth];
            if !self.atoms[atom].pinned && self.atoms[atom].level < Level::Dropped {
                self.leave(atom, Level::Dropped, reason);
            }
        }
        if let Some(digest) = self.inserts.remove(&exchange) {
            self.total -= digest.tokens;
        }
    }

    /// Puts a line in for an exchange, which leaves; whether that was smaller.
    pub fn digest(&mut self, exchange: usize, body: Vec<u8>) -> bool {
        let tokens = self.cost(&body);
        if tokens >= self.exchange_tokens(exchange) {
            return false;
        }
        let atoms = self.exchanges[exchange].atoms.clone();
        let before = self.atoms[atoms[0]].items[0];
        for atom in atoms {
            self.leave(atom, Level::Digest, "digest");
        }
        self.total += tokens;
        let insert = Insert { before, body, tokens };
        self.inserts.insert(exchange, insert);
        true
    }

    /// Tokens of an exchange as it stands, its digest included.
    pub fn exchange_tokens(&self, exchange: usize) -> u64 {
        let atoms = self.exchanges[exchange].atoms.iter();
        let digest = self.inserts.get(&exchange).map_or(0, |insert| insert.tokens);
        atoms.map(|atom| self.atom_tokens(*atom)).sum::<u64>() + digest
    }

    /// Tokens of an atom as it stands.
    pub fn atom_tokens(&self, atom: usize) -> u64 {
        self.atoms[atom].items.iter().map(|at| self.items[*at].now).sum()
    }

    /// Puts a summary in, in place of the one before.
    pub fn summarize(&mut self, summary: Summary, tokens: u64) {
        self.unmake_summary();
        if let Some(at) = self.summary_item {
            self.charge(at, 0);
        }
        self.total += tokens;
        self.summary = Some((summary, tokens));
    }

    /// Takes back the summary that was put in.
    pub fn unmake_summary(&mut self) {
        if let Some((_, tokens)) = self.summary.take() {
            self.total -= tokens;
        }
    }

    /// Takes the summary out of view.
    pub fn drop_summary(&mut self) {
        self.unmake_summary();
        if let Some(at) = self.summary_item {
            self.charge(at, 0);
        }
        self.drops_summary = self.summary_item.is_some();
    }

    /// What a message that is made here costs.
    pub fn cost(&self, body: &[u8]) -> u64 {
        read(body).map_or(0, |message| self.counter.message(&message))
    }

    /// Messages and tokens as the view came.
    pub fn was(&self) -> Size {
        Size {
            messages: self.items.len() as u64,
            tokens: self.items.iter().map(|entry| entry.before).sum(),
        }
    }

    /// Messages and tokens as it stands.
    pub fn now(&self) -> Size {
        let replaced = self.summary.is_some() && self.summary_item.is_some();
        let gone = usize::from(replaced || self.drops_summary);
        let put_in = self.inserts.len() + usize::from(self.summary.is_some());
        Size {
            messages: (self.items.len() + put_in - gone) as u64 - self.gone,
            tokens: self.total,
        }
    }

    /// What triggers and goals look at.
    pub fn measures(&self, window: Option<u64>) -> Measures {
        Measures {
            tokens: self.total,
            messages: self.now().messages,
            exchanges: self.exchanges.len() as u64 - self.gone_exchanges,
            tool_tokens: self.tool_tokens,
            window,
        }
    }

    /// Whether an item has left.
    pub fn is_gone(&self, at: usize) -> bool {
        let atom = self.items[at].atom;
        atom.is_some_and(|atom| self.atoms[atom].level >= Level::Digest)
    }

    /// Whether an item has left, and a digest stands for it.
    pub fn is_digested(&self, at: usize) -> bool {
        let atom = self.items[at].atom;
        atom.is_some_and(|atom| self.atoms[atom].level == Level::Digest)
    }

    /// What was to be said of by a summary, and is not: there was no room for one.
    pub fn unsummarized(&mut self) {
        for atom in self.atoms.iter_mut().filter(|atom| atom.reason == "summary") {
            atom.reason = "drop";
        }
    }

    /// What has become of the view.
    pub fn reshaping(&self) -> Reshaping {
        let mut reshaping = Reshaping::of(self.view);
        for (at, entry) in self.items.iter().enumerate() {
            reshaping.fates[at] = match &entry.body {
                _ if self.drops_summary && Some(at) == self.summary_item => Fate::Goes,
                _ if self.is_gone(at) => Fate::Goes,
                Some(body) => Fate::Becomes(body.clone()),
                None => Fate::Stays,
            };
        }
        let inserts = self
            .inserts
            .values()
            .map(|insert| (insert.before, insert.body.clone()));
        reshaping.inserts = inserts.collect();
        reshaping.inserts.sort_by_key(|(at, _)| *at);
        reshaping.summary = self.summary.as_ref().map(|(summary, _)| summary.clone());
        reshaping
    }
}

/// The metadata without the copies of elements that readers of other interfaces keep in it; none when there are none.
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
