//! A stream of lines into the store: while one lot is made durable, the next one is read.

use super::continuation::ChainWriter;
use crate::context::Context;
use convo::error::Result;
use convo::model::record::Record;
use convo::store::log::Pending;
use convo::store::{Appender, BoundedLine};
use std::panic::resume_unwind;
use std::thread::{Scope, ScopedJoinHandle};

/// Destination of a stream of lines: one session, or as many as it fills.
pub enum StreamTarget<'c> {
    /// One session, however long it becomes.
    One(String, Box<Appender<'c>>),
    /// The sessions of a chain.
    Chain(Box<ChainWriter<'c>>),
}

/// Lines that are made durable together.
pub enum LineBatch {
    /// For one session.
    One(Pending),
    /// For the sessions of a chain.
    Chain(Vec<BoundedLine>),
}

impl LineBatch {
    /// Adds a record, or the line that was made of it by adding members.
    pub fn push(&mut self, record: &Record<'_>, built: Option<&[u8]>) {
        let line = built.unwrap_or(record.body);
        match self {
            LineBatch::One(pending) => pending.push_record(&Record {
                full: line,
                body: line,
                ..*record
            }),
            LineBatch::Chain(lines) => lines.push((line.to_vec(), record.message().is_some())),
        }
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        match self {
            LineBatch::One(pending) => pending.is_empty(),
            LineBatch::Chain(lines) => lines.is_empty(),
        }
    }
}

impl<'c> StreamTarget<'c> {
    /// Opens the session of this name, or the end of its chain when there is a limit.
    pub fn open(context: &'c Context, name: &'c str, limit: Option<u64>) -> Result<StreamTarget<'c>> {
        if let Some(limit) = limit {
            return Ok(StreamTarget::Chain(Box::new(ChainWriter::open(
                context, name, limit,
            )?)));
        }
        let store = context.store()?;
        let id = store.resolve(name)?;
        let appender = Box::new(store.appender(&id)?);
        Ok(StreamTarget::One(id, appender))
    }

    /// The session that is being filled.
    pub fn id(&self) -> &str {
        match self {
            StreamTarget::One(id, _) => id,
            StreamTarget::Chain(filling) => filling.id(),
        }
    }

    /// An empty lot.
    pub fn new_batch(&mut self) -> LineBatch {
        match self {
            StreamTarget::One(_, appender) => LineBatch::One(appender.empty_buffer()),
            StreamTarget::Chain(_) => LineBatch::Chain(Vec::new()),
        }
    }

    /// Makes a lot of this target durable; the sessions that it went to, each with its number of lines.
    pub fn store(&mut self, lot: LineBatch) -> Result<Vec<(String, usize)>> {
        match (self, lot) {
            (StreamTarget::One(id, appender), LineBatch::One(lines)) => {
                let count = lines.len();
                appender.flush_lines(lines)?;
                Ok(vec![(id.clone(), count)])
            }
            (StreamTarget::Chain(filling), LineBatch::Chain(lines)) => {
                filling.append(&lines, false)?;
                Ok(filling.take_line_counts())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Number of lines that are durable.
    pub fn acknowledged(&self) -> u64 {
        match self {
            StreamTarget::One(_, appender) => appender.acknowledged(),
            StreamTarget::Chain(filling) => filling.acknowledged(),
        }
    }
}

/// Pieces of work on another thread, one after another.
pub struct BackgroundWriter<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    running: Option<ScopedJoinHandle<'s, anyhow::Result<()>>>,
}

impl<'s, 'e> BackgroundWriter<'s, 'e> {
    /// Threads of this scope.
    pub fn new(scope: &'s Scope<'s, 'e>) -> Self {
        BackgroundWriter { scope, running: None }
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
