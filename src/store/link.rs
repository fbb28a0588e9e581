//! A session that another one continues: first the new one is there, whole and with its way back, then the old one
//! tells of it. That line is the commit; a crash between leaves a session from which it can be derived.

use super::Store;
use crate::error::{Error, Kind, Result};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;

/// The line that tells that a session is continued by another.
pub fn link(id: &str, at: &str, child: &str) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event
        .text("type", "link")
        .text("id", id)
        .text("at", at)
        .text("continued_to", child);
    event.finish()
}

impl Store {
    /// Makes the session `child` of these lines, whose header says that it continues `parent`, and then tells so in
    /// `parent`. Done again after a crash it completes what is missing, and makes no second session.
    pub fn continue_session(
        &self,
        parent: &str,
        child: &str,
        lines: &[Vec<u8>],
        stamp: (&str, &str),
    ) -> Result<()> {
        let header = lines.first().map(Vec::as_slice).unwrap_or_default();
        let text = |name| json::member(header, name).and_then(json::text);
        if text("continued_from").as_deref() != Some(parent) || text("id").as_deref() != Some(child) {
            return Err(Error::new(
                Kind::Usage,
                format!("the header of {child} does not say that it continues {parent}"),
            ));
        }
        self.size(key::checked_id(parent)?)?;
        match self.create_session(child, lines) {
            Err(error) if error.kind == Kind::Exists && self.header_of(child)?.as_deref() == Some(header) => {
            }
            made => made?,
        }
        self.add_link(parent, child, stamp)
    }

    /// Tells in a session that another one continues it, unless it does already.
    pub(super) fn add_link(&self, parent: &str, child: &str, (id, at): (&str, &str)) -> Result<()> {
        loop {
            let mut report = crate::format::report::Report::default();
            let (session, length) = self.load_with_length(parent, &mut report)?;
            let known = session.live_events().into_iter().any(|index| {
                let body = session.record(index).body;
                json::member(body, "continued_to").and_then(json::text).as_deref() == Some(child)
            });
            if known || self.append_to(parent, &[&link(id, at, child)], length)? {
                return Ok(());
            }
        }
    }

    /// The first line of a session, without its checksum.
    fn header_of(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let mut report = crate::format::report::Report::default();
        let mut reader = self.reader(id)?;
        let first = crate::format::Reader::next(&mut reader, &mut report)?;
        Ok(first.map(|record| record.body.to_vec()))
    }
}
