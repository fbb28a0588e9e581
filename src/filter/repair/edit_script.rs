//! Computes the reshaping that turns one view into a later one.

use crate::filter::compact::event::{ItemChange, ViewEdit};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashMap;

/// Identifies an item in two views.
#[derive(PartialEq, Eq, Hash)]
enum EditName {
    Line(usize),
    Summary(usize),
    /// An inserted message, by id.
    Inserted(String),
}

fn name(item: &Item, session: &Session) -> EditName {
    match item {
        Item::Line(index) | Item::Edited(index, _) => EditName::Line(*index),
        Item::Summary(index) => EditName::Summary(*index),
        Item::Inserted(_) => {
            let message = item.message(session);
            let id = message.and_then(|message| Some(message.id()?.into_owned()));
            EditName::Inserted(id.unwrap_or_default())
        }
    }
}

/// The change of the first view. Both have the same order, because no event reorders messages.
pub(super) fn reshaping((session, view): (&Session, &View), (after, shown): (&Session, &View)) -> ViewEdit {
    let mut reshaping = ViewEdit::of(view);
    let places: HashMap<EditName, usize> = (0..view.items.len())
        .map(|at| (name(&view.items[at], session), at))
        .collect();
    let mut stays = vec![false; view.items.len()];
    let mut next = 0;
    for item in &shown.items {
        let body = item.body(after);
        match places.get(&name(item, after)).copied().filter(|at| *at >= next) {
            Some(at) => {
                stays[at] = true;
                next = at + 1;
                if view.items[at].body(session) != body {
                    reshaping.changes[at] = ItemChange::Replace(body.to_vec());
                }
            }
            None => reshaping.inserts.push((next, body.to_vec())),
        }
    }
    for (change, _) in reshaping
        .changes
        .iter_mut()
        .zip(stays)
        .filter(|(_, stays)| !stays)
    {
        *change = ItemChange::Drop;
    }
    reshaping
}
