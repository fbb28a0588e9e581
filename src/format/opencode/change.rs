//! What it takes for a document to be gone on with as a session is in view now. A cut and a summary are a compaction
//! behind what is there; any other change is made where it stands, and leaves the other elements alone.

use super::element::{Element, kind};
use super::fresh::{self, Source};
use super::held::{self, Held};
use super::make::Making;
use super::spell;
use super::{NAME, step};
use crate::format::exported::{Slot, replaced};
use crate::format::fate::{Fate, Step, own_view};
use crate::format::report::Report;
use crate::model::json;
use crate::model::view::{Item, View};
use std::collections::HashMap;

/// What stands for messages that were cut off, where the format knows no cut without a text.
const CUT: &str = "[Earlier messages were cut off.]";

/// The elements that a document has to hold for its session to be in view as it is now.
pub fn slots(source: &Source<'_>, held: &Held, making: &mut Making, report: &mut Report) -> Vec<Slot> {
    let own = own_view(source.session, |index| held::is_own(source.session, index));
    let fates = held.elements.fates(&own, source.view);
    let is_own = |item: &Item| held.is_summary(item);
    let steps = held.elements.steps(source.view, &fates, is_own);
    let change = Change {
        source,
        held,
        own: &own,
        fates: &fates,
        lines: held.elements.first_lines(),
    };
    match change.compacted() {
        Some(summary) => change.grown(summary, making, report),
        None => change.anew(steps, making, report),
    }
}

/// A compaction that is to be added.
enum Added {
    /// None: what is there goes on.
    Nothing,
    /// One that keeps what stands from this element on.
    Compaction(Option<usize>, String),
}

struct Change<'c> {
    source: &'c Source<'c>,
    held: &'c Held,
    own: &'c View,
    fates: &'c [Fate],
    /// The first line of each element.
    lines: HashMap<usize, usize>,
}

