//! Ids and times of new lines.

use crate::context::Context;
use crate::errors::named_session;
use convo::error::{Error, Result};
use convo::filter::Stamp;
use convo::model::event::EPOCH;
use convo::model::key::{self, Chance};
use convo::model::session::Session;
use convo::store::Store;

impl Context {
    /// Creates an id with this prefix. With `CONVO_SEED`, it is derived from the seed and `what`.
    pub fn new_id(&self, prefix: &str, what: impl FnOnce() -> String) -> Result<String> {
        self.chance.id(prefix, what)
    }

    /// An id that no stored session has: with a seed, earlier runs may have created the same one.
    pub fn free_session_id(&self, store: Option<&Store>) -> Result<String> {
        let prefix = format!("{}_", self.clock.session_stem());
        loop {
            let id = self.new_id(&prefix, String::new)?;
            if !store.map_or(Ok(false), |store| store.has(&id))? {
                return Ok(id);
            }
        }
    }

    /// Derives id and time of a new line from the session and the line's content alone.
    pub fn derived(&self, prefix: &str, session: &Session, content: &str) -> Result<Stamp> {
        let id = match &self.chance {
            Chance::Seed(..) => self.new_id(prefix, || addition_id(session, content))?,
            Chance::System(_) => key::id_from(prefix, addition_id(session, content)),
        };
        let at = if self.clock.is_fixed() {
            self.clock.now()
        } else {
            session.newest_time().unwrap_or_else(|| EPOCH.to_string())
        };
        Ok(Stamp { id, at })
    }
}

/// Identifies an addition to a session: the last line, the number of lines, the content.
fn addition_id(session: &Session, content: &str) -> String {
    let last = session
        .len()
        .checked_sub(1)
        .map(|last| session.full(last))
        .unwrap_or_default();
    format!(
        "{}\n{}\n{content}",
        String::from_utf8_lossy(last),
        session.lines_in_log()
    )
}

/// Creates ids and times for the lines of a plan: from clock and random numbers for the store, from the session alone
/// for a stream.
pub struct EventIds<'c> {
    context: &'c Context,
    session: &'c Session,
    place: LineDestination,
    /// The name of the input in messages, see [`EventIds::of_input`].
    input: &'c str,
}

/// The destination of planned lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineDestination {
    /// The log of a stored session.
    Store,
    /// The output stream.
    Stream,
    /// Files whose lines have no ids and get the time of writing.
    Unnumbered,
}

impl<'c> EventIds<'c> {
    /// Creates stamps for lines that go to `place`.
    pub fn new(context: &'c Context, session: &'c Session, place: LineDestination) -> EventIds<'c> {
        EventIds {
            context,
            session,
            place,
            input: "",
        }
    }

    /// The same for a session of an input with this name in messages.
    pub fn of_input(self, input: &'c str) -> EventIds<'c> {
        EventIds { input, ..self }
    }

    pub fn input(&self) -> &'c str {
        self.input
    }

    /// Adds the name of the input to an error, and in a stream the id of the session.
    pub fn named(&self, error: Error) -> Error {
        let is_stream = self.place == LineDestination::Stream;
        let id = is_stream.then(|| self.session.header_text("id")).flatten();
        named_session(error, self.input, id.as_deref())
    }

    pub fn place(&self) -> LineDestination {
        self.place
    }

    /// Creates the stamp of an event with this content.
    pub fn event(&self, content: &str) -> convo::Result<Stamp> {
        if self.place == LineDestination::Store {
            let id = self
                .context
                .new_id("evt_", || addition_id(self.session, content))?;
            return Ok(Stamp {
                id,
                at: self.context.clock.now(),
            });
        }
        self.context.derived("evt_", self.session, content)
    }

    /// Creates the id and time of a message with this content; a filter without a clock sets no time.
    pub fn message(&self, content: &str) -> convo::Result<(String, Option<String>)> {
        match self.place {
            LineDestination::Store => {
                let id = self
                    .context
                    .new_id("msg_", || addition_id(self.session, content))?;
                return Ok((id, Some(self.context.clock.now())));
            }
            LineDestination::Unnumbered => return Ok((String::new(), None)),
            LineDestination::Stream => {}
        }
        let stamp = self.context.derived("msg_", self.session, content)?;
        Ok((stamp.id, self.context.clock.is_fixed().then_some(stamp.at)))
    }
}
