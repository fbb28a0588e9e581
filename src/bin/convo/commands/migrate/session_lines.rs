//! The lines of a session after its header.

use super::inspect::stored;
use convo::model::json;
use convo::model::session::{Class, Session};
use convo::store::log;
use std::borrow::Cow;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSort {
    Message,
    Event,
    /// A passthrough record or a damaged line, whose position has no meaning.
    Passthrough,
}

/// A line of a session after its header.
pub struct SessionLine<'s> {
    pub body: Cow<'s, [u8]>,
    pub sort: LineSort,
    pub index: usize,
}

impl SessionLine<'_> {
    /// The id of the record itself.
    pub fn id(&self) -> Option<String> {
        json::member_string(&self.body, "id")
    }
}

/// The lines of a session after its header.
pub fn entries(session: &Session) -> Vec<SessionLine<'_>> {
    let entry = |index: usize| {
        let record = session.record(index);
        let sort = match session.class(index) {
            Class::Blank => return None,
            Class::Header if index == 0 => return None,
            Class::Message(_) => LineSort::Message,
            Class::Unreadable => LineSort::Passthrough,
            _ if record.event().is_some_and(|event| event.name() == "foreign") => LineSort::Passthrough,
            _ => LineSort::Event,
        };
        let body = log::strip(stored(&record));
        Some(SessionLine { body, sort, index })
    };
    (0..session.len()).filter_map(entry).collect()
}
