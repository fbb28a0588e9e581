//! A history under repair: elements with their origins, and the loop that repairs one rule after another until no
//! repairable violation is left.

use super::finding::{ApiViolation, Findings, Repair, RepairMode};
use super::ids::IdGenerator;
use super::options::CheckOptions;
use super::raw::merged;
use super::rules::{ALTERNATE, Severity, TableRule};
use crate::format::request::Api;
use std::borrow::Cow;

/// The placeholder for messages before the first one of the user.
pub(super) const BEGINNING: &str = "[convo: the beginning of the conversation is left out]";

/// Maximum number of rounds; violations that remain are reported.
const ROUNDS: usize = 200;

/// The API-specific part of checks: parsing of elements, rules and repairs.
pub(super) trait Provider: Sized {
    /// The properties of an element that rules examine.
    type Facts;
    /// The API of the rules.
    const API: Api;
    /// The repairable rules in order of repair: first those of single elements, so that calls and results are matched
    /// among the remaining ones.
    const ORDER: &'static [&'static str];
    /// The member with the content.
    const CONTENT: &'static str;

    /// Extracts the properties of an element.
    fn facts(raw: &[u8]) -> Self::Facts;
    /// The sender; adjacent elements of one sender can be merged.
    fn speaker(facts: &Self::Facts) -> Option<u8>;
    /// The sender, for rules that require alternation; `None` for results.
    fn turn(facts: &Self::Facts) -> Option<u8> {
        Self::speaker(facts)
    }
    /// The type of a text part next to other content.
    fn text_type(_: &Self::Facts) -> &'static str {
        "text"
    }
    /// Checks the rules.
    fn find_violations(elements: &[&Self::Facts], findings: &mut Findings<'_>);
    fn repair(rule: TableRule, history: &mut History<'_, '_, Self>, findings: &[&ApiViolation]);
}

/// An original or changed element.
pub(super) struct HistoryElement<'a, F> {
    pub(super) raw: Cow<'a, [u8]>,
    pub(super) facts: F,
    /// Indexes of its original elements; empty if it was inserted.
    from: Vec<usize>,
    notes: Vec<(String, String)>,
    id: Option<String>,
    changed: bool,
}

impl<'a, F> HistoryElement<'a, F> {
    fn new<P: Provider<Facts = F>>(raw: &'a [u8], index: usize) -> Self {
        HistoryElement {
            raw: Cow::Borrowed(raw),
            facts: P::facts(raw),
            from: vec![index],
            notes: Vec::new(),
            id: None,
            changed: false,
        }
    }
}

/// An element after a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedElement {
    /// Its JSON.
    pub raw: Vec<u8>,
    /// Indexes of its original elements, in order; empty if it was inserted.
    pub from: Vec<usize>,
    /// Whether it was changed.
    pub changed: bool,
    /// Data that the element cannot represent, stored next to it: call ids and the original arguments.
    pub notes: Vec<(String, String)>,
    /// The message id, if it was inserted.
    pub id: Option<String>,
}

/// A change by a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairChange {
    /// The violated rule.
    pub rule: TableRule,
    /// Index of the element in the original history; for an inserted one, of the element before.
    pub index: usize,
    /// Description of the change.
    pub what: String,
}

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The elements.
    pub elements: Vec<RepairedElement>,
    /// Instructions that were moved out of the history, as JSON.
    pub system: Vec<Vec<u8>>,
    /// The changes; empty if there was nothing to repair.
    pub changes: Vec<RepairChange>,
    /// The remaining violations.
    pub left: Vec<ApiViolation>,
    /// Number of rounds.
    pub passes: usize,
}

impl Fixed {
    /// The errors that could not be repaired.
    pub fn errors(&self) -> impl Iterator<Item = &ApiViolation> {
        self.left.iter().filter(|finding| finding.is_error())
    }
}

/// The elements, and pending changes.
pub(super) struct History<'a, 'o, P: Provider> {
    pub(super) pieces: Vec<HistoryElement<'a, P::Facts>>,
    pub(super) repair: &'o Repair<'o>,
    pub(super) ids: IdGenerator,
    /// Instructions that were moved out of the history.
    pub(super) system: Vec<Vec<u8>>,
    removed: Vec<bool>,
    inserted: Vec<(usize, HistoryElement<'a, P::Facts>)>,
    changes: Vec<RepairChange>,
}

impl<'a, P: Provider> History<'a, '_, P> {
    fn find_violations(&self, options: &CheckOptions) -> Vec<ApiViolation> {
        findings::<P>(&self.facts(0).collect::<Vec<_>>(), options)
    }

    /// The properties of the elements from this one on.
    pub(super) fn facts(&self, from: usize) -> impl Iterator<Item = &P::Facts> {
        self.pieces[from..].iter().map(|piece| &piece.facts)
    }

