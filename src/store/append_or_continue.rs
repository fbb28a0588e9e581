//! Appends to a session up to a message limit, after which it is continued in a new one. The limit is checked under
//! the lock, so that concurrent appenders never exceed it.

use super::append::Appender;
use super::message_count::MessageCount;
use super::pending::MarkerKind;
use super::{FileStat, Store, atomic, log, log_name, no_session};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{json, key};
use std::collections::HashSet;

/// The result of an append with a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The first N lines are durable; there is no room for the next one.
    Until(usize),
    /// All lines are durable.
    All,
    /// No line was appended, because the session is continued in this one.
    ContinuedIn(String),
}

/// A line, and whether it is a message.
pub type BoundedLine = (Vec<u8>, bool);

/// Appends to one session up to a message limit.
#[derive(Debug)]
pub struct Bounded<'s> {
    store: &'s Store,
    id: String,
    limit: u64,
    appender: Appender<'s>,
    count: Option<MessageCount>,
}

impl<'s> Bounded<'s> {
    /// The session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Number of durable lines.
    pub fn acknowledged(&self) -> u64 {
        self.appender.acknowledged()
    }

    /// Appends lines in order up to the limit. `over` ignores the limit, for an exchange that fills a session by
    /// itself.
    pub fn append(&mut self, entries: &[BoundedLine], over: bool) -> Result<AppendOutcome> {
        let locked = self.appender.lock_log()?;
        let known = self.count.take();
        let (kept, now) = self
            .store
            .count(&self.id, &locked.file, &locked.facts, known, true)?;
        self.count = Some(kept);
        if let Some(child) = now.link
            && self.store.agrees(&child, &self.id)?
        {
            self.appender.release(locked);
            return Ok(AppendOutcome::ContinuedIn(child));
        }
        let mut room = match over {
            true => u64::MAX,
            false => self.limit.saturating_sub(now.messages),
        };
        let fits = |(_, is_message): &&BoundedLine| {
            let fits = !is_message || room > 0;
            room = room.saturating_sub(u64::from(*is_message));
            fits
        };
        let taken = entries.iter().take_while(fits).count();
        if taken == 0 {
            self.appender.release(locked);
            return Ok(AppendOutcome::Until(0));
        }
        for (line, _) in &entries[..taken] {
            self.appender.push(line)?;
        }
        self.appender.write(locked)?;
        Ok(if taken == entries.len() {
            AppendOutcome::All
        } else {
            AppendOutcome::Until(taken)
        })
    }
}

impl Store {
    /// Begins to append to a session with a message limit.
    pub fn bounded(&self, id: &str, limit: u64) -> Result<Bounded<'_>> {
        Ok(Bounded {
            store: self,
            id: key::checked_id(id)?.to_string(),
            limit,
            appender: self.appender(id)?,
            count: None,
        })
    }

    /// The last session of the chain, found through links that both sides confirm; the session itself if it has no
    /// continuation. Every link is checked, because it may have been undone, and made durable, because its writer may
    /// have died before the sync.
    pub fn end_of_chain(&self, id: &str) -> Result<String> {
        let Some(mut found) = self.counted(id)? else {
            return Err(no_session(id));
        };
        let mut seen = HashSet::from([id.to_string()]);
        let mut end = id.to_string();
        while let (mut count, Some(child)) = (found.0, found.1.link) {
            if !self.agrees(&child, &end)? {
                break;
            }
            if !seen.insert(child.clone()) {
                let what = format!("{id}: link cycle");
                return Err(Error::data(what)
                    .hint("give the id of a session in the chain; examine the links with: convo fsck"));
            }
            let next = if key::is_id(&child) {
                self.counted(&child)?
            } else {
                None
            };
            let Some(next) = next else {
                let what = format!("{end}: missing continuation {child}");
                return Err(Error::new(ErrorKind::NotFound, what)
                    .hint(format!("recover it from the trash with: convo restore {child}")));
            };
            if count.confirmed.as_deref() != Some(&child) {
                self.sync_lines(&end)?;
                self.unmark(MarkerKind::Continue, &end);
                // Ignore a last line without newline, which may still change.
                if count.link.as_ref() == Some(&child) {
                    count.confirmed = Some(child.clone());
                    self.keep_count(&end, &count);
                }
            }
            (end, found) = (child, next);
        }
        Ok(end)
    }

    /// Makes the alias durable through which the end of a chain was found, unless that was done before.
    pub fn sync_names_of(&self, id: &str) -> Result<()> {
        let Some((mut count, now)) = self.counted(id)? else {
            return Err(no_session(id));
        };
        if now.link.is_none() && count.confirmed.as_deref() != Some(id) {
            self.sync_aliases()?;
            self.unmark_parent(id)?;
            count.confirmed = Some(id.to_string());
            self.keep_count(id, &count);
        }
        Ok(())
    }

    /// Removes the marker of a continuation whose link is complete: a process that died after linking left it, and no
    /// name leads to the parent any more.
    fn unmark_parent(&self, id: &str) -> Result<()> {
        let header = log::strip(&self.first_line(id)?).into_owned();
        let parent = json::member_text(&header, "continued_from");
        let Some(parent) = parent.filter(|parent| key::is_id(parent)) else {
            return Ok(());
        };
        let links_here = |(_, now): &(MessageCount, MessageCount)| now.link.as_deref() == Some(id);
        if self.counted(&parent)?.is_some_and(|counts| links_here(&counts)) {
            self.sync_lines(&parent)?;
            self.unmark(MarkerKind::Continue, &parent);
        }
        Ok(())
    }

    /// Counts the messages of a log without its lock; none when there is no such session.
    fn counted(&self, id: &str) -> Result<Option<(MessageCount, MessageCount)>> {
        let name = log_name(key::checked_id(id)?);
        let Some(sessions) = self.sessions()? else {
            return Ok(None);
        };
        // Use the state between two changes.
        let Some((file, length)) = atomic::open_unlocked(sessions, &name, self.lock_timeout)? else {
            return Ok(None);
        };
        let facts = FileStat::of(&file).map_err(|error| Error::io(sessions.shown(&name), error))?;
        let facts = FileStat {
            size: length,
            ..facts
        };
        let count = self.count(id, &file, &facts, None, false)?;
        Ok(Some(count))
    }
}
