//! Replays a log into its view: applies truncations, compactions and summaries in order.

mod changes;
mod inserts;
mod sweep;

use super::event::{
    Action, Compact, CompactionSummary, Event, MessageRange, MessageTarget, Summary, Truncate,
};
use super::json;
use super::partial_session::{PartialSession, SummaryPosition as Place};
use super::session::{Class, Session};
use super::view::{Item, View};
use changes::MemberChanges;
use inserts::{InsertedContent, Inserts};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
pub use sweep::Sweep;

impl View {
    /// Replays a session.
    pub fn replay(session: &Session) -> View {
        View::after(session, moving(session))
    }

    /// The events of a session that refer to something that does not exist: line index and problem.
    pub fn dangling(session: &Session) -> Vec<(usize, String)> {
        let events = moving(session);
        Replay::after(session, events).dangling
    }

    /// The state after a session's events, if it can be expressed by lines alone.
    pub(super) fn state(session: &Session) -> Option<ReplayState> {
        let events = moving(session);
        Replay::after(session, events).state()
    }

    /// Whether the line is an event that changes the view.
    pub fn is_moved_by(session: &Session, index: usize) -> bool {
        let record = session.record(index);
        let name = record.event().map(|event| event.name()).unwrap_or_default();
        matches!(name.as_ref(), "truncate" | "compact" | "summary")
    }

    /// Replays a session as if only these events, in this order, changed its view.
    pub fn after(session: &Session, events: Vec<usize>) -> View {
        if events.is_empty() && session.partial().is_none() {
            return View::whole(session);
        }
        Replay::after(session, events).finish()
    }
}

/// The active events that change the view; for a partial session only those after it, since it represents the others.
fn moving(session: &Session) -> Vec<usize> {
    let from = session.partial().map_or(0, PartialSession::kept);
    let live = session.live_events().into_iter();
    live.filter(|index| *index >= from && View::is_moved_by(session, *index))
        .collect()
}

/// Result of a replay: hidden lines and the active summary.
pub(super) struct ReplayState {
    /// For each line: whether it is hidden, or not a message.
    pub hidden: Vec<bool>,
    /// The event with the summary, and its position.
    pub active_summary: Option<(usize, Place)>,
}

/// Collects the ids of messages that an event refers to.
fn names(action: &Action<'_>, named: &mut HashSet<String>) {
    let own = |target: &MessageTarget<'_>| target.id.to_string();
    match action {
        Action::Truncate(cut) => named.extend(cut.before.iter().map(ToString::to_string)),
        Action::Summary(summary) => named.extend(summary.covers.iter().flatten().map(ToString::to_string)),
        Action::Compact(compact) => {
            for span in &compact.drop {
                match span {
                    MessageRange::One(target) => named.extend([own(target)]),
                    MessageRange::Range(ends) => named.extend(ends.iter().map(ToString::to_string)),
                }
            }
            named.extend(compact.edit.iter().map(|edit| own(&edit.of)));
            let inserts = compact.insert.iter().filter_map(|insert| insert.before.as_ref());
            named.extend(inserts.map(own));
            let summary = compact.summary.iter().flatten();
            named.extend(summary.filter_map(|summary| summary.before.as_ref()).map(own));
        }
        _ => {}
    }
}

/// Removed lines by their cause. A removed line never returns, so none is visited twice.
#[derive(Default)]
struct Sweeps {
    by_drop: Sweep,
    by_cut: Sweep,
    by_summary: Sweep,
}

struct Replay<'s> {
    session: &'s Session,
    /// Line indexes of the messages for each id that an event refers to.
    places: HashMap<String, Vec<usize>>,
    hidden: Vec<bool>,
    sweeps: Sweeps,
    edits: HashMap<usize, MemberChanges<'s>>,
    inserts: Inserts<'s>,
    /// The active `summary` event and its position.
    summary: Option<(usize, Place)>,
    dangling: Vec<(usize, String)>,
    idle: Vec<usize>,
}

