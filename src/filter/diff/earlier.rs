//! The state of a session before an event.

use crate::model::session::{Class, Session};
use crate::model::view::View;

/// The session before a line was written: its first lines.
pub fn before(session: &Session, index: usize) -> Session {
    let mut earlier = Session::default();
    (0..index).for_each(|index| earlier.push_from(session, index));
    earlier
}

/// The id of the event on a line.
pub fn event_id(session: &Session, index: usize) -> Option<String> {
    session.record(index).event()?.id().map(|id| id.into_owned())
}

/// The line of the event with this id; without an id, of the newest event that changed the view or the header.
pub fn event(session: &Session, id: Option<&str>) -> Option<usize> {
    let is_one = |index: &usize| match id {
        Some(id) => event_id(session, *index).as_deref() == Some(id),
        None => {
            let record = session.record(*index);
            let name = record.event().map(|event| event.name()).unwrap_or_default();
            View::is_moved_by(session, *index) || matches!(name.as_ref(), "restore" | "meta")
        }
    };
    let mut events = (0..session.len())
        .rev()
        .filter(|index| session.class(*index) == Class::Event);
    events.find(is_one)
}
