//! The replay of a log into its view: cuts, compactions and summaries carried out in their order.

use super::event::{Action, Compact, Event, Span, Standing, Summary, Target, Truncate};
use super::excerpt::{Excerpt, Stands as Place};
use super::json;
use super::session::{Class, Session};
use super::view::{Item, View};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

impl View {
    /// Replays a session.
    pub fn replay(session: &Session) -> View {
        View::after(session, moving(session))
    }

    /// Where a session's events have brought it, when that can be said by lines alone.
    pub(super) fn state(session: &Session) -> Option<State> {
        let events = moving(session);
        let mut replay = Replay::new(session, &events);
        events.into_iter().for_each(|index| replay.apply(index));
        replay.state()
    }

    /// Whether the line is an event that moves the view.
    pub fn is_moved_by(session: &Session, index: usize) -> bool {
        let record = session.record(index);
        let name = record.event().map(|event| event.name()).unwrap_or_default();
        matches!(name.as_ref(), "truncate" | "compact" | "summary")
    }

    /// Replays a session as if only these events, in their order, moved its view.
    pub fn after(session: &Session, events: Vec<usize>) -> View {
        if events.is_empty() && session.excerpt().is_none() {
            return View {
                items: session.messages().map(|(i, _)| Item::Line(i)).collect(),
                ..View::default()
            };
        }
        let mut replay = Replay::new(session, &events);
        for index in events {
            replay.apply(index);
        }
        replay.finish()
    }
}

/// The events that count and move the view; of an excerpt those behind it, for it stands for the others.
fn moving(session: &Session) -> Vec<usize> {
    let from = session.excerpt().map_or(0, Excerpt::kept);
    let live = session.live_events().into_iter();
    live.filter(|index| *index >= from && View::is_moved_by(session, *index))
        .collect()
}

/// Where events have brought a session: what has left the view, and the summary that stands.
pub(super) struct State {
    /// For each line whether it has left, or was no message.
    pub gone: Vec<bool>,
    /// The event that carries the summary, and where it stands.
    pub standing: Option<(usize, Place)>,
}

