//! The marker of a finished call in a session whose document records what the model has seen.

use crate::edit::EventIds;
use convo::error::{Position, Result};
use convo::format::annotations;
use convo::model::json::ObjectBuilder;
use convo::model::record::Record;
use convo::model::session::Session;

/// The event which states that the model has seen the whole session, including these new lines.
pub fn event(session: &Session, lines: &[Vec<u8>], event_ids: &EventIds<'_>) -> Result<Vec<u8>> {
    let place = Position { line: 1, offset: 1 };
    let is_message = |line: &&Vec<u8>| Record::parse(line, place).message().is_some();
    let metadata = annotations::all_seen(session, lines.iter().filter(is_message).count());
    let stamp = event_ids.event("processed")?;
    let mut set = ObjectBuilder::default();
    set.raw("metadata", metadata);
    let mut meta = stamp.event("meta");
    meta.raw("set", set.finish());
    Ok(meta.finish())
}
