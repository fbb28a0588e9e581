//! A view on the table: what each item costs, which atom and exchange it belongs to, and what has become of it so far.

mod change;
mod layout;
mod reshape;

use super::event::{Size, Summary};
use super::when::Measures;
use crate::filter::summarize::instructs;
use crate::model::message::{Category, Message, Role, ToolCall};
use crate::model::record::{Kind, Record};
use crate::model::session::{Session, Traits};
use crate::model::summary;
use crate::model::threads::over_cores;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

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

impl Entry {
    /// Whether a user says it.
    pub fn is_user(&self) -> bool {
        self.traits.is_some_and(|traits| traits.role == Role::User)
    }
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
    /// Whether it is a line that stands for an exchange.
    pub record: bool,
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

/// The call that a result is of.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'s> {
    /// The item that calls.
    pub caller: usize,
    /// The place among its calls.
    pub nth: usize,
    /// The call as it is written.
    raw: &'s [u8],
}

impl<'s> Owner<'s> {
    /// The call.
    pub fn call(&self) -> ToolCall<'s> {
        ToolCall::read(self.raw)
    }
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
    /// Whether the one before is exchanged for a smaller one although the view cannot do without.
    pub exchanges_summary: bool,
    /// Whether the one before leaves.
    drops_summary: bool,
    /// Tokens of the whole.
    pub total: u64,
    /// Tokens of tool results.
    tool_tokens: u64,
    /// Messages that have left.
    gone: u64,
    /// Exchanges that have left whole.
    gone_exchanges: u64,
    /// The oldest exchange of which something is there.
    first: usize,
    /// For each result: its call.
    pub owners: HashMap<usize, Owner<'s>>,
    /// Lines that set or end a standing instruction; found when they are asked for.
    ruling: OnceLock<Vec<usize>>,
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

    /// Whether an atom has a call in the newest exchange that still waits for its result: nothing was asked since.
    pub fn waits(&self, atom: usize) -> bool {
        let Atom {
            pending, exchange, ..
        } = self.atoms[atom];
        let asks = |entry: &Entry| {
            let category = entry.traits.map(|traits| traits.category);
            entry.is_user() && category != Some(Category::Context)
        };
        let behind = self.atoms[atom].items.last().map_or(0, |at| at + 1);
        pending && Some(exchange) == self.newest() && !self.items[behind..].iter().any(asks)
    }

    /// Whether an item may become smaller: it is there, and neither pinned nor waiting for results.
    pub fn may_change(&self, at: usize) -> bool {
        let atom = self.items[at].atom.map(|atom| &self.atoms[atom]);
        atom.is_some_and(|atom| atom.level < Level::Digest && !atom.pinned && !atom.pending)
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
        match message.id() {
            Some(id) => id.into_owned(),
            None => self.session.derived_id(line).unwrap_or_default(),
        }
    }

    /// The lines of the log that set or end a standing instruction: of users, system and developer.
    pub fn ruling(&self) -> &[usize] {
        self.ruling.get_or_init(|| {
            let speaking = self.speaking();
            let instructs = over_cores(speaking.len(), self.session.size(), |nth| {
                let record = self.session.record(speaking[nth]);
                record.message().is_some_and(|message| instructs(&message.text()))
            });
            let lines = speaking.into_iter().zip(instructs);
            lines
                .filter(|(_, instructs)| *instructs)
                .map(|(line, _)| line)
                .collect()
        })
    }

    /// The lines of the log that users, system and developer said.
    pub fn speaking(&self) -> Vec<usize> {
        let speaks = |traits: &Traits| matches!(traits.role, Role::User | Role::System | Role::Developer);
        let messages = self.session.messages();
        messages
            .filter(|(_, traits)| speaks(traits))
            .map(|(line, _)| line)
            .collect()
    }

    /// Whether an item is a tool's result.
    pub fn is_result(&self, at: usize) -> bool {
        self.items[at]
            .traits
            .is_some_and(|traits| traits.role == Role::Tool)
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

    /// Tokens of what never leaves by itself: rules of the system.
    pub fn aside(&self) -> u64 {
        let entries = self.items.iter().enumerate();
        let aside = entries.filter(|(at, entry)| entry.atom.is_none() && Some(*at) != self.summary_item);
        aside.map(|(_, entry)| entry.now).sum()
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
        let gone = usize::from(self.drops_summary);
        let put_in = self.inserts.len() + usize::from(self.summary.is_some());
        Size {
            messages: (self.items.len() + put_in - gone) as u64 - self.gone,
            tokens: self.total,
        }
    }

    /// What goals look at, and triggers but for failures.
    pub fn measures(&self, window: Option<u64>) -> Measures {
        // Digests begin no exchange; those ahead of everything else are one, as whatever leads a view is.
        let lead = self
            .inserts
            .first_key_value()
            .is_some_and(|(exchange, _)| *exchange < self.first);
        Measures {
            tokens: self.total,
            messages: self.now().messages,
            exchanges: self.exchanges.len() as u64 - self.gone_exchanges + u64::from(lead),
            tool_tokens: self.tool_tokens,
            window,
            failures: 0,
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
}

/// A line that is made here, as a message.
pub fn read(body: &[u8]) -> Option<Message<'_>> {
    let place = crate::error::Place { line: 0, offset: 1 };
    match Record::parse(body, place).kind {
        Kind::Message(message) => Some(message),
        _ => None,
    }
}

/// What a summary of this text costs in a context.
pub fn summary_cost(counter: Counter, text: &str) -> u64 {
    counter
        .tokenizer()
        .said(Role::System.name(), &summary::quoted(text))
}

/// The part of that which is the text's own: its tokens, and those of what keeps it from ending its frame.
pub fn shown_cost(counter: Counter, text: &str) -> u64 {
    summary_cost(counter, text).saturating_sub(summary_cost(counter, ""))
}
