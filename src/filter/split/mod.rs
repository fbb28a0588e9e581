//! Cuts a session into several: a chain of pieces, each a session of its own. Where it is cut is decided between
//! exchanges; every line goes into one piece, and what the view showed is what the views of the pieces show together.

mod carry;
mod cuts;
mod header;
mod piece;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::{Counter, counter};
use carry::Carried;
pub use piece::Piece;
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

/// What ends a piece; each of them does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Most messages of a piece, those that are carried into it included.
    pub max_messages: Option<u64>,
    /// Most tokens of a piece, those that are carried into it included.
    pub max_tokens: Option<u64>,
    /// Messages with which a piece begins.
    pub at: Vec<String>,
    /// A pause of at least this long.
    pub gap: Option<Duration>,
    /// The end of a local day.
    pub per_day: bool,
    /// So many exchanges.
    pub every_turns: Option<u64>,
}

/// What of the pieces before is put at the head of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carry {
    /// Messages of the category system, so that every piece can be sent as it is.
    #[default]
    System,
    /// Those of the category context too.
    Context,
    /// Nothing.
    None,
}

/// Why a piece begins where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the first.
    First,
    /// It was asked for by its id.
    Asked,
    /// Another day began.
    Day,
    /// There was a pause.
    Gap,
    /// The piece before has its number of exchanges.
    Turns,
    /// The piece before has its number of messages.
    Messages,
    /// The piece before has its tokens.
    Tokens,
}

impl Reason {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::First => "first",
            Reason::Asked => "at",
            Reason::Day => "day",
            Reason::Gap => "gap",
            Reason::Turns => "turns",
            Reason::Messages => "messages",
            Reason::Tokens => "tokens",
        }
    }
}

/// A piece as it is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Items of the view.
    pub items: Range<usize>,
    /// Lines of the log.
    pub lines: Range<usize>,
    /// Why it begins here.
    pub reason: Reason,
    /// Exchanges; what leads the first one is part of it.
    pub exchanges: u64,
    /// Messages and summaries in view, what is carried included.
    pub messages: u64,
    /// Their tokens; 0 when nothing was counted.
    pub tokens: u64,
    /// Whether it is one exchange that is larger than a piece may be.
    pub is_too_large: bool,
    /// How many of the session's messages that can be carried stand ahead of it.
    carried: usize,
}

/// How a session falls into pieces.
#[derive(Debug)]
pub struct Split<'s> {
    session: &'s Session,
    view: View,
    carried: Vec<Carried>,
    /// The members of the session's line as later events have left them, and the tokenizer that the line names.
    header: Vec<(String, Vec<u8>)>,
    tokenizer: Option<String>,
    stem: String,
    /// Ids of messages that have none, by their lines.
    derived: OnceCell<HashMap<usize, String>>,
    /// The pieces, in order; one when there is nothing to cut.
    pub parts: Vec<Part>,
    /// What a user would like to know: a cut that moved, times that are missing.
    pub notes: Vec<String>,
}

impl<'s> Split<'s> {
    /// Decides where a session is cut. Tokens are counted when there is a counter, which a limit of tokens needs.
    /// A limit that what is carried would fill is [`Usage`](crate::error::Kind::Usage), a message that is not in the
    /// view [`No`](crate::error::Kind::No).
    pub fn plan(
        session: &'s Session,
        ways: &Ways,
        carry: Carry,
        counter: Option<Counter>,
    ) -> Result<Split<'s>> {
        let view = View::replay(session);
        let carried = carry::collect(session, &view, carry, counter);
        let mut notes = Vec::new();
        let parts = cuts::decide(session, &view, ways, &carried, counter, &mut notes)?;
        Ok(Split {
            session,
            view,
            carried,
            header: session.header(),
            tokenizer: counter::named_by(session),
            stem: stem(session),
            derived: OnceCell::new(),
            parts,
            notes,
        })
    }

    /// Whether there is anything to cut.
    pub fn is_whole(&self) -> bool {
        self.parts.len() == 1
    }

    /// The same with ids that begin otherwise: `STEM.1`, `STEM.2`, ...
    pub fn with_stem(mut self, stem: &str) -> Split<'s> {
        self.stem = stem.to_string();
        self
    }

    /// The id of a piece, from 0: the session's id and its number, as wide as the last one's, so that a list of names
    /// is in order. The same session gives the same ids.
    pub fn id(&self, nth: usize) -> String {
        let width = self.parts.len().to_string().len();
        let ending = format!(".{:0width$}", nth + 1);
        if self.stem.len() + ending.len() > key::LONGEST {
            return format!("hash_{}{ending}", key::sha256(self.stem.as_bytes()));
        }
        format!("{}{ending}", self.stem)
    }

    /// What a file of a piece is called: its id, and where there is nothing to cut that of the session.
    pub fn name(&self, nth: usize) -> String {
        if self.is_whole() {
            self.stem.clone()
        } else {
            self.id(nth)
        }
    }

    /// When the piece begins: the first time that one of its messages carries.
    pub fn began(&self, nth: usize) -> Option<String> {
        let mut items = self.view.items[self.parts[nth].items.clone()].iter();
        items.find_map(|item| Some(item.message(self.session)?.timestamp()?.into_owned()))
    }

    /// Makes a piece, from 0.
    pub fn piece(&self, nth: usize) -> Result<Piece> {
        piece::make(self, nth)
    }
}

/// The beginning of a session as a session of its own: its view up to the item `end`, with all lines before that item.
/// `at` is the id of its last message, `created_at` its time of creation.
pub(super) fn beginning(
    session: &Session,
    view: View,
    end: usize,
    (id, at, created_at): (&str, Option<&str>, Option<&str>),
) -> Result<Session> {
    let first = view.items[end..].iter().find_map(Item::line);
    let part = Part {
        items: 0..end,
        lines: 0..first.unwrap_or(session.len()),
        reason: Reason::First,
        exchanges: 0,
        messages: 0,
        tokens: 0,
        is_too_large: false,
        carried: 0,
    };
    let split = Split {
        session,
        view,
        carried: Vec::new(),
        header: session.header(),
        tokenizer: counter::named_by(session),
        stem: id.to_string(),
        derived: OnceCell::new(),
        parts: Vec::new(),
        notes: Vec::new(),
    };
    let header = header::of_fork(&split, at, created_at);
    piece::lines(&split, &part, id, &header)
}

/// What the ids of pieces begin with: the session's id; where there is none, or one that is not safe as a name, one
/// that is derived.
fn stem(session: &Session) -> String {
    match session.header_text("id") {
        Some(id) if key::is_id(&id) => id,
        Some(id) => key::id_for_key(&id),
        None => {
            let mut lines = Sha256::new();
            (0..session.len()).for_each(|index| lines.update(session.full(index)));
            format!("session_{}", &key::hex(&lines.finalize())[..16])
        }
    }
}
