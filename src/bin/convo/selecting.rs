//! Sessions of which only some messages are printed.

use crate::args::Selecting;
use crate::context::named;
use convo::model::session::Session;

impl Selecting {
    /// Leaves only the chosen messages of a session; whether a choice was asked for.
    pub fn narrow(&self, label: &str, session: &mut Session) -> convo::Result<bool> {
        let Some(selection) = self.selection() else {
            return Ok(false);
        };
        *session = selection.narrowed(session).map_err(|error| named(error, label))?;
        Ok(true)
    }
}
