//! The link from a session to the one that continues it.

use super::times::local_text;
use crate::model::session::Session;
use crate::model::{chain, json};

/// The session that continues this one, as the newest `link` event says.
pub(super) struct Link {
    /// The line of the event.
    pub event: usize,
    /// The session's id.
    pub to: String,
    /// When it was continued, in Penguin's shape.
    pub at: Option<String>,
}

impl Link {
    /// Looks at the events that count.
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
