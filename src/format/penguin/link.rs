//! The link from a session to its continuation.

use super::times::local_text;
use crate::model::session::Session;
use crate::model::{chain, json};

/// The continuation named by the latest `link` event.
pub(super) struct Link {
    /// Line of the event.
    pub event: usize,
    /// Id of the continuation.
    pub to: String,
    /// Time of the continuation in Penguin's format.
    pub at: Option<String>,
}

impl Link {
    /// Finds the link in the active events.
    pub fn of(session: &Session) -> Option<Link> {
        let events = session.live_events().into_iter().rev();
        events.into_iter().find_map(|event| {
            let record = session.record(event);
            let link = record.event().filter(|event| event.name() == "link")?;
            Some(Link {
                event,
                to: chain::child(link)?,
                at: json::member(record.body, "at").and_then(local_text),
            })
        })
    }
}
