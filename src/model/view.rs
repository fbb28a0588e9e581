//! The view: the messages a model would be sent. `replay.rs` makes it from a log.

use super::event::Action;
use super::json;
use super::message::Message;
use super::record::{Kind, Record};
use super::session::{Class, Session, Traits};
use super::summary;
use crate::error::Place;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// One thing in the view.
#[derive(Clone, Debug)]
pub enum Item {
    /// A line of the session as it stands.
    Line(usize),
    /// A line with members replaced by a compaction.
    Edited(usize, Vec<u8>),
    /// A message that a compaction put in.
    Inserted(Vec<u8>),
    /// A `summary` event, or a compaction that carries one: its text stands for what it covers.
    Summary(usize),
}

/// What a model would be sent, in order.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The items.
    pub items: Vec<Item>,
    /// Events that name something that is not there: line index, and what is wrong.
    pub dangling: Vec<(usize, String)>,
    /// Those of them that did nothing at all: line indexes.
    pub idle: Vec<usize>,
}

impl Item {
    /// The line of the log that it is; none for what was put in.
    pub fn line(&self) -> Option<usize> {
        match self {
            Item::Line(index) | Item::Edited(index, _) => Some(*index),
            Item::Inserted(_) | Item::Summary(_) => None,
        }
    }

    /// The item's bytes as a line without ending.
    pub fn body<'s>(&'s self, session: &'s Session) -> &'s [u8] {
        match self {
            Item::Line(index) | Item::Summary(index) => session.record(*index).body,
            Item::Edited(_, body) | Item::Inserted(body) => body,
        }
    }

    /// The item as a message; none for a summary.
    pub fn message<'s>(&'s self, session: &'s Session) -> Option<Message<'s>> {
        let record = match self {
            Item::Line(index) => session.record(*index),
            // A made line: whatever byte order mark it began with is content.
            Item::Edited(_, body) | Item::Inserted(body) => Record::parse(body, Place { line: 0, offset: 1 }),
            Item::Summary(_) => return None,
        };
        if let Kind::Message(message) = record.kind {
            Some(message)
        } else {
            None
        }
    }

    /// What decides where it may be cut; none for a summary.
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

    /// The summary's text; none for a message.
    pub fn summary<'s>(&self, session: &'s Session) -> Option<Cow<'s, str>> {
        let Item::Summary(index) = self else { return None };
        match session.record(*index).event()?.action() {
            Action::Summary(summary) => Some(summary.content),
            Action::Compact(compact) => Some(compact.summary??.content),
            _ => None,
        }
    }

    /// The summary as a message, of the role that its author wanted; none for a message.
    pub fn summary_message(&self, session: &Session) -> Option<Vec<u8>> {
        let text = self.summary(session)?;
        Some(summary::message(&text, self.summary_role(session).as_deref()))
    }

    /// The role that a summary's author wanted for it.
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

    /// Whether the item is kept when what is before a cut is dropped; see [`Traits::survives_truncate`].
    pub fn survives_truncate(&self, session: &Session) -> bool {
        self.traits(session).is_none_or(Traits::survives_truncate)
    }

    /// Whether the item never leaves the view by itself.
    pub fn stays(&self, session: &Session) -> bool {
        self.traits(session).is_none_or(|traits| traits.is_system())
    }
}

impl View {
    /// Every message of the log, whatever its events do.
    pub fn whole(session: &Session) -> View {
        let mut items = Vec::with_capacity(session.messages().count());
        items.extend(session.messages().map(|(index, _)| Item::Line(index)));
        View {
            items,
            ..View::default()
        }
    }

    /// The items with the messages of the log that are not in the view at their places; false: not in the view.
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

    /// What would be sent, to compare views by: the bytes of every message, and the texts of summaries.
    pub fn shown(&self, session: &Session) -> Vec<Vec<u8>> {
        self.each_shown(session).map(Cow::into_owned).collect()
    }

    /// The same, one after another.
    pub fn each_shown<'s>(&'s self, session: &'s Session) -> impl Iterator<Item = Cow<'s, [u8]>> + 's {
        self.items.iter().map(|item| match item.summary(session) {
            Some(text) => Cow::Owned(text.into_owned().into_bytes()),
            None => Cow::Borrowed(item.body(session)),
        })
    }

    /// The messages of the view.
    pub fn messages<'s>(&'s self, session: &'s Session) -> impl Iterator<Item = Message<'s>> + 's {
        self.items.iter().filter_map(|item| item.message(session))
    }
}