    pub(super) fn record_change(&mut self, rule: TableRule, index: usize, what: impl Into<String>) {
        let before = self.pieces[..self.pieces.len().min(index + 1)].iter().rev();
        let from = before.filter_map(|piece| piece.from.first()).next();
        self.changes.push(RepairChange {
            rule,
            index: from.copied().unwrap_or_default(),
            what: what.into(),
        });
    }

    /// Replaces the bytes of an element.
    pub(super) fn replace(&mut self, index: usize, raw: Vec<u8>) {
        let piece = &mut self.pieces[index];
        piece.facts = P::facts(&raw);
        piece.raw = Cow::Owned(raw);
        piece.changed = true;
    }

    /// Stores a text next to an element.
    pub(super) fn keep(&mut self, index: usize, name: String, text: String) {
        self.pieces[index].notes.push((name, text));
    }

    /// Removes an element.
    pub(super) fn remove(&mut self, index: usize) {
        self.removed[index] = true;
    }

    /// Inserts an element before another; the number of elements is the end.
    pub(super) fn insert(&mut self, before: usize, raw: Vec<u8>, id: String) {
        self.place(before, raw, Vec::new(), Some(id));
    }

    /// Moves an element before another, with new bytes.
    pub(super) fn shift(&mut self, index: usize, before: usize, raw: Vec<u8>) {
        let piece = &self.pieces[index];
        let (from, id) = (piece.from.clone(), piece.id.clone());
        self.place(before, raw, from, id);
        self.remove(index);
    }

    /// Drops the droppable elements before the first one of the user; if there is none, or on request, inserts a
    /// placeholder instead.
    pub(super) fn begin(
        &mut self,
        rule: TableRule,
        first: Option<usize>,
        is_droppable: impl Fn(&P::Facts) -> bool,
        what: &str,
        placeholder: Vec<u8>,
    ) {
        match first.filter(|_| self.repair.mode != Some(RepairMode::Stub)) {
            Some(first) => {
                for index in 0..first {
                    if is_droppable(&self.pieces[index].facts) {
                        self.remove(index);
                        self.record_change(rule, index, what);
                    }
                }
            }
            None => {
                let id = self.ids.message("beginning", rule.id, 0);
                self.insert(0, placeholder, id);
                self.record_change(rule, 0, "inserted a placeholder for the missing beginning");
            }
        }
    }

    fn place(&mut self, before: usize, raw: Vec<u8>, from: Vec<usize>, id: Option<String>) {
        let piece = HistoryElement {
            facts: P::facts(&raw),
            raw: Cow::Owned(raw),
            from,
            notes: Vec::new(),
            id,
            changed: true,
        };
        self.inserted.push((before, piece));
    }

    /// Moves an element before another, with new bytes that include parts of the elements `others`.
    pub(super) fn gather(&mut self, index: usize, before: usize, raw: Vec<u8>, others: &[usize]) {
        self.shift(index, before, raw);
        let further: Vec<usize> = others
            .iter()
            .flat_map(|other| self.pieces[*other].from.clone())
            .collect();
        if let Some((_, piece)) = self.inserted.last_mut() {
            piece.from.extend(further);
            piece.from.sort_unstable();
            piece.from.dedup();
        }
    }

    /// Merges adjacent elements into the first.
    pub(super) fn merge(&mut self, range: std::ops::Range<usize>, raw: Vec<u8>) {
        let first = range.start;
        for index in range.start + 1..range.end {
            let from = std::mem::take(&mut self.pieces[index].from);
            let notes = std::mem::take(&mut self.pieces[index].notes);
            self.pieces[first].from.extend(from);
            self.pieces[first].notes.extend(notes);
            self.remove(index);
        }
        self.replace(first, raw);
    }

    /// The range of adjacent elements with the same sender as this one.
    pub(super) fn turn_range(&self, index: usize) -> std::ops::Range<usize> {
        self.neighbors(index, P::speaker)
    }

    fn neighbors(&self, index: usize, speaker: impl Fn(&P::Facts) -> Option<u8>) -> std::ops::Range<usize> {
        let own = speaker(&self.pieces[index].facts);
        let same = |piece: &&HistoryElement<'_, P::Facts>| own.is_some() && speaker(&piece.facts) == own;
        let before = self.pieces[..index].iter().rev().take_while(same).count();
        let after = self.pieces[index..].iter().take_while(same).count().max(1);
        index - before..index + after
    }

    fn alternate(&mut self, rule: TableRule, findings: &[&ApiViolation]) {
        let mut done = 0;
        for finding in findings.iter().filter(|finding| finding.index > 0) {
            if finding.index < done {
                continue;
            }
            let range = self.neighbors(finding.index, P::turn);
            done = range.end;
            self.merge_turn(rule, range);
        }
    }

