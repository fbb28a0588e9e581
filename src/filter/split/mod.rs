//! Splits a session into a chain of parts. Cuts are made between exchanges; every line goes into one part, and the
//! views of the parts together equal the view of the session.

mod copies;
mod cut_points;
mod header;
mod part;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::model::key;
use crate::model::named_enum::named_enum;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::{Counter, counter};
use copies::CopiedMessage;
pub use part::SplitPart;
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

/// Conditions, each of which ends a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitConditions {
    /// Maximum messages of a part, copied ones included.
    pub max_messages: Option<u64>,
    /// Maximum tokens of a part, copied messages included.
    pub max_tokens: Option<u64>,
    /// Ids of messages at which a part begins.
    pub at: Vec<String>,
    /// A pause of at least this duration.
    pub gap: Option<Duration>,
    /// The end of a local day.
    pub per_day: bool,
    /// Number of exchanges.
    pub every_turns: Option<u64>,
}

/// Which earlier messages are copied to the beginning of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyPolicy {
    /// Messages of category system, so that every part can be sent as it is.
    #[default]
    System,
    /// Messages of category system and context.
    Context,
    /// Nothing.
    None,
}

named_enum! {
    /// Why a part begins where it does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        /// The first part.
        First = "first",
        /// Requested by message id.
        Asked = "at",
        /// A new day.
        Day = "day",
        /// A pause.
        Gap = "gap",
        /// The previous part reached the number of exchanges.
        Turns = "turns",
        /// The previous part reached the number of messages.
        Messages = "messages",
        /// The previous part reached the number of tokens.
        Tokens = "tokens",
    }
}

/// A planned part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPart {
    /// Items of the view.
    pub items: Range<usize>,
    /// Lines of the log.
    pub lines: Range<usize>,
    /// Why it begins here.
    pub reason: Reason,
    /// Number of exchanges; messages before the first one count as part of it.
    pub exchanges: u64,
    /// Messages and summaries in the view, copied ones included.
    pub messages: u64,
    /// Their tokens; 0 when not counted.
    pub tokens: u64,
    /// Whether it is a single exchange larger than the limit.
    pub is_too_large: bool,
    /// Number of copyable messages of the session before this part.
    copied: usize,
}

/// A planned split.
#[derive(Debug)]
pub struct PlannedSplit<'s> {
    session: &'s Session,
    view: View,
    copied: Vec<CopiedMessage>,
    /// The header members after later changes, and the tokenizer named in the header line.
    header: &'s [(String, Vec<u8>)],
    tokenizer: Option<String>,
    stem: String,
    /// Derived ids of messages without ids, by line.
    derived: OnceCell<HashMap<usize, String>>,
    /// The parts, in order; a single one when there is nothing to cut.
    pub parts: Vec<PlannedPart>,
    /// Notices for the user: moved cuts, missing times.
    pub notes: Vec<String>,
}

impl<'s> PlannedSplit<'s> {
    /// Decides where a session is cut. A token limit requires a counter. A limit that the copied messages would fill
    /// is [`Usage`](crate::error::ErrorKind::Usage), a message that is not in the view [`No`](crate::error::ErrorKind::No).
    pub fn plan(
        session: &'s Session,
        ways: &SplitConditions,
        carry: CopyPolicy,
        counter: Option<Counter>,
    ) -> Result<PlannedSplit<'s>> {
        let view = View::replay(session);
        let copied = copies::collect(session, &view, carry, counter);
        let mut notes = Vec::new();
        let parts = cut_points::decide(session, &view, ways, &copied, counter, &mut notes)?;
        Ok(PlannedSplit {
            session,
            view,
            copied,
            header: session.header(),
            tokenizer: counter::named_by(session),
            stem: stem(session),
            derived: OnceCell::new(),
            parts,
            notes,
        })
    }

    /// Whether there is anything to cut.
    pub fn has_no_cut(&self) -> bool {
        self.parts.len() == 1
    }

    /// Changes the ids of the parts to `STEM.1`, `STEM.2`, ...
    pub fn with_stem(mut self, stem: &str) -> PlannedSplit<'s> {
        self.stem = stem.to_string();
        self
    }

    /// The id of a part, from 0: the session's id and its number, zero-padded so that names sort in order. The same
    /// session gives the same ids.
    pub fn id(&self, nth: usize) -> String {
        let width = self.parts.len().to_string().len();
        let ending = format!(".{:0width$}", nth + 1);
        if self.stem.len() + ending.len() > key::LONGEST {
            return format!("hash_{}{ending}", key::sha256(self.stem.as_bytes()));
        }
        format!("{}{ending}", self.stem)
    }

    /// The file name of a part: its id, or the id of the session when there is nothing to cut.
    pub fn name(&self, nth: usize) -> String {
        if self.has_no_cut() {
            self.stem.clone()
        } else {
            self.id(nth)
        }
    }

    /// The start time of a part: the first time of its messages.
    pub fn began(&self, nth: usize) -> Option<String> {
        let mut items = self.view.items[self.parts[nth].items.clone()].iter();
        items.find_map(|item| Some(item.message(self.session)?.timestamp()?.into_owned()))
    }

    /// Builds part number `nth`, from 0.
    pub fn build_part(&self, nth: usize) -> Result<SplitPart> {
        part::make(self, nth)
    }
}

/// Builds a session from the beginning of another: its view up to the item `end`, with all lines before that item.
/// `at` is the id of the last message, `created_at` the creation time.
pub(super) fn beginning(
    session: &Session,
    view: View,
    end: usize,
    (id, at, created_at): (&str, Option<&str>, Option<&str>),
) -> Result<Session> {
    let first = view.items[end..].iter().find_map(Item::line);
    let part = PlannedPart {
        items: 0..end,
        lines: 0..first.unwrap_or(session.len()),
        reason: Reason::First,
        exchanges: 0,
        messages: 0,
        tokens: 0,
        is_too_large: false,
        copied: 0,
    };
    let split = PlannedSplit {
        session,
        view,
        copied: Vec::new(),
        header: session.header(),
        tokenizer: counter::named_by(session),
        stem: id.to_string(),
        derived: OnceCell::new(),
        parts: Vec::new(),
        notes: Vec::new(),
    };
    let header = header::of_fork(&split, at, created_at);
    part::lines(&split, &part, id, &header)
}

/// The prefix of part ids: the session's id, or a derived one if the id is missing or not safe in a file name.
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
