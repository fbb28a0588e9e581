//! Which units to keep: again and again the one that adds most per token to what is already kept. What a term
//! adds is halved each time a chosen unit contains it, so that the choice covers the session instead of
//! repeating its favourite words.

use super::reader::read_all;
use super::terms::for_each_term;
use super::weight::{weight, weights};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// One thing that is kept or left out as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its words.
    pub text: &'a str,
    /// Its value next to theirs: [`Prior::product`](super::Prior::product).
    pub prior: u64,
    /// What it costs; 0 counts as 1.
    pub tokens: u64,
}

/// Indexes of the chosen units in the order of choosing; together they cost no more than the budget.
///
/// The rule: of the units with a gain that are not yet tried, the one with the greatest gain per token, ties to
/// the earlier one; if it does not fit into what is left, it is set aside for good. Gains only fall, so a heap
/// over gains as they were gives the same choice when what has fallen is put back: the work is in proportion to
/// the terms of all units and the logarithm of their number.
pub fn choose(units: &[Candidate<'_>], budget: u64) -> Vec<usize> {
    Choosing::among(units.to_vec()).choose(budget, Fading::Half)
}

/// How much a term is worth that a chosen unit has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fading {
    /// Half of what it was worth: profile coverage-v1.
    Half,
    /// Seven tenths: profile coverage-v2. A subject that comes up again is mostly news of it.
    Slow,
}

impl Fading {
    /// What is left of a worth after so many repeats, from how much it was and how much it is.
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

/// Repeats after which a term that fades slowly is worth nothing, so that none is walked more often.
const MOST_REPEATS: u32 = 16;

/// What is chosen from, its terms read: for who asks with more than one budget.
pub(super) struct Choosing<'u> {
    units: Vec<Candidate<'u>>,
    terms: Terms,
}

impl<'u> Choosing<'u> {
    /// Reads the terms of the units.
    pub fn among(units: Vec<Candidate<'u>>) -> Choosing<'u> {
        Choosing {
            terms: Terms::of(&units),
            units,
        }
    }

    /// The choice under a budget.
    pub fn choose(&self, budget: u64, fading: Fading) -> Vec<usize> {
        let mut choice = self.begin(&[], budget, fading);
        choice.go_on(budget);
        choice.chosen
    }

    /// The same for questions: half of the budget goes by them, the rest as without.
    pub fn choose_for(&self, questions: &[String], budget: u64, fading: Fading) -> Vec<usize> {
        let mut choice = self.begin(questions, budget, fading);
        choice.go_on(choice.left(budget));
        choice.chosen
    }

    /// A choice with what answers the questions within half of the budget.
    pub fn begin(&self, questions: &[String], budget: u64, fading: Fading) -> Choice<'_> {
        let mut now = Now {
            worth: self.terms.worth.clone(),
            sums: self.terms.sums.clone(),
            repeats: vec![0; self.terms.worth.len()],
            fading,
        };
        let chosen = self.answering(questions, budget / 2);
        chosen.iter().for_each(|unit| now.take(&self.terms, *unit));
        Choice {
            choosing: self,
            now,
            chosen,
        }
    }

