//! Continues a stored session in a new one, for `continue` and for `append` when a session is full.

use crate::context::Context;
use crate::errors::named;
use crate::programs::counter_choice::stored_tokenizer;
use convo::error::{Error, Result};
use convo::filter::continuation::{self, CountedSession, EarlierSessions, NewSession, SessionLayout};
use convo::format::report::Report;
use convo::model::event::Stamp;
use convo::model::message::{Category, Role};
use convo::model::record::Record;
use convo::model::session::{Session, Traits};
use convo::model::{chain, json, key};
use convo::store::{AppendOutcome, Bounded, BoundedLine, Continued, Store, Successor};
use convo::tokens::{Counter, Tokenizer, counter};
use std::collections::HashSet;

/// The maximum number of messages before a session is continued: as requested, else from its header, else from the
/// configuration. 0 means no limit.
pub fn limit(context: &Context, requested: Option<u64>, header: &[u8]) -> Option<u64> {
    requested
        .or_else(|| max_messages(header))
        .or(context.max_messages)
        .filter(|limit| *limit > 0)
}

/// The member `max_messages` of a header; none for a value that `new` would reject.
fn max_messages(header: &[u8]) -> Option<u64> {
    let limit: u64 = json::number(json::member(header, "max_messages")?)?;
    Some(limit).filter(|limit| !matches!(limit, 1 | 2))
}

/// What was copied into a new session.
#[derive(Debug, Default)]
pub struct CopiedMessages {
    /// Its position in the chain; the first session has 0.
    pub index: u64,
    pub copies: u64,
    /// Context messages that were not copied.
    pub left: u64,
}

/// Collects facts about the earlier sessions of a chain. Sessions without reliable header members are read.
pub fn before(
    context: &Context,
    store: &Store,
    session: &Session,
    requested: Option<Tokenizer>,
) -> Result<EarlierSessions> {
    let mut chain: Vec<Session> = Vec::new();
    let mut seen: HashSet<String> = session.header_text("id").into_iter().collect();
    let known = loop {
        let oldest = chain.last().unwrap_or(session);
        if let Some(before) = EarlierSessions::from_header(oldest) {
            break before;
        }
        let from = oldest.header_text("continued_from").unwrap_or_default();
        if !key::is_id(&from) || !seen.insert(from.clone()) || !store.has(&from)? {
            break EarlierSessions::guessed(oldest);
        }
        chain.push(store.load(&from, &mut Report::default())?);
    };
    let and =
        |before: EarlierSessions, session: &Session| before.and(session, counts(context, session, requested));
    Ok(chain.iter().rev().fold(known, and))
}

fn counts(context: &Context, session: &Session, requested: Option<Tokenizer>) -> Counter {
    let own = counter::named_by(session);
    let named = requested.or_else(|| stored_tokenizer(context, own.as_deref()));
    let counter = Counter::new(named.unwrap_or(Tokenizer::DEFAULT), own.as_deref());
    counter.prepare(session);
    counter
}

/// Minimum size in bytes of a log whose tokens are counted before its lock is taken.
const LONG: u64 = 256 * 1024;

/// Counts the messages of a long session and its chain before taking the lock. Read errors are ignored here and
/// reported when the session is read under the lock.
fn count_before_lock(
    context: &Context,
    store: &Store,
    id: &str,
    requested: Option<Tokenizer>,
) -> Option<(CountedSession, EarlierSessions)> {
    store.size(id).ok().filter(|size| *size >= LONG)?;
    let session = store.load(id, &mut Report::default()).ok()?;
    let known = before(context, store, &session, requested).ok()?;
    let counter = counts(context, &session, requested);
    Some((CountedSession::of(session, counter), known))
}

/// Whether a session still has the same predecessor.
fn has_same_predecessor(now: &Session, before: &Session) -> bool {
    now.header_text("continued_from") == before.header_text("continued_from")
}

