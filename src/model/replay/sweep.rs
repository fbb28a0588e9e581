//! Visits ranges of lines so that no line is visited twice, however much the ranges overlap.

use std::ops::Range;

/// Tracks visited lines.
#[derive(Default)]
pub struct Sweep {
    /// For each line: a line at or after it on the path to the next unvisited one; empty before the first range.
    next: Vec<usize>,
}

impl Sweep {
    /// Calls `visit` for each unvisited line of a range; all lines are below `lines`.
    pub fn over(&mut self, range: Range<usize>, lines: usize, mut visit: impl FnMut(usize)) {
        if self.next.is_empty() {
            self.next = (0..=lines).collect();
        }
        let mut line = self.first_from(range.start.min(lines));
        while line < range.end.min(lines) {
            visit(line);
            self.next[line] = line + 1;
            line = self.first_from(line + 1);
        }
    }

    fn first_from(&mut self, line: usize) -> usize {
        let mut first = line;
        while self.next[first] != first {
            first = self.next[first];
        }
        let mut line = line;
        while self.next[line] != first {
            line = std::mem::replace(&mut self.next[line], first);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_visited_twice() {
        let (mut sweep, mut visits) = (Sweep::default(), vec![0; 10]);
        for range in [3..5, 4..7, 0..2, 0..10, 9..40, 2..2] {
            sweep.over(range.clone(), 10, |line| {
                assert!(range.contains(&line));
                visits[line] += 1;
            });
        }
        assert_eq!(visits, [1; 10]);
    }
}
