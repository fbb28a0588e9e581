//! Selects units for a summary greedily: repeatedly the one that adds most per token. The value of a term fades each
//! time a selected unit contains it, so that the selection covers the session instead of repeating frequent words.

use super::answering::answering;
use super::greedy::{GreedyOffer, GreedyQueue, OfferSource};
use super::prior_weight::WordMarks;
use super::reader::read_all;
use super::term_list::TermList;
use super::term_weight::weights;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A unit that is selected or omitted as a whole.
#[derive(Clone, Copy, Debug)]
pub struct UnitCandidate<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its weight relative to the other units: [`Prior::product`](super::Prior::product).
    pub prior: u64,
    /// Its cost in tokens; 0 counts as 1.
    pub tokens: u64,
}

/// Returns the indexes of the selected units in the order of selection; their total cost is within the budget.
///
/// Each step takes the unit with the greatest gain per token, the earlier one on ties; a unit that does not fit into
/// the remaining budget is discarded.
pub fn choose(units: &[UnitCandidate<'_>], budget: u64) -> Vec<usize> {
    UnitCandidates::among(units.to_vec()).choose(budget, Fading::Half)
}

/// How the value of a term decreases with each selected unit that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fading {
    /// By half: profile coverage-v1.
    Half,
    /// To seven tenths: profile coverage-v2. A recurring subject is mostly news about it.
    Slow,
}

