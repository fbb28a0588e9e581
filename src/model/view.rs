//! The view: the messages that a model would receive. `replay.rs` computes it from a log.

use super::event::Action;
use super::message::Message;
use super::record::{Record, RecordKind};
use super::session::{Class, Session, Traits};
use super::{json, summary};
use crate::error::Position;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// One item of the view.
#[derive(Clone, Debug)]
pub enum Item {
    /// A line of the session, unchanged.
    Line(usize),
    /// A line with members replaced by a compaction.
    Edited(usize, Vec<u8>),
    /// A message inserted by a compaction.
    Inserted(Vec<u8>),
    /// A `summary` event, or a compaction with one: its text replaces the messages that it covers.
    Summary(usize),
}

/// The messages that a model would receive, in order.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The items.
    pub items: Vec<Item>,
    /// Events that refer to something that does not exist: line index and problem.
    pub dangling: Vec<(usize, String)>,
    /// Those of them that had no effect: line indexes.
    pub idle: Vec<usize>,
}

impl Item {
    /// The log line of the item; `None` for inserted items.
    pub fn line(&self) -> Option<usize> {
        match self {
            Item::Line(index) | Item::Edited(index, _) => Some(*index),
            Item::Inserted(_) | Item::Summary(_) => None,
        }
    }

    /// The item's bytes as a line without line ending.
    pub fn body<'s>(&'s self, session: &'s Session) -> &'s [u8] {
        match self {
            Item::Line(index) | Item::Summary(index) => session.body(*index),
            Item::Edited(_, body) | Item::Inserted(body) => body,
        }
    }

    /// The item as a message; `None` for a summary.
    pub fn message<'s>(&'s self, session: &'s Session) -> Option<Message<'s>> {
        let record = match self {
            Item::Line(index) => session.record(*index),
            // A generated line has no byte order mark: such bytes at its start are content.
            Item::Edited(_, body) | Item::Inserted(body) => {
                Record::parse(body, Position { line: 0, offset: 1 })
            }
            Item::Summary(_) => return None,
        };
        if let RecordKind::Message(message) = record.kind {
            Some(message)
        } else {
            None
        }
    }

    /// The properties for cutting; `None` for a summary.
    pub fn traits(&self, session: &Session) -> Option<Traits> {
        match self {
            Item::Line(index) => match session.class(*index) {
                Class::Message(traits) => Some(traits),
                _ => None,
            },
            Item::Edited(..) | Item::Inserted(_) => self.message(session).as_ref().map(Traits::of),
            Item::Summary(_) => None,
        }
    }

    /// The summary's text; `None` for a message.
    pub fn summary<'s>(&self, session: &'s Session) -> Option<Cow<'s, str>> {
        let Item::Summary(index) = self else { return None };
        match session.record(*index).event()?.action() {
            Action::Summary(summary) => Some(summary.content),
            Action::Compact(compact) => Some(compact.summary??.content()),
            _ => None,
        }
    }

    /// The summary as a message, with the role that its author chose; `None` for a message.
    pub fn summary_message(&self, session: &Session) -> Option<Vec<u8>> {
        let text = self.summary(session)?;
        Some(summary::message(&text, self.summary_role(session).as_deref()))
    }

    /// The role that a summary's author chose.
    pub fn summary_role(&self, session: &Session) -> Option<String> {
        let Item::Summary(index) = self else { return None };
        let record = session.record(*index);
        let event = record.event()?;
        let own = match event.name().as_ref() {
            "compact" => json::member(json::member(event.raw, "summary")?, "role"),
            _ => json::member(event.raw, "as"),
        };
        Some(own.and_then(json::text)?.into_owned())
    }

    /// Whether the item is kept when earlier items are dropped; see [`Traits::survives_truncate`].
    pub fn survives_truncate(&self, session: &Session) -> bool {
        self.traits(session).is_none_or(Traits::survives_truncate)
    }

    /// Whether the item is never dropped automatically.
    pub fn is_never_dropped(&self, session: &Session) -> bool {
        self.traits(session).is_none_or(|traits| traits.is_system())
    }
}

impl View {
    /// All messages of the log, regardless of events.
    pub fn whole(session: &Session) -> View {
        let mut items = Vec::with_capacity(session.messages().count());
        items.extend(session.messages().map(|(index, _)| Item::Line(index)));
        View {
            items,
            ..View::default()
        }
    }

    /// The items, with the hidden messages of the log at their positions; `false` marks a hidden message.
    pub fn with_hidden(&self, session: &Session) -> Vec<(Item, bool)> {
        let in_view: HashSet<usize> = self.items.iter().filter_map(Item::line).collect();
        let hidden = |range: Range<usize>| {
            let lines = range.filter(|index| !in_view.contains(index));
            let lines = lines.filter(|index| matches!(session.class(*index), Class::Message(_)));
            lines.map(|index| (Item::Line(index), false))
        };
        let mut items = Vec::with_capacity(self.items.len());
        let mut next = 0;
        for item in &self.items {
            if let Some(index) = item.line() {
                items.extend(hidden(next..index));
                next = next.max(index + 1);
            }
            items.push((item.clone(), true));
        }
        items.extend(hidden(next..session.len()));
        items
    }

    /// The content that a model would receive, for comparing views: the bytes of each message, and the texts of
    /// summaries.
    pub fn shown(&self, session: &Session) -> Vec<Vec<u8>> {
        self.each_shown(session).map(Cow::into_owned).collect()
    }

    /// As [`Self::shown`], as an iterator.
    pub fn each_shown<'s>(&'s self, session: &'s Session) -> impl Iterator<Item = Cow<'s, [u8]>> + 's {
        self.items.iter().map(|item| match item.summary(session) {
            Some(text) => Cow::Owned(text.into_owned().into_bytes()),
            None => Cow::Borrowed(item.body(session)),
        })
    }

    /// The start of its session: `created_at` of the header, else the time of the first message with one, as raw JSON.
    pub fn start_time(&self, session: &Session) -> Option<Vec<u8>> {
        let first = || {
            self.messages(session)
                .find_map(|message| message.timestamp.map(<[u8]>::to_vec))
        };
        let created = session.header_member("created_at").map(<[u8]>::to_vec);
        created.or_else(first)
    }

    /// The messages of the view.
    pub fn messages<'s>(&'s self, session: &'s Session) -> impl Iterator<Item = Message<'s>> + 's {
        self.items.iter().filter_map(|item| item.message(session))
    }
}