/// Continues a stored session in a new one, unless it has a continuation.
pub fn continue_session(
    context: &Context,
    id: &str,
    requested: Option<Tokenizer>,
    limit: Option<u64>,
    report: &mut Report,
) -> Result<(Continued, CopiedMessages)> {
    let store = context.store()?;
    let now = context.clock.now();
    let mut taken = CopiedMessages::default();
    let counted = count_before_lock(context, store, id, requested);
    let done = store.continue_session(id, report, &mut |session| {
        if session.header_text("id").is_none() {
            let what = "has no header with an id, which a continuation requires";
            return Err(Error::data(what).hint("create the header with: convo fsck --repair"));
        }
        let before = match &counted {
            Some((of, known))
                if EarlierSessions::from_header(session).is_none()
                    && has_same_predecessor(session, of.session()) =>
            {
                known.clone()
            }
            _ => before(context, store, session, requested)?,
        };
        taken.index = before.sessions.saturating_add(1);
        let child = store.successor_id(id, session, continuation::ids(id, taken.index))?;
        let new = NewSession {
            id: &child,
            created_at: Some(&now),
            layout: SessionLayout::Native,
            limit,
        };
        let Some(built) = continuation::plan_counted(
            session,
            counts(context, session, requested),
            &before,
            &new,
            counted.as_ref().map(|(counted, _)| counted),
        )?
        else {
            return Ok(None);
        };
        (taken.copies, taken.left) = (built.copies, built.left);
        // A repeated attempt creates the same event, but an undone one gets a new id.
        let before = (0..session.len())
            .filter(|index| session.record(*index).event().and_then(chain::child).as_ref() == Some(&child))
            .count();
        let nth = if before == 0 {
            String::new()
        } else {
            format!("\n{before}")
        };
        let event = key::id_from("evt_", format!("link\n{id}\n{child}{nth}"));
        Ok(Some(Successor {
            id: child,
            lines: built.lines,
            stamp: Stamp {
                id: event,
                at: now.clone(),
            },
        }))
    })?;
    Ok((done, taken))
}

/// The last session of the chain that a name refers to. The alias used is durable afterwards.
pub fn end_of(context: &Context, name: &str) -> Result<String> {
    let store = context.store()?;
    let id = store.resolve(name)?;
    let end = store.end_of_chain(&id).map_err(|error| named(error, name))?;
    match end == id {
        true if name != id => store.sync_names_of(&id)?,
        true => {}
        false => store.move_alias(name, &id)?,
    }
    Ok(end)
}

/// The error for a message limit on a session with a retention policy.
pub fn limit_conflicts_with_retention(name: &str) -> Error {
    let error = Error::usage("--max-messages conflicts with a retention policy");
    named(error, name).hint("omit --max-messages, or continue in a new session with: convo continue")
}

/// Describes a continuation after a session was full.
pub fn describe_continuation(from: &str, child: &str, taken: &CopiedMessages) -> String {
    let mut what = format!("{from} is full; continued as {child}");
    if taken.left > 0 {
        what.push_str(&format!("; {} context messages were not copied", taken.left));
    }
    what
}

/// Fills the sessions of a chain one after another.
pub struct ChainWriter<'c> {
    context: &'c Context,
    store: &'c Store,
    /// The name that the user gave.
    name: &'c str,
    limit: u64,
    bounded: Bounded<'c>,
    acknowledged: u64,
    /// Reports to print once the lines are durable.
    notices: Vec<String>,
    /// The sessions that received lines since the last query, with the number of lines.
    placed: Vec<(String, usize)>,
}

