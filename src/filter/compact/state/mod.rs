//! The working state of a compaction: the cost of each item, its message group and exchange, and the changes so far.

mod atom_items;
mod change;
mod join;
mod layout;
mod reshape;

use super::event::{InsertedSummary, Size};
use super::placeholders;
use super::trigger::Measures;
use crate::filter::summarize::{DetectedInstruction, detected, own_message_text};
use crate::model::message::{Category, Message, Role, ToolCall};
use crate::model::named_enum::named_enum;
use crate::model::record::{Record, RecordKind};
use crate::model::session::{Session, Traits};
use crate::model::summary;
use crate::model::threads::over_cores;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use atom_items::AtomItems;
use jiff::civil::Date;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

named_enum! {
    /// The remaining content of a message group.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum AtomLevel {
        /// The unchanged line.
        #[default]
        Full = "full",
        /// A tool result without its middle.
        HeadTail = "head+tail",
        /// Results, media or arguments replaced by placeholders.
        Masked = "masked",
        /// One line for the whole exchange.
        Digest = "digest",
        /// Nothing, except in the summary.
        Dropped = "dropped",
    }
}

/// The line of a user, system or developer message.
struct SpeakingLine {
    number: usize,
    /// The instructions in it, once they are asked for, because detection takes long.
    instructions: OnceLock<Box<[DetectedInstruction]>>,
}

/// How many times the work per byte of other steps detection takes.
const DETECTION: usize = 4;

/// One item of the view. Kept small because there are many.
#[derive(Clone, Debug)]
pub struct ViewEntry {
    /// Tokens before the compaction.
    pub before: u64,
    /// Current tokens.
    pub now: u64,
    /// Role and category; none for a summary.
    pub traits: Option<Traits>,
    /// Whether the content had several parts.
    pub has_parts: bool,
    /// The day of the message in the log.
    pub day: Option<Date>,
    /// Number of the message group plus one.
    atom: Option<NonZeroU32>,
}

const _: () = assert!(size_of::<ViewEntry>() <= 32, "there are many");

impl ViewEntry {
    /// Number of the message group; none for a summary and for items that are never dropped alone.
    pub fn atom(&self) -> Option<usize> {
        Some(self.atom?.get() as usize - 1)
    }

    /// Whether the item is a user message.
    pub fn is_user(&self) -> bool {
        self.traits.is_some_and(|traits| traits.role == Role::User)
    }
}

/// A message group: the smallest unit that may be dropped from the view.
#[derive(Clone, Debug)]
pub struct Atom {
    /// Its items, in order.
    pub items: AtomItems,
    /// Number of its exchange.
    pub exchange: usize,
    /// The lowest priority of its messages.
    pub category: Category,
    /// Whether the group must be kept.
    pub pinned: bool,
    /// Whether the group is the digest of an exchange.
    pub record: bool,
    /// Whether a call in the group waits for its result.
    pub pending: bool,
    /// The remaining content.
    pub level: AtomLevel,
    /// The step that changed the group; empty if unchanged.
    pub reason: &'static str,
}

/// A message that replaces an exchange.
#[derive(Clone, Debug)]
pub struct PlannedInsert {
    /// The item that the message precedes.
    pub before: usize,
    /// Its line.
    pub body: Vec<u8>,
    /// Its tokens.
    pub tokens: u64,
}

/// A user message and everything up to the next one.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its message groups.
    pub atoms: Range<usize>,
    /// The number of dropped groups.
    dropped: usize,
}

/// The call of a tool result.
#[derive(Clone, Copy, Debug)]
pub struct ResultCall<'s> {
    /// The calling item.
    pub caller: usize,
    /// The index among its calls.
    pub nth: usize,
    /// The JSON of the call.
    raw: &'s [u8],
}

impl<'s> ResultCall<'s> {
    /// Parses the call.
    pub fn call(&self) -> ToolCall<'s> {
        ToolCall::read(self.raw)
    }
}

/// The working state of a view.
#[derive(Clone)]
pub struct CompactionState<'s> {
    /// The log.
    pub session: &'s Session,
    /// Its view.
    pub view: &'s View,
    /// The token counter.
    pub counter: Counter,
    /// The items.
    pub items: Vec<ViewEntry>,
    /// The changed lines, by item. Copies of the state share them.
    bodies: HashMap<usize, Arc<Vec<u8>>>,
    /// The message groups, in the order of their first items.
    pub atoms: Vec<Atom>,
    /// The exchanges, oldest first.
    pub exchanges: Vec<Exchange>,
    /// Inserted messages, by exchange.
    pub inserts: BTreeMap<usize, PlannedInsert>,
    /// The summary in the view before the compaction.
    pub summary_item: Option<usize>,
    /// The inserted summary and its tokens.
    pub summary: Option<(InsertedSummary, u64)>,
    /// Whether to replace the earlier summary with a smaller one although the view needs a summary.
    pub exchanges_summary: bool,
    /// Whether to drop the earlier summary.
    drops_summary: bool,
    /// Tokens of the view.
    pub total: u64,
    /// Tokens of tool results.
    tool_tokens: u64,
    /// The number of dropped messages.
    dropped_messages: u64,
    /// The number of exchanges dropped entirely.
    dropped_exchanges: u64,
    /// The oldest exchange that is not dropped entirely.
    first: usize,
    /// The call of each result.
    pub owners: HashMap<usize, ResultCall<'s>>,
    /// The lines that may have standing instructions. Copies of the state share them.
    speaking: Arc<OnceLock<Vec<SpeakingLine>>>,
}