impl<'s> Replay<'s> {
    /// The state after these events.
    fn after(session: &'s Session, events: Vec<usize>) -> Self {
        let action = |index| session.record(index).event().map(Event::action);
        let actions: Vec<_> = events.into_iter().map(|index| (index, action(index))).collect();
        let mut named = HashSet::new();
        let known = actions.iter().filter_map(|(_, action)| action.as_ref());
        known.for_each(|action| names(action, &mut named));
        let hidden = (0..session.len()).map(|i| !matches!(session.class(i), Class::Message(_)));
        let mut hidden: Vec<bool> = hidden.collect();
        let (mut inserts, mut summary) = (Inserts::default(), None);
        if let Some(partial) = session.partial() {
            hidden[..partial.kept()].copy_from_slice(&partial.hidden);
            match partial.active_summary {
                Some((event, Place::Before(before))) => {
                    inserts.push(before, None, InsertedContent::Summary(event))
                }
                active_summary => summary = active_summary,
            }
        }
        let mut replay = Replay {
            session,
            places: session.places(named),
            hidden,
            sweeps: Sweeps::default(),
            edits: HashMap::new(),
            inserts,
            summary,
            dangling: Vec::new(),
            idle: Vec::new(),
        };
        for (index, action) in actions {
            replay.apply(index, action);
        }
        replay
    }

    /// The line of the message that the event at `event` refers to; only earlier messages can be meant.
    fn place(&self, event: usize, target: &MessageTarget<'_>) -> Option<usize> {
        let nth = usize::try_from(target.nth.unwrap_or(1).checked_sub(1)?).ok()?;
        let place = self.places.get(target.id.as_ref())?.get(nth).copied();
        place.filter(|place| *place < event)
    }

    fn find(&mut self, event: usize, id: &str, nth: Option<u64>) -> Option<usize> {
        let target = MessageTarget { id: id.into(), nth };
        let place = self.place(event, &target);
        if place.is_none() {
            self.miss(event, &target);
        }
        place
    }

    fn miss(&mut self, event: usize, target: &MessageTarget<'_>) {
        let id = &target.id;
        let which = match target.nth {
            Some(nth) => format!("message {nth} with the id {id}"),
            None => format!("the message {id}"),
        };
        self.dangling
            .push((event, format!("refers to {which}, which is missing")));
    }

    fn apply(&mut self, event: usize, action: Option<Action<'s>>) {
        let done = match action {
            Some(Action::Truncate(cut)) => self.truncate(event, &cut),
            Some(Action::Compact(compact)) => self.compact(event, compact),
            Some(Action::Summary(summary)) => {
                self.summarize(event, &summary);
                true
            }
            _ => {
                let what = "the members do not match the type".to_string();
                self.dangling.push((event, what));
                false
            }
        };
        if !done {
            self.idle.push(event);
        }
    }

    /// Returns whether the event could be applied.
    fn truncate(&mut self, event: usize, cut: &Truncate<'_>) -> bool {
        let limit = match &cut.before {
            Some(id) => self.find(event, id, cut.nth.filter(|nth| *nth > 1)),
            None => Some(event),
        };
        let Some(limit) = limit else { return false };
        let session = self.session;
        let hidden = &mut self.hidden;
        let survives = |class| matches!(class, Class::Message(traits) if traits.survives_truncate());
        match cut.keep_system {
            true => self.sweeps.by_cut.over(0..limit, session.len(), |index| {
                hidden[index] |= !survives(session.class(index));
            }),
            false => self
                .sweeps
                .by_drop
                .over(0..limit, session.len(), |index| hidden[index] = true),
        }
        self.inserts.truncate(limit, cut.keep_system);
        true
    }

    fn summarize(&mut self, event: usize, summary: &Summary<'_>) {
        self.forget_summary();
        let mut place = Place::First;
        let nth = summary.nth.map(|nth| Some(nth).filter(|nth| *nth > 1));
        if let Some([first, last]) = &summary.covers
            && let (Some(first), Some(last)) =
                (self.find(event, first, nth[0]), self.find(event, last, nth[1]))
        {
            let (session, hidden) = (self.session, &mut self.hidden);
            let is_system =
                |index| matches!(session.class(index), Class::Message(traits) if traits.is_system());
            self.sweeps
                .by_summary
                .over(first..last.saturating_add(1), session.len(), |index| {
                    hidden[index] |= !is_system(index);
                });
            // Messages that a compaction inserted in place of covered ones are covered too.
            if first <= last {
                self.inserts.cover(first..=last);
            }
            place = Place::After(last);
        } else if summary.covers.is_none() && summary.here {
            place = Place::After(event);
        }
        self.summary = Some((event, place));
    }

    fn forget_summary(&mut self) {
        self.summary = None;
        self.inserts.forget_summary();
    }

