//! Numbers the terms of many texts, in parallel with a deterministic result.

use super::numbers::Numbers;
use super::terms::{Piece, for_each_piece};
use crate::model::threads::by_pieces;
use std::ops::Range;

/// Numbers the terms of a range of texts.
#[derive(Default)]
pub struct Reader {
    /// The terms.
    numbers: Numbers,
    words: Numbers,
    /// For each word the number of its term plus one; 0 for stop words.
    meant: Vec<u32>,
    /// For each term the last text that contained it, plus one.
    last: Vec<u32>,
}

impl Reader {
    /// Appends the terms of a text, each once per `thing`.
    pub fn read(&mut self, thing: usize, text: &str, found: &mut Vec<u32>) {
        let thing = thing as u32 + 1;
        for_each_piece(text, |piece| {
            let Some(number) = self.number(piece) else { return };
            if self.last.len() <= number as usize {
                self.last.push(0);
            }
            let last = &mut self.last[number as usize];
            if std::mem::replace(last, thing) != thing {
                found.push(number);
            }
        });
    }

    /// The number of a term; none for a stop word. The terms of known words are cached.
    fn number(&mut self, piece: Piece<'_>) -> Option<u32> {
        let Piece::Word(word) = piece else {
            return piece.term().map(|term| self.numbers.of(term));
        };
        let word = self.words.of(word) as usize;
        if word == self.meant.len() {
            self.meant
                .push(piece.term().map_or(0, |term| self.numbers.of(term) + 1));
        }
        self.meant[word].checked_sub(1)
    }
}

/// Numbers the terms of `count` texts in parallel: `each` reads a range of them, and `renumber` replaces its local
/// numbers with global ones. Returns the results and the number of terms.
pub fn read_all<T: Send>(
    (count, bytes): (usize, usize),
    each: impl Fn(Range<usize>, &mut Reader) -> T + Sync,
    renumber: impl Fn(&mut T, &dyn Fn(u32) -> u32),
) -> (Vec<T>, usize) {
    let pieces = by_pieces(count, bytes, |range| {
        let mut reader = Reader::default();
        let read = each(range, &mut reader);
        (reader.numbers, read)
    });
    let mut all = Numbers::default();
    let mut read = Vec::with_capacity(pieces.len());
    for (numbers, mut piece) in pieces {
        if all.len() == 0 {
            all = numbers;
        } else {
            let now = all.absorb(&numbers);
            renumber(&mut piece, &|number| now[number as usize]);
        }
        read.push(piece);
    }
    (read, all.len())
}

#[cfg(test)]
mod tests {
    use super::super::terms::for_each_term;
    use super::*;

    #[test]
    fn terms_have_the_same_numbers_however_the_work_is_split() {
        let texts: Vec<String> = (0..900)
            .map(|nth: u32| format!("seed {} roof {} garden {}", nth % 7, nth * nth % 311, nth))
            .collect();
        let read = |bytes| {
            read_all(
                (texts.len(), bytes),
                |range, reader| {
                    let read = |nth: usize| {
                        let mut terms = Vec::new();
                        reader.read(nth, &texts[nth], &mut terms);
                        terms
                    };
                    range.map(read).collect::<Vec<_>>()
                },
                |things, now| things.iter_mut().flatten().for_each(|term| *term = now(*term)),
            )
        };
        let read = |bytes| {
            let (pieces, count) = read(bytes);
            (pieces.concat(), count)
        };
        let one = read(0);
        assert_eq!(one, read(usize::MAX));
        let mut numbers = Numbers::default();
        for (nth, terms) in one.0.iter().enumerate() {
            let mut own = Vec::new();
            for_each_term(&texts[nth], |term| own.push(numbers.of(term)));
            own.dedup();
            let mut seen = std::collections::HashSet::new();
            own.retain(|term| seen.insert(*term));
            assert_eq!(*terms, own);
        }
        assert_eq!(one.1, numbers.len());
        assert_eq!(numbers.find("garden"), Some(2));
        assert_eq!(numbers.find("door"), None);
    }
}
