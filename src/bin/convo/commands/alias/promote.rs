//! `alias promote`: copies the history that a program stored under an older name to the session that it uses now.

use crate::context::Context;
use crate::errors::named;
use convo::error::{Error, ErrorKind};
use convo::filter::Stamp;
use convo::filter::promotion::{self, Promoted};
use convo::format::report::Report;
use convo::model::chain::ChainLinks;
use convo::model::scope::{KeyForm, main_key, picoclaw_normalize, signature};
use convo::model::session::Session;
use convo::model::view::View;
use convo::model::{json, key};
use convo::store::{Store, foreign};
use std::collections::HashSet;

/// How often the promotion is retried when a session grows in the meantime.
const TRIES: u32 = 50;

/// A promotion: the target session and the older names.
pub struct Promotion<'c> {
    context: &'c Context,
    store: &'c Store,
    /// The target, a session without a history.
    target: String,
    /// Older names, in order of preference.
    names: Vec<String>,
}

/// A session as it was read.
struct PromotionSession {
    id: String,
    session: Session,
    view: View,
    length: u64,
    promoted: Promoted,
}

struct HistorySource {
    name: String,
    read: PromotionSession,
}

impl<'c> Promotion<'c> {
    /// Promotes the sessions of `names`, or, if empty, those that the header of the target names as PicoClaw does. All
    /// users share the name of an agent's main session: in `names` it is an error, in the header it is ignored.
    pub fn new(context: &'c Context, target: &str, names: &[String]) -> anyhow::Result<Promotion<'c>> {
        let store = context.store()?;
        let target = store.resolve(target)?;
        let header = store.first_line(&target)?;
        let main = Mains::of(names, &header);
        if let Some(shared) = names.iter().find(|name| main.is_reserved(name)) {
            let what = format!("{shared}: shared name of an agent's main session");
            return Err(Error::usage(what)
                .hint("its history may belong to others and is never adopted")
                .into());
        }
        let names = match names {
            [] => foreign::aliases(&header)
                .into_iter()
                .filter(|name| !main.is_reserved(name))
                .collect(),
            names => names.to_vec(),
        };
        Ok(Promotion {
            context,
            store,
            target,
            names,
        })
    }

    /// Adopts the first history that is found. A repeated call completes an earlier one and otherwise changes nothing.
    pub fn run(&self) -> anyhow::Result<()> {
        for _ in 0..TRIES {
            let target = self.read(&self.target)?;
            if let Some(from) = &target.promoted.from {
                return self.done_before(from);
            }
            if promotion::has_history(&target.session, &target.view) {
                self.release_histories()?;
                let error = Error::new(ErrorKind::No, "not empty; history not adopted");
                return Err(named(error, &self.target).into());
            }
            let Some(source) = self.source()? else {
                let why = match self.names.is_empty() {
                    true => "no older name to adopt a history from",
                    false => "no history under older names",
                };
                let error = Error::new(ErrorKind::No, why);
                return Err(named(error, &self.target)
                    .hint("give older names with: convo alias promote NAME ALIAS...")
                    .into());
            };
            if self.take(&target, &source)? {
                return Ok(());
            }
        }
        Err(named(
            Error::new(
                ErrorKind::Locked,
                "modified by another program; nothing was changed",
            ),
            &self.target,
        )
        .into())
    }

    fn read(&self, id: &str) -> convo::Result<PromotionSession> {
        let mut report = Report::default();
        let (session, length) = self.store.load_with_length(id, &mut report)?;
        self.context.output.report(id, &mut report);
        let view = View::replay(&session);
        Ok(PromotionSession {
            id: id.to_string(),
            promoted: Promoted::of(&session),
            session,
            view,
            length,
        })
    }

    /// Returns the sessions with these names, in order, without the target.
    fn sources(&self) -> convo::Result<Vec<(String, String)>> {
        let (mut found, mut seen) = (Vec::new(), HashSet::from([self.target.clone()]));
        for name in &self.names {
            if let Some(id) = self.store.session_by_id_or_key(name)?
                && seen.insert(id.clone())
            {
                found.push((name.clone(), id));
            }
        }
        Ok(found)
    }

    /// Returns the first of them whose history no other session has adopted.
    fn source(&self) -> convo::Result<Option<HistorySource>> {
        for (name, id) in self.sources()? {
            let read = self.read(&id)?;
            match &read.promoted.to {
                Some((other, _)) if *other != self.target => {
                    let what = format!("history already adopted by {other}");
                    self.context.output.notice(&name, &what);
                }
                _ if promotion::has_history(&read.session, &read.view) => {
                    // A session that is continued contains only a part of its history.
                    if let Some(child) = ChainLinks::of(&read.session).continued_to.first() {
                        let what = format!("continued by {child}: its history is a chain");
                        let hint = format!("join the chain first with: convo join {name}");
                        return Err(named(Error::new(ErrorKind::No, what), &name).hint(hint));
                    }
                    return Ok(Some(HistorySource { name, read }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Appends an event to the source that names the target, then appends the history to the target atomically. After a
    /// crash between the two, the history is still in the source and reserved for the target.
    fn take(&self, target: &PromotionSession, source: &HistorySource) -> anyhow::Result<bool> {
        let from = &source.read;
        let is_first = from.promoted.to.is_none();
        if is_first {
            let given = promotion::reservation_event(&self.stamp(from, &self.target)?, &self.target);
            if !self.store.append_to(&from.id, &[&given], from.length)? {
                return Ok(false);
            }
        } else {
            // A killed run may have written this event without syncing it.
            self.store.sync_lines(&from.id)?;
        }
        let taken = promotion::adoption_event(&self.stamp(target, &from.id)?, &from.id, &source.name);
        let lines = promotion::lines(&from.session, &from.view, &target.session, taken);
        let done = self.store.append_whole(&self.target, &lines, target.length);
        let done = done.map_err(|error| match is_first {
            true => error
                .kind(ErrorKind::Unsure)
                .hint(format!("{}: unfinished adoption; run the command again", from.id)),
            false => error,
        });
        if !done? {
            return Ok(false);
        }
        self.claim(&source.name)?;
        let count = crate::output::count_of(lines.len() as u64 - 1, "line");
        self.context.output.notice(
            &self.target,
            &format!("adopted the history of {}: {count}", from.id),
        );
        Ok(true)
    }

    fn done_before(&self, from: &str) -> anyhow::Result<()> {
        // The event in the source is written first, but a copy of a store may contain only one of the two sessions.
        if self.store.has(from)? {
            let read = self.read(from)?;
            if read.promoted.to.is_none() {
                let given = promotion::reservation_event(&self.stamp(&read, &self.target)?, &self.target);
                self.store.append(from, &[&given])?;
            } else {
                self.store.sync_lines(from)?;
            }
        }
        for (name, id) in self.sources()? {
            if id == from {
                self.claim(&name)?;
            }
        }
        // A killed run may have appended these lines without syncing them.
        self.store.sync_lines(&self.target)?;
        self.store.sync_names()?;
        let reported = format!("unchanged: history of {from} already adopted");
        self.context.output.notice(&self.target, &reported);
        Ok(())
    }

    /// Undoes the events that reserve histories for the target, which has a history of its own.
    fn release_histories(&self) -> convo::Result<()> {
        for (_, id) in self.sources()? {
            let read = self.read(&id)?;
            if let Some((to, event)) = &read.promoted.to
                && *to == self.target
                && !event.is_empty()
            {
                let stamp = self.stamp(&read, event)?;
                let mut back = stamp.event("restore");
                back.text("of", event);
                self.store.append_to(&id, &[&back.finish()], read.length)?;
            }
        }
        Ok(())
    }

    /// Moves the older name to the target, unless the name is a session id: an id always names its own session.
    fn claim(&self, name: &str) -> convo::Result<()> {
        if key::is_id(name) && self.store.has(name)? {
            return Ok(());
        }
        match self.store.alias_claim(name, std::slice::from_ref(&self.target)) {
            Err(error) if error.kind == ErrorKind::Exists => {
                self.context.output.notice(name, &error.message);
                Ok(())
            }
            done => done,
        }
    }

    /// Derives the event id from the content, so that a retry after a crash creates the same event.
    fn stamp(&self, read: &PromotionSession, other: &str) -> convo::Result<Stamp> {
        let what = format!("{}\n{}\npromote {other}", read.id, read.length);
        Ok(Stamp {
            id: key::id_from("evt_", &what),
            at: self.context.clock.now(),
        })
    }
}

/// The names of agents' main sessions, plain and hashed.
struct Mains(HashSet<String>);

impl Mains {
    /// Collects the main sessions of all agents that occur in these names or in the header.
    fn of(names: &[String], header: &[u8]) -> Mains {
        let mut mains = HashSet::from([picoclaw_normalize::AGENT.to_string()]);
        let scope = json::member(header, "scope").and_then(|scope| json::member(scope, "agent_id"));
        mains.extend(scope.and_then(json::text).map(|agent| agent.into_owned()));
        for name in names.iter().chain(&foreign::aliases(header)) {
            let agent =
                signature::legacy(name).map(|(agent, _)| picoclaw_normalize::folded(agent).into_owned());
            mains.extend(agent);
        }
        let hashed = mains.iter().map(|agent| signature::main_key(agent));
        let own = mains
            .iter()
            .filter_map(|agent| main_key(agent, KeyForm::Convo).ok());
        Mains(hashed.chain(own).collect())
    }

    fn is_reserved(&self, name: &str) -> bool {
        signature::is_main_alias(name) || self.0.contains(name.trim())
    }
}
