//! `--session`: one of the sessions of an input, by its number or its id.

use crate::args::Reading;
use convo::error::{Error, Kind};
use convo::model::session::Session;

/// Sessions that are named when there is none of that name.
const NAMED: usize = 8;

/// Picks sessions as they go by.
pub struct Pick<'r> {
    wanted: Option<&'r str>,
    number: Option<usize>,
    seen: usize,
    names: Vec<String>,
    found: bool,
}

impl<'r> Pick<'r> {
    /// What `--session` names; every session without it.
    pub fn new(reading: &'r Reading) -> Pick<'r> {
        let wanted = reading.session.as_deref();
        Pick {
            wanted,
            number: wanted.and_then(|text| text.parse().ok()),
            seen: 0,
            names: Vec::new(),
            found: false,
        }
    }

    /// Refuses the only session of an input when it is not the wanted one.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub fn only(reading: &Reading, session: &Session) -> convo::Result<()> {
        let mut pick = Pick::new(reading);
        pick.takes(session);
        pick.finish()
    }

    /// Whether the next session is wanted.
    pub fn takes(&mut self, session: &Session) -> bool {
        self.wanted.is_none() || self.takes_named(&["id", "key"].map(|name| session.header_text(name)))
    }

    /// The same for one of this id and key.
    pub fn takes_named(&mut self, names: &[Option<String>; 2]) -> bool {
        let Some(wanted) = self.wanted else { return true };
        self.seen += 1;
        let mut known = names.iter().flatten();
        let takes = !self.found && (self.number == Some(self.seen) || known.any(|name| name == wanted));
        self.found |= takes;
        if !self.found && self.names.len() < NAMED {
            let name = names.iter().rev().flatten().find(|name| !name.is_empty());
            self.names
                .push(name.map_or_else(|| self.seen.to_string(), Clone::clone));
        }
        takes
    }

    /// Whether no further session is wanted.
    pub fn is_done(&self) -> bool {
        self.found
    }

    /// After the last session: the wanted one must have been there.
    ///
    /// # Errors
    /// [`Kind::NotFound`], with the sessions that there are.
    pub fn finish(&self) -> convo::Result<()> {
        let Some(wanted) = self.wanted.filter(|_| !self.found) else {
            return Ok(());
        };
        let what = format!("no session {wanted:?} among its {}", self.seen);
        let more = if self.seen > self.names.len() { ", ..." } else { "" };
        let error = Error::new(Kind::NotFound, what);
        Err(match self.names.is_empty() {
            true => error,
            false => error.hint(format!(
                "there are 1 to {}: {}{more}",
                self.seen,
                self.names.join(", ")
            )),
        })
    }
}
