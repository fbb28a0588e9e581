//! The pieces of a view on the table: items, atoms, exchanges.

use crate::model::message::{Category, Message};
use crate::model::record::{Kind, Record};
use crate::model::session::Traits;
use crate::model::summary;
use crate::tokens::Counter;

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
    pub(super) gone: usize,
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
    read(&summary::message(text, None)).map_or(0, |message| counter.message(&message))
}
