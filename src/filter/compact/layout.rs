//! Lays a view out: which result answers which call, which items are one atom, which atoms one exchange.

use super::piece::{Atom, Entry, Exchange, Level, summary_cost};
use super::work::Work;
use crate::model::exchange::Cuts;
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

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
}

fn entry(session: &Session, view: &View, counter: Counter, cuts: &Cuts, at: usize) -> Entry {
    let item = &view.items[at];
    let tokens = match item.summary(session) {
        Some(text) => summary_cost(counter, &text),
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
