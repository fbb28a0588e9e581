//! Compares the elements of a source with a view: which elements are hidden, which have changed, and where new messages
//! belong.

use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementChange {
    /// The view has the same messages of it as the source.
    None,
    /// It is hidden now.
    Removed,
    /// It was hidden, and is visible again.
    Restored,
    /// Some of its messages are hidden now, or have changed.
    Edited,
}

/// An entry in the order of elements to write.
#[derive(Debug, PartialEq, Eq)]
pub enum NextElement {
    /// An element of the source.
    Element(usize),
    /// An element of the source that has changed, and its items in the view.
    Edited(usize, Vec<usize>),
    /// New items of the view.
    Items(Vec<usize>),
}

/// Maps the lines of a session to the elements of its document.
#[derive(Debug, Default)]
pub struct ElementMap {
    /// Element index by line.
    pub of: HashMap<usize, usize>,
    /// Number of elements.
    pub count: usize,
}

impl ElementMap {
    /// The element of an item; `None` for inserted items.
    pub fn place(&self, item: &Item) -> Option<usize> {
        self.of.get(&item.line()?).copied()
    }

    pub fn items(&self, view: &View, element: usize) -> Vec<usize> {
        let items = view.items.iter().enumerate();
        let own = items.filter(|(_, item)| self.place(item) == Some(element));
        own.map(|(nth, _)| nth).collect()
    }

    pub fn first_lines(&self) -> HashMap<usize, usize> {
        let mut first: HashMap<usize, usize> = HashMap::new();
        for (line, element) in &self.of {
            let known = first.entry(*element).or_insert(*line);
            *known = (*known).min(*line);
        }
        first
    }

    /// The change of each element; `own` is the view of the source.
    pub fn changes(&self, own: &View, view: &View) -> Vec<ElementChange> {
        let (before, now) = (self.shown(own), self.shown(view));
        let mut lines = vec![0; self.count];
        self.of.values().for_each(|element| lines[*element] += 1);
        let change = |element: usize| {
            let (before, now) = (&before[element], &now[element]);
            let same =
                before.len() == now.len() && before.iter().zip(now).all(|(one, other)| same(one, other));
            let whole = now.len() == lines[element] && now.iter().all(|item| matches!(item, Item::Line(_)));
            match (same, now.is_empty()) {
                (true, _) => ElementChange::None,
                (false, true) => ElementChange::Removed,
                _ if before.is_empty() && whole => ElementChange::Restored,
                _ => ElementChange::Edited,
            }
        };
        (0..self.count).map(change).collect()
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

    /// The elements in order, with new items before the element that follows them in the view. Omits items for which
    /// `skips` holds.
    pub fn order(
        &self,
        view: &View,
        changes: &[ElementChange],
        skips: &dyn Fn(&Item) -> bool,
    ) -> Vec<NextElement> {
        let mut changed: HashMap<usize, Vec<usize>> = HashMap::new();
        for (nth, item) in view.items.iter().enumerate() {
            if let Some(element) = self
                .place(item)
                .filter(|element| changes[*element] == ElementChange::Edited)
            {
                changed.entry(element).or_default().push(nth);
            }
        }
        let (mut list, mut next, mut waiting) = (Vec::new(), 0, Vec::new());
        let mut pass = |list: &mut Vec<NextElement>, element: usize| {
            list.push(match changed.remove(&element) {
                Some(items) => NextElement::Edited(element, items),
                None => NextElement::Element(element),
            });
        };
        for (nth, item) in view.items.iter().enumerate() {
            match self.place(item) {
                Some(element) if element >= next => {
                    (next..element).for_each(|element| pass(&mut list, element));
                    if !waiting.is_empty() {
                        list.push(NextElement::Items(std::mem::take(&mut waiting)));
                    }
                    pass(&mut list, element);
                    next = element + 1;
                }
                Some(_) => {}
                None if skips(item) => {}
                None => waiting.push(nth),
            }
        }
        (next..self.count).for_each(|element| pass(&mut list, element));
        if !waiting.is_empty() {
            list.push(NextElement::Items(waiting));
        }
        list
    }
}

/// Whether two items are the same line with the same changes, or the same summary.
pub fn same(one: &Item, other: &Item) -> bool {
    match (one, other) {
        (Item::Line(one), Item::Line(other)) | (Item::Summary(one), Item::Summary(other)) => one == other,
        (Item::Edited(one, body), Item::Edited(other, now)) => one == other && body == now,
        _ => false,
    }
}

/// The view of the source: the result of the events for which `is_own` holds, even if a later event undoes them.
pub fn source_view(session: &Session, is_own: impl Fn(usize) -> bool) -> View {
    let own = (0..session.len()).filter(|index| View::is_moved_by(session, *index) && is_own(*index));
    View::after(session, own.collect())
}
