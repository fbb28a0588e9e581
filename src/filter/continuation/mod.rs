//! A session that goes on where another ends: what stands is copied, and the exchange that has no answer yet.

mod copies;
mod counted;
mod header;

use crate::error::{Error, Kind, Result};
use crate::format::Format;
use crate::format::continuation::{dated_id, dates_copies, has_other_category};
use crate::model::chain;
use crate::model::exchange::Cuts;
use crate::model::key;
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use copies::{copy, marker, summary};
pub use counted::Counted;
pub use header::Before;
use std::collections::HashMap;

/// How the new session is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Copies stand in the order of the view and keep their times.
    #[default]
    Native,
    /// For a document that dates copies: rules, then context, with the time of the continuation.
    Dated,
}

impl Layout {
    /// For a session that is written in this format.
    pub fn of(format: Format) -> Layout {
        match dates_copies(format) {
            true => Layout::Dated,
            false => Layout::Native,
        }
    }

    /// The id of the continuation with this number, made from what it continues alone.
    pub fn id(self, source: &str, index: u64, created_at: Option<&str>) -> String {
        match self {
            Layout::Native => ids(source, index).next().unwrap_or_default(),
            Layout::Dated => dated_id(source, created_at),
        }
    }
}

/// The session that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    /// Its id.
    pub id: &'a str,
    /// When it begins.
    pub created_at: Option<&'a str>,
    /// How it is laid out.
    pub layout: Layout,
    /// The number of messages at which it will be full itself.
    pub limit: Option<u64>,
}

/// A session that goes on where another ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continuation {
    /// Its lines, the session line first.
    pub lines: Vec<Vec<u8>>,
    /// Messages among them that are copies.
    pub copies: u64,
    /// Things that happened and that were left behind, since with them it would be full too soon.
    pub left: u64,
}

/// Ids for the session that continues this one, the same whenever they are asked for: its own with the number of the
/// continuation, then others for when sessions have the ones before.
pub fn ids(source: &str, index: u64) -> impl Iterator<Item = String> {
    let before = format!(".{}", index.saturating_sub(1));
    let stem = match index {
        0 | 1 => source,
        _ => source.strip_suffix(&before).unwrap_or(source),
    };
    let (source, stem) = (source.to_string(), stem.to_string());
    let digest = key::sha256(source.as_bytes());
    let fit = move |ending: String| match stem.len() + ending.len() <= key::LONGEST {
        true => format!("{stem}{ending}"),
        false => format!("session_{}{ending}", &digest[..16]),
    };
    let ending = move |nth: u64| match nth {
        0 => format!(".{index}"),
        1 => format!("-{}.{index}", &key::sha256(source.as_bytes())[..8]),
        _ => format!(
            "-{}.{index}",
            &key::sha256(format!("{source}\n{nth}").as_bytes())[..16]
        ),
    };
    (0..).map(move |nth| fit(ending(nth)))
}

/// The items of a view that a continuation takes along, in order.
struct Taken {
    /// Rules and background.
    standing: Vec<usize>,
    /// The exchange without an answer, with whatever stands in it.
    open: Vec<usize>,
    left: u64,
}

/// What is to be copied; none when the exchange that is open leaves no room for anything more.
fn take(session: &Session, view: &View, limit: Option<u64>, layout: Layout) -> Result<Option<Taken>> {
    let start = open_exchange(session, view).unwrap_or(view.items.len());
    let mut taken = Taken {
        standing: Vec::new(),
        open: Vec::new(),
        left: 0,
    };
    let mut happened = Vec::new();
    for (place, item) in view.items.iter().enumerate() {
        let (Some(traits), Some(message)) = (item.traits(session), item.message(session)) else {
            continue;
        };
        // A message of a category that convo does not have is no rule there, whatever its role.
        let is_other = layout == Layout::Dated && message.metadata.is_some_and(has_other_category);
        if chain::marks(&message).is_some() || is_other && place < start {
            continue;
        }
        match (traits.category, traits.role) {
            _ if place >= start => taken.open.push(place),
            (Category::Context, Role::User) => happened.push(place),
            (_, Role::Assistant | Role::Tool) => {} // goes with what it belongs to
            (Category::System | Category::Context, _) => taken.standing.push(place),
            _ => {}
        }
    }
    let fixed = taken.standing.len() as u64;
    if let Some(limit) = limit {
        if limit <= fixed + 2 {
            let what =
                format!("--max-messages {limit} is too small: {fixed} messages are copied into each session");
            return Err(
                Error::new(Kind::Usage, what).hint(format!("use at least --max-messages {}", fixed + 3))
            );
        }
        // The marker, and one that is new.
        let Some(room) = limit.checked_sub(fixed + taken.open.len() as u64 + 2) else {
            return Ok(None);
        };
        let most = usize::try_from(room / 2).unwrap_or(usize::MAX);
        let left = happened.len().saturating_sub(most);
        taken.left = left as u64;
        happened.drain(..left);
    }
    taken.standing.extend(happened);
    taken.standing.sort_unstable();
    Ok(Some(taken))
}

/// The item with which the last exchange begins, when it has no answer yet.
fn open_exchange(session: &Session, view: &View) -> Option<usize> {
    let said = |item: &&Item| {
        let traits = item.traits(session);
        traits.filter(|traits| traits.category != Category::Context && !traits.is_system())
    };
    let last = view.items.iter().rev().find_map(|item| said(&item))?;
    if last.role == Role::Assistant && !last.calls {
        return None;
    }
    Cuts::of(session, view).exchange_starts().last().copied()
}

/// Plans the session that continues this one; none when an exchange that is not finished fills it by itself.
///
/// # Errors
/// [`Kind::Usage`] when a new session would be full as soon as it is made.
pub fn plan(
    session: &Session,
    counter: Counter,
    before: &Before,
    new: &New<'_>,
) -> Result<Option<Continuation>> {
    plan_counted(session, counter, before, new, None)
}

/// The same when much of it was counted before.
///
/// # Errors
/// See [`plan`].
pub fn plan_counted(
    session: &Session,
    counter: Counter,
    before: &Before,
    new: &New<'_>,
    counted: Option<&Counted>,
) -> Result<Option<Continuation>> {
    let view = View::replay(session);
    let Some(taken) = take(session, &view, new.limit, new.layout)? else {
        return Ok(None);
    };
    let source = session.header_text("id").unwrap_or_default();
    let (all, own) = header::tokens(session, counter, counted);
    let mut made = Continuation {
        left: taken.left,
        copies: (taken.standing.len() + taken.open.len()) as u64,
        lines: vec![header::line(
            session,
            before,
            new,
            (all, before.tokens.saturating_add(own)),
        )],
    };
    let mut standing = taken.standing;
    if new.layout == Layout::Dated {
        let category = |place: &usize| view.items[*place].traits(session).map(|traits| traits.category);
        standing.sort_by_key(category);
    }
    let derived: HashMap<usize, String> = session.derived_ids().collect();
    let copied = |place: usize| {
        let item = &view.items[place];
        let id = item.line().and_then(|line| derived.get(&line)).cloned();
        let made = copy(session, item, id, place, new);
        made.ok_or_else(|| Error::new(Kind::Data, "cannot read a message to copy"))
    };
    for place in standing {
        made.lines.push(copied(place)?);
    }
    let summary = view.items.iter().find_map(|item| match item {
        Item::Summary(index) => summary(session, *index, new),
        _ => None,
    });
    made.lines.extend(summary);
    made.lines.push(marker(&source, all, new));
    for place in taken.open {
        made.lines.push(copied(place)?);
    }
    Ok(Some(made))
}
