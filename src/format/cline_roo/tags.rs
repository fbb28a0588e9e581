//! Roo's tags: what leaves a history stays in it, and says what hides it.

use super::element::{Kind, said};
use crate::format::kit::Edit;
use crate::format::listing::{Piece, Unit};
use crate::format::request::draft;
use crate::format::request::piece::{array, quoted};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;

/// A summary that is to stand in a history.
pub struct Summary {
    /// Its text.
    pub text: String,
    /// Which of the pieces it is.
    pub piece: usize,
    /// When it was made, in milliseconds.
    pub stamp: Option<String>,
}

/// An id that is made of what it is for.
fn id(name: &[u8]) -> String {
    let hash = key::sha256(name);
    format!(
        "{}-{}-4{}-8{}-{}",
        &hash[..8],
        &hash[8..12],
        &hash[13..16],
        &hash[17..20],
        &hash[20..32]
    )
}

/// The element of a summary.
pub fn summary(text: &str, stamp: Option<&str>) -> (Vec<u8>, String) {
    let id = id(text.as_bytes());
    let mut made = ObjectBuilder::default();
    made.text("role", "user")
        .raw("content", array([draft::text_part(&quoted(text))]));
    if let Some(stamp) = stamp {
        made.raw("ts", stamp);
    }
    made.raw("isSummary", "true").text("condenseId", &id);
    (made.finish(), id)
}

fn marker(hidden: usize, id: &str, stamp: Option<&[u8]>) -> Vec<u8> {
    let text = format!("[Sliding window truncation: {hidden} messages hidden to reduce context]");
    let mut made = ObjectBuilder::default();
    made.text("role", "user").text("content", &text);
    if let Some(stamp) = stamp {
        made.raw("ts", stamp);
    }
    made.raw("isTruncationMarker", "true").text("truncationId", id);
    made.finish()
}

/// The elements of a history that is to show these pieces: `elements` are those that stand in it, and `shown` tells which
/// of their units were in view. What was and no longer is says so itself: a summary covers what stands ahead of it, a mark
/// of a cut hides the rest.
pub fn tagged(
    pieces: Vec<Piece>,
    elements: &[&[u8]],
    units: &[Unit],
    shown: &[bool],
    summary: Option<Summary>,
) -> Vec<Edit> {
    let of = |piece: &Piece| match piece {
        Piece::Old(unit) => Some(*unit),
        Piece::New(_, unit) => *unit,
    };
    let mut there = vec![false; units.len()];
    pieces.iter().filter_map(of).for_each(|unit| there[unit] = true);
    // The next unit that is there, from each piece on.
    let mut next = vec![units.len(); pieces.len() + 1];
    for nth in (0..pieces.len()).rev() {
        next[nth] = of(&pieces[nth]).unwrap_or(next[nth + 1]);
    }
    // What is sent begins with the summary, so that nothing that is in view may stand ahead of it.
    let in_view = |piece: &Piece| of(piece).is_none_or(|unit| shown[unit]);
    let first = pieces.iter().position(in_view).unwrap_or(pieces.len());
    let made = summary
        .as_ref()
        .map(|summary| self::summary(&summary.text, summary.stamp.as_deref()));
    let mut out = Writing {
        elements,
        units,
        shown,
        there: &there,
        unit: 0,
        out: Vec::new(),
        condensed: made.as_ref().map(|(_, id)| id.clone()),
        cut: None,
    };
    for (nth, piece) in pieces.into_iter().enumerate() {
        out.absent(next[nth]);
        if nth == first
            && let Some((raw, _)) = &made
        {
            out.out.push(Edit::Insert(raw.clone()));
            out.condensed = None;
        }
        let is_summary = summary.as_ref().is_some_and(|summary| summary.piece == nth);
        match piece {
            _ if is_summary => {}
            Piece::Old(unit) => out.old(unit),
            Piece::New(raws, unit) => {
                out.out.extend(raws.into_iter().map(Edit::Insert));
                out.unit = unit.map_or(out.unit, |unit| out.unit.max(unit + 1));
            }
        }
    }
    out.absent(units.len());
    out.finish()
}

/// A cut that is being written.
struct Cut {
    id: String,
    hidden: usize,
    /// Behind the last element that it hides.
    behind: usize,
    stamp: Option<Vec<u8>>,
}

struct Writing<'a> {
    elements: &'a [&'a [u8]],
    units: &'a [Unit],
    shown: &'a [bool],
    there: &'a [bool],
    /// The next unit.
    unit: usize,
    out: Vec<Edit>,
    /// The id of the summary that is still to come.
    condensed: Option<String>,
    cut: Option<Cut>,
}

impl Writing<'_> {
    fn old(&mut self, unit: usize) {
        self.out.extend(self.units[unit].elements.clone().map(Edit::Keep));
        self.unit = self.unit.max(unit + 1);
    }

    /// The units up to this one that are not there any more.
    fn absent(&mut self, to: usize) {
        while self.unit < to {
            let unit = self.unit;
            if !self.there[unit] {
                match self.shown[unit] {
                    true => self.hidden(unit),
                    false => self.old(unit),
                }
            }
            self.unit = unit + 1;
        }
    }

    fn hidden(&mut self, unit: usize) {
        for nth in self.units[unit].elements.clone() {
            let raw = self.elements[nth];
            let (name, parent) = match &self.condensed {
                Some(id) => ("condenseParent", id.clone()),
                None => {
                    let cut = self.cut.get_or_insert_with(|| Cut {
                        id: id(raw),
                        hidden: 0,
                        behind: 0,
                        stamp: None,
                    });
                    cut.hidden += 1;
                    cut.stamp = json::member(raw, "ts").map(<[u8]>::to_vec).or(cut.stamp.take());
                    ("truncationParent", cut.id.clone())
                }
            };
            let tagged = json::with_members(raw, &[(name, Some(&quoted(&parent)))]);
            self.out
                .push(Edit::Replace(nth, tagged.unwrap_or_else(|_| raw.to_vec())));
            if let (Some(cut), "truncationParent") = (&mut self.cut, name) {
                cut.behind = self.out.len();
            }
        }
    }

    fn finish(mut self) -> Vec<Edit> {
        if let Some(cut) = self.cut {
            let marker = marker(cut.hidden, &cut.id, cut.stamp.as_deref());
            self.out.insert(cut.behind, Edit::Insert(marker));
        }
        self.out
    }
}

/// The text of an element that is a summary.
pub fn summary_text(element: &[u8]) -> Option<String> {
    (Kind::of(element) == Kind::Summary).then(|| said(element))
}
