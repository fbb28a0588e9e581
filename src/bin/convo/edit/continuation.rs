//! Going on in a new session of the store: for `continue`, and for `append` when a session is full.

use crate::context::{Context, named};
use crate::programs::counter_choice::kept;
use convo::error::{Error, Kind, Result};
use convo::filter::continuation::{self, Before, Counted, Layout, New};
use convo::format::report::Report;
use convo::model::message::{Category, Role};
use convo::model::record::Record;
use convo::model::session::{Session, Traits};
use convo::model::{chain, json, key};
use convo::store::{Bounded, BoundedLine, Continued, Placed, Store, Successor};
use convo::tokens::{Counter, Tokenizer, counter};
use std::collections::HashSet;

/// Most messages of a session before it is continued: as asked for, else as its header says, else as the configuration
/// does. 0 is no limit.
pub fn limit(context: &Context, asked: Option<u64>, header: &[u8]) -> Option<u64> {
    asked
        .or_else(|| max_messages(header))
        .or(context.max_messages)
        .filter(|limit| *limit > 0)
}

/// The member `max_messages` of a header; none when it is not a limit that `new` would take.
fn max_messages(header: &[u8]) -> Option<u64> {
    let limit = json::member(header, "max_messages")?;
    let limit: u64 = std::str::from_utf8(limit).ok()?.parse().ok()?;
    Some(limit).filter(|limit| !matches!(limit, 1 | 2))
}

/// What a new session took along.
#[derive(Debug, Default)]
pub struct Taken {
    /// Its place in the chain; the first session has 0.
    pub index: u64,
    /// Messages that are copies.
    pub copies: u64,
    /// Things that happened and were left behind.
    pub left: u64,
}

/// What is known of the sessions ahead of one in its chain. Sessions of other systems do not tell, and are read.
pub fn before(
    context: &Context,
    store: &Store,
    session: &Session,
    asked: Option<Tokenizer>,
) -> Result<Before> {
    let mut chain: Vec<Session> = Vec::new();
    let mut seen: HashSet<String> = session.header_text("id").into_iter().collect();
    let known = loop {
        let oldest = chain.last().unwrap_or(session);
        if let Some(before) = Before::told(oldest) {
            break before;
        }
        let from = oldest.header_text("continued_from").unwrap_or_default();
        if !key::is_id(&from) || !seen.insert(from.clone()) || !store.has(&from)? {
            break Before::guessed(oldest);
        }
        chain.push(store.load(&from, &mut Report::default())?);
    };
    let and = |before: Before, session: &Session| before.and(session, counts(context, session, asked));
    Ok(chain.iter().rev().fold(known, and))
}

/// How the messages of a session are counted.
fn counts(context: &Context, session: &Session, asked: Option<Tokenizer>) -> Counter {
    let own = counter::named_by(session);
    let named = asked.or_else(|| kept(context, own.as_deref()));
    let counter = Counter::new(named.unwrap_or(Tokenizer::DEFAULT), own.as_deref());
    counter.prepare(session);
    counter
}

/// A log of so many bytes is counted before others have to wait for it.
const LONG: u64 = 256 * 1024;

/// What a long session's messages cost, and what is known of those ahead of it, found out while others may still write to
/// it. What cannot be read is told when it is read under its lock.
fn counted_ahead(
    context: &Context,
    store: &Store,
    id: &str,
    asked: Option<Tokenizer>,
) -> Option<(Counted, Before)> {
    store.size(id).ok().filter(|size| *size >= LONG)?;
    let session = store.load(id, &mut Report::default()).ok()?;
    let known = before(context, store, &session, asked).ok()?;
    let counter = counts(context, &session, asked);
    Some((Counted::of(session, counter), known))
}

/// Whether a session continues what it continued before.
fn is_behind(now: &Session, before: &Session) -> bool {
    now.header_text("continued_from") == before.header_text("continued_from")
}

/// Continues a session of the store in a new one, unless it is continued already.
pub fn go_on(
    context: &Context,
    id: &str,
    asked: Option<Tokenizer>,
    limit: Option<u64>,
    report: &mut Report,
) -> Result<(Continued, Taken)> {
    let store = context.store()?;
    let now = context.clock.now();
    let mut taken = Taken::default();
    let counted = counted_ahead(context, store, id, asked);
    let done = store.continue_session(id, report, &mut |session| {
        if session.header_text("id").is_none() {
            let what = "has no header with an id, which a continuation requires";
            return Err(Error::new(Kind::Data, what).hint("create the header with: convo fsck --repair"));
        }
        let before = match &counted {
            Some((of, known)) if Before::told(session).is_none() && is_behind(session, of.session()) => {
                known.clone()
            }
            _ => before(context, store, session, asked)?,
        };
        taken.index = before.sessions.saturating_add(1);
        let child = store.successor_id(id, session, continuation::ids(id, taken.index))?;
        let new = New {
            id: &child,
            created_at: Some(&now),
            layout: Layout::Native,
            limit,
        };
        let Some(made) = continuation::plan_counted(
            session,
            counts(context, session, asked),
            &before,
            &new,
            counted.as_ref().map(|(counted, _)| counted),
        )?
        else {
            return Ok(None);
        };
        (taken.copies, taken.left) = (made.copies, made.left);
        // Made again it is the same event; one that was taken back stays another one.
        let before = (0..session.len())
            .filter(|index| session.record(*index).event().and_then(chain::child).as_ref() == Some(&child))
            .count();
        let nth = if before == 0 {
            String::new()
        } else {
            format!("\n{before}")
        };
        let event = format!(
            "evt_{}",
            &key::sha256(format!("link\n{id}\n{child}{nth}").as_bytes())[..16]
        );
        Ok(Some(Successor {
            id: child,
            lines: made.lines,
            stamp: (event, now.clone()),
        }))
    })?;
    Ok((done, taken))
}

