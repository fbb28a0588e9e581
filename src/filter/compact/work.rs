//! A view on the table: what each item costs, which atom and exchange it belongs to, and what has become of it so far.

use super::event::{Fate, Reshaping, Size, Summary};
use super::when::Measures;
use crate::model::exchange::Cuts;
use crate::model::json;
use crate::model::message::{Category, Message, Role};
use crate::model::record::{Kind, Record};
use crate::model::session::{Session, Traits};
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is left of an atom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The line as it was.
    #[default]
    Full,
    /// A tool's result without its middle.
    HeadTail,
    /// Results, media or arguments are marks.
    Masked,
    /// One line for the whole exchange.
    Digest,
    /// Nothing, or what the summary says of it.
    Dropped,
}

impl Level {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Full => "full",
            Level::HeadTail => "head+tail",
            Level::Masked => "masked",
            Level::Digest => "digest",
            Level::Dropped => "dropped",
        }
    }
}

/// One item of the view.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Tokens as the view came.
    pub before: u64,
    /// Tokens as it stands.
    pub now: u64,
    /// The line, where it was changed.
    pub body: Option<Vec<u8>>,
    /// Who speaks and what it is worth; none for a summary.
    pub traits: Option<Traits>,
    /// Number of its atom; none for what never leaves by itself, and for a summary.
    pub atom: Option<usize>,
}

/// The smallest piece that may leave the view.
#[derive(Clone, Debug)]
pub struct Atom {
    /// Its items, in order.
    pub items: Vec<usize>,
    /// Number of its exchange.
    pub exchange: usize,
    /// The lowest priority in it.
    pub category: Category,
    /// Whether it must stay.
    pub pinned: bool,
    /// Whether a call in it waits for its result.
    pub pending: bool,
    /// What is left of it.
    pub level: Level,
    /// The step that left it so; empty while it is as it was.
    pub reason: &'static str,
}

/// A message that stands for an exchange.
#[derive(Clone, Debug)]
pub struct Insert {
    /// The item that it stands before.
    pub before: usize,
    /// Its line.
    pub body: Vec<u8>,
    /// Its tokens.
    pub tokens: u64,
}

/// A question with everything up to the next one.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// Its atoms, in order.
    pub atoms: Vec<usize>,
    /// How many of them have left.
    gone: usize,
}

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
    drops_summary: bool,
    /// Tokens of the whole.
    pub total: u64,
    /// Tokens of tool results.
    tool_tokens: u64,
    /// Messages that have left.
    gone: u64,
    /// Exchanges that have left whole.
    gone_exchanges: u64,
    /// For each result: its call's item and the place in that message's calls.
    pub owners: HashMap<usize, (usize, usize)>,
    /// Ids of messages that have none of their own, by line; made when the first is asked for.
    derived: OnceCell<HashMap<usize, String>>,
}

