//! Chains of sessions that continue each other: their links, their order, and which messages are copies of a
//! predecessor's.

mod order;

use super::event::Event;
use super::json;
use super::message::Message;
use super::session::{Class, Session};
use std::borrow::Cow;
use std::collections::HashSet;

pub use order::{Branched, ChainOrder, ChainStep, order};

/// The `type` in the metadata of the message that marks the start of a continuation.
pub const MARKER: &str = "session_transition";

/// The metadata member of a copied message that names the original.
pub const COPIED_FROM: &str = "copied_from";

/// A session's links to its neighbors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainLinks {
    /// Its id; `None` without a header.
    pub id: Option<String>,
    /// The session that it continues.
    pub continued_from: Option<String>,
    /// The sessions that continue it.
    pub continued_to: Vec<String>,
}

impl ChainLinks {
    /// Reads the links from the header and from the active `link` events.
    pub fn of(session: &Session) -> ChainLinks {
        let mut links = ChainLinks {
            id: session.header_text("id"),
            continued_from: session.header_text("continued_from"),
            continued_to: Vec::new(),
        };
        let header = (0..session.len()).find(|index| session.class(*index) == Class::Header);
        let mut reported = session.live_events();
        // Links in the header written by other systems have the lowest precedence.
        reported.extend(header);
        let mut seen = HashSet::new();
        for index in reported {
            if let Some(to) = session.record(index).event().and_then(child)
                && seen.insert(to.clone())
            {
                links.continued_to.push(to);
            }
        }
        links
    }
}

/// The continuation that a line names: a `link` event, or a header converted from Penguin's.
pub fn child(event: &Event<'_>) -> Option<String> {
    match event.name().as_ref() {
        "link" => json::member_string(event.raw, "continued_to"),
        "session" => child_in_metadata(json::member(event.raw, "metadata")?),
        _ => None,
    }
}

/// The continuation that the metadata of a header converted from Penguin's names.
pub fn child_in_metadata(metadata: &[u8]) -> Option<String> {
    json::member_string(converted(metadata)?, "continued_to")
}

/// The metadata of Penguin in that of a header or message.
fn converted(metadata: &[u8]) -> Option<&[u8]> {
    json::member(json::member(metadata, "penguin")?, "metadata")
}

/// Whether any event of a session, even an undone one, has named this session as its continuation.
pub fn has_named(session: &Session, id: &str) -> bool {
    let events = (0..session.len()).filter(|index| session.class(*index) == Class::Event);
    events
        .filter_map(|index| session.record(index).event().and_then(child))
        .any(|child| child == id)
}

/// The origin of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageOrigin {
    /// Written in this session.
    Own,
    /// A copy of a message of an earlier session, with that message's id if known.
    Copy(Option<String>),
    /// The message that marks the start of a continuation.
    Marker,
}

/// A metadata member of a message, in its current position or in Penguin's.
fn noted<'a>(message: &Message<'a>, name: &str) -> Option<Cow<'a, str>> {
    let metadata = message.metadata?;
    let own = json::member_text(metadata, name);
    own.or_else(|| json::member_text(converted(metadata)?, name))
}

/// The id of the original, if the message is a copy.
pub fn copied_from(message: &Message<'_>) -> Option<String> {
    noted(message, COPIED_FROM).map(Cow::into_owned)
}

/// The session that a marker names as continued; `None` for any other message.
pub fn marks(message: &Message<'_>) -> Option<String> {
    noted(message, "type").filter(|kind| kind == MARKER)?;
    Some(
        noted(message, "previous_session")
            .unwrap_or_default()
            .into_owned(),
    )
}

/// The origin of each message: line index and origin, in order. The copies at the start of a session end with the last
/// marker of the session that it continues; after it, only messages marked as copies count.
pub fn origins(session: &Session) -> Vec<(usize, MessageOrigin)> {
    let previous = session.header_text("continued_from");
    let mut origins = Vec::new();
    let mut copied = 0;
    for (index, _) in session.messages() {
        let record = session.record(index);
        let Some(message) = record.message().filter(|message| message.metadata.is_some()) else {
            origins.push((index, MessageOrigin::Own));
            continue;
        };
        origins.push((
            index,
            match (marks(message), copied_from(message)) {
                (Some(of), _) if previous.is_some() => {
                    if Some(of) == previous {
                        copied = origins.len() + 1;
                    }
                    MessageOrigin::Marker
                }
                (_, Some(of)) => MessageOrigin::Copy(Some(of)),
                _ => MessageOrigin::Own,
            },
        ));
    }
    for (nth, (_, origin)) in origins.iter_mut().enumerate() {
        match origin {
            MessageOrigin::Own if nth < copied => *origin = MessageOrigin::Copy(None),
            // A marker of another session, without copies, was written in this one.
            MessageOrigin::Marker if nth >= copied => *origin = MessageOrigin::Own,
            _ => {}
        }
    }
    origins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_ends_with_the_marker_of_the_session_continued() {
        let mut session = Session::default();
        let marker = |of: &str| {
            format!(
                r#"{{"role":"system","content":"m","metadata":{{"penguin":{{"metadata":{{"type":"session_transition","previous_session":"{of}"}}}}}}}}"#
            )
        };
        session.push_new(br#"{"type":"session","version":1,"id":"c","continued_from":"b"}"#);
        session.push_new(br#"{"role":"system","content":"rules"}"#);
        session.push_new(marker("a").as_bytes());
        session.push_new(marker("b").as_bytes());
        session.push_new(br#"{"role":"user","content":"carried","metadata":{"copied_from":"m9"}}"#);
        session.push_new(br#"{"role":"user","content":"own"}"#);
        let origins: Vec<MessageOrigin> = origins(&session).into_iter().map(|(_, origin)| origin).collect();
        let preserved = MessageOrigin::Copy(Some("m9".into()));
        assert_eq!(
            origins,
            [
                MessageOrigin::Copy(None),
                MessageOrigin::Marker,
                MessageOrigin::Marker,
                preserved,
                MessageOrigin::Own
            ]
        );
    }
}
