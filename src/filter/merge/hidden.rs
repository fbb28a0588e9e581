//! Finds cuts, compactions and summaries that hide the same messages.

use super::side::{RecordKey, SidePart};
use crate::filter::diff::before;
use crate::model::event::Action;
use crate::model::session::Class;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};

/// Whether an event of this name shrinks the view.
pub(super) fn is_compaction(name: &str) -> bool {
    matches!(name, "truncate" | "compact" | "summary")
}

/// The ids of events that a session undoes.
pub(super) fn undone_events(part: &SidePart<'_>) -> HashSet<String> {
    let of = |index| match part.session.record(index).event()?.action() {
        Action::Restore(restore) => Some(restore.of.into_owned()),
        _ => None,
    };
    let events = (0..part.keys.len()).filter(|line| part.session.class(*line) == Class::Event);
    events.filter_map(of).collect()
}

/// Whether no later event undoes this one.
pub(super) fn is_in_force(part: &SidePart<'_>, line: usize) -> bool {
    part.session.live_events().contains(&line)
}

/// Whether an event of one side and an event of the other side affect the view of the same message. `is_rival`
/// selects the candidate lines of the first side.
pub(super) fn overlaps(
    (a, is_rival): (&SidePart<'_>, impl Fn(&usize) -> bool),
    (b, line): (&SidePart<'_>, usize),
) -> bool {
    let withdrawn = undone_events(b);
    let rivals: Vec<usize> = a
        .session
        .live_events()
        .into_iter()
        .filter(|own| {
            let record = a.session.record(*own);
            let event = record.event().filter(|event| is_compaction(&event.name()));
            event.is_some_and(|event| event.id().is_none_or(|id| !withdrawn.contains(id.as_ref())))
        })
        .filter(is_rival)
        .collect();
    if rivals.is_empty() {
        return false;
    }
    let theirs = changed(b, line);
    rivals
        .into_iter()
        .any(|own| !changed(a, own).is_disjoint(&theirs))
}

/// The messages that an event hides or edits.
fn changed(part: &SidePart<'_>, line: usize) -> HashSet<RecordKey> {
    let shown = |lines: usize| -> HashMap<usize, Option<Vec<u8>>> {
        let session = before(part.session, lines);
        let view = View::replay(&session);
        let shown = view.items.into_iter().filter_map(|item| match item {
            Item::Line(line) => Some((line, None)),
            Item::Edited(line, body) => Some((line, Some(body))),
            Item::Inserted(_) | Item::Summary(_) => None,
        });
        shown.collect()
    };
    let (was, is) = (shown(line), shown(line + 1));
    let removed = was.into_iter().filter(|(line, body)| is.get(line) != Some(body));
    removed.map(|(line, _)| part.keys[line]).collect()
}
