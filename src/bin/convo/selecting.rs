//! Reduces a session to the selected messages.

use crate::args::Selecting;
use crate::errors::named;
use convo::model::session::Session;

impl Selecting {
    /// Keeps only the selected messages of a session; returns whether there is a selection.
    pub fn select_part(&self, label: &str, session: &mut Session) -> convo::Result<bool> {
        let Some(selection) = self.selection() else {
            return Ok(false);
        };
        *session = selection.narrowed(session).map_err(|error| named(error, label))?;
        Ok(true)
    }
}
