//! A log that is about to be replaced: locked, and whole in memory.

use super::directory::{Directory, Facts};
use super::log::{self, Chain, Verdict};
use super::{Store, atomic, log_name, no_session, rewrite};
use crate::error::{Error, Kind, Place, Result};
use crate::format::native;
use crate::format::report::Report;
use crate::model::record::{Kind as Line, Record};
use crate::model::session::Session;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::time::SystemTime;

/// A log that is locked, whole in memory.
pub(super) struct Held<'s> {
    pub sessions: &'s Directory,
    pub name: String,
    pub file: File,
    pub facts: Facts,
    pub bytes: Vec<u8>,
}

impl<'s> Held<'s> {
    pub fn open(store: &'s Store, id: &str) -> Result<Held<'s>> {
        let name = log_name(id);
        let sessions = store.sessions()?.ok_or_else(|| no_session(id))?;
        let opened = atomic::open_locked(sessions, &name, None, OFlags::RDONLY, store.lock_timeout)?;
        let (mut file, facts) = opened.ok_or_else(|| no_session(id))?;
        sessions.refuse_linked(&name, &facts)?;
        store.settle_name(sessions, &facts)?;
        let mut bytes = Vec::with_capacity(usize::try_from(facts.size).unwrap_or(0));
        file.read_to_end(&mut bytes)
            .map_err(|error| Error::io(sessions.shown(&name), error))?;
        Ok(Held {
            sessions,
            name,
            file,
            facts,
            bytes,
        })
    }

    /// Puts bytes in its place that say the same: which session is the newest does not change.
    pub fn replace(&self, store: &Store, bytes: &[u8]) -> Result<()> {
        let time = Some(self.facts.modified_at());
        self.replace_at(store, bytes, time)
    }

    /// Puts bytes in its place that say something new.
    pub fn replace_by_newer(&self, store: &Store, bytes: &[u8]) -> Result<()> {
        self.replace_at(store, bytes, None)
    }

    fn replace_at(&self, store: &Store, bytes: &[u8], time: Option<SystemTime>) -> Result<()> {
        if let Some(id) = self.name.strip_suffix(".jsonl") {
            store.forget_view(id);
            store.forget_overviews();
        }
        let old = (&self.file, &self.facts);
        rewrite::replace_log(self.sessions, &self.name, old, bytes, time, store.lock_timeout)
    }

    /// Takes away the new files that dead processes have left of this log, and of its file in another folder.
    pub fn sweep(&self, other: Option<&Directory>) {
        let name = atomic::temporary_name(&self.name);
        for folder in [Some(self.sessions), other].into_iter().flatten() {
            atomic::sweep(folder, &name);
        }
    }

    /// Whether a line begins with these bytes.
    pub fn has_beginning(&self, bytes: &[u8]) -> bool {
        let mut lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
        bytes.is_empty() || lines.any(|line| line.starts_with(bytes))
    }

    fn refuse(&self, line: u64, offset: usize, what: &str) -> Error {
        let place = Place {
            line,
            offset: offset as u64,
        };
        Error::new(Kind::Data, format!("{what}; nothing was changed"))
            .at(self.sessions.shown(&self.name), place)
            .hint("repair it with: convo fsck --repair")
    }

    /// Its lines without their checksums, and where each stands. A damaged log is refused: writing it anew would
    /// make the damage look right.
    pub fn lines(&self) -> Result<(Session, Vec<Range<usize>>)> {
        let (mut session, mut ranges) = (Session::default(), Vec::new());
        let (mut chain, mut bare, mut start) = (Chain::default(), Vec::new(), 0);
        for line in self.bytes.split_inclusive(|byte| *byte == b'\n') {
            let number = ranges.len() as u64 + 1;
            if chain.verify(line) == Verdict::Broken {
                return Err(self.refuse(number, start, "the checksum does not match"));
            }
            if !line.ends_with(b"\n") {
                return Err(self.refuse(number, start, "the last line is truncated"));
            }
            let stripped = log::strip_into(line, &mut bare);
            let place = Place {
                line: number,
                offset: start as u64,
            };
            let record = Record::parse(if stripped { &bare } else { line }, place);
            if let Line::Event(event) = &record.kind
                && event.is_header()
            {
                let mut report = Report::default();
                native::check(&record, &mut report)?;
            }
            session.push(&record);
            ranges.push(start..start + line.len());
            start += line.len();
        }
        Ok((session, ranges))
    }
}
