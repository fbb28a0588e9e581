//! Plans the continuation of a session: a new session with copies of its instructions, its context messages and its
//! unanswered exchange.

mod copies;
mod counted;
mod header;
mod new_session;

use crate::error::{Error, Result};
use crate::format::continuation::has_other_category;
use crate::model::chain;
use crate::model::exchange::Cuts;
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use copies::{copy, marker, summary};
pub use counted::CountedSession;
pub use header::EarlierSessions;
pub use new_session::{NewSession, SessionLayout, ids};
use std::collections::HashMap;

/// A planned continuation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continuation {
    /// Its lines, the header first.
    pub lines: Vec<Vec<u8>>,
    /// Messages among them that are copies.
    pub copies: u64,
    /// Context messages that were not copied because they would fill the new session too soon.
    pub left: u64,
}

/// The items of a view that a continuation copies, in order.
struct CopiedItems {
    /// Instructions and context messages.
    preserved: Vec<usize>,
    /// The unanswered exchange with everything in it.
    open: Vec<usize>,
    left: u64,
}

/// Selects the items to copy; none when the open exchange leaves no room for a new message.
fn items_to_copy(
    session: &Session,
    view: &View,
    limit: Option<u64>,
    layout: SessionLayout,
) -> Result<Option<CopiedItems>> {
    let start = open_exchange(session, view).unwrap_or(view.items.len());
    let mut taken = CopiedItems {
        preserved: Vec::new(),
        open: Vec::new(),
        left: 0,
    };
    let mut context_messages = Vec::new();
    for (place, item) in view.items.iter().enumerate() {
        let (Some(traits), Some(message)) = (item.traits(session), item.message(session)) else {
            continue;
        };
        // In a dated layout, a message of an unknown category is not an instruction, whatever its role.
        let is_other = layout == SessionLayout::Dated && message.metadata.is_some_and(has_other_category);
        if chain::marks(&message).is_some() || is_other && place < start {
            continue;
        }
        match (traits.category, traits.role) {
            _ if place >= start => taken.open.push(place),
            (Category::Context, Role::User) => context_messages.push(place),
            (_, Role::Assistant | Role::Tool) => {} // dropped with its exchange
            (Category::System | Category::Context, _) => taken.preserved.push(place),
            _ => {}
        }
    }
    let fixed = taken.preserved.len() as u64;
    if let Some(limit) = limit {
        if limit <= fixed + 2 {
            let what =
                format!("--max-messages {limit} is too small: {fixed} messages are copied into each session");
            return Err(Error::usage(what).hint(format!("use at least --max-messages {}", fixed + 3)));
        }
        // Reserve one place for the marker and one for a new message.
        let Some(room) = limit.checked_sub(fixed + taken.open.len() as u64 + 2) else {
            return Ok(None);
        };
        let most = usize::try_from(room / 2).unwrap_or(usize::MAX);
        let left = context_messages.len().saturating_sub(most);
        taken.left = left as u64;
        context_messages.drain(..left);
    }
    taken.preserved.extend(context_messages);
    taken.preserved.sort_unstable();
    Ok(Some(taken))
}

/// The first item of the last exchange, if that has no answer yet.
fn open_exchange(session: &Session, view: &View) -> Option<usize> {
    let dialog_traits = |item: &&Item| {
        let traits = item.traits(session);
        traits.filter(|traits| traits.category != Category::Context && !traits.is_system())
    };
    let last = view.items.iter().rev().find_map(|item| dialog_traits(&item))?;
    if last.role == Role::Assistant && !last.calls {
        return None;
    }
    Cuts::of(session, view).exchange_starts().last().copied()
}

/// Plans the continuation; none when an unfinished exchange fills it by itself.
///
/// # Errors
/// A usage error when a new session would be full at once.
pub fn plan(
    session: &Session,
    counter: Counter,
    before: &EarlierSessions,
    new: &NewSession<'_>,
) -> Result<Option<Continuation>> {
    plan_counted(session, counter, before, new, None)
}

/// Like [`plan`], with token counts computed earlier.
///
/// # Errors
/// See [`plan`].
pub fn plan_counted(
    session: &Session,
    counter: Counter,
    before: &EarlierSessions,
    new: &NewSession<'_>,
    counted: Option<&CountedSession>,
) -> Result<Option<Continuation>> {
    let view = View::replay(session);
    let Some(taken) = items_to_copy(session, &view, new.limit, new.layout)? else {
        return Ok(None);
    };
    let source = session.header_text("id").unwrap_or_default();
    let (all, own) = header::tokens(session, counter, counted);
    let mut built = Continuation {
        left: taken.left,
        copies: (taken.preserved.len() + taken.open.len()) as u64,
        lines: vec![header::line(
            session,
            before,
            new,
            (all, before.tokens.saturating_add(own)),
        )],
    };
    let mut preserved = taken.preserved;
    if new.layout == SessionLayout::Dated {
        let category = |place: &usize| view.items[*place].traits(session).map(|traits| traits.category);
        preserved.sort_by_key(category);
    }
    let derived: HashMap<usize, String> = session.derived_ids().collect();
    let copied = |place: usize| {
        let item = &view.items[place];
        let id = item.line().and_then(|line| derived.get(&line)).cloned();
        let built = copy(session, item, id, place, new);
        built.ok_or_else(|| Error::data("cannot read a message to copy"))
    };
    for place in preserved {
        built.lines.push(copied(place)?);
    }
    let summary = view.items.iter().find_map(|item| match item {
        Item::Summary(index) => summary(session, *index, new),
        _ => None,
    });
    built.lines.extend(summary);
    built.lines.push(marker(&source, all, new));
    for place in taken.open {
        built.lines.push(copied(place)?);
    }
    Ok(Some(built))
}