impl<'c> ChainWriter<'c> {
    /// Opens the end of the chain that a name refers to.
    pub fn open(context: &'c Context, name: &'c str, limit: u64) -> Result<ChainWriter<'c>> {
        let store = context.store()?;
        let end = end_of(context, name)?;
        Ok(ChainWriter {
            context,
            store,
            name,
            limit,
            bounded: store.bounded(&end, limit)?,
            acknowledged: 0,
            notices: Vec::new(),
            placed: Vec::new(),
        })
    }

    /// The session being filled.
    pub fn id(&self) -> &str {
        self.bounded.id()
    }

    /// Number of durable lines.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged + self.bounded.acknowledged()
    }

    /// Moves to the current end of the chain.
    fn enter(&mut self) -> Result<()> {
        let from = self.bounded.id();
        let end = self.store.end_of_chain(from)?;
        if end == from {
            let what = format!("{from} names a continuation that does not link back");
            return Err(Error::data(what).hint("examine the links with: convo fsck"));
        }
        self.acknowledged += self.bounded.acknowledged();
        self.bounded = self.store.bounded(&end, self.limit)?;
        Ok(())
    }

    /// Appends lines in order, continuing in a new session whenever one is full. With `once` it stops when the
    /// session changes. Returns the number of durable lines.
    pub fn append(&mut self, lines: &[BoundedLine], once: bool) -> Result<usize> {
        let done = self.fill(lines, once);
        if !matches!(done, Ok(done) if done < lines.len()) {
            for what in self.notices.drain(..) {
                self.context.output.notice(self.name, &what);
            }
        }
        done
    }

    fn fill(&mut self, lines: &[BoundedLine], once: bool) -> Result<usize> {
        let mut done = 0;
        while done < lines.len() {
            let moved = match self.bounded.append(&lines[done..], false)? {
                AppendOutcome::All => {
                    self.note(lines.len() - done);
                    return Ok(lines.len());
                }
                AppendOutcome::ContinuedIn(_) => {
                    self.enter()?;
                    true
                }
                AppendOutcome::Until(more) => {
                    done += more;
                    self.note(more);
                    let over = self.continue_in_new()?;
                    if over {
                        done += self.finish(&lines[done..])?;
                    }
                    !over
                }
            };
            if moved && once {
                break;
            }
        }
        Ok(done)
    }

    /// Continues in a new session; false if the current one must exceed its limit because its unfinished exchange
    /// would fill a new session by itself.
    fn continue_in_new(&mut self) -> Result<bool> {
        let mut report = Report::default();
        let from = self.bounded.id().to_string();
        let (done, taken) = continue_session(self.context, &from, None, Some(self.limit), &mut report)
            .map_err(|error| named(error, self.name))?;
        self.context.output.report(&from, &mut report);
        match done {
            Continued::Not => {
                let what =
                    format!("{from} is full; continues in a new session after the unfinished exchange");
                self.context.output.detail(self.name, &what);
                return Ok(true);
            }
            Continued::Before(_) => self.enter()?,
            Continued::Now(child, _) => {
                self.notices.push(describe_continuation(&from, &child, &taken));
                self.enter()?;
            }
        }
        Ok(false)
    }

    /// Appends over the limit up to the possible end of the exchange.
    fn finish(&mut self, lines: &[BoundedLine]) -> Result<usize> {
        let ends = |(line, _): &BoundedLine| {
            let place = convo::error::Position { line: 1, offset: 1 };
            let record = Record::parse(line, place);
            record
                .message()
                .map(Traits::of)
                .is_some_and(|traits| match traits.role {
                    Role::Assistant => !traits.calls,
                    Role::User => traits.category != Category::Context,
                    _ => false,
                })
        };
        let end = lines.iter().position(ends).map_or(lines.len(), |last| last + 1);
        match self.bounded.append(&lines[..end], true)? {
            AppendOutcome::ContinuedIn(_) => self.enter().map(|()| 0),
            _ => {
                self.note(end);
                Ok(end)
            }
        }
    }

    /// The sessions that took lines since this was last called, each with its number of lines.
    pub fn take_line_counts(&mut self) -> Vec<(String, usize)> {
        std::mem::take(&mut self.placed)
    }

    fn note(&mut self, lines: usize) {
        if lines > 0 {
            self.placed.push((self.bounded.id().to_string(), lines));
        }
    }
}
