//! Splits a session into a chain of parts. Cuts are made between exchanges; every line goes into one part, and the
//! views of the parts together equal the view of the session.

mod copies;
mod cut_points;
mod header;
mod options;
mod part;
mod plan;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::{Counter, counter};
pub use options::{CopyPolicy, SplitConditions};
pub use part::SplitPart;
pub use plan::{PlannedPart, PlannedSplit, Reason};
use sha2::{Digest, Sha256};
use std::cell::OnceCell;

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