impl Fading {
    /// The value after `repeats` occurrences, given the initial and the current value.
    fn after(self, first: u64, now: u64, repeats: u32) -> u64 {
        match self {
            Fading::Half => now >> 1,
            Fading::Slow if repeats > MOST_REPEATS => 0,
            Fading::Slow => {
                let worth = u128::from(first) * 7u128.pow(repeats) / 10u128.pow(repeats);
                u64::try_from(worth).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Number of repeats after which a slowly fading term has no value, which bounds the work per term.
const MOST_REPEATS: u32 = 16;

/// The candidates with their terms, for selections with several budgets.
pub(super) struct UnitCandidates<'u> {
    unit: Box<dyn Fn(usize) -> (Cow<'u, str>, u64) + Sync + 'u>,
    all: CandidateTerms,
    /// The initial value of each term.
    worth: Vec<u64>,
    /// The number of neighbors on each side that may be about the same subject.
    reach: usize,
}

/// Neighbors in a conversation of which nothing is missing.
const REACH: usize = 3;

/// What the selection needs of a candidate, in one place: candidates are evaluated in any order, and most time goes to
/// reading memory.
struct ScoredCandidate {
    /// The lower and the higher half of its prior: a number of eight bytes would need padding.
    prior: [u32; 2],
    tokens: u32,
    /// The index of its first term; its last one precedes the first term of the next candidate.
    start: u32,
    /// The number of leading terms that still have a value; 0 once it is selected.
    left: AtomicU32,
}

const _: () = assert!(size_of::<ScoredCandidate>() <= 20, "there are many");

impl ScoredCandidate {
    /// The range of the terms that still have a value.
    fn valued(&self) -> Range<usize> {
        self.start as usize..(self.start + self.left.load(Relaxed)) as usize
    }
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn whole([lower, higher]: [u32; 2]) -> u64 {
    u64::from(higher) << 32 | u64::from(lower)
}

/// Candidates and the terms of all of them.
#[derive(Default)]
struct CandidateTerms {
    candidates: Vec<ScoredCandidate>,
    terms: TermList,
}

impl CandidateTerms {
    /// Appends the candidates of another part; there will be `count`.
    fn append(&mut self, other: CandidateTerms, count: usize) {
        if self.candidates.is_empty() {
            *self = other;
            // Memory that is reserved and not used costs nothing; a copy does.
            let more = count - self.candidates.len();
            self.candidates.reserve_exact(more);
            let average = self.terms.len() / self.candidates.len().max(1);
            self.terms.reserve_exact(more * (average + 1));
            return;
        }
        let before = self.terms.len() as u32;
        self.terms.append(other.terms);
        self.candidates
            .extend(other.candidates.into_iter().map(|candidate| ScoredCandidate {
                start: candidate.start + before,
                ..candidate
            }));
    }
}

impl<'u> UnitCandidates<'u> {
    /// Computes the terms of the units, which are a part of a conversation: only the direct neighbors belong together.
    pub fn among(units: Vec<UnitCandidate<'u>>) -> UnitCandidates<'u> {
        let bytes = units.iter().map(|unit| unit.text.len()).sum();
        let priors: Vec<u64> = units.iter().map(|unit| unit.prior).collect();
        let unit = move |unit: usize| (Cow::Borrowed(units[unit].text), units[unit].tokens);
        UnitCandidates {
            reach: 1,
            ..UnitCandidates::read((priors.len(), bytes), unit, |unit, _, _| priors[unit])
        }
    }

    /// Like `among`, for a whole conversation of `count` units of `bytes` bytes in total: `unit` returns the text and the
    /// tokens of each, `prior` its weight, from its text and the marks of that.
    pub fn read(
        (count, bytes): (usize, usize),
        unit: impl Fn(usize) -> (Cow<'u, str>, u64) + Sync + 'u,
        prior: impl Fn(usize, &str, WordMarks) -> u64 + Sync,
    ) -> UnitCandidates<'u> {
        let mut all = CandidateTerms::default();
        let names = read_all(
            (count, bytes),
            |range, reader| {
                let (mut piece, mut terms) = (CandidateTerms::default(), Vec::new());
                piece.candidates.reserve_exact(range.len());
                for nth in range {
                    let (text, tokens) = unit(nth);
                    let start = piece.terms.len() as u32;
                    terms.clear();
                    let marks = reader.read(nth, &text, &mut terms);
                    piece.terms.extend(&terms);
                    piece.candidates.push(ScoredCandidate {
                        prior: halves(prior(nth, &text, marks)),
                        tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
                        start,
                        left: AtomicU32::default(),
                    });
                }
                piece
            },
            |mut piece, now| {
                piece.terms.renumber(now);
                all.append(piece, count);
            },
        );
        let mut often = vec![0; names];
        all.terms.for_each(0..all.terms.len(), |term| often[term] += 1);
        UnitCandidates {
            unit: Box::new(unit),
            all,
            worth: weights(count as u64, often.into_iter()),
            reach: REACH,
        }
    }

    fn len(&self) -> usize {
        self.all.candidates.len()
    }

    fn tokens(&self, unit: usize) -> u64 {
        self.all.candidates[unit].tokens.into()
    }

    /// Selects units within a budget.
    pub fn choose(&mut self, budget: u64, fading: Fading) -> Vec<usize> {
        let mut choice = self.begin(&[], budget, fading);
        choice.select_more(budget);
        choice.chosen
    }

    /// Like `choose`, but spends half of the budget, or one unit that needs more, on units that answer the questions.
    pub fn choose_for(&mut self, questions: &[String], budget: u64, fading: Fading) -> Vec<usize> {
        let mut choice = self.begin(questions, budget, fading);
        choice.select_more(choice.remaining(budget));
        choice.chosen
    }

    /// Begins a selection with the units that answer the questions: within half of the budget, or the best one that fits
    /// alone.
    pub fn begin(&mut self, questions: &[String], budget: u64, fading: Fading) -> UnitSelection<'_, 'u> {
        let answering = self.answering(questions, budget);
        let mut end = self.all.terms.len() as u32;
        for candidate in self.all.candidates.iter_mut().rev() {
            candidate.left = (end - candidate.start).into();
            end = candidate.start;
        }
        let tokens = self.all.candidates.iter().map(|candidate| candidate.tokens);
        let mut choice = UnitSelection {
            worth: self.worth.clone(),
            repeats: vec![0; self.worth.len()],
            fading,
            rest: u64::MAX,
            queue: GreedyQueue::default(),
            cheapest: tokens.min().unwrap_or(0).into(),
            chosen: Vec::new(),
            choosing: self,
        };
        answering.into_iter().for_each(|unit| choice.choose(unit));
        let units = 0..choice.choosing.len();
        choice.queue = GreedyQueue::of(&choice, units);
        choice
    }

    /// Selects units that may answer the questions, within half of the budget; if the best one that fits takes more, only
    /// that one.
    fn answering(&self, questions: &[String], budget: u64) -> Vec<usize> {
        let text = |unit| (self.unit)(unit).0;
        let mut chosen = answering(questions, self.len(), text, self.reach);
        let mut costs = chosen.iter().map(|unit| self.tokens(*unit));
        let best = costs.find(|tokens| *tokens <= budget);
        let mut left = best.unwrap_or(0).max(budget / 2);
        chosen.retain(|unit| {
            let tokens = self.tokens(*unit);
            let fits = tokens <= left;
            left -= if fits { tokens } else { 0 };
            fits
        });
        chosen
    }
}

/// A selection in progress.
pub(super) struct UnitSelection<'c, 'u> {
    choosing: &'c mut UnitCandidates<'u>,
    /// The current value of each term.
    worth: Vec<u64>,
    /// How many selected units contain each term.
    repeats: Vec<u32>,
    fading: Fading,
    /// Remaining tokens.
    rest: u64,
    /// Tokens of the cheapest unit.
    cheapest: u64,
    /// The units that are not selected.
    queue: GreedyQueue,
    /// The selected units, in the order of selection.
    pub chosen: Vec<usize>,
}

impl UnitSelection<'_, '_> {
    /// The remaining budget.
    pub fn remaining(&self, budget: u64) -> u64 {
        budget.saturating_sub(self.cost())
    }

    /// What units may cost that will take `rest` tokens, if all selected ones take `tokens`. Slightly less than in
    /// proportion, because a text that is too long takes several attempts to shorten.
    pub fn cost_of(&self, rest: u64, tokens: u64) -> u64 {
        let proportional = u128::from(rest) * u128::from(self.cost()) / u128::from(tokens.max(1));
        let cost = u64::try_from(proportional - proportional / 32).unwrap_or(rest);
        cost.max(rest)
    }

    /// The cost of the selected units.
    fn cost(&self) -> u64 {
        let costs = self.chosen.iter().map(|unit| self.choosing.tokens(*unit));
        costs.sum()
    }

    /// Selects more units within `rest` tokens; returns whether any fit.
    pub fn select_more(&mut self, rest: u64) -> bool {
        let before = self.chosen.len();
        if rest < self.cheapest {
            return false;
        }
        self.rest = rest;
        let mut queue = std::mem::take(&mut self.queue);
        queue.take_best(self);
        self.queue = queue;
        self.chosen.len() > before
    }

    /// Selects a unit and fades its terms.
    fn choose(&mut self, unit: usize) {
        self.chosen.push(unit);
        let CandidateTerms { candidates, terms } = &mut self.choosing.all;
        terms.for_each(candidates[unit].valued(), |term| {
            self.repeats[term] += 1;
            self.worth[term] = self
                .fading
                .after(self.choosing.worth[term], self.worth[term], self.repeats[term]);
        });
        *candidates[unit].left.get_mut() = 0;
    }
}

impl OfferSource for UnitSelection<'_, '_> {
    fn touch(&self, unit: usize) -> u32 {
        let candidate = &self.choosing.all.candidates[unit];
        self.choosing.all.terms.get(candidate.start as usize)
    }

    /// A unit that does not fit is offered again when there is more room, one that is selected never.
    fn offer(&self, unit: usize) -> Option<GreedyOffer> {
        let CandidateTerms { candidates, terms } = &self.choosing.all;
        let candidate = &candidates[unit];
        if u64::from(candidate.tokens) > self.rest {
            return None;
        }
        let sum = terms.sum(candidate.start as usize, &candidate.left, &self.worth);
        let gain = u128::from(whole(candidate.prior)) * u128::from(sum);
        (gain > 0).then(|| GreedyOffer::new((unit, 0), gain, candidate.tokens.into()))
    }

    fn is_postponed(&self, unit: usize) -> bool {
        !self.choosing.all.candidates[unit].valued().is_empty()
    }

    fn take(&mut self, offer: GreedyOffer) -> bool {
        let unit = offer.of as usize;
        self.rest -= self.choosing.tokens(unit);
        self.choose(unit);
        self.rest >= self.cheapest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_selection_that_continues_is_one_that_begins_again(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(&["seed", "roof", "garden", "door", "lamp", "river"][..]), 1..5), 1..30),
            (costs, rooms) in (prop::collection::vec(1..9u64, 30), prop::collection::vec(1..20u64, 1..5)),
        ) {
            let texts: Vec<String> = texts.iter().map(|words| words.join(" ")).collect();
            let units = texts.iter().zip(&costs).map(|(text, tokens)| UnitCandidate { text, prior: 1000, tokens: *tokens });
            let units: Vec<UnitCandidate<'_>> = units.collect();
            let selected = |begins_again: bool| {
                let mut candidates = UnitCandidates::among(units.clone());
                let mut choice = candidates.begin(&[], 100, Fading::Slow);
                for room in &rooms {
                    if begins_again {
                        choice.rest = u64::MAX;
                        let all = 0..choice.choosing.len();
                        choice.queue = GreedyQueue::of(&choice, all);
                    }
                    choice.select_more(*room);
                }
                choice.chosen
            };
            prop_assert_eq!(selected(false), selected(true));
        }
    }
}