    /// The units that have most of the words of the questions, rare ones before others: BM25 (Robertson), and half of the score of
    /// the better neighbour, for an answer need not repeat the words of its question.
    fn answering(&self, questions: &[String], budget: u64) -> Vec<usize> {
        let mut asked: HashMap<String, u64> = HashMap::new();
        for question in questions {
            for_each_term(question, |term| {
                asked.insert(term.to_string(), 0);
            });
        }
        if asked.is_empty() || self.units.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(HashMap<String, u64>, u64)> = Vec::with_capacity(self.units.len());
        for unit in &self.units {
            let (mut own, mut all) = (HashMap::new(), 0);
            for_each_term(unit.text, |term| {
                all += 1;
                if asked.contains_key(term) {
                    *own.entry(term.to_string()).or_default() += 1;
                }
            });
            for (term, having) in &mut asked {
                *having += u64::from(own.contains_key(term));
            }
            found.push((own, all));
        }
        let units = self.units.len() as u64;
        let sum: u64 = found.iter().map(|(_, all)| *all).sum::<u64>().max(1);
        let score = |(own, all): &(HashMap<String, u64>, u64)| -> u64 {
            let length = u64::try_from(900 * u128::from(*all) * u128::from(units) / u128::from(sum))
                .unwrap_or(u64::MAX / 2);
            own.iter()
                .map(|(term, often)| {
                    let worth = u128::from(weight(units, asked[term]));
                    let score = worth * u128::from(2200 * often) / u128::from(1000 * often + 300 + length);
                    u64::try_from(score).unwrap_or(u64::MAX / 1024)
                })
                .sum()
        };
        let own: Vec<u64> = found.iter().map(score).collect();
        let near = |at: usize| {
            let before = at.checked_sub(1).map_or(0, |at| own[at]);
            before.max(own.get(at + 1).copied().unwrap_or(0))
        };
        let scores: Vec<u64> = (0..own.len()).map(|at| own[at] + near(at) / 2).collect();
        let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(scores[*at]), *at));
        let mut left = budget;
        order.retain(|at| {
            let fits = self.units[*at].tokens <= left;
            left -= if fits { self.units[*at].tokens } else { 0 };
            fits
        });
        order
    }
}

/// A choice that can go on.
pub(super) struct Choice<'c> {
    choosing: &'c Choosing<'c>,
    now: Now,
    /// The units, in the order of choosing.
    pub chosen: Vec<usize>,
}

impl Choice<'_> {
    /// The remaining budget.
    pub fn left(&self, budget: u64) -> u64 {
        let spent = self.chosen.iter().map(|unit| self.choosing.units[*unit].tokens);
        budget.saturating_sub(spent.sum())
    }

    /// Chooses more, within so many tokens; whether there was any.
    pub fn go_on(&mut self, mut rest: u64) -> bool {
        let (units, before) = (&self.choosing.units, self.chosen.len());
        let mut open = vec![true; units.len()];
        self.chosen.iter().for_each(|unit| open[*unit] = false);
        let cheapest = units.iter().map(|unit| unit.tokens).min().unwrap_or(0);
        let entry = |unit: usize, sum: u64| {
            let mut entry = Entry {
                density: 0.0,
                prior: units[unit].prior,
                sum,
                tokens: u32::try_from(units[unit].tokens.max(1)).unwrap_or(u32::MAX),
                unit: unit as u32,
            };
            entry.density = entry.gain() as f64 / f64::from(entry.tokens);
            entry
        };
        let mut heap: BinaryHeap<Entry> = self
            .now
            .sums
            .iter()
            .enumerate()
            .filter(|(unit, sum)| **sum > 0 && open[*unit] && units[*unit].tokens <= rest)
            .map(|(unit, sum)| entry(unit, *sum))
            .collect();
        while let Some(best) = heap.pop() {
            // A unit that does not fit never will: it is dropped before its value is computed again.
            let unit = best.unit as usize;
            if units[unit].tokens > rest {
                continue;
            }
            let sum = self.now.sums[unit];
            if sum < best.sum {
                heap.push(entry(unit, sum));
            } else if best.gain() == 0 {
                break;
            } else {
                rest -= units[unit].tokens;
                self.chosen.push(unit);
                self.now.take(&self.choosing.terms, unit);
                if rest < cheapest {
                    break;
                }
            }
        }
        self.chosen.len() > before
    }
}

/// A unit in the heap, with the gain that it had when it was put there.
struct Entry {
    /// Gain by tokens, as near as a number with a point comes to it.
    density: f64,
    prior: u64,
    sum: u64,
    tokens: u32,
    unit: u32,
}

impl Entry {
    fn gain(&self) -> u128 {
        u128::from(self.prior) * u128::from(self.sum)
    }
}

