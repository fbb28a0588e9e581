//! Message counts of a session.

use super::exchange::Cuts;
use super::message::{Category, Role};
use super::session::{Class, Session, Traits};
use super::view::View;
use std::collections::BTreeMap;

/// Counts of a set of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages.
    pub messages: u64,
    /// Exchanges, as [`super::exchange`] defines them.
    pub exchanges: u64,
    /// Messages by role.
    pub roles: BTreeMap<String, u64>,
    /// Messages by category.
    pub categories: BTreeMap<Category, u64>,
    /// Tool calls by tool name.
    pub tools: BTreeMap<String, u64>,
}

/// Counts of a session's log and of its view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The log.
    pub log: MessageCounts,
    /// The view.
    pub view: MessageCounts,
    /// Whether a summary is in view.
    pub summary: bool,
    /// Lines that could not be parsed.
    pub unreadable: u64,
}

impl Stats {
    /// Counts the records of a session.
    pub fn of(session: &Session) -> Stats {
        // Build one view at a time to limit memory use.
        let log = counts(session, &View::whole(session));
        let view = View::replay(session);
        Stats {
            log,
            summary: view
                .items
                .iter()
                .any(|item| matches!(item, super::view::Item::Summary(_))),
            view: counts(session, &view),
            unreadable: unreadable(session),
        }
    }
}

/// The lines of a session that could not be parsed.
pub fn unreadable(session: &Session) -> u64 {
    let classes = (0..session.len()).map(|index| session.class(index));
    classes.filter(|class| *class == Class::Unreadable).count() as u64
}

fn counts(session: &Session, view: &View) -> MessageCounts {
    let mut counts = MessageCounts {
        exchanges: Cuts::of(session, view).exchanges() as u64,
        ..MessageCounts::default()
    };
    for item in &view.items {
        let Some(traits) = item.traits(session) else {
            continue;
        };
        counts.messages += 1;
        *counts.categories.entry(traits.category).or_default() += 1;
        let Traits { role, calls, .. } = traits;
        let name = match role {
            Role::Other => item
                .message(session)
                .map(|message| message.role_name().into_owned())
                .unwrap_or_default(),
            known => known.name().to_string(),
        };
        *counts.roles.entry(name).or_default() += 1;
        if calls && let Some(message) = item.message(session) {
            for call in message.tool_calls() {
                *counts.tools.entry(call.name.into_owned()).or_default() += 1;
            }
        }
    }
    counts
}
