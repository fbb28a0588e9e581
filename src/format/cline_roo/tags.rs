//! Roo's tags: a hidden message remains in the history, with the id of the summary or truncation marker that hides it.
//! A summary covers earlier messages; a truncation hides any others.

use super::codec::ClineRoo;
use super::element::{ElementKind, elements, last, milliseconds, text};
use crate::format::kit::{ElementChange, ElementEdit, ElementEdits, NextElement, Writer};
use crate::format::request::draft;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::key;
use crate::model::view::Item;
use std::collections::HashSet;

/// The tag of messages covered by a summary.
const COVERED: &str = "condenseParent";
/// The tag of messages hidden by a truncation.
const CUT: &str = "truncationParent";

/// The element for a summary event, and its id.
pub fn summary(text: &str, body: &[u8]) -> (Vec<u8>, String) {
    let id = key::uuid(text.as_bytes());
    let mut built = ObjectBuilder::default();
    built
        .text("role", "user")
        .raw("content", array([draft::text_part(&quoted(text))]));
    built.optional("ts", json::member(body, "at").and_then(milliseconds));
    built.raw("isSummary", "true").text("condenseId", &id);
    (built.finish(), id)
}

/// A truncation under construction.
#[derive(Default)]
struct TruncationTag {
    id: String,
    hidden: usize,
    stamp: Option<Vec<u8>>,
    /// The position of its marker: after the last group that it hides.
    at: usize,
}

impl TruncationTag {
    fn marker(&self) -> Vec<u8> {
        let text = format!(
            "[Sliding window truncation: {} messages hidden to reduce context]",
            self.hidden
        );
        let mut built = ObjectBuilder::default();
        built.text("role", "user").text("content", &text);
        built.optional("ts", self.stamp.as_ref());
        built
            .raw("isTruncationMarker", "true")
            .text("truncationId", &self.id);
        array([built.finish()])
    }
}

/// The edits that give a Roo history its view.
pub fn tagged(edits: &ElementEdits<'_, ClineRoo>, writer: &mut Writer<'_, ClineRoo>) -> Vec<ElementEdit> {
    let (session, source) = (edits.session, edits.source);
    let order = edits.order();
    let new = edits.summary(&order);
    let built = new.map(|(_, item)| summary(&item.summary(session).unwrap_or_default(), item.body(session)));
    let of = |items: &[Item]| {
        let is = |line: usize| {
            items
                .iter()
                .any(|item| matches!(item, Item::Summary(own) if *own == line))
        };
        let mut summaries = source.summaries.iter().filter(|(_, line)| is(*line));
        summaries.next_back().map(|(nth, _)| *nth)
    };
    let (before, kept) = (of(&edits.own.items), of(&edits.view.items));
    let is_covered = |at: usize, next: &NextElement| match (new, next) {
        (Some((first, _)), _) => at < first,
        (None, NextElement::Element(nth) | NextElement::Edited(nth, _)) => {
            kept.is_some_and(|kept| *nth < kept)
        }
        (None, NextElement::Items(_)) => false,
    };
    // Truncations whose marker is sent.
    let sent = order
        .iter()
        .enumerate()
        .filter(|(at, next)| !is_covered(*at, next));
    let markers = sent.filter_map(|(_, next)| match next {
        NextElement::Element(nth) => {
            Some(last(&source.raws[*nth])).filter(|raw| ElementKind::of(raw) == ElementKind::Marker)
        }
        _ => None,
    });
    let markers = markers.filter_map(|marker| text(marker, "truncationId"));
    let cuts: HashSet<_> = markers.collect();
    // A damaged summary has no record, and is not an undone one.
    let is_read = |nth: usize| source.summaries.iter().any(|(own, _)| *own == nth);
    let is_cut = |nth: usize| text(last(&source.raws[nth]), CUT).is_some_and(|id| cuts.contains(&id));
    let (shown, shown_before) = (edits.shown(), edits.shown_in(&edits.own));
    let mut cut: Option<TruncationTag> = None;
    let mut out = Vec::new();
    let summary = |out: &mut Vec<ElementEdit>| {
        out.extend(built.iter().map(|(raw, _)| ElementEdit::Insert(array([raw]))))
    };
    for (at, next) in order.iter().enumerate() {
        if new.is_some_and(|(first, _)| first == at) {
            summary(&mut out);
        }
        let is_covered = is_covered(at, next);
        match next {
            NextElement::Element(nth) => {
                let (nth, group) = (*nth, &source.raws[*nth]);
                let is_summary = ElementKind::of(last(group)) == ElementKind::Summary;
                let leaves = edits.changes[nth] == ElementChange::Removed
                    || (is_summary && before == Some(nth) && kept != before);
                let is_bare = || new.is_some() || kept != before;
                let is_hidden = || edits.has_messages(nth) && !shown.contains(&nth) && !is_cut(nth);
                match &built {
                    Some((_, id)) if is_covered && leaves => {
                        out.push(ElementEdit::Replace(nth, with_tag(group, COVERED, id)))
                    }
                    _ if is_covered => out.push(ElementEdit::Keep(nth)),
                    // An undone summary is removed, so that its messages become visible.
                    _ if is_summary && kept != Some(nth) && is_read(nth) => {}
                    _ if leaves || (is_bare() && is_hidden()) => {
                        let cut = cut.get_or_insert_with(|| TruncationTag {
                            id: key::uuid(group),
                            ..TruncationTag::default()
                        });
                        cut.hidden += elements(group).len();
                        cut.stamp = json::member(last(group), "ts")
                            .map(<[u8]>::to_vec)
                            .or(cut.stamp.take());
                        out.push(ElementEdit::Replace(nth, with_tag(group, CUT, &cut.id)));
                        cut.at = out.len();
                    }
                    // A message that was not hidden, as next to a damaged summary, keeps its tag.
                    _ if is_cut(nth) && shown.contains(&nth) && !shown_before.contains(&nth) => {
                        out.push(ElementEdit::Replace(nth, without_tags(group)))
                    }
                    _ => out.push(ElementEdit::Keep(nth)),
                }
            }
            NextElement::Edited(nth, items) => {
                let edited = edits.edited(*nth, items, writer);
                out.extend(edited.map(|group| ElementEdit::Replace(*nth, without_tags(&group))));
            }
            NextElement::Items(items) => {
                let is_message = |nth: &usize| edits.view.items[*nth].summary(session).is_none();
                let items: Vec<usize> = items.iter().copied().filter(is_message).collect();
                out.extend(edits.insertions(&items, writer));
            }
        }
    }
    if new.is_some_and(|(first, _)| first == order.len()) {
        summary(&mut out);
    }
    if let Some(cut) = cut {
        out.insert(cut.at, ElementEdit::Insert(cut.marker()));
    }
    out
}

fn with_tag(group: &[u8], name: &str, id: &str) -> Vec<u8> {
    with_tags(group, &[(name, Some(&quoted(id)))])
}

fn without_tags(group: &[u8]) -> Vec<u8> {
    with_tags(group, &[(COVERED, None), (CUT, None)])
}

fn with_tags(group: &[u8], tags: &[(&str, Option<&[u8]>)]) -> Vec<u8> {
    let elements = elements(group).into_iter();
    array(elements.map(|element| json::with_members(element, tags).unwrap_or_else(|_| element.to_vec())))
}