    /// Returns whether any part of the event could be applied.
    fn compact(&mut self, event: usize, compact: Compact<'s>) -> bool {
        let dangling = self.dangling.len();
        let mut parts = compact.drop.len() + compact.edit.len() + compact.insert.len();
        self.drop(event, &compact);
        for edit in compact.edit {
            if let Some(index) = self.place(event, &edit.of) {
                let body = self.session.body(index);
                self.edits.entry(index).or_default().add(edit, body);
            } else {
                match self.inserts.oldest(&edit.of.id) {
                    Some(nth) if self.inserts.is_message(nth) => self.inserts.edit(nth, edit),
                    _ => self.miss(event, &edit.of),
                }
            }
        }
        if let Some(summary) = &compact.summary {
            self.forget_summary();
            parts += 1;
            if let Some(CompactionSummary { before, .. }) = summary {
                self.insert(event, before.as_ref(), None, InsertedContent::Summary(event));
            }
        }
        for insert in compact.insert {
            let id = json::member_text(insert.message, "id");
            let content = InsertedContent::Message(insert.message, MemberChanges::default());
            self.insert(event, insert.before.as_ref(), id.map(Cow::into_owned), content);
        }
        self.inserts.end_compaction();
        self.dangling.len() - dangling < parts.max(1)
    }

    fn drop(&mut self, event: usize, compact: &Compact<'_>) {
        for span in &compact.drop {
            match span {
                MessageRange::One(target) => match self.place(event, target) {
                    Some(index) => self.hidden[index] = true,
                    // An inserted message has an id, too.
                    None if self.inserts.drop_newest(&target.id) => {}
                    None => self.miss(event, target),
                },
                MessageRange::Range([first, last]) => {
                    let found = (self.find(event, first, None), self.find(event, last, None));
                    if let (Some(first), Some(last)) = found {
                        let (lines, hidden) = (self.session.len(), &mut self.hidden);
                        self.sweeps
                            .by_drop
                            .over(first..last.saturating_add(1), lines, |index| hidden[index] = true);
                    }
                }
            }
        }
    }

    /// Inserts content before a message, which may be an inserted one; without a target at the end.
    fn insert(
        &mut self,
        event: usize,
        before: Option<&MessageTarget<'_>>,
        id: Option<String>,
        content: InsertedContent<'s>,
    ) {
        let line = match before {
            Some(target) => self.place(event, target),
            None => Some(event),
        };
        if let Some(before) = line {
            self.inserts.push(before, id, content);
        } else if let Some(target) = before {
            match self.inserts.oldest(&target.id) {
                Some(nth) => self.inserts.push_before(nth, id, content),
                None => self.miss(event, target),
            }
        }
    }

    /// `None` if the state cannot be expressed by lines alone.
    fn state(self) -> Option<ReplayState> {
        let is_edited = self.edits.keys().any(|index| !self.hidden[*index]);
        if is_edited || !self.dangling.is_empty() || !self.idle.is_empty() || self.inserts.len() > 1 {
            return None;
        }
        let active_summary = match (self.inserts.len(), self.inserts.summary(), self.summary) {
            (0, _, active_summary) => active_summary,
            (_, Some((event, before)), None) => Some((event, Place::Before(before))),
            _ => return None,
        };
        Some(ReplayState {
            hidden: self.hidden,
            active_summary,
        })
    }

    fn finish(self) -> View {
        let mut items = Vec::new();
        let mut inserts = self.inserts.into_items().into_iter().peekable();
        for index in 0..self.session.len() {
            while let Some((_, item)) = inserts.next_if(|(before, _)| *before == index) {
                items.push(item);
            }
            if !self.hidden[index] {
                let body = self.session.body(index);
                let edited = self.edits.get(&index).and_then(|changes| changes.apply(body));
                items.push(edited.map_or(Item::Line(index), |body| Item::Edited(index, body)));
            }
            if let Some((event, Place::After(after))) = self.summary
                && after == index
            {
                items.push(Item::Summary(event));
            }
        }
        if let Some((event, Place::First)) = self.summary {
            // The covered messages are gone: place the summary at their start, after the leading system messages.
            let rules = items
                .iter()
                .take_while(|item| item.is_never_dropped(self.session))
                .count();
            items.insert(rules, Item::Summary(event));
        }
        View {
            items,
            dangling: self.dangling,
            idle: self.idle,
        }
    }
}