impl<'s> Work<'s> {
    /// Lays out a view; these messages stay whatever happens.
    pub fn new(session: &'s Session, view: &'s View, counter: Counter, pins: &HashSet<usize>) -> Work<'s> {
        let cuts = Cuts::of(session, view);
        let items: Vec<Entry> = (0..view.items.len())
            .map(|at| entry(session, view, counter, &cuts, at))
            .collect();
        let mut work = Work {
            total: items.iter().map(|entry| entry.now).sum(),
            session,
            view,
            counter,
            items,
            atoms: Vec::new(),
            exchanges: Vec::new(),
            inserts: BTreeMap::new(),
            summary_item: view
                .items
                .iter()
                .position(|item| matches!(item, Item::Summary(_))),
            summary: None,
            drops_summary: false,
            tool_tokens: 0,
            gone: 0,
            gone_exchanges: 0,
            owners: HashMap::new(),
            derived: OnceCell::new(),
        };
        let results = (0..work.items.len()).filter(|at| work.is_result(*at));
        work.tool_tokens = results.map(|at| work.items[at].now).sum();
        let pending = work.pair();
        work.group(&cuts, pins, &pending);
        work
    }

    /// Finds the call of each result; gives back the items with calls that have none.
    fn pair(&mut self) -> HashSet<usize> {
        let mut open: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        let mut last: Vec<(usize, usize)> = Vec::new();
        for at in 0..self.items.len() {
            let Some(traits) = self.items[at].traits else {
                continue;
            };
            if traits.calls {
                let message = self.view.items[at].message(self.session);
                let calls = message.map(|message| message.tool_calls()).unwrap_or_default();
                last.clear();
                for (nth, call) in calls.into_iter().enumerate() {
                    if call.id.is_empty() {
                        last.push((at, nth));
                    } else {
                        open.entry(call.id.into_owned()).or_default().push((at, nth));
                    }
                }
                last.reverse();
            } else if traits.role == Role::Tool {
                let message = self.view.items[at].message(self.session);
                let id = message.and_then(|message| Some(message.tool_call_id()?.into_owned()));
                let owner = match id.filter(|id| !id.is_empty()) {
                    Some(id) => open.get_mut(&id).and_then(Vec::pop),
                    None => last.pop(),
                };
                if let Some(owner) = owner {
                    self.owners.insert(at, owner);
                }
            }
        }
        let waiting = open.into_values().flatten().chain(last);
        waiting.map(|(at, _)| at).collect()
    }

    fn group(&mut self, cuts: &Cuts, pins: &HashSet<usize>, pending: &HashSet<usize>) {
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut exchange = 0;
        let mut filled = false;
        // An atom that reaches into a later exchange makes one of both.
        let mut joined: Vec<usize> = vec![0];
        for at in 0..self.items.len() {
            if cuts.begins(at) && filled {
                exchange += 1;
                filled = false;
                joined.push(exchange);
            }
            let Some(name) = self.items[at].atom else { continue };
            filled = true;
            let next = self.atoms.len();
            let number = *numbers.entry(name).or_insert(next);
            if number == next {
                self.atoms.push(Atom {
                    items: Vec::new(),
                    exchange,
                    category: Category::System,
                    pinned: false,
                    pending: false,
                    level: Level::Full,
                    reason: "",
                });
            }
            let atom = &mut self.atoms[number];
            for later in &mut joined[atom.exchange + 1..] {
                *later = (*later).min(atom.exchange);
            }
            atom.items.push(at);
            atom.pinned |= pins.contains(&at);
            atom.pending |= pending.contains(&at);
            if let Some(traits) = self.items[at].traits {
                atom.category = atom.category.max(traits.category);
            }
            self.items[at].atom = Some(number);
        }
        let mut names: HashMap<usize, usize> = HashMap::new();
        for number in 0..self.atoms.len() {
            let mut root = self.atoms[number].exchange;
            while joined[root] != root {
                root = joined[root];
            }
            let next = names.len();
            let name = *names.entry(root).or_insert(next);
            if name == self.exchanges.len() {
                self.exchanges.push(Exchange::default());
            }
            self.atoms[number].exchange = name;
            self.exchanges[name].atoms.push(number);
        }
        self.pin_questions();
    }

    /// A pinned reply keeps the question ahead of it: a view begins with a user.
    fn pin_questions(&mut self) {
        for exchange in &self.exchanges {
            let Some(pinned) = exchange.atoms.iter().position(|atom| self.atoms[*atom].pinned) else {
                continue;
            };
            for atom in &exchange.atoms[..pinned] {
                let first = self.atoms[*atom].items[0];
                let is_user = self.items[first]
                    .traits
                    .is_some_and(|traits| traits.role == Role::User);
                self.atoms[*atom].pinned |= is_user;
            }
        }
    }

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
        // A count that was cached is of the text that was.
        let changes: Vec<_> = changes.iter().copied().chain([("tokens", None)]).collect();
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

/// A line that is made here, as a message.
pub fn read(body: &[u8]) -> Option<Message<'_>> {
    let place = crate::error::Place { line: 0, offset: 1 };
    match Record::parse(body, place).kind {
        Kind::Message(message) => Some(message),
        _ => None,
    }
}

fn entry(session: &Session, view: &View, counter: Counter, cuts: &Cuts, at: usize) -> Entry {
    let item = &view.items[at];
    let tokens = match item.summary(session) {
        Some(text) => super::summary::cost(counter, &text),
        None => item
            .message(session)
            .map_or(0, |message| counter.message(&message)),
    };
    Entry {
        before: tokens,
        now: tokens,
        body: None,
        traits: item.traits(session),
        atom: cuts.atom(at),
    }
}
