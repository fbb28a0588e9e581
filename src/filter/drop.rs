//! Drops selected messages, or all others, from the view; the log keeps them.

use super::compact::event::{CompactionInfo, ItemChange, ViewEdit};
use super::select::Selection;
use super::{Plan, Stamp};
use crate::error::{Error, ErrorKind, Result};
use crate::model::exchange::Cuts;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The messages to drop or to keep.
#[derive(Clone, Debug, Default)]
pub struct DropSelection {
    /// Conditions that a message must all meet.
    pub selection: Selection,
    /// Exchange numbers in the view, from 1; empty means all. Messages before the first exchange belong to it.
    pub exchanges: Vec<RangeInclusive<usize>>,
    /// Message ids with the plan lines that name them; empty means all.
    pub planned: Vec<(String, usize)>,
    /// Whether to keep the selected messages and drop the others.
    pub keeps: bool,
}

impl DropSelection {
    /// Whether each item of a view is selected.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::No`] if none is.
    fn chosen(&self, session: &Session, view: &View) -> Result<Vec<bool>> {
        let mut chosen = self.selection.chosen(session, &view.items);
        if !self.planned.is_empty() {
            let planned = self.planned(session, view)?;
            chosen
                .iter_mut()
                .zip(planned)
                .for_each(|(chosen, planned)| *chosen &= planned);
        }
        if !self.exchanges.is_empty() {
            let cuts = Cuts::of(session, view);
            let mut number = 0;
            for (at, is_chosen) in chosen.iter_mut().enumerate() {
                number += usize::from(cuts.begins(at));
                *is_chosen &= self.exchanges.iter().any(|range| range.contains(&number.max(1)));
            }
        }
        match (chosen.contains(&true), self.exchanges.is_empty()) {
            (true, _) => Ok(chosen),
            (false, true) => Err(Selection::nothing(session, &view.items)),
            (false, false) => {
                let error = Error::new(ErrorKind::No, "no message matches");
                Err(error.hint("list exchanges with: convo count --by exchange"))
            }
        }
    }

    /// Whether the plan names each item of a view.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] for an id that is not in the view.
    fn planned(&self, session: &Session, view: &View) -> Result<Vec<bool>> {
        let mut planned = vec![false; view.items.len()];
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (place, item) in view.items.iter().enumerate() {
            if let Some(line) = item.line() {
                places.insert(line, place);
            }
        }
        let lines = session.places(self.planned.iter().map(|(id, _)| id.clone()).collect());
        for (id, number) in &self.planned {
            let found = lines
                .get(id)
                .and_then(|lines| lines.iter().find_map(|line| places.get(line)));
            let Some(place) = found else {
                let what = format!("line {number} of the plan: no such message in the view: {id}");
                let error = Error::usage(what);
                return Err(error.hint("list the ids of messages with: convo context INPUT | jq -r .id"));
            };
            planned[*place] = true;
        }
        Ok(planned)
    }

    /// Whether the selection names instructions explicitly.
    fn names_system(&self) -> bool {
        let is_system = |role: &String| role == "system" || role == "developer";
        let has_ids = !self.selection.ids.is_empty() || !self.planned.is_empty();
        has_ids || self.selection.roles.iter().any(is_system)
    }
}

/// Plans the change: one `compact` event. System messages are kept unless a role or an id names them.
pub fn plan(
    session: &Session,
    choice: &DropSelection,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let view = View::replay(session);
    let chosen = choice.chosen(session, &view)?;
    let mut reshaping = ViewEdit::of(&view);
    let (mut dropped, mut messages) = (0, 0);
    for ((item, change), is_chosen) in view.items.iter().zip(&mut reshaping.changes).zip(chosen) {
        if matches!(item, Item::Summary(_)) {
            continue;
        }
        messages += 1;
        let is_safe = item.is_never_dropped(session) && (choice.keeps || !choice.names_system());
        if is_chosen != choice.keeps && !is_safe {
            *change = ItemChange::Drop;
            dropped += 1;
        }
    }
    if dropped == 0 {
        return Ok(Plan::Nothing("nothing to drop".to_string()));
    }
    let about = CompactionInfo {
        strategy: "drop".to_string(),
        sizes: None,
    };
    let goes = |change: &&ItemChange| **change == ItemChange::Drop;
    let stamp = stamp(&format!("{}", reshaping.changes.iter().filter(goes).count()))?;
    let event = reshaping.event(session, &view, &about, &stamp)?;
    Ok(Plan::Lines(
        vec![event],
        format!("dropped {dropped} of {messages} messages"),
    ))
}