impl<'s> CompactionState<'s> {
    /// Number of the newest exchange; none in a view without exchanges.
    pub fn newest(&self) -> Option<usize> {
        self.exchanges.len().checked_sub(1)
    }

    /// Whether the group may be dropped: neither pinned nor in the newest exchange, and not dropped yet.
    pub fn may_drop(&self, atom: usize) -> bool {
        let atom = &self.atoms[atom];
        !atom.pinned && Some(atom.exchange) != self.newest() && atom.level < AtomLevel::Digest
    }

    /// Whether a call of the group in the newest exchange still waits for its result, with no user message after it.
    pub fn waits(&self, atom: usize) -> bool {
        let Atom {
            pending, exchange, ..
        } = self.atoms[atom];
        let asks = |entry: &ViewEntry| {
            let category = entry.traits.map(|traits| traits.category);
            entry.is_user() && category != Some(Category::Context)
        };
        let after = self.atoms[atom].items.last().map_or(0, |at| at + 1);
        pending && Some(exchange) == self.newest() && !self.items[after..].iter().any(asks)
    }

    /// Whether an item may be changed: still in the view, neither pinned nor in a group that waits for a result.
    pub fn may_change(&self, at: usize) -> bool {
        self.may_shorten(at)
            && self.items[at]
                .atom()
                .is_some_and(|atom| !self.atoms[atom].pending)
    }

    /// Whether an item may be shortened if the budget needs it: also a result in a group that waits for another one.
    pub fn may_shorten(&self, at: usize) -> bool {
        let atom = self.items[at].atom().map(|atom| &self.atoms[atom]);
        let may = |atom: &Atom| {
            atom.level < AtomLevel::Digest && !atom.pinned && (!atom.pending || self.is_result(at))
        };
        atom.is_some_and(may)
    }

    /// The current line of an item.
    pub fn body(&self, at: usize) -> &[u8] {
        match self.bodies.get(&at) {
            Some(body) => body,
            None => self.view.items[at].body(self.session),
        }
    }