/// The ids of messages that an event names.
fn names(action: &Action<'_>, named: &mut HashSet<String>) {
    let own = |target: &Target<'_>| target.id.to_string();
    match action {
        Action::Truncate(cut) => named.extend(cut.before.iter().map(ToString::to_string)),
        Action::Summary(summary) => named.extend(summary.covers.iter().flatten().map(ToString::to_string)),
        Action::Compact(compact) => {
            for span in &compact.drop {
                match span {
                    Span::One(target) => named.extend([own(target)]),
                    Span::Range(ends) => named.extend(ends.iter().map(ToString::to_string)),
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

/// What a compaction put in.
struct Insert {
    /// Line index that it stands before.
    before: usize,
    id: Option<String>,
    what: What,
    /// Whether the compaction at hand takes it out; until its end it still marks a place.
    gone: bool,
}

enum What {
    Message(Vec<u8>),
    /// The summary of the compaction at this line.
    Summary(usize),
}

impl Insert {
    fn stays(&self, session: &Session) -> bool {
        match &self.what {
            What::Message(body) => Item::Inserted(body.clone()).stays(session),
            What::Summary(_) => true,
        }
    }
}

struct Replay<'s> {
    session: &'s Session,
    /// Line indexes of the messages of each id that an event names.
    places: HashMap<String, Vec<usize>>,
    gone: Vec<bool>,
    edits: HashMap<usize, Vec<u8>>,
    /// In the order in which they stand, as far as they stand before the same line.
    inserts: Vec<Insert>,
    /// The `summary` event that stands, and where.
    summary: Option<(usize, Place)>,
    dangling: Vec<(usize, String)>,
    idle: Vec<usize>,
}

impl<'s> Replay<'s> {
    fn new(session: &'s Session, events: &[usize]) -> Self {
        let mut named = HashSet::new();
        for index in events {
            let record = session.record(*index);
            if let Some(action) = record.event().map(Event::action) {
                names(&action, &mut named);
            }
        }
        let gone = (0..session.len()).map(|i| !matches!(session.class(i), Class::Message(_)));
        let mut gone: Vec<bool> = gone.collect();
        let (mut inserts, mut summary) = (Vec::new(), None);
        if let Some(excerpt) = session.excerpt() {
            gone[..excerpt.kept()].copy_from_slice(&excerpt.gone);
            match excerpt.standing {
                Some((event, Place::Before(before))) => inserts.push(Insert {
                    before,
                    id: None,
                    what: What::Summary(event),
                    gone: false,
                }),
                standing => summary = standing,
            }
        }
        Replay {
            session,
            places: session.places(named),
            gone,
            edits: HashMap::new(),
            inserts,
            summary,
            dangling: Vec::new(),
            idle: Vec::new(),
        }
    }

    /// The line of a message that the event at `event` names; only what was said before an event can be meant.
    fn place(&self, event: usize, target: &Target<'_>) -> Option<usize> {
        let nth = usize::try_from(target.nth.unwrap_or(1).checked_sub(1)?).ok()?;
        let place = self.places.get(target.id.as_ref())?.get(nth).copied();
        place.filter(|place| *place < event)
    }

    fn find(&mut self, event: usize, id: &str, nth: Option<u64>) -> Option<usize> {
        let target = Target { id: id.into(), nth };
        let place = self.place(event, &target);
        if place.is_none() {
            self.miss(event, &target);
        }
        place
    }

    fn miss(&mut self, event: usize, target: &Target<'_>) {
        let id = &target.id;
        let which = match target.nth {
            Some(nth) => format!("message {nth} of the id {id}"),
            None => format!("the message {id}"),
        };
        self.dangling
            .push((event, format!("it names {which}, which is not there")));
    }

    fn is_system(&self, index: usize) -> bool {
        matches!(self.session.class(index), Class::Message(traits) if traits.is_system())
    }

    fn apply(&mut self, event: usize) {
        let session = self.session;
        let record = session.record(event);
        let done = match record.event().map(Event::action) {
            Some(Action::Truncate(cut)) => self.truncate(event, &cut),
            Some(Action::Compact(compact)) => self.compact(event, &compact),
            Some(Action::Summary(summary)) => {
                self.summarize(event, &summary);
                true
            }
            _ => {
                let what = "its members do not fit its type".to_string();
                self.dangling.push((event, what));
                false
            }
        };
        if !done {
            self.idle.push(event);
        }
    }

    /// Whether it could be carried out.
    fn truncate(&mut self, event: usize, cut: &Truncate<'_>) -> bool {
        let limit = match &cut.before {
            Some(id) => self.find(event, id, cut.nth.filter(|nth| *nth > 1)),
            None => Some(event),
        };
        let Some(limit) = limit else { return false };
        let session = self.session;
        for index in 0..limit {
            let survives = |class| matches!(class, Class::Message(traits) if traits.survives_truncate());
            if !(cut.keep_system && survives(session.class(index))) {
                self.gone[index] = true;
            }
        }
        self.inserts.retain(|insert| {
            let kept = match &insert.what {
                What::Message(body) => {
                    cut.keep_system && Item::Inserted(body.clone()).survives_truncate(session)
                }
                What::Summary(_) => true,
            };
            insert.before >= limit || kept
        });
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
            for index in first..=last {
                if !self.is_system(index) {
                    self.gone[index] = true;
                }
            }
            // What was put in for messages that it covers stood for them, and so does it now.
            let session = self.session;
            self.inserts
                .retain(|insert| !(first..=last).contains(&insert.before) || insert.stays(session));
            place = Place::Behind(last);
        } else if summary.covers.is_none() && summary.here {
            place = Place::Behind(event);
        }
        self.summary = Some((event, place));
    }

    fn forget_summary(&mut self) {
        self.summary = None;
        self.inserts
            .retain(|insert| matches!(insert.what, What::Message(_)));
    }

    /// Whether any of it could be carried out.
    fn compact(&mut self, event: usize, compact: &Compact<'_>) -> bool {
        let dangling = self.dangling.len();
        let mut parts = 0;
        self.drop(event, compact);
        for edit in &compact.edit {
            if let Some(index) = self.place(event, &edit.of) {
                let before = self.edits.get(&index);
                let body = before.map_or(self.session.record(index).body, Vec::as_slice);
                if let Some(edited) = edit.apply(body) {
                    self.edits.insert(index, edited);
                }
            } else if let Some(nth) = self.inserted(&edit.of)
                && let What::Message(body) = &self.inserts[nth].what
            {
                if let Some(edited) = edit.apply(body) {
                    self.inserts[nth].what = What::Message(edited);
                }
            } else {
                self.miss(event, &edit.of);
            }
        }
        if let Some(summary) = &compact.summary {
            self.forget_summary();
            parts += 1;
            if let Some(Standing { before, .. }) = summary {
                self.insert(event, before.as_ref(), None, What::Summary(event));
            }
        }
        for insert in &compact.insert {
            let id = json::member(insert.message, "id").and_then(json::text);
            let what = What::Message(insert.message.to_vec());
            self.insert(event, insert.before.as_ref(), id.map(Cow::into_owned), what);
        }
        self.inserts.retain(|insert| !insert.gone);
        parts += compact.drop.len() + compact.edit.len() + compact.insert.len();
        self.dangling.len() - dangling < parts.max(1)
    }

    fn drop(&mut self, event: usize, compact: &Compact<'_>) {
        // What an earlier compaction put in has an id too.
        let by_id = |(nth, insert): (usize, &Insert)| Some((insert.id.clone()?, nth));
        let inserted: HashMap<String, usize> = self.inserts.iter().enumerate().filter_map(by_id).collect();
        for span in &compact.drop {
            match span {
                Span::One(target) => match (self.place(event, target), inserted.get(target.id.as_ref())) {
                    (Some(index), _) => self.gone[index] = true,
                    (None, Some(nth)) => self.inserts[*nth].gone = true,
                    (None, None) => self.miss(event, target),
                },
                Span::Range([first, last]) => {
                    let found = (self.find(event, first, None), self.find(event, last, None));
                    if let (Some(first), Some(last)) = found {
                        (first..=last).for_each(|index| self.gone[index] = true);
                    }
                }
            }
        }
    }

    /// The place in the list of what was put in.
    fn inserted(&self, target: &Target<'_>) -> Option<usize> {
        let is = |insert: &Insert| insert.id.as_deref() == Some(target.id.as_ref());
        self.inserts.iter().position(is)
    }

    /// Puts something in before a message, which may have been put in itself; without one at the end.
    fn insert(&mut self, event: usize, before: Option<&Target<'_>>, id: Option<String>, what: What) {
        let line = match before {
            Some(target) => self.place(event, target),
            None => Some(event),
        };
        if let Some(before) = line {
            self.inserts.push(Insert {
                before,
                id,
                what,
                gone: false,
            });
        } else if let Some(target) = before {
            match self.inserted(target) {
                Some(nth) => {
                    let before = self.inserts[nth].before;
                    let new = Insert {
                        before,
                        id,
                        what,
                        gone: false,
                    };
                    self.inserts.insert(nth, new);
                }
                None => self.miss(event, target),
            }
        }
    }

    /// None when it takes more than lines to say it.
    fn state(self) -> Option<State> {
        let is_edited = self.edits.keys().any(|index| !self.gone[*index]);
        if is_edited || !self.dangling.is_empty() || !self.idle.is_empty() || self.inserts.len() > 1 {
            return None;
        }
        let standing = match (self.inserts.first(), self.summary) {
            (None, standing) => standing,
            (Some(insert), None) => match insert.what {
                What::Summary(event) => Some((event, Place::Before(insert.before))),
                What::Message(_) => return None,
            },
            (Some(_), Some(_)) => return None,
        };
        Some(State {
            gone: self.gone,
            standing,
        })
    }

    fn finish(mut self) -> View {
        let mut items = Vec::new();
        // In the order of their places; at one place they are in order already.
        self.inserts.sort_by_key(|insert| insert.before);
        let mut inserts = self.inserts.into_iter().peekable();
        for index in 0..self.session.len() {
            while let Some(insert) = inserts.next_if(|insert| insert.before == index) {
                items.push(match insert.what {
                    What::Message(body) => Item::Inserted(body),
                    What::Summary(event) => Item::Summary(event),
                });
            }
            if !self.gone[index] {
                items.push(match self.edits.remove(&index) {
                    Some(body) => Item::Edited(index, body),
                    None => Item::Line(index),
                });
            }
            if let Some((event, Place::Behind(behind))) = self.summary
                && behind == index
            {
                items.push(Item::Summary(event));
            }
        }
        if let Some((event, Place::First)) = self.summary {
            // What it covered is gone: it stands where that began, behind the leading rules.
            let rules = items.iter().take_while(|item| item.stays(self.session)).count();
            items.insert(rules, Item::Summary(event));
        }
        View {
            items,
            dangling: self.dangling,
            idle: self.idle,
        }
    }
}
