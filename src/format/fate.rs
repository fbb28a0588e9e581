//! What became of the elements of a document that a session was read from: which are as they were, which have left the
//! view, and where what is new goes. Shared by the formats that keep their elements and write only what changed.

use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashMap;

/// What became of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// As much of it is in view as when it was read, and as it was.
    Same,
    /// It was in view and is no more.
    Gone,
    /// All of it is in view as it stands there, and was not.
    Back,
    /// Some of it is in view, or it is in view otherwise.
    Changed,
}

/// What comes next in a document that is written.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// An element that was there.
    Element(usize),
    /// Items of the view that are to be an element, or several: in the place of one that changed, or new.
    Items(Vec<usize>),
}

/// The elements of a document and the lines of the session that they are.
#[derive(Debug, Default)]
pub struct Elements {
    /// The element that a line is of.
    pub of: HashMap<usize, usize>,
    /// How many elements there are.
    pub count: usize,
}

impl Elements {
    /// The element of an item; none of what was put in.
    fn place(&self, item: &Item) -> Option<usize> {
        self.of.get(&item.line()?).copied()
    }

    /// The first line of each element that has any.
    pub fn first_lines(&self) -> HashMap<usize, usize> {
        let mut first: HashMap<usize, usize> = HashMap::new();
        for (line, element) in &self.of {
            let known = first.entry(*element).or_insert(*line);
            *known = (*known).min(*line);
        }
        first
    }

    /// What became of each of them; `own` is the view that the document itself gives.
    pub fn fates(&self, own: &View, view: &View) -> Vec<Fate> {
        let (before, now) = (self.shown(own), self.shown(view));
        let mut lines = vec![0; self.count];
        self.of.values().for_each(|element| lines[*element] += 1);
        let fate = |element: usize| {
            let (before, now) = (&before[element], &now[element]);
            let same =
                before.len() == now.len() && before.iter().zip(now).all(|(one, other)| same(one, other));
            let whole = now.len() == lines[element] && now.iter().all(|item| matches!(item, Item::Line(_)));
            match (same, now.is_empty()) {
                (true, _) => Fate::Same,
                (false, true) => Fate::Gone,
                _ if before.is_empty() && whole => Fate::Back,
                _ => Fate::Changed,
            }
        };
        (0..self.count).map(fate).collect()
    }

    fn shown<'v>(&self, view: &'v View) -> Vec<Vec<&'v Item>> {
        let mut shown = vec![Vec::new(); self.count];
        for item in &view.items {
            if let Some(element) = self.place(item) {
                shown[element].push(item);
            }
        }
        shown
    }

    /// The elements in their order, with what is new where the view has it: behind all that stands before the next
    /// element. `skips` are items that are told otherwise.
    pub fn steps(&self, view: &View, fates: &[Fate], skips: impl Fn(&Item) -> bool) -> Vec<Step> {
        let mut changed: HashMap<usize, Vec<usize>> = HashMap::new();
        for (nth, item) in view.items.iter().enumerate() {
            if let Some(element) = self
                .place(item)
                .filter(|element| fates[*element] == Fate::Changed)
            {
                changed.entry(element).or_default().push(nth);
            }
        }
        let (mut steps, mut next, mut waiting) = (Vec::new(), 0, Vec::new());
        let mut pass = |steps: &mut Vec<Step>, element: usize| {
            steps.push(Step::Element(element));
            if let Some(items) = changed.remove(&element) {
                steps.push(Step::Items(items));
            }
        };
        for (nth, item) in view.items.iter().enumerate() {
            match self.place(item) {
                Some(element) if element >= next => {
                    (next..element).for_each(|element| pass(&mut steps, element));
                    if !waiting.is_empty() {
                        steps.push(Step::Items(std::mem::take(&mut waiting)));
                    }
                    pass(&mut steps, element);
                    next = element + 1;
                }
                Some(_) => {}
                None if skips(item) => {}
                None => waiting.push(nth),
            }
        }
        (next..self.count).for_each(|element| pass(&mut steps, element));
        if !waiting.is_empty() {
            steps.push(Step::Items(waiting));
        }
        steps
    }
}

fn same(one: &Item, other: &Item) -> bool {
    match (one, other) {
        (Item::Line(one), Item::Line(other)) => one == other,
        (Item::Edited(one, body), Item::Edited(other, now)) => one == other && body == now,
        _ => false,
    }
}

/// The view that a document itself gives: what its own events, those for which `is_own` holds, make of it.
pub fn own_view(session: &Session, is_own: impl Fn(usize) -> bool) -> View {
    let live = session.live_events().into_iter();
    let own = live.filter(|index| View::is_moved_by(session, *index) && is_own(*index));
    View::after(session, own.collect())
}
