//! A history under repair: pieces that know which elements they came from, and the loop that repairs one rule after
//! the other until nothing is left to do.

use super::finding::{Finding, Findings, Repair};
use super::ids::Ids;
use super::options::Options;
use super::raw::merged;
use super::rules::{ALTERNATE, Level, Rule};
use crate::format::request::Api;
use std::borrow::Cow;

/// A repair that does not come to an end by itself is ended: what is left is reported.
const ROUNDS: usize = 200;

/// An interface: what is read from its elements, its rules, and their repairs.
pub(super) trait Provider: Sized {
    /// What the rules look at.
    type Facts;
    /// Whose rules they are.
    const API: Api;
    /// The rules that can be repaired, in the order in which that is done: first what stands alone, so that pairs are
    /// looked for among what stays.
    const ORDER: &'static [&'static str];
    /// The member that holds what is said.
    const CONTENT: &'static str;

    /// Reads an element.
    fn facts(raw: &[u8]) -> Self::Facts;
    /// Who speaks; neighbours of one speaker can be made one.
    fn speaker(facts: &Self::Facts) -> Option<u8>;
    /// Who speaks, where that has to alternate: results do not count.
    fn turn(facts: &Self::Facts) -> Option<u8> {
        Self::speaker(facts)
    }
    /// The type of a text part beside it.
    fn text_type(_: &Self::Facts) -> &'static str {
        "text"
    }
    /// Runs the rules.
    fn look(elements: &[&Self::Facts], findings: &mut Findings<'_>);
    /// Repairs what was found of one rule.
    fn repair(rule: &'static Rule, history: &mut History<'_, '_, Self>, findings: &[&Finding]);
}

/// An element, as it came or changed.
pub(super) struct Piece<'a, F> {
    pub(super) raw: Cow<'a, [u8]>,
    pub(super) facts: F,
    /// The elements that it came from; none for one that was put in.
    from: Vec<usize>,
    notes: Vec<(String, String)>,
    id: Option<String>,
    changed: bool,
}

impl<'a, F> Piece<'a, F> {
    fn new<P: Provider<Facts = F>>(raw: &'a [u8], index: usize) -> Self {
        Piece {
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
pub struct Mended {
    /// Its JSON.
    pub raw: Vec<u8>,
    /// Indexes of the elements that it came from, in order; none for one that was put in.
    pub from: Vec<usize>,
    /// Whether it is other than it was.
    pub changed: bool,
    /// What has no place in the element and is kept beside it: the id of a call, and its arguments as they were.
    pub notes: Vec<(String, String)>,
    /// The id for the message of one that was put in.
    pub id: Option<String>,
}

/// One thing that a repair did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The rule that wanted it.
    pub rule: &'static Rule,
    /// The element of the history as it came; for one that was put in, the element before.
    pub index: usize,
    /// What was done, in words.
    pub what: String,
}

/// A history after its repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The elements.
    pub elements: Vec<Mended>,
    /// What was moved out of the history into the instructions beside it, as JSON.
    pub system: Vec<Vec<u8>>,
    /// What was done; empty when there was nothing to do.
    pub changes: Vec<Change>,
    /// What is still found.
    pub left: Vec<Finding>,
    /// How often the history was gone through.
    pub passes: usize,
}

impl Fixed {
    /// The errors that could not be repaired.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.left.iter().filter(|finding| finding.is_error())
    }
}

/// The pieces, and what is done to them.
pub(super) struct History<'a, 'o, P: Provider> {
    pub(super) pieces: Vec<Piece<'a, P::Facts>>,
    pub(super) how: &'o Repair<'o>,
    pub(super) ids: Ids,
    /// What was moved out of the history.
    pub(super) system: Vec<Vec<u8>>,
    gone: Vec<bool>,
    inserted: Vec<(usize, Piece<'a, P::Facts>)>,
    changes: Vec<Change>,
}

impl<'a, P: Provider> History<'a, '_, P> {
    /// What the history does against the rules.
    fn look(&self, options: &Options) -> Vec<Finding> {
        findings::<P>(&self.facts(0).collect::<Vec<_>>(), options)
    }

    /// What is known of the pieces from this one on.
    pub(super) fn facts(&self, from: usize) -> impl Iterator<Item = &P::Facts> {
        self.pieces[from..].iter().map(|piece| &piece.facts)
    }

    /// Tells what is done to a piece.
    pub(super) fn tell(&mut self, rule: &'static Rule, index: usize, what: impl Into<String>) {
        let before = self.pieces[..self.pieces.len().min(index + 1)].iter().rev();
        let from = before.filter_map(|piece| piece.from.first()).next();
        self.changes.push(Change {
            rule,
            index: from.copied().unwrap_or_default(),
            what: what.into(),
        });
    }

    /// A piece gets other bytes.
    pub(super) fn replace(&mut self, index: usize, raw: Vec<u8>) {
        let piece = &mut self.pieces[index];
        piece.facts = P::facts(&raw);
        piece.raw = Cow::Owned(raw);
        piece.changed = true;
    }

    /// Keeps a text beside a piece.
    pub(super) fn keep(&mut self, index: usize, name: String, text: String) {
        self.pieces[index].notes.push((name, text));
    }

    /// A piece goes.
    pub(super) fn remove(&mut self, index: usize) {
        self.gone[index] = true;
    }

