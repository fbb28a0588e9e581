//! What it takes for a session to be gone on with as it is in view now: what has left the view is marked as not sent, and
//! what is new, or otherwise than it was, is a message more. Nothing goes.

use super::NAME;
use super::element::{self, Element};
use super::fresh::{self, Source};
use super::held::{self, Held};
use super::record;
use super::spell;
use crate::format::exported::Slot;
use crate::format::fate::{Fate, Step, own_view};
use crate::format::report::Report;
use crate::model::json;

/// The elements that a session has to hold for it to be in view as it is now.
pub fn slots(source: &Source<'_>, held: &Held, report: &mut Report) -> Vec<Slot> {
    let own = own_view(source.session, |index| held::is_own(source.session, index));
    let fates = held.elements.fates(&own, source.view);
    let steps = held
        .elements
        .steps(source.view, &fates, |item| held.is_summary(item));
    let stands = source.view.items.iter().any(|item| held.is_summary(item));
    let replaced = held.summary.filter(|_| !stands).map(|(element, _)| element);
    let lines = held.elements.first_lines();
    let mut now = newest(held);
    let mut changed = None;
    let mut slots = Vec::new();
    for step in steps {
        match step {
            Step::Element(nth) => {
                let raw = &held.raws[nth];
                let flag = match fates[nth] {
                    _ if replaced == Some(nth) => Some(false),
                    Fate::Same => None,
                    Fate::Gone | Fate::Changed => Some(false),
                    Fate::Back => Some(true),
                };
                slots.push(match flag {
                    Some(flag) => Slot::Instead(nth, element::sent(raw, flag)),
                    None => Slot::Kept(nth),
                });
                changed = (fates[nth] == Fate::Changed).then_some(nth);
            }
            Step::Items(items) => match changed.take() {
                Some(nth) => {
                    let was = (held.raws[nth].as_slice(), lines.get(&nth).copied().unwrap_or(0));
                    slots.extend(instead(source, was, &items, report).map(Slot::New));
                }
                None => {
                    let made = fresh::elements(source, &items, &mut now, report);
                    slots.extend(made.into_iter().map(Slot::New));
                }
            },
        }
    }
    slots
}

/// When the newest message was made.
fn newest(held: &Held) -> i64 {
    let created = |raw: &Vec<u8>| {
        std::str::from_utf8(json::member(raw, "created")?)
            .ok()?
            .parse()
            .ok()
    };
    held.raws.iter().filter_map(created).max().unwrap_or(0)
}

/// What is sent instead of an element of which these items are in view: the same message without an id, which the user
/// is not shown a second time. `first` is the first line of the element.
fn instead(
    source: &Source<'_>,
    (raw, first): (&[u8], usize),
    items: &[usize],
    report: &mut Report,
) -> Option<Vec<u8>> {
    let element = Element::of(raw)?;
    let id = source.session.id(first)?;
    let notes = record::notes_of(&element, &id);
    let body = |item: &usize| {
        let body = source.view.items[*item].body(source.session);
        let id = json::member(body, "id").and_then(json::text);
        let note = id.and_then(|id| notes.get(id.as_ref()));
        let own =
            |note: &Vec<u8>| json::with_members(json::member(body, "metadata")?, &[(NAME, Some(note))]).ok();
        let noted = note
            .and_then(own)
            .and_then(|own| json::with_members(body, &[("metadata", Some(&own))]).ok());
        noted.unwrap_or_else(|| body.to_vec())
    };
    let bodies: Vec<Vec<u8>> = items.iter().map(body).collect();
    let made = spell::element(&bodies, report)?;
    // A notice that is left alone is nothing that a model is sent.
    if Element::of(&made).is_none_or(|made| made.is_notice()) {
        return None;
    }
    let created = json::member(element.raw, "created").unwrap_or(b"0");
    let changes: [(&str, Option<&[u8]>); 3] = [
        ("id", Some(b"null")),
        ("created", Some(created)),
        ("metadata", Some(&element::visibility(false, true))),
    ];
    json::with_members(&made, &changes).ok()
}
