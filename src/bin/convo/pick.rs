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

    /// Whether the next session is wanted.
    pub fn takes(&mut self, session: &Session) -> bool {
        let Some(wanted) = self.wanted else { return true };
        self.seen += 1;
        let name = |member| session.header_text(member).filter(|text| !text.is_empty());
        let (id, key) = (name("id"), name("key"));
        let takes = !self.found
            && match self.number {
                Some(number) if number == self.seen => true,
                _ => [&id, &key].into_iter().flatten().any(|name| name == wanted),
            };
        self.found |= takes;
        if !self.found && self.names.len() < NAMED {
            self.names
                .push(key.or(id).unwrap_or_else(|| self.seen.to_string()));
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
