//! Makes cuts permanent: removes from the log the lines that no view needs.

use super::materialize::remaining_lines;
use crate::error::{Error, ErrorKind, Result};
use crate::model::event::{Action, Event};
use crate::model::health::Health;
use crate::model::session::{Class, DerivedLine, Session};
use crate::model::view::View;
use crate::model::{json, time};
use std::collections::{HashMap, HashSet};

/// Returns the remaining lines of the log; none when every line is needed. Lines of the session may be reduced.
/// Events after `until` (seconds since 1970) are preserved, so each can still be undone.
pub fn plan(session: &Session, until: Option<i64>) -> Result<Option<Vec<DerivedLine>>> {
    let permanent = permanent_events(session, until);
    let live: HashSet<usize> = session.live_events().into_iter().collect();
    let mut moving: Vec<usize> = permanent.iter().copied().collect();
    moving.retain(|index| live.contains(index) && View::is_moved_by(session, *index));
    moving.sort_unstable();
    let view = View::after(session, moving);
    let idle: HashSet<usize> = view.idle.iter().copied().collect();
    let health = Health::of(session);
    let stays = |index: usize| match session.class(index) {
        Class::Message(_) => false,
        Class::Header | Class::Unreadable | Class::Blank => true,
        Class::Event if idle.contains(&index) || !permanent.contains(&index) => true,
        Class::Event => {
            let moves = View::is_moved_by(session, index) || name(session, index) == "restore";
            // A repair describes lines as they were, and gc rewrites all of them.
            let kept = match name(session, index).as_str() {
                "repair" => false,
                // An older attempt could move after a later summary and count again.
                "attempt" => health.line == Some(index),
                _ => true,
            };
            live.contains(&index) && !moves && kept
        }
    };
    let pieces = remaining_lines(session, &view, stays);
    // Dropping only repairs would not shrink the log, because gc appends a line too.
    let repairs = (0..session.len())
        .filter(|index| name(session, *index) == "repair")
        .count();
    if pieces.len() + repairs >= session.len()
        && pieces.iter().all(|piece| matches!(piece, DerivedLine::Line(_)))
    {
        return Ok(None);
    }
    check_view(session, &pieces)?;
    Ok(Some(pieces))
}

fn name(session: &Session, index: usize) -> String {
    let record = session.record(index);
    record
        .event()
        .map(|event| event.name().into_owned())
        .unwrap_or_default()
}

/// The events that may become permanent: those that are old enough together with everything that undoes them.
fn permanent_events(session: &Session, until: Option<i64>) -> HashSet<usize> {
    let is_young = |index: usize| {
        let Some(until) = until else { return false };
        let record = session.record(index);
        let at = json::member_text(record.body, "at");
        at.as_deref().and_then(time::seconds).is_none_or(|at| at > until)
    };
    // Group a change with all restores of it, direct or indirect, under the id of the change.
    let mut changes: HashMap<String, String> = HashMap::new();
    let mut events = Vec::new();
    let mut young: HashSet<String> = HashSet::new();
    for index in (0..session.len()).filter(|index| session.class(*index) == Class::Event) {
        let record = session.record(index);
        let Some(event) = record.event() else { continue };
        // An event without an id cannot be undone.
        let id = event
            .id()
            .map_or_else(|| format!("line {index}"), |id| id.into_owned());
        let change = match event.action() {
            Action::Restore(restore) => changes
                .get(restore.of.as_ref())
                .cloned()
                .unwrap_or(restore.of.into_owned()),
            _ => id.clone(),
        };
        changes.insert(id, change.clone());
        if is_young(index) {
            young.insert(change.clone());
        }
        events.push((index, change));
    }
    // Changes become permanent from the beginning of the log; an event after a change that can still be undone is
    // kept too.
    let mut open = false;
    for (index, change) in &events {
        if View::is_moved_by(session, *index) {
            open |= young.contains(change);
            if open {
                young.insert(change.clone());
            }
        }
    }
    let old = |(_, change): &(usize, String)| !young.contains(change);
    events.into_iter().filter(old).map(|(index, _)| index).collect()
}

/// Fails if the new lines would show another view than the session.
fn check_view(session: &Session, pieces: &[DerivedLine]) -> Result<()> {
    let mut new = session.like();
    for piece in pieces {
        match piece {
            DerivedLine::Line(index) => new.push_from(session, *index),
            DerivedLine::Edited(_, body) | DerivedLine::Generated(body) => new.push_new(body),
        }
    }
    let stays = |(new_index, piece): (usize, &DerivedLine),
                 old: &HashMap<usize, String>,
                 ids: &HashMap<usize, String>| {
        !matches!(piece, DerivedLine::Line(index) if old.get(index) != ids.get(&new_index))
    };
    // A message without an id is identified by its bytes and the number of equal messages before it.
    let (old, ids) = (session.derived_ids().collect(), new.derived_ids().collect());
    let same = pieces.iter().enumerate().all(|piece| stays(piece, &old, &ids));
    if same && histories(session, &new) && dangling_events(&new).is_subset(&dangling_events(session)) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::No,
        "unchanged: newer changes refer to the hidden messages, or messages without ids would get different ones",
    ))
}

/// Ids of events that refer to missing messages, undone events included because they may become active again.
fn dangling_events(session: &Session) -> HashSet<String> {
    let events = (0..session.len()).filter(|index| View::is_moved_by(session, *index));
    let dangling = View::after(session, events.collect()).dangling.into_iter();
    dangling
        .filter_map(|(index, _)| Some(session.record(index).event()?.id()?.into_owned()))
        .collect()
}

/// Whether both sessions show the same view now and after undoing their changes one by one, with and without the
/// restores, which may be undone themselves.
fn histories(old: &Session, new: &Session) -> bool {
    let all = |session: &Session| -> Vec<usize> {
        (0..session.len())
            .filter(|index| View::is_moved_by(session, *index))
            .collect()
    };
    let live = |session: &Session| -> Vec<usize> {
        let live = session.live_events();
        all(session)
            .into_iter()
            .filter(|index| live.binary_search(index).is_ok())
            .collect()
    };
    unwind(old, new, live(old), live(new)) && (live(new) == all(new) || unwind(old, new, all(old), all(new)))
}

/// Maximum number of changes to undo for the comparison; each costs a replay.
const UNWOUND: usize = 16;

/// Whether both show the same view after these events, without the last one, and so on; and finally without any.
fn unwind(old: &Session, new: &Session, mut before: Vec<usize>, mut after: Vec<usize>) -> bool {
    let id = |session: &Session, index: usize| Some(session.record(index).event()?.id()?.into_owned());
    let view = |session: &Session, events: &[usize]| View::after(session, events.to_vec());
    let same = |before: &[usize], after: &[usize]| {
        let (before, after) = (view(old, before), view(new, after));
        before.each_shown(old).eq(after.each_shown(new))
    };
    for nth in 0.. {
        if nth < UNWOUND && !same(&before, &after) {
            return false;
        }
        match (before.last(), after.last()) {
            (Some(one), Some(other)) if id(old, *one) == id(new, *other) && !is_final(new, *other) => {
                before.pop();
                after.pop();
            }
            _ => break,
        }
    }
    same(&before, &after)
}

/// Whether a summary's messages are gone, so that it cannot be undone.
fn is_final(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    matches!(record.event().map(Event::action), Some(Action::Summary(summary)) if summary.covers.is_none())
}