/// Two densities that differ by more than this share of one of them differ in truth: each is three roundings away from it,
/// and a rounding is a 2^-53rd.
const SURE: f64 = 1e-14;

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // Multiplying numbers of 128 bits is what a choice would spend its time with.
        if (self.density - other.density).abs() > self.density * SURE
            && let Some(order) = self.density.partial_cmp(&other.density)
        {
            return order;
        }
        let own = self.gain().saturating_mul(other.tokens.into());
        let others = other.gain().saturating_mul(self.tokens.into());
        own.cmp(&others).then(other.unit.cmp(&self.unit))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// The distinct terms of all units as numbers, which units have which, and what each unit would add now.
struct Terms {
    /// Terms of each unit.
    of: Lists,
    /// Units that have each term.
    having: Lists,
    /// What a term is worth at first.
    worth: Vec<u64>,
    /// What the terms of a unit are worth at first, together.
    sums: Vec<u64>,
}

/// Lists of numbers, one after the other.
#[derive(Default)]
struct Lists {
    all: Vec<u32>,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Lists {
    fn get(&self, nth: u32) -> &[u32] {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.all[start as usize..self.ends[nth as usize] as usize]
    }

    fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// For each of `count` numbers, in which of these lists it is.
    fn turned(&self, count: usize) -> Lists {
        let mut ends = vec![0; count];
        self.all.iter().for_each(|number| ends[*number as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // Where it begins, for now.
            sum += std::mem::replace(end, sum);
        }
        let mut all = vec![0; self.all.len()];
        for list in 0..self.len() {
            for number in self.get(list) {
                let next = &mut ends[*number as usize];
                all[*next as usize] = list;
                *next += 1;
            }
        }
        Lists { all, ends }
    }
}

/// The same in the course of a choice.
struct Now {
    /// What a term is worth now; halved as it is taken.
    worth: Vec<u64>,
    /// What the terms of a unit are worth now, together.
    sums: Vec<u64>,
    /// How many chosen units have a term.
    repeats: Vec<u32>,
    fading: Fading,
}

impl Terms {
    fn of(units: &[Candidate<'_>]) -> Terms {
        let bytes = units.iter().map(|unit| unit.text.len()).sum();
        let (pieces, count) = read_all(
            (units.len(), bytes),
            |range, reader| {
                let (mut all, mut ends) = (Vec::new(), Vec::with_capacity(range.len()));
                for unit in range {
                    reader.read(unit, units[unit].text, &mut all);
                    ends.push(all.len() as u32);
                }
                Lists { all, ends }
            },
            |piece, now| piece.all.iter_mut().for_each(|term| *term = now(*term)),
        );
        let mut pieces = pieces.into_iter();
        let mut of = pieces.next().unwrap_or_default();
        for mut piece in pieces {
            let before = of.all.len() as u32;
            of.all.append(&mut piece.all);
            of.ends.extend(piece.ends.iter().map(|end| end + before));
        }
        let having = of.turned(count);
        let often = (0..count as u32).map(|term| having.get(term).len() as u64);
        let worth = weights(units.len() as u64, often);
        let sum = |unit| of.get(unit).iter().map(|term| worth[*term as usize]).sum();
        Terms {
            sums: (0..of.len()).map(sum).collect(),
            of,
            having,
            worth,
        }
    }
}

impl Now {
    /// Lets the terms of a chosen unit fade. A term is worth nothing after some 24 times, so no term is walked more often than
    /// that.
    fn take(&mut self, terms: &Terms, unit: usize) {
        for term in terms.of.get(unit as u32) {
            let worth = &mut self.worth[*term as usize];
            self.repeats[*term as usize] += 1;
            let left = self
                .fading
                .after(terms.worth[*term as usize], *worth, self.repeats[*term as usize]);
            let lost = *worth - left;
            *worth = left;
            if lost > 0 {
                for other in terms.having.get(*term) {
                    self.sums[*other as usize] -= lost;
                }
            }
        }
    }
}
