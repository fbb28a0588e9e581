//! The plan of a split: its parts and their ids.

use super::copies::CopiedMessage;
use crate::model::key;
use crate::model::named_enum::named_enum;
use crate::model::session::Session;
use crate::model::view::View;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

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
    pub(super) copied: usize,
}

/// A planned split.
#[derive(Debug)]
pub struct PlannedSplit<'s> {
    pub(super) session: &'s Session,
    pub(super) view: View,
    pub(super) copied: Vec<CopiedMessage>,
    /// The header members after later changes, and the tokenizer named in the header line.
    pub(super) header: &'s [(String, Vec<u8>)],
    pub(super) tokenizer: Option<String>,
    pub(super) stem: String,
    /// Derived ids of messages without ids, by line.
    pub(super) derived: OnceCell<HashMap<usize, String>>,
    /// The parts, in order; a single one when there is nothing to cut.
    pub parts: Vec<PlannedPart>,
    /// Notices for the user: moved cuts, missing times.
    pub notes: Vec<String>,
}

impl PlannedSplit<'_> {
    /// Whether there is anything to cut.
    pub fn has_no_cut(&self) -> bool {
        self.parts.len() == 1
    }

    /// Changes the ids of the parts to `STEM.1`, `STEM.2`, ...
    pub fn with_stem(mut self, stem: &str) -> Self {
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
}