    /// A new piece before another; the number of pieces is the end.
    pub(super) fn insert(&mut self, before: usize, raw: Vec<u8>, id: String) {
        let piece = Piece {
            facts: P::facts(&raw),
            raw: Cow::Owned(raw),
            from: Vec::new(),
            notes: Vec::new(),
            id: Some(id),
            changed: true,
        };
        self.inserted.push((before, piece));
    }

    /// Takes a piece from its place to the place before another.
    pub(super) fn shift(&mut self, index: usize, before: usize, raw: Vec<u8>) {
        let piece = Piece {
            facts: P::facts(&raw),
            raw: Cow::Owned(raw),
            from: self.pieces[index].from.clone(),
            notes: Vec::new(),
            id: self.pieces[index].id.clone(),
            changed: true,
        };
        self.inserted.push((before, piece));
        self.remove(index);
    }

    /// A piece goes to the place before another and takes in something of further pieces.
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

    /// Puts neighbours into one.
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

    /// The pieces from `index` on that speak in one voice with those before them.
    pub(super) fn voice(&self, index: usize) -> std::ops::Range<usize> {
        self.neighbours(index, P::speaker)
    }

    fn neighbours(&self, index: usize, speaker: impl Fn(&P::Facts) -> Option<u8>) -> std::ops::Range<usize> {
        let own = speaker(&self.pieces[index].facts);
        let same = |piece: &&Piece<'_, P::Facts>| own.is_some() && speaker(&piece.facts) == own;
        let before = self.pieces[..index].iter().rev().take_while(same).count();
        let behind = self.pieces[index..].iter().take_while(same).count().max(1);
        index - before..index + behind
    }

    fn alternate(&mut self, rule: &'static Rule, findings: &[&Finding]) {
        let mut done = 0;
        for finding in findings.iter().filter(|finding| finding.index > 0) {
            if finding.index < done {
                continue;
            }
            let range = self.neighbours(finding.index, P::turn);
            done = range.end;
            self.merge_voice(rule, range);
        }
    }

    /// Makes one piece of all in a range.
    pub(super) fn merge_voice(&mut self, rule: &'static Rule, range: std::ops::Range<usize>) {
        let raws: Vec<&[u8]> = self.pieces[range.clone()]
            .iter()
            .map(|piece| piece.raw.as_ref())
            .collect();
        let raw = merged(&raws, P::CONTENT, P::text_type(&self.pieces[range.start].facts));
        self.tell(
            rule,
            range.start,
            format!("merged {} of one role", raws_in(&range)),
        );
        self.merge(range, raw);
    }

    /// Carries out removals and insertions.
    fn settle(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        self.inserted.sort_by_key(|(before, _)| *before);
        let mut inserted = std::mem::take(&mut self.inserted).into_iter().peekable();
        for (index, (piece, gone)) in pieces.into_iter().zip(std::mem::take(&mut self.gone)).enumerate() {
            while let Some((_, piece)) = inserted.next_if(|(before, _)| *before <= index) {
                self.pieces.push(piece);
            }
            if !gone {
                self.pieces.push(piece);
            }
        }
        self.pieces.extend(inserted.map(|(_, piece)| piece));
        self.gone = vec![false; self.pieces.len()];
    }
}

fn raws_in(range: &std::ops::Range<usize>) -> String {
    format!("{} elements", range.len())
}

/// Repairs rule by rule. After each rule everything is looked at anew, since one repair may do another's work.
pub(super) fn fix<P: Provider>(elements: &[&[u8]], options: &Options, how: &Repair<'_>) -> Fixed {
    let pieces = pieces::<P>(elements);
    let mut history: History<'_, '_, P> = History {
        gone: vec![false; pieces.len()],
        pieces,
        how,
        ids: Ids::new(how.session),
        system: Vec::new(),
        inserted: Vec::new(),
        changes: Vec::new(),
    };
    let least = if how.warnings { Level::Warn } else { Level::Error };
    // Rules of which nothing that is found can be repaired.
    let mut left: Vec<&str> = Vec::new();
    let mut passes = 0;
    for _ in 0..ROUNDS {
        let findings = history.look(options);
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
            history.settle();
        }
    }
    let left = history.look(options);
    let mended = |piece: Piece<'_, P::Facts>| Mended {
        raw: piece.raw.into_owned(),
        changed: piece.changed,
        notes: piece.notes,
        // One that was merged with others takes theirs.
        id: piece.id.filter(|_| piece.from.is_empty()),
        from: piece.from,
    };
    Fixed {
        elements: history.pieces.into_iter().map(mended).collect(),
        system: history.system,
        changes: history.changes,
        left,
        passes,
    }
}

/// What elements do against the rules of their interface.
fn findings<P: Provider>(elements: &[&P::Facts], options: &Options) -> Vec<Finding> {
    let mut findings = Findings::new(P::API, options);
    P::look(elements, &mut findings);
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

/// What a history does against the rules of an interface.
pub(super) fn check<P: Provider>(elements: &[&[u8]], options: &Options) -> Vec<Finding> {
    let facts: Vec<P::Facts> = elements.iter().map(|raw| P::facts(raw)).collect();
    findings::<P>(&facts.iter().collect::<Vec<_>>(), options)
}

fn pieces<'a, P: Provider>(elements: &[&'a [u8]]) -> Vec<Piece<'a, P::Facts>> {
    let numbered = elements.iter().enumerate();
    numbered.map(|(index, raw)| Piece::new::<P>(raw, index)).collect()
}