    /// The current message of an item; none for a summary.
    pub fn message(&self, at: usize) -> Option<Message<'_>> {
        match self.bodies.get(&at) {
            Some(body) => read(body),
            None => self.view.items[at].message(self.session),
        }
    }

    /// Whether the text of an item is not that of its message in the log.
    pub fn is_edited(&self, at: usize) -> bool {
        self.is_changed(at) || !matches!(self.view.items[at], Item::Line(_))
    }

    /// Whether the line of an item is changed.
    pub fn is_changed(&self, at: usize) -> bool {
        self.bodies.contains_key(&at)
    }

    /// The message of an item in the log, before any compaction; none for a summary.
    pub fn original(&self, at: usize) -> Option<Message<'_>> {
        match &self.view.items[at] {
            Item::Line(index) | Item::Edited(index, _) => self.session.record(*index).message().copied(),
            item => item.message(self.session),
        }
    }

    /// The message of an item for a description: from the log if the view has placeholders, else from the view. An edit
    /// is not a placeholder: a stream lacks the text before the edit, and store and stream must decide alike.
    pub fn described(&self, at: usize) -> Option<Message<'_>> {
        let shown = self.view.items[at].message(self.session)?;
        match placeholders::has_marks(&shown) {
            true => self.original(at),
            false => Some(shown),
        }
    }

    /// The id of a message: its own, or a derived one.
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

    /// The searched lines that set, end or may change a standing instruction, in order, with the instructions in them. They are
    /// lines of user, system and developer messages.
    pub fn instructing(
        &self,
        is_searched: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (usize, &[DetectedInstruction])> {
        let lines = self.speaking_lines().iter();
        let searched: Vec<&SpeakingLine> = lines.filter(|line| is_searched(line.number)).collect();
        let new = searched.iter().filter(|line| line.instructions.get().is_none());
        let bytes: usize = new.map(|line| self.session.full(line.number).len()).sum();
        over_cores(searched.len(), bytes * DETECTION, |nth| {
            self.instructions_in(searched[nth]);
        });
        let found = searched
            .into_iter()
            .map(|line| (line.number, self.instructions_in(line)));
        found.filter(|(_, instructions)| !instructions.is_empty())
    }

    /// The instructions in a line.
    pub fn instructions_of(&self, line: usize) -> &[DetectedInstruction] {
        let lines = self.speaking_lines();
        let nth = lines.binary_search_by_key(&line, |line| line.number);
        nth.map_or(&[], |nth| self.instructions_in(&lines[nth]))
    }

    fn speaking_lines(&self) -> &[SpeakingLine] {
        self.speaking.get_or_init(|| {
            let lines = self.speaking().into_iter().map(|number| SpeakingLine {
                number,
                instructions: OnceLock::new(),
            });
            lines.collect()
        })
    }

    fn instructions_in<'l>(&self, line: &'l SpeakingLine) -> &'l [DetectedInstruction] {
        line.instructions.get_or_init(|| {
            let record = self.session.record(line.number);
            let message = record.message();
            let found = message.map(|message| detected(&own_message_text(message), message.role()).collect());
            found.unwrap_or_default()
        })
    }

    /// The lines of user, system and developer messages in the log.
    pub fn speaking(&self) -> Vec<usize> {
        let speaks = |traits: &Traits| matches!(traits.role, Role::User | Role::System | Role::Developer);
        let messages = self.session.messages();
        messages
            .filter(|(_, traits)| speaks(traits))
            .map(|(line, _)| line)
            .collect()
    }

    /// Whether an item is a tool result.
    pub fn is_result(&self, at: usize) -> bool {
        self.items[at]
            .traits
            .is_some_and(|traits| traits.role == Role::Tool)
    }

    /// Current tokens of an exchange, including its digest.
    pub fn exchange_tokens(&self, exchange: usize) -> u64 {
        let atoms = self.exchanges[exchange].atoms.clone();
        let digest = self.inserts.get(&exchange).map_or(0, |insert| insert.tokens);
        atoms.map(|atom| self.atom_tokens(atom)).sum::<u64>() + digest
    }

    /// Current tokens of a message group.
    pub fn atom_tokens(&self, atom: usize) -> u64 {
        self.atoms[atom].items.iter().map(|at| self.items[*at].now).sum()
    }

    /// Tokens of items that are never dropped alone: system messages.
    pub fn undroppable_tokens(&self) -> u64 {
        let entries = self.items.iter().enumerate();
        let undroppable =
            entries.filter(|(at, entry)| entry.atom.is_none() && Some(*at) != self.summary_item);
        undroppable.map(|(_, entry)| entry.now).sum()
    }

    /// Counts a generated message.
    pub fn cost(&self, body: &[u8]) -> u64 {
        read(body).map_or(0, |message| self.counter.message(&message))
    }

    /// Messages and tokens before the compaction.
    pub fn was(&self) -> Size {
        Size {
            messages: self.items.len() as u64,
            tokens: self.items.iter().map(|entry| entry.before).sum(),
        }
    }

    /// Current messages and tokens.
    pub fn now(&self) -> Size {
        let removed = usize::from(self.drops_summary);
        let put_in = self.inserts.len() + usize::from(self.summary.is_some());
        Size {
            messages: (self.items.len() + put_in - removed) as u64 - self.dropped_messages,
            tokens: self.total,
        }
    }

    /// The quantities that goals and triggers test, except failures.
    pub fn measures(&self, window: Option<u64>) -> Measures {
        // Digests begin no exchange; those at the beginning of the view count as one, like any leading messages.
        let lead = self
            .inserts
            .first_key_value()
            .is_some_and(|(exchange, _)| *exchange < self.first);
        Measures {
            tokens: self.total,
            messages: self.now().messages,
            exchanges: self.exchanges.len() as u64 - self.dropped_exchanges + u64::from(lead),
            tool_tokens: self.tool_tokens,
            window,
            failures: 0,
        }
    }

    /// Whether an item was dropped.
    pub fn is_dropped(&self, at: usize) -> bool {
        let atom = self.items[at].atom();
        atom.is_some_and(|atom| self.atoms[atom].level >= AtomLevel::Digest)
    }

    /// Whether an item was dropped and a digest represents it.
    pub fn is_digested(&self, at: usize) -> bool {
        let atom = self.items[at].atom();
        atom.is_some_and(|atom| self.atoms[atom].level == AtomLevel::Digest)
    }
}

/// Parses a generated line as a message.
pub fn read(body: &[u8]) -> Option<Message<'_>> {
    let place = crate::error::Position { line: 0, offset: 1 };
    match Record::parse(body, place).kind {
        RecordKind::Message(message) => Some(message),
        _ => None,
    }
}

/// Tokens of a summary of this text in a context.
pub fn summary_cost(counter: Counter, text: &str) -> u64 {
    counter
        .tokenizer()
        .message_tokens(Role::System.name(), &summary::quoted(text))
}

/// Tokens of the text itself within its summary, including those that keep it from ending its frame.
pub fn framed_tokens(counter: Counter, text: &str) -> u64 {
    summary_cost(counter, text).saturating_sub(summary_cost(counter, ""))
}
