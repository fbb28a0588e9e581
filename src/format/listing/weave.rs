//! What stays of the elements that a session was read from, and where new ones stand between them.

use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashSet;
use std::ops::Range;

/// Elements that were read together, and the lines of the session that they became; in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The elements.
    pub elements: Range<usize>,
    /// The lines.
    pub lines: Range<usize>,
}

/// Elements that are made of items of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Their bytes.
    pub raws: Vec<Vec<u8>>,
    /// Indexes of the items.
    pub items: Vec<usize>,
}

/// A piece of what is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A unit as it stands.
    Old(usize),
    /// New elements, and the unit that they are another spelling of.
    New(Vec<Vec<u8>>, Option<usize>),
}

/// Puts together what a list of elements becomes. `session` was read from it, its lines from `own` on came later. A unit
/// stays as it is when all of it that was in view still is, and nothing else was made a part of it; what was never in view
/// stays with what stands before it. Everything else is as it was `made`.
pub fn weave(session: &Session, own: usize, view: &View, units: &[Unit], made: Vec<Made>) -> Vec<Piece> {
    let events = session.live_events().into_iter();
    let events = events.filter(|event| *event < own && View::is_moved_by(session, *event));
    let before = View::after(session, events.collect());
    let unit_of = |line: usize| {
        let nth = units.partition_point(|unit| unit.lines.end <= line);
        Some(nth).filter(|nth| units.get(*nth).is_some_and(|unit| unit.lines.contains(&line)))
    };
    let line = |item: &Item| match item {
        Item::Line(line) | Item::Edited(line, _) | Item::Summary(line) => {
            Some(*line).filter(|line| *line < own)
        }
        Item::Inserted(_) => None,
    };
    // What each unit had in view, and what it has; nothing when it is no longer what it was.
    let mut had: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    for line in before.items.iter().filter_map(line) {
        if let Some(unit) = unit_of(line) {
            had[unit].push(line);
        }
    }
    let mut has: Vec<Option<Vec<usize>>> = vec![Some(Vec::new()); units.len()];
    for item in &view.items {
        if let Some((line, unit)) = line(item).and_then(|line| Some((line, unit_of(line)?))) {
            match (&mut has[unit], item) {
                (Some(lines), Item::Line(_) | Item::Summary(_)) => lines.push(line),
                (lines, _) => *lines = None,
            }
        }
    }
    for made in &made {
        let of: Vec<Option<usize>> = made
            .items
            .iter()
            .map(|item| line(&view.items[*item]).and_then(unit_of))
            .collect();
        let of_one = of.windows(2).all(|pair| pair[0] == pair[1]);
        for unit in of.into_iter().flatten().filter(|_| !of_one) {
            has[unit] = None;
        }
    }
    let stays: Vec<bool> = (0..units.len())
        .map(|unit| !had[unit].is_empty() && has[unit].as_ref() == Some(&had[unit]))
        .collect();
    let mut out = Out {
        had: &had,
        pieces: Vec::new(),
        open: None,
    };
    out.hidden(0);
    let mut written = HashSet::new();
    for made in made {
        let mut of = made
            .items
            .iter()
            .map(|item| line(&view.items[*item]).and_then(unit_of));
        let first = of.next().flatten();
        let unit = first.filter(|_| of.all(|unit| unit == first));
        match unit {
            Some(unit) if stays[unit] => {
                if written.insert(unit) {
                    out.of(Some(unit));
                    out.pieces.push(Piece::Old(unit));
                }
            }
            unit => {
                out.of(unit);
                out.pieces.push(Piece::New(made.raws, unit));
            }
        }
    }
    out.of(None);
    out.pieces
}

struct Out<'a> {
    had: &'a [Vec<usize>],
    pieces: Vec<Piece>,
    /// The unit that is being written, behind which stands what was never in view.
    open: Option<usize>,
}

impl Out<'_> {
    /// What comes next is of this unit, or of none.
    fn of(&mut self, unit: Option<usize>) {
        if self.open == unit {
            return;
        }
        if let Some(open) = self.open.take() {
            self.hidden(open + 1);
        }
        self.open = unit;
    }

    /// The units from this one on that were never in view, up to the next that was.
    fn hidden(&mut self, from: usize) {
        let hidden = self.had[from..].iter().take_while(|had| had.is_empty()).count();
        self.pieces.extend((from..from + hidden).map(Piece::Old));
    }
}