impl Change<'_> {
    fn place(&self, item: &Item) -> Option<usize> {
        self.held.elements.of.get(&item.line()?).copied()
    }

    /// The compaction by which a document is what is in view, with what is new behind it; none where that takes more.
    fn compacted(&self) -> Option<Added> {
        let items = &self.source.view.items;
        if self
            .fates
            .iter()
            .any(|fate| matches!(fate, Fate::Changed | Fate::Back))
        {
            return None;
        }
        let own: Vec<usize> = self
            .own
            .items
            .iter()
            .filter_map(|item| self.place(item))
            .collect();
        let gone = |element: &usize| self.fates[*element] == Fate::Gone;
        let cut = own.iter().take_while(|element| gone(element)).count();
        if own[cut..].iter().any(gone) {
            return None;
        }
        let is_new = |item: &Item| self.place(item).is_none() && !self.held.is_summary(item);
        let first = items.iter().position(|item| !is_new(item)).unwrap_or(items.len());
        let last = items
            .iter()
            .rposition(|item| !is_new(item))
            .map_or(0, |last| last + 1);
        if items[first.min(last)..last].iter().any(is_new) {
            return None;
        }
        let stood = self.own.items.iter().any(|item| self.held.is_summary(item));
        let stands = items.iter().any(|item| self.held.is_summary(item));
        // What leads may be one summary that was put in; of a session that is all new it is told with the rest.
        let text = match &items[..first] {
            [] => None,
            [item, ..] if first == 1 || last == 0 => item.summary(self.source.session),
            _ => return None,
        };
        let summary = text.map(|text| text.into_owned());
        if last == 0 && summary.is_none() && !items.is_empty() && cut == 0 && own.is_empty() {
            return Some(Added::Nothing);
        }
        if cut == 0 && summary.is_none() && stood == stands {
            return Some(Added::Nothing);
        }
        Some(Added::Compaction(
            own.get(cut).copied(),
            summary.unwrap_or_else(|| CUT.to_string()),
        ))
    }

    /// All that is there, and behind it a compaction and what is new.
    fn grown(&self, added: Added, making: &mut Making, report: &mut Report) -> Vec<Slot> {
        let mut slots: Vec<Slot> = (0..self.held.raws.len()).map(Slot::Kept).collect();
        let mut told = false;
        if let Added::Compaction(kept, text) = added {
            let kept = kept.and_then(|kept| self.held.id(kept));
            let pair = fresh::compaction(&text, kept.as_deref(), making);
            slots.extend(pair.map(Slot::New));
            told = true;
        }
        let items = &self.source.view.items;
        let new: Vec<usize> = (0..items.len())
            .filter(|nth| {
                let item = &items[*nth];
                let summary = matches!(item, Item::Summary(_)) && (told || self.held.is_summary(item));
                self.place(item).is_none() && !summary
            })
            .collect();
        let new = fresh::elements(self.source, &new, making, report);
        slots.extend(new.into_iter().map(Slot::New));
        slots
    }

    /// Each element as it is in view, and what is new where it stands. What a compaction hides stays hidden as long as
    /// that stands.
    fn anew(&self, steps: Vec<Step>, making: &mut Making, report: &mut Report) -> Vec<Slot> {
        let items = &self.source.view.items;
        let stands = items.iter().any(|item| self.held.is_summary(item));
        let mut shown = vec![false; self.held.raws.len()];
        for element in items.iter().filter_map(|item| self.place(item)) {
            shown[element] = true;
        }
        let mut slots: Vec<Slot> = Vec::new();
        let mut changed = None;
        for (nth, step) in steps.iter().enumerate() {
            match *step {
                Step::Element(nth) => match self.fates[nth] {
                    Fate::Gone => {}
                    Fate::Changed => changed = Some(nth),
                    Fate::Same | Fate::Back if stands || shown[nth] => slots.push(Slot::Kept(nth)),
                    Fate::Same | Fate::Back => {}
                },
                Step::Items(ref new) => match changed.take() {
                    Some(nth) => slots.extend(self.changed(nth, new, making, report)),
                    None => {
                        let before = slots.last().map(|slot| self.raw(slot).to_vec());
                        let next = steps[nth + 1..].iter().find_map(|step| self.kept(step));
                        let new = match next {
                            Some(next) => {
                                let before = before.as_deref().and_then(Element::of);
                                let mut between = making.between(before.as_ref(), &next);
                                let new = fresh::elements(self.source, new, &mut between, report);
                                making.pass_numbers(&between);
                                new
                            }
                            None => fresh::elements(self.source, new, making, report),
                        };
                        slots.extend(new.into_iter().map(Slot::New));
                    }
                },
            }
        }
        if let (true, Some(last)) = (stands, self.held.compactions.last()) {
            self.keep_tail(last.answer, &shown, &mut slots);
        }
        slots
    }

    /// The message that a slot holds.
    fn raw<'s>(&'s self, slot: &'s Slot) -> &'s [u8] {
        match slot {
            Slot::Kept(nth) => &self.held.raws[*nth],
            Slot::Instead(_, raw) | Slot::New(raw) => raw,
        }
    }

    /// The message of a step, where that stays.
    fn kept(&self, step: &Step) -> Option<Element<'_>> {
        match step {
            Step::Element(nth) if self.fates[*nth] != Fate::Gone => self.held.element(*nth),
            _ => None,
        }
    }

    /// An element of which these items are in view.
    fn changed(&self, nth: usize, items: &[usize], making: &mut Making, report: &mut Report) -> Option<Slot> {
        let element = self.held.element(nth)?;
        let source = self.source;
        let first = *self.lines.get(&nth)?;
        let id = source.session.id(first)?;
        let notes = step::notes_of(&element, &id);
        let body = |item: &usize| {
            let body = source.view.items[*item].body(source.session);
            let id = json::member(body, "id").and_then(json::text);
            let note = id.and_then(|id| notes.get(id.as_ref()));
            let own = |note| json::with_members(json::member(body, "metadata")?, &[(NAME, Some(note))]).ok();
            let noted = note
                .and_then(|note| own(note))
                .and_then(|own| json::with_members(body, &[("metadata", Some(&own))]).ok());
            noted.unwrap_or_else(|| body.to_vec())
        };
        let bodies: Vec<Vec<u8>> = items.iter().map(body).collect();
        let made = spell::element(Some(element.info), &bodies, Some(making), report)?;
        Some(Slot::Instead(nth, made))
    }

    /// Lets the question of the compaction that counts name the first message that is still there of those it keeps.
    fn keep_tail(&self, answer: usize, shown: &[bool], slots: &mut [Slot]) {
        let Some(parent) = self
            .held
            .element(answer)
            .and_then(|answer| answer.text("parentID").map(|id| id.into_owned()))
        else {
            return;
        };
        let Some(question) = (0..answer).find(|nth| self.held.id(*nth).as_deref() == Some(&*parent)) else {
            return;
        };
        let raw = &self.held.raws[question];
        let Some(element) = Element::of(raw) else { return };
        let mut asks = element.parts.iter().filter(|part| kind(part) == "compaction");
        let named = asks
            .next_back()
            .and_then(|part| json::member(part, "tail_start_id"));
        let first = (0..question).find(|nth| shown[*nth] && self.fates[*nth] != Fate::Gone);
        let (Some(named), Some(id)) = (named, first.and_then(|first| self.held.id(first))) else {
            return;
        };
        let mut quoted = Vec::new();
        json::push_text(&mut quoted, &id);
        if quoted == named {
            return;
        }
        let place = slots
            .iter_mut()
            .find(|slot| matches!(slot, Slot::Kept(nth) if *nth == question));
        if let Some(place) = place {
            *place = Slot::Instead(question, replaced(raw, named, &quoted));
        }
    }
}
