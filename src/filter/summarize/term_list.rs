//! The terms of many texts as numbers: two bytes for each while all numbers are small, because there are many.

use std::ops::Range;

/// Numbers of terms.
#[derive(Debug, Default)]
pub struct TermList {
    /// The terms while all are below 65536.
    short: Vec<u16>,
    /// Otherwise all terms.
    long: Vec<u32>,
}

impl TermList {
    /// The number of terms.
    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// The term at an index; 0 at the end.
    pub fn get(&self, at: usize) -> u32 {
        match self.is_long() {
            true => self.long.get(at).copied().unwrap_or(0),
            false => self.short.get(at).copied().unwrap_or(0).into(),
        }
    }

    /// Appends terms.
    pub fn extend(&mut self, terms: &[u32]) {
        if self.is_long() || terms.iter().fold(0, |bits, term| bits | term) > MOST {
            return self.long().extend_from_slice(terms);
        }
        self.short.extend(terms.iter().map(|term| *term as u16));
    }

    /// Appends the terms of another list.
    pub fn append(&mut self, other: &TermList) {
        if self.is_long() || other.is_long() {
            let long = self.long();
            long.extend_from_slice(&other.long);
            long.extend(other.short.iter().map(|term| u32::from(*term)));
        } else {
            self.short.extend_from_slice(&other.short);
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
        if self.short.iter().any(|term| now((*term).into()) > MOST) {
            self.long();
        }
        self.short
            .iter_mut()
            .for_each(|term| *term = now((*term).into()) as u16);
        self.long.iter_mut().for_each(|term| *term = now(*term));
    }

    /// Passes each term of a range to `found`.
    pub fn for_each(&self, range: Range<usize>, mut found: impl FnMut(usize)) {
        match self.is_long() {
            true => self.long[range].iter().for_each(|term| found(*term as usize)),
            false => self.short[range].iter().for_each(|term| found((*term).into())),
        }
    }

    /// Sums the values of the first `left` terms from `start` on, and moves those without value after the others.
    pub fn sum(&mut self, start: usize, left: &mut u32, worth: &[u64]) -> u64 {
        let range = start..start + *left as usize;
        match self.is_long() {
            true => sum(&mut self.long[range], left, worth),
            false => sum(&mut self.short[range], left, worth),
        }
    }

    fn is_long(&self) -> bool {
        !self.long.is_empty()
    }

    /// The terms with four bytes for each.
    fn long(&mut self) -> &mut Vec<u32> {
        let short = std::mem::take(&mut self.short);
        self.long.extend(short.into_iter().map(u32::from));
        &mut self.long
    }
}

/// The highest term with two bytes.
const MOST: u32 = u16::MAX as u32;

fn sum<T: Copy + Into<u32>>(terms: &mut [T], left: &mut u32, worth: &[u64]) -> u64 {
    let value = |term: T| worth[term.into() as usize];
    let (mut sum, mut kept) = (0, 0);
    for term in &*terms {
        let now = value(*term);
        sum += now;
        kept += u32::from(now > 0);
    }
    if kept < *left {
        *left = kept;
        let mut end = 0;
        for nth in 0..terms.len() {
            terms.swap(end, nth);
            end += usize::from(value(terms[end]) > 0);
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
            list.append(&other);
            list.reserve_exact(1);
            list.renumber(&|term| term + more);
            let plain: Vec<usize> = parts.concat().iter().map(|term| (term + more) as usize).collect();
            prop_assert_eq!(all(&list), &plain[..]);
            prop_assert_eq!(list.get(0), plain.first().copied().unwrap_or(0) as u32);
            // Even terms are without value.
            let worth: Vec<u64> = (0..140_000).map(|term| term % 2 * term).collect();
            let mut left = plain.len() as u32;
            prop_assert_eq!(list.sum(0, &mut left, &worth), plain.iter().map(|term| worth[*term]).sum::<u64>());
            prop_assert!(all(&list)[..left as usize].iter().all(|term| term % 2 == 1));
            prop_assert_eq!(left as usize, plain.iter().filter(|term| *term % 2 == 1).count());
        }
    }
}