/// The last session of the chain that a name means; by which name it was found is durable then.
pub fn end_of(context: &Context, name: &str) -> Result<String> {
    let store = context.store()?;
    let id = store.resolve(name)?;
    let end = store.end_of_chain(&id).map_err(|error| named(error, name))?;
    match end == id {
        true if name != id => store.settle_names_of(&id)?,
        true => {}
        false => store.settle_alias(name, &id)?,
    }
    Ok(end)
}

/// The error for a limit of a session that lets go of old turns by itself.
pub fn remembers(name: &str) -> Error {
    let error = Error::new(Kind::Usage, "--max-messages conflicts with a retention policy");
    named(error, name).hint("omit --max-messages, or continue in a new session with: convo continue")
}

/// What is told when a session was full.
pub fn told(from: &str, child: &str, taken: &Taken) -> String {
    let mut what = format!("{from} is full; continued as {child}");
    if taken.left > 0 {
        what.push_str(&format!("; {} context messages were not copied", taken.left));
    }
    what
}

/// The sessions of a chain, filled one after the other.
pub struct Filling<'c> {
    context: &'c Context,
    store: &'c Store,
    /// What the user calls it.
    name: &'c str,
    limit: u64,
    bounded: Bounded<'c>,
    acknowledged: u64,
    /// What is to be told when the lines are durable.
    told: Vec<String>,
    /// Which session took how many of the lines, since it was last asked for.
    placed: Vec<(String, usize)>,
}

impl<'c> Filling<'c> {
    /// Goes to the end of the chain that the name means.
    pub fn open(context: &'c Context, name: &'c str, limit: u64) -> Result<Filling<'c>> {
        let store = context.store()?;
        let end = end_of(context, name)?;
        Ok(Filling {
            context,
            store,
            name,
            limit,
            bounded: store.bounded(&end, limit)?,
            acknowledged: 0,
            told: Vec::new(),
            placed: Vec::new(),
        })
    }

    /// The session that is being filled.
    pub fn id(&self) -> &str {
        self.bounded.id()
    }

    /// Number of lines that are durable.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged + self.bounded.acknowledged()
    }

    /// Goes to where the chain of the session that was filled ends now.
    fn enter(&mut self) -> Result<()> {
        let from = self.bounded.id();
        let end = self.store.end_of_chain(from)?;
        if end == from {
            let what = format!("{from} names a continuation that does not link back");
            return Err(Error::new(Kind::Data, what).hint("examine the links with: convo fsck"));
        }
        self.acknowledged += self.bounded.acknowledged();
        self.bounded = self.store.bounded(&end, self.limit)?;
        Ok(())
    }

    /// Appends lines, in order, and goes on in a new session wherever one is full. With `once` it stops when the
    /// session changes; the number of lines that are durable.
    pub fn append(&mut self, lines: &[BoundedLine], once: bool) -> Result<usize> {
        let done = self.fill(lines, once);
        if !matches!(done, Ok(done) if done < lines.len()) {
            for what in self.told.drain(..) {
                self.context.output.tell(self.name, &what);
            }
        }
        done
    }

    fn fill(&mut self, lines: &[BoundedLine], once: bool) -> Result<usize> {
        let mut done = 0;
        while done < lines.len() {
            let moved = match self.bounded.append(&lines[done..], false)? {
                Placed::All => {
                    self.note(lines.len() - done);
                    return Ok(lines.len());
                }
                Placed::ContinuedIn(_) => {
                    self.enter()?;
                    true
                }
                Placed::Until(more) => {
                    done += more;
                    self.note(more);
                    let over = self.leave()?;
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

    /// Goes on in a new session; or tells that this one must take more, since an exchange that is not finished would
    /// fill a new one by itself.
    fn leave(&mut self) -> Result<bool> {
        let mut report = Report::default();
        let from = self.bounded.id().to_string();
        let (done, taken) = go_on(self.context, &from, None, Some(self.limit), &mut report)
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
                self.told.push(told(&from, &child, &taken));
                self.enter()?;
            }
        }
        Ok(false)
    }

    /// Appends over the limit up to where the exchange may be finished.
    fn finish(&mut self, lines: &[BoundedLine]) -> Result<usize> {
        let ends = |(line, _): &BoundedLine| {
            let place = convo::error::Place { line: 1, offset: 1 };
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
            Placed::ContinuedIn(_) => self.enter().map(|()| 0),
            _ => {
                self.note(end);
                Ok(end)
            }
        }
    }

    /// The sessions that took lines since this was last called, each with its number of lines.
    pub fn placed(&mut self) -> Vec<(String, usize)> {
        std::mem::take(&mut self.placed)
    }

    fn note(&mut self, lines: usize) {
        if lines > 0 {
            self.placed.push((self.bounded.id().to_string(), lines));
        }
    }
}
