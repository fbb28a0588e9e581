//! Splits a session into parts that are stored as sessions: creates the complete parts, the last one first so that no
//! link dangles, then records them in the original. That line is the commit.

use super::pending::{MarkerKind, Planned};
use super::{Store, atomic, log_name};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Reader;
use crate::format::report::Report;
use crate::model::event::Stamp;
use crate::model::json::{self, Dialect};
use crate::model::record::RecordKind as Line;
use crate::model::session::{Class, Session};

/// The event that names the sessions into which one was split.
pub fn event(stamp: &Stamp, pieces: &[String]) -> Vec<u8> {
    let mut event = stamp.event("split");
    event.raw("into", json::texts(pieces));
    event.finish()
}

/// The sessions that a `split` event names; none for any other event.
pub fn parts_of_event(event: &[u8]) -> Option<Vec<String>> {
    if json::member_text(event, "type").as_deref() != Some("split") {
        return None;
    }
    let names = json::elements(json::member(event, "into")?, Dialect::Strict)?;
    names
        .into_iter()
        .map(|name| json::text(name).map(|name| name.into_owned()))
        .collect()
}

impl Store {
    /// Stores the parts of the session `parent` and records them in it; returns whether there was anything to do.
    /// Parts are requested one by one. Repeated after a crash, it completes missing parts without duplicates; a name
    /// used by another session is [`ErrorKind::Exists`], and then nothing is created.
    pub fn split_session(
        &self,
        parent: &str,
        pieces: impl Iterator<Item = Result<(String, Session)>>,
        stamp: impl FnOnce() -> Result<Stamp>,
    ) -> Result<bool> {
        let batch = self.batch()?;
        let (mut ids, mut staged, mut planned) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            let (id, session) = piece?;
            let lines = (0..session.len()).filter(|index| session.class(*index) != Class::Blank);
            planned.push(Planned::of(&id, lines.map(|index| session.full(index))));
            if !self.starts_with_lines(&id, &session)? {
                let again = |error: Error| match error.kind {
                    ErrorKind::Exists if self.names_part(parent, &id).unwrap_or(false) => Error {
                        message: format!("{id}: exists as a different part of an earlier split"),
                        ..error
                    },
                    _ => error,
                };
                self.refuse_taken(&id).map_err(again)?;
                let lines = (0..session.len()).filter(|index| session.class(*index) != Class::Blank);
                staged.push(batch.stage(&id, lines.map(|index| session.full(index)))?);
            }
            ids.push(id);
        }
        let (new, known) = (staged.len(), self.names_parts(parent, &ids)?);
        let _mark = match known {
            true => None,
            false => Some(self.mark(MarkerKind::Split, parent, &planned)?),
        };
        staged.reverse();
        let mut named = 0;
        let mut failed = None;
        for (_, result) in batch.commit(staged) {
            match result {
                Ok(()) => named += 1,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let unfinished = |error: Error| Error {
            message: format!("{parent}: unfinished split: {}", error.message),
            ..error
                .kind(ErrorKind::Unsure)
                .hint("run the command again to complete it")
        };
        if let Some(error) = failed {
            if named == 0 && error.kind != ErrorKind::Unsure {
                self.unmark(MarkerKind::Split, parent);
            }
            return Err(if named > 0 { unfinished(error) } else { error });
        }
        if new < ids.len() {
            // Names created by a killed process may not be durable.
            self.sync_names()?;
            if let Some(sessions) = self.sessions()? {
                let names: Vec<String> = ids.iter().map(|id| log_name(id)).collect();
                atomic::sync_files(sessions, names.iter().map(String::as_str))?;
            }
        }
        if known {
            self.unmark(MarkerKind::Split, parent);
            self.sync_lines(parent)?;
            return Ok(new > 0);
        }
        let reported = stamp().and_then(|stamp| self.append(parent, &[&event(&stamp, &ids)]));
        reported.map_err(|error| if new > 0 { unfinished(error) } else { error })?;
        self.unmark(MarkerKind::Split, parent);
        Ok(true)
    }

    /// Whether a session begins with these lines, ignoring appended and damaged ones: an interrupted process may have
    /// left a partial line.
    fn starts_with_lines(&self, id: &str, session: &Session) -> Result<bool> {
        if !self.has(id)? {
            return Ok(false);
        }
        let (mut report, mut there) = (Report::default(), self.reader(id)?);
        let is_good = |index: &usize| !matches!(session.class(*index), Class::Blank | Class::Unreadable);
        for index in (0..session.len()).filter(is_good) {
            let same = loop {
                match there.next(&mut report)? {
                    Some(record) if matches!(record.kind, Line::Blank | Line::Unreadable(_)) => {}
                    Some(record) => break record.body == session.record(index).body,
                    None => break false,
                }
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a session names this part among those that it was split into.
    fn names_part(&self, parent: &str, piece: &str) -> Result<bool> {
        let session = self.load(parent, &mut Report::default())?;
        let mut reported = session.live_events().into_iter();
        Ok(reported.any(|index| {
            let pieces = parts_of_event(session.record(index).body);
            pieces.is_some_and(|pieces| pieces.iter().any(|one| one == piece))
        }))
    }

    /// Whether a session already names these parts.
    fn names_parts(&self, parent: &str, pieces: &[String]) -> Result<bool> {
        let session = self.load(parent, &mut Report::default())?;
        let live = session.live_events();
        Ok(live
            .into_iter()
            .any(|index| parts_of_event(session.record(index).body).as_deref() == Some(pieces)))
    }
}
