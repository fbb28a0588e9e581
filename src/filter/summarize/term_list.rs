//! The terms of many texts as numbers: two bytes for each while all numbers are small, because there are many.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};

/// Numbers of terms. Their order within a range may change while others are read: see [`TermList::sum`].
#[derive(Debug, Default)]
pub struct TermList {
    /// The terms while all are below 65536.
    short: Vec<AtomicU16>,
    /// Otherwise all terms.
    long: Vec<AtomicU32>,
}

/// A term in memory that several threads access; each at its own place, so that no order is needed.
trait SharedTerm {
    fn get(&self) -> u32;
    fn set(&self, term: u32);
}

impl SharedTerm for AtomicU16 {
    fn get(&self) -> u32 {
        self.load(Relaxed).into()
    }

    fn set(&self, term: u32) {
        self.store(term as u16, Relaxed);
    }
}

impl SharedTerm for AtomicU32 {
    fn get(&self) -> u32 {
        self.load(Relaxed)
    }

    fn set(&self, term: u32) {
        self.store(term, Relaxed);
    }
}

impl TermList {
    /// The number of terms.
    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// The term at an index; 0 at the end.
    pub fn get(&self, at: usize) -> u32 {
        match self.is_long() {
            true => self.long.get(at).map_or(0, SharedTerm::get),
            false => self.short.get(at).map_or(0, SharedTerm::get),
        }
    }

    /// Appends terms.
    pub fn extend(&mut self, terms: &[u32]) {
        if self.is_long() || terms.iter().fold(0, |bits, term| bits | term) > MOST {
            return self.long().extend(terms.iter().map(|term| AtomicU32::new(*term)));
        }
        self.short
            .extend(terms.iter().map(|term| AtomicU16::new(*term as u16)));
    }

    /// Appends the terms of another list.
    pub fn append(&mut self, mut other: TermList) {
        if self.is_long() || other.is_long() {
            self.long().append(other.long());
        } else {
            self.short.append(&mut other.short);
        }
    }

    /// Reserves memory for exactly this number of further terms.
    pub fn reserve_exact(&mut self, more: usize) {
        match self.is_long() {
            true => self.long.reserve_exact(more),
            false => self.short.reserve_exact(more),
        }
    }

    /// Replaces each term.
    pub fn renumber(&mut self, now: &dyn Fn(u32) -> u32) {
        if self.short.iter().any(|term| now(term.get()) > MOST) {
            self.long();
        }
        self.short.iter().for_each(|term| term.set(now(term.get())));
        self.long.iter().for_each(|term| term.set(now(term.get())));
    }

    /// Passes each term of a range to `found`.
    pub fn for_each(&self, range: Range<usize>, mut found: impl FnMut(usize)) {
        match self.is_long() {
            true => self.long[range]
                .iter()
                .for_each(|term| found(term.get() as usize)),
            false => self.short[range]
                .iter()
                .for_each(|term| found(term.get() as usize)),
        }
    }

    /// Sums the values of the first `left` terms from `start` on, and moves those without value after the others. Different
    /// ranges may be summed at the same time.
    pub fn sum(&self, start: usize, left: &AtomicU32, worth: &[u64]) -> u64 {
        let range = start..start + left.load(Relaxed) as usize;
        match self.is_long() {
            true => sum(&self.long[range], left, worth),
            false => sum(&self.short[range], left, worth),
        }
    }

    fn is_long(&self) -> bool {
        !self.long.is_empty()
    }

    /// The terms with four bytes for each.
    fn long(&mut self) -> &mut Vec<AtomicU32> {
        let short = std::mem::take(&mut self.short).into_iter();
        self.long.extend(short.map(|term| AtomicU32::new(term.get())));
        &mut self.long
    }
}

/// The highest term with two bytes.
const MOST: u32 = u16::MAX as u32;

fn sum(terms: &[impl SharedTerm], left: &AtomicU32, worth: &[u64]) -> u64 {
    let value = |term: u32| worth[term as usize];
    let (mut sum, mut kept) = (0, 0);
    for term in terms {
        let now = value(term.get());
        sum += now;
        kept += usize::from(now > 0);
    }
    if kept < terms.len() {
        left.set(kept as u32);
        let mut end = 0;
        for nth in 0..terms.len() {
            let (first, term) = (terms[end].get(), terms[nth].get());
            terms[nth].set(first);
            terms[end].set(term);
            end += usize::from(value(term) > 0);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(list: &TermList) -> Vec<usize> {
        let mut found = Vec::new();
        list.for_each(0..list.len(), |term| found.push(term));
        found
    }

    proptest! {
        #[test]
        fn terms_of_any_size_are_those_of_a_plain_list(
            parts in prop::collection::vec(prop::collection::vec(prop_oneof![0..9u32, 65530..65540u32], 0..5), 0..5),
            (split, more) in (0..6usize, 0..70000u32),
        ) {
            let (first, rest) = parts.split_at(split.min(parts.len()));
            let [mut list, other] = [first, rest].map(|parts| {
                let mut list = TermList::default();
                parts.iter().for_each(|part| list.extend(part));
                list
            });
            list.append(other);
            list.reserve_exact(1);
            list.renumber(&|term| term + more);
            let plain: Vec<usize> = parts.concat().iter().map(|term| (term + more) as usize).collect();
            prop_assert_eq!(all(&list), &plain[..]);
            prop_assert_eq!(list.get(0), plain.first().copied().unwrap_or(0) as u32);
            // Even terms are without value.
            let worth: Vec<u64> = (0..140_000).map(|term| term % 2 * term).collect();
            let left = AtomicU32::new(plain.len() as u32);
            prop_assert_eq!(list.sum(0, &left, &worth), plain.iter().map(|term| worth[*term]).sum::<u64>());
            let left = left.into_inner() as usize;
            prop_assert!(all(&list)[..left].iter().all(|term| term % 2 == 1));
            prop_assert_eq!(left, plain.iter().filter(|term| *term % 2 == 1).count());
        }
    }
}
