//! Which units to keep: again and again the one that adds most per token to what is already kept. What a term
//! adds is halved each time a chosen unit contains it, so that the choice covers the session instead of
//! repeating its favourite words.

use super::prior::Prior;
use super::terms::for_each_term;
use super::weight::weight;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// One thing that is kept or left out as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its words.
    pub text: &'a str,
    /// What it is worth beside them.
    pub prior: Prior,
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
    Choosing::among(units).choose(budget)
}

/// What is chosen from, its terms read: for who asks with more than one budget.
pub(super) struct Choosing<'u> {
    units: &'u [Candidate<'u>],
    terms: Terms,
}

impl<'u> Choosing<'u> {
    /// Reads the terms of the units.
    pub fn among(units: &'u [Candidate<'u>]) -> Choosing<'u> {
        Choosing {
            terms: Terms::of(units.iter().map(|unit| unit.text)),
            units,
        }
    }

    /// The choice under a budget.
    pub fn choose(&self, budget: u64) -> Vec<usize> {
        let mut now = Now {
            worth: self.terms.worth.clone(),
            sums: self.terms.sums.clone(),
        };
        taken(self.units, &self.terms, &mut now, budget)
    }
}

fn taken(units: &[Candidate<'_>], terms: &Terms, now: &mut Now, budget: u64) -> Vec<usize> {
    let cheapest = units.iter().map(|unit| unit.tokens).min().unwrap_or(0);
    let entry = |unit: usize, sum: u64| {
        let mut entry = Entry {
            density: 0.0,
            prior: units[unit].prior.product(),
            sum,
            tokens: u32::try_from(units[unit].tokens.max(1)).unwrap_or(u32::MAX),
            unit: unit as u32,
        };
        entry.density = entry.gain() as f64 / f64::from(entry.tokens);
        entry
    };
    let (mut chosen, mut rest) = (Vec::new(), budget);
    let mut heap: BinaryHeap<Entry> = now
        .sums
        .iter()
        .enumerate()
        .filter(|(unit, _)| units[*unit].tokens <= rest)
        .map(|(unit, sum)| entry(unit, *sum))
        .collect();
    while let Some(best) = heap.pop() {
        // What does not fit never will: it is set aside before anybody asks what it is worth by now.
        let unit = best.unit as usize;
        if units[unit].tokens > rest {
            continue;
        }
        let sum = now.sums[unit];
        if sum < best.sum {
            heap.push(entry(unit, sum));
        } else if best.gain() == 0 {
            break;
        } else {
            rest -= units[unit].tokens;
            chosen.push(unit);
            if rest < cheapest {
                break;
            }
            now.take(terms, unit);
        }
    }
    chosen
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
    of: Vec<Vec<u32>>,
    /// Units that have a term.
    having: Vec<Vec<u32>>,
    /// What a term is worth at first.
    worth: Vec<u64>,
    /// What the terms of a unit are worth at first, together.
    sums: Vec<u64>,
}

/// The same in the course of a choice.
struct Now {
    /// What a term is worth now; halved as it is taken.
    worth: Vec<u64>,
    /// What the terms of a unit are worth now, together.
    sums: Vec<u64>,
}

impl Terms {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Terms {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut having: Vec<Vec<u32>> = Vec::new();
        let mut of = Vec::new();
        for (unit, text) in texts.enumerate() {
            let mut own = Vec::new();
            for_each_term(text, |term| {
                let known = numbers.get(term).copied();
                let number = known.unwrap_or_else(|| {
                    let next = numbers.len() as u32;
                    numbers.insert(term.to_string(), next);
                    having.push(Vec::new());
                    next
                });
                let units = &mut having[number as usize];
                if units.last() != Some(&(unit as u32)) {
                    units.push(unit as u32);
                    own.push(number);
                }
            });
            of.push(own);
        }
        let worth: Vec<u64> = having
            .iter()
            .map(|units| weight(of.len() as u64, units.len() as u64))
            .collect();
        let sums = of
            .iter()
            .map(|own: &Vec<u32>| own.iter().map(|term| worth[*term as usize]).sum())
            .collect();
        Terms {
            of,
            having,
            worth,
            sums,
        }
    }
}

impl Now {
    /// Halves the terms of a chosen unit. `(W >> c) >> 1` is `W >> (c + 1)`, so the worth needs no count; and a
    /// term is worth nothing after some 24 halvings, so no term is walked more often than that.
    fn take(&mut self, terms: &Terms, unit: usize) {
        for term in &terms.of[unit] {
            let worth = &mut self.worth[*term as usize];
            let lost = *worth - (*worth >> 1);
            *worth >>= 1;
            if lost > 0 {
                for other in &terms.having[*term as usize] {
                    self.sums[*other as usize] -= lost;
                }
            }
        }
    }
}
