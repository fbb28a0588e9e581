//! A stream of lines into the store: while one lot is made durable, the next one is read.

use super::continuation::Filling;
use crate::context::Context;
use convo::error::Result;
use convo::model::record::Record;
use convo::store::log::Pending;
use convo::store::{Appender, BoundedLine};
use std::panic::resume_unwind;
use std::thread::{Scope, ScopedJoinHandle};

/// Destination of a stream of lines: one session, or as many as it fills.
pub enum Target<'c> {
    /// One session, however long it becomes.
    One(String, Box<Appender<'c>>),
    /// The sessions of a chain.
    Chain(Box<Filling<'c>>),
}

/// Lines that are made durable together.
pub enum Lot {
    /// For one session.
    One(Pending),
    /// For the sessions of a chain.
    Chain(Vec<BoundedLine>),
}

impl Lot {
    /// Adds a record, or the line that was made of it by adding members.
    pub fn push(&mut self, record: &Record<'_>, made: Option<&[u8]>) {
        let line = made.unwrap_or(record.body);
        match self {
            Lot::One(pending) => pending.push_record(&Record {
                full: line,
                body: line,
                ..*record
            }),
            Lot::Chain(lines) => lines.push((line.to_vec(), record.message().is_some())),
        }
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        match self {
            Lot::One(pending) => pending.is_empty(),
            Lot::Chain(lines) => lines.is_empty(),
        }
    }
}

impl<'c> Target<'c> {
    /// Opens the session of this name, or the end of its chain when there is a limit.
    pub fn open(context: &'c Context, name: &'c str, limit: Option<u64>) -> Result<Target<'c>> {
        if let Some(limit) = limit {
            return Ok(Target::Chain(Box::new(Filling::open(context, name, limit)?)));
        }
        let store = context.store()?;
        let id = store.resolve(name)?;
        let appender = Box::new(store.appender(&id)?);
        Ok(Target::One(id, appender))
    }

    /// The session that is being filled.
    pub fn id(&self) -> &str {
        match self {
            Target::One(id, _) => id,
            Target::Chain(filling) => filling.id(),
        }
    }

    /// An empty lot.
    pub fn lot(&self) -> Lot {
        match self {
            Target::One(..) => Lot::One(Pending::default()),
            Target::Chain(_) => Lot::Chain(Vec::new()),
        }
    }

    /// Makes a lot of this target durable; the sessions that it went to, each with its number of lines.
    pub fn store(&mut self, lot: Lot) -> Result<Vec<(String, usize)>> {
        match (self, lot) {
            (Target::One(id, appender), Lot::One(lines)) => {
                let count = lines.len();
                appender.flush_lines(lines)?;
                Ok(vec![(id.clone(), count)])
            }
            (Target::Chain(filling), Lot::Chain(lines)) => {
                filling.append(&lines, false)?;
                Ok(filling.placed())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Number of lines that are durable.
    pub fn acknowledged(&self) -> u64 {
        match self {
            Target::One(_, appender) => appender.acknowledged(),
            Target::Chain(filling) => filling.acknowledged(),
        }
    }
}

/// Pieces of work on another thread, one after another.
pub struct Behind<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    running: Option<ScopedJoinHandle<'s, anyhow::Result<()>>>,
}

impl<'s, 'e> Behind<'s, 'e> {
    /// Threads of this scope.
    pub fn new(scope: &'s Scope<'s, 'e>) -> Self {
        Behind { scope, running: None }
    }

    /// Starts a piece of work when the one before is finished. If that failed, this one is not started.
    pub fn start(&mut self, work: impl FnOnce() -> anyhow::Result<()> + Send + 's) -> anyhow::Result<()> {
        self.finish()?;
        self.running = Some(self.scope.spawn(work));
        Ok(())
    }

    /// Waits for the work that was started.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        let running = self.running.take().map(ScopedJoinHandle::join);
        running.map_or(Ok(()), |done| {
            done.unwrap_or_else(|payload| resume_unwind(payload))
        })
    }
}
