//! Chooses the lines of a log that suffice to compute its view and further changes, so that the rest need not be read.
//! A partial session of these lines yields the same views and changes as the whole log:
//!
//! - It contains every visible line. Only a `restore` brings a hidden line back, and restoring an earlier event reads
//!   the whole log.
//! - It contains the lines that are needed beyond the view: the header and its changes, the active summary and both
//!   ends of the range that it covers, the last attempt, the latest time, and the last statement of each hidden
//!   standing instruction.
//! - An empty line replaces each run of omitted lines, so that no two lines become adjacent that were not.
//! - It has the hashes of all ids, so that new ids do not collide.
//!
//! A session that does not fit (messages without ids or with repeated ids, edited messages in the view, events that
//! refer to unknown ids) cannot be partial and is read completely.

use super::event::{Action, Event};
use super::json;
use super::key::hash;
use super::message::{Category, Role};
use super::partial_session::{PartialSession, SummaryPosition};
use super::session::{Class, Session};
use super::view::View;
use std::collections::HashSet;

/// The lines of a session that form a partial session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialLines {
    /// Indexes of the lines, each with whether it is hidden.
    pub kept: Vec<(usize, bool)>,
    /// The event of the active summary and its position.
    pub active_summary: Option<(usize, SummaryPosition)>,
    /// Hashes of all ids, sorted.
    pub ids: Vec<u64>,
    /// Number of lines of the log.
    pub lines: usize,
}

/// Finds the standing instructions in a text.
pub type FindRules<'r> = &'r dyn Fn(&str) -> Vec<String>;

impl PartialLines {
    /// The lines of a session, which may be partial itself; `None` if the session does not fit.
    pub fn of(session: &Session, rules: FindRules<'_>) -> Option<PartialLines> {
        let last = session.len().checked_sub(1)?;
        let headers = (0..session.len()).filter(|index| session.class(*index) == Class::Header);
        if session.class(0) != Class::Header || headers.count() != 1 {
            return None;
        }
        let ids = ids(session)?;
        let state = View::state(session)?;
        let live = session.live_events();
        let mut keeps: Vec<bool> = (0..session.len()).map(|index| !state.hidden[index]).collect();
        keeps[0] = true;
        keeps[last] = true;
        for index in &live {
            keeps[*index] |= is_meta(session, *index);
        }
        if let Some((event, position)) = state.active_summary {
            keeps[event] = true;
            if let SummaryPosition::After(line) | SummaryPosition::Before(line) = position {
                keeps[line] = true;
            }
            for id in covered_ends(session, event) {
                match session.all_of(&id).first() {
                    Some(line) => keeps[*line] = true,
                    None if session.partial().is_some_and(|partial| partial.has(&id)) => return None,
                    None => {}
                }
            }
        }
        if let Some(attempted) = live.iter().rev().find(|index| is_attempt(session, **index)) {
            keeps[*attempted] = true;
        }
        if let Some(turn) = session
            .messages()
            .map(|(index, _)| index)
            .filter(|index| is_turn(session, *index))
            .last()
        {
            keeps[turn] = true;
        }
        if let Some(newest) = session.newest_timed() {
            if session.class(newest) == Class::Event && newest != last && !live.contains(&newest) {
                return None;
            }
            keeps[newest] = true;
        }
        keep_rules(session, &state.hidden, rules, &mut keeps);
        Some(PartialLines {
            kept: (0..session.len())
                .filter(|index| keeps[*index])
                .map(|index| (index, state.hidden[index]))
                .collect(),
            active_summary: state.active_summary,
            ids,
            lines: session.lines_in_log(),
        })
    }
}

/// Bytes of the loaded lines that a new partial session could omit: those hidden since they were loaded.
pub fn hidden_bytes(session: &Session) -> u64 {
    let Some(state) = View::state(session) else {
        return 0;
    };
    let kept = session.partial().map_or(&[][..], |partial| &partial.hidden);
    let left = session
        .messages()
        .filter(|(index, _)| state.hidden[*index] && kept.get(*index) != Some(&true));
    left.map(|(index, _)| session.full(index).len() as u64).sum()
}

/// Keeps the last statement of each hidden standing instruction.
fn keep_rules(session: &Session, hidden: &[bool], rules: FindRules<'_>, keeps: &mut [bool]) {
    let mut seen: HashSet<String> = HashSet::new();
    for index in (0..session.len()).rev().filter(|index| hidden[*index]) {
        let speaks = matches!(session.class(index), Class::Message(traits)
            if matches!(traits.role, Role::User | Role::System | Role::Developer));
        if !speaks {
            continue;
        }
        let record = session.record(index);
        let found = record.message().map(|message| rules(&message.text()));
        for rule in found.unwrap_or_default() {
            keeps[index] |= seen.insert(rule);
        }
    }
}

/// Hashes of all ids of a session's log, sorted; `None` if a message has no id or a repeated one.
fn ids(session: &Session) -> Option<Vec<u64>> {
    let known = session.partial().map_or(&[][..], |partial| &partial.ids);
    let from = session.partial().map_or(0, PartialSession::kept);
    let mut ids: Vec<u64> = Vec::new();
    for (index, _) in session.messages().filter(|(index, _)| *index >= from) {
        let id = session.id_hash(index)?;
        if known.binary_search(&id).is_ok() {
            return None;
        }
        ids.push(id);
    }
    ids.sort_unstable();
    if ids.windows(2).any(|two| two[0] == two[1]) {
        return None;
    }
    for index in (from..session.len()).filter(|index| session.class(*index) == Class::Event) {
        let record = session.record(index);
        ids.extend(record.event().and_then(Event::id).map(|id| hash(&id).get()));
    }
    ids.extend_from_slice(known);
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

fn is_meta(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    record.event().is_some_and(|event| event.name() == "meta")
}

/// Whether an event is part of the summarizer status.
fn is_attempt(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    match record.event().map(Event::action) {
        Some(Action::Summary(_) | Action::Attempt(_)) => true,
        Some(Action::Compact(compact)) => matches!(compact.summary, Some(Some(_))),
        _ => false,
    }
}

fn is_turn(session: &Session, index: usize) -> bool {
    matches!(session.class(index), Class::Message(traits)
        if matches!(traits.role, Role::User | Role::Assistant) && traits.category != Category::Context)
}

/// Ids of the first and last message that a summary covers.
pub fn covered_ends(session: &Session, event: usize) -> Vec<String> {
    let record = session.record(event);
    let raw = record.event().map(|event| event.raw).unwrap_or_default();
    let covers =
        json::member(raw, "covers").or_else(|| json::member(json::member(raw, "summary")?, "covers"));
    let texts = json::items(covers).into_iter().filter_map(json::text);
    texts.map(|id| id.into_owned()).collect()
}

/// Whether the lines after a partial session refer only to loaded lines: no message repeats an earlier id, no earlier event is
/// undone, and no reference could mean an omitted line.
pub fn is_enough(session: &Session) -> bool {
    let Some(partial) = session.partial() else {
        return true;
    };
    for index in partial.kept()..session.len() {
        let record = session.record(index);
        let fits = match (session.class(index), record.event()) {
            (Class::Message(_), _) => record
                .message()
                .and_then(|message| message.id())
                .is_some_and(|id| !partial.has(&id)),
            (Class::Event, Some(event)) => match event.action() {
                Action::Restore(restore) => !partial.has(&restore.of),
                _ => covered_ends(session, index)
                    .iter()
                    .all(|id| !partial.has(id) || !session.all_of(id).is_empty()),
            },
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    View::replay(session).dangling.is_empty()
}
