//! Builds the working state of a view: counts messages, pairs results with calls, numbers message groups and exchanges.

use super::{Atom, AtomItems, AtomLevel, CompactionState, Exchange, ResultCall, ViewEntry, summary_cost};
use crate::filter::summarize::day;
use crate::model::exchange::Cuts;
use crate::model::json;
use crate::model::message::{Category, Role};
use crate::model::session::{Session, Traits};
use crate::model::threads::over_cores;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU32;

impl<'s> CompactionState<'s> {
    /// Lays out a view with these items pinned.
    pub fn new(
        session: &'s Session,
        view: &'s View,
        counter: Counter,
        pins: &HashSet<usize>,
    ) -> CompactionState<'s> {
        let cuts = Cuts::of(session, view);
        let bytes = counter.tokenizer().work(session.size());
        let items = over_cores(view.items.len(), bytes, |at| {
            entry(session, view, counter, &cuts, at)
        });
        CompactionState::of(session, view, counter, (items, &cuts), pins)
    }

    /// The state without changes; counts nothing again.
    pub fn unchanged(&self, pins: &HashSet<usize>) -> CompactionState<'s> {
        let cuts = Cuts::of(self.session, self.view);
        let as_before = |entry: &ViewEntry| ViewEntry {
            now: entry.before,
            ..entry.clone()
        };
        let items = self.items.iter().map(as_before).collect();
        CompactionState {
            speaking: self.speaking.clone(),
            ..CompactionState::of(self.session, self.view, self.counter, (items, &cuts), pins)
        }
    }

    fn of(
        session: &'s Session,
        view: &'s View,
        counter: Counter,
        (items, cuts): (Vec<ViewEntry>, &Cuts),
        pins: &HashSet<usize>,
    ) -> CompactionState<'s> {
        let mut work = CompactionState {
            total: items.iter().map(|entry| entry.now).sum(),
            session,
            view,
            counter,
            items,
            bodies: HashMap::new(),
            atoms: Vec::new(),
            exchanges: Vec::new(),
            inserts: BTreeMap::new(),
            summary_item: view
                .items
                .iter()
                .position(|item| matches!(item, Item::Summary(_))),
            summary: None,
            exchanges_summary: false,
            drops_summary: false,
            tool_tokens: 0,
            dropped_messages: 0,
            dropped_exchanges: 0,
            first: 0,
            owners: HashMap::new(),
            speaking: Default::default(),
        };
        let results = (0..work.items.len()).filter(|at| work.is_result(*at));
        work.tool_tokens = results.map(|at| work.items[at].now).sum();
        let pending = work.pair();
        work.group(cuts, pins, &pending);
        work
    }

    /// Finds the call of each result, as [`Cuts`] does: the nearest earlier call of its id without a result, or,
    /// without an id, the next call of the last calling message. Returns the items with unanswered calls.
    fn pair(&mut self) -> HashSet<usize> {
        let mut open: HashMap<String, Vec<ResultCall<'s>>> = HashMap::new();
        let mut last: Vec<ResultCall<'s>> = Vec::new();
        let mut waiting: HashSet<(usize, usize)> = HashSet::new();
        for at in 0..self.items.len() {
            let Some(traits) = self.items[at].traits else {
                continue;
            };
            // Rules belong to no group.
            if self.items[at].atom.is_none() {
                continue;
            }
            let message = || self.view.items[at].message(self.session);
            if traits.calls {
                last.clear();
                let calls = message().and_then(|message| message.tool_calls);
                for (nth, raw) in json::items(calls).into_iter().enumerate() {
                    let owner = ResultCall { caller: at, nth, raw };
                    let id = json::member_text(raw, "id").unwrap_or_default();
                    open.entry(id.into_owned()).or_default().push(owner);
                    waiting.insert((at, nth));
                    last.push(owner);
                }
                last.reverse();
            } else if traits.role == Role::Tool {
                let id = message().and_then(|message| Some(message.tool_call_id()?.into_owned()));
                let owner = match id.filter(|id| !id.is_empty()) {
                    Some(id) => open.get_mut(&id).and_then(|calls| match calls.len() {
                        0 | 1 => calls.last().copied(),
                        _ => calls.pop(),
                    }),
                    None if last.len() > 1 => last.pop(),
                    None => last.last().copied(),
                };
                if let Some(owner) = owner {
                    waiting.remove(&(owner.caller, owner.nth));
                    self.owners.insert(at, owner);
                }
            } else if traits.role == Role::User && traits.category != Category::Context {
                last.clear();
            }
        }
        waiting.into_iter().map(|(at, _)| at).collect()
    }

    fn group(&mut self, cuts: &Cuts, pins: &HashSet<usize>, pending: &HashSet<usize>) {
        // The number of each group of the cuts in this state.
        let mut numbers: Vec<Option<usize>> = vec![None; self.items.len()];
        let mut named = vec![false; self.items.len()];
        self.items
            .iter()
            .filter_map(ViewEntry::atom)
            .for_each(|atom| named[atom] = true);
        self.atoms
            .reserve_exact(named.iter().filter(|named| **named).count());
        let mut exchange = 0;
        let mut filled = false;
        // A group that reaches into a later exchange merges both and all between. `roots` are the exchanges that are
        // not merged into an earlier one, by their original numbers.
        let mut roots: Vec<usize> = vec![0];
        for at in 0..self.items.len() {
            if cuts.begins(at) && filled {
                exchange += 1;
                filled = false;
                roots.push(exchange);
            }
            let Some(name) = self.items[at].atom() else {
                continue;
            };
            filled = true;
            let record = self.is_record(at);
            let next = self.atoms.len();
            let number = *numbers[name].get_or_insert(next);
            if number == next {
                self.atoms.push(Atom {
                    items: AtomItems::One(at),
                    exchange,
                    category: Category::System,
                    pinned: false,
                    record: false,
                    pending: false,
                    level: AtomLevel::Full,
                    reason: "",
                });
            } else {
                self.atoms[number].items.push(at);
            }
            let atom = &mut self.atoms[number];
            let begun = roots.partition_point(|root| *root <= atom.exchange);
            roots.truncate(begun);
            atom.pinned |= pins.contains(&at);
            atom.record |= record;
            atom.pending |= pending.contains(&at);
            if let Some(traits) = self.items[at].traits {
                atom.category = atom.category.max(traits.category);
            }
            self.items[at].atom = group_number(number);
        }
        self.pin_questions();
        self.exchanges.reserve_exact(roots.len());
        // Groups are numbered by their first items, so that those of an exchange follow each other.
        for (number, atom) in self.atoms.iter_mut().enumerate() {
            atom.exchange = roots.partition_point(|root| *root <= atom.exchange) - 1;
            match self.exchanges.get_mut(atom.exchange) {
                Some(exchange) => exchange.atoms.end = number + 1,
                None => self.exchanges.push(Exchange {
                    atoms: number..number + 1,
                    dropped: 0,
                }),
            }
        }
    }

    /// Whether an item is a digest, inserted here or read from a stream.
    fn is_record(&self, at: usize) -> bool {
        let is_user = |traits: &Traits| traits.role == Role::User && traits.category == Category::Context;
        self.items[at].traits.as_ref().is_some_and(is_user)
            && self.view.items[at]
                .message(self.session)
                .and_then(|message| json::member(message.metadata?, "convo"))
                .is_some_and(|own| json::member(own, "digest").is_some())
    }

    /// Pins the questions before a pinned reply in its exchange: a view begins with a user message. This uses the
    /// original exchange, because other exchanges merged with it may be dropped.
    fn pin_questions(&mut self) {
        let mut replies = None;
        for atom in self.atoms.iter_mut().rev() {
            if !self.items[atom.items[0]].is_user() {
                replies = if atom.pinned { Some(atom.exchange) } else { replies };
            } else if replies == Some(atom.exchange) {
                atom.pinned = true;
            }
        }
    }
}

/// The number of a message group plus one.
fn group_number(atom: usize) -> Option<NonZeroU32> {
    NonZeroU32::new(u32::try_from(atom).ok()?.checked_add(1)?)
}

fn entry(session: &Session, view: &View, counter: Counter, cuts: &Cuts, at: usize) -> ViewEntry {
    let item = &view.items[at];
    let message = item.message(session);
    let tokens = match (item.summary(session), &message) {
        (Some(text), _) => summary_cost(counter, &text),
        (None, message) => message.as_ref().map_or(0, |message| counter.message(message)),
    };
    let content = message.as_ref().and_then(|message| message.content);
    let has_parts = content.is_some_and(|content| !content.starts_with(b"\""));
    let time = match item {
        Item::Edited(index, _) => session
            .record(*index)
            .message()
            .and_then(|message| message.timestamp),
        _ => message.and_then(|message| message.timestamp),
    };
    ViewEntry {
        before: tokens,
        now: tokens,
        traits: item.traits(session),
        has_parts,
        day: time.and_then(json::plain).and_then(day),
        atom: cuts.reply(at).and_then(group_number),
    }
}