    /// Merges the elements of a range, and records the change.
    pub(super) fn merge_turn(&mut self, rule: TableRule, range: std::ops::Range<usize>) {
        let raws: Vec<&[u8]> = self.pieces[range.clone()]
            .iter()
            .map(|piece| piece.raw.as_ref())
            .collect();
        let raw = merged(&raws, P::CONTENT, P::text_type(&self.pieces[range.start].facts));
        self.record_change(
            rule,
            range.start,
            format!("merged {} of one role", raws_in(&range)),
        );
        self.merge(range, raw);
    }

    /// Applies removals and insertions.
    fn apply_changes(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        self.inserted.sort_by_key(|(before, _)| *before);
        let mut inserted = std::mem::take(&mut self.inserted).into_iter().peekable();
        for (index, (piece, removed)) in pieces
            .into_iter()
            .zip(std::mem::take(&mut self.removed))
            .enumerate()
        {
            while let Some((_, piece)) = inserted.next_if(|(before, _)| *before <= index) {
                self.pieces.push(piece);
            }
            if !removed {
                self.pieces.push(piece);
            }
        }
        self.pieces.extend(inserted.map(|(_, piece)| piece));
        self.removed = vec![false; self.pieces.len()];
    }
}

fn raws_in(range: &std::ops::Range<usize>) -> String {
    format!("{} elements", range.len())
}

/// Repairs rule by rule. After each rule, all elements are checked again, because a repair may resolve other
/// violations.
pub(super) fn fix<P: Provider>(elements: &[&[u8]], options: &CheckOptions, repair: &Repair<'_>) -> Fixed {
    let pieces = history_elements::<P>(elements);
    let mut history: History<'_, '_, P> = History {
        removed: vec![false; pieces.len()],
        pieces,
        repair,
        ids: IdGenerator::new(repair.session),
        system: Vec::new(),
        inserted: Vec::new(),
        changes: Vec::new(),
    };
    let least = if repair.warnings {
        Severity::Warn
    } else {
        Severity::Error
    };
    // Rules without any repairable violation.
    let mut left: Vec<&str> = Vec::new();
    let mut passes = 0;
    for _ in 0..ROUNDS {
        let findings = history.find_violations(options);
        passes += 1;
        let wanted = |id: &str| {
            let of = findings.iter().filter(|finding| finding.rule.id == id);
            of.filter(|finding| finding.level >= least && !finding.open)
                .collect::<Vec<_>>()
        };
        let order = P::ORDER.iter().copied().chain([ALTERNATE.id]);
        let next = order
            .filter(|id| !left.contains(id))
            .map(|id| (id, wanted(id)))
            .find(|(_, found)| !found.is_empty());
        let Some((id, found)) = next else { break };
        let done = history.changes.len();
        let rule = found[0].rule;
        if id == ALTERNATE.id {
            history.alternate(rule, &found);
        } else {
            P::repair(rule, &mut history, &found);
        }
        if history.changes.len() == done {
            left.push(id);
        } else {
            history.apply_changes();
        }
    }
    let left = history.find_violations(options);
    let repaired = |piece: HistoryElement<'_, P::Facts>| RepairedElement {
        raw: piece.raw.into_owned(),
        changed: piece.changed,
        notes: piece.notes,
        // An inserted element that was merged with others has their ids.
        id: piece.id.filter(|_| piece.from.is_empty()),
        from: piece.from,
    };
    Fixed {
        elements: history.pieces.into_iter().map(repaired).collect(),
        system: history.system,
        changes: history.changes,
        left,
        passes,
    }
}

/// The violations of the rules of an API.
fn findings<P: Provider>(elements: &[&P::Facts], options: &CheckOptions) -> Vec<ApiViolation> {
    let mut findings = Findings::new(P::API, options);
    P::find_violations(elements, &mut findings);
    if options.alternate {
        alternate::<P>(elements, &mut findings);
    }
    findings.sorted()
}

fn alternate<P: Provider>(elements: &[&P::Facts], findings: &mut Findings<'_>) {
    let mut before = None;
    for (index, facts) in elements.iter().enumerate() {
        let speaker = P::turn(facts);
        if speaker.is_some() && speaker == before {
            findings.add(ALTERNATE.id, (index, 0), || {
                "has the same role as the message before".to_string()
            });
        }
        before = speaker;
    }
}

/// The violations of the rules of an API.
pub(super) fn check<P: Provider>(elements: &[&[u8]], options: &CheckOptions) -> Vec<ApiViolation> {
    let facts: Vec<P::Facts> = elements.iter().map(|raw| P::facts(raw)).collect();
    findings::<P>(&facts.iter().collect::<Vec<_>>(), options)
}

fn history_elements<'a, P: Provider>(elements: &[&'a [u8]]) -> Vec<HistoryElement<'a, P::Facts>> {
    let numbered = elements.iter().enumerate();
    numbered
        .map(|(index, raw)| HistoryElement::new::<P>(raw, index))
        .collect()
}
