//! The error block of a handoff: the newest errors, as wide as all of them fit.

use super::errors::SessionErrors;
use super::lines::{CountFn, fitting, quoted};

/// Maximum characters of a failure, tried in this order when not all errors fit.
const WIDTHS: [usize; 3] = [usize::MAX, 120, 60];

/// The errors in output form.
pub struct ErrorLines {
    /// Lines and costs for each width.
    shown: [(Vec<String>, Vec<u64>); WIDTHS.len()],
    /// The order of importance.
    order: Vec<usize>,
    /// Whether the first of this order is unresolved.
    has_open: bool,
}

impl ErrorLines {
    /// Prepares the errors of a session.
    pub fn of(errors: &SessionErrors, count: CountFn<'_>) -> ErrorLines {
        let (errors, order) = errors.newest();
        ErrorLines {
            shown: WIDTHS.map(|width| {
                let lines = errors.iter().map(|error| quoted("- ", &error.line(width)));
                let lines: Vec<String> = lines.collect();
                let costs = lines.iter().map(|line| count(line)).collect();
                (lines, costs)
            }),
            has_open: order.first().is_some_and(|nth| !errors[*nth].is_resolved),
            order,
        }
    }

    /// Tokens of all errors.
    pub fn need(&self) -> u64 {
        self.shown[0].1.iter().sum()
    }

    /// Tokens of the newest unresolved error.
    pub fn least(&self) -> u64 {
        let newest = self.order.first().filter(|_| self.has_open);
        newest.map_or(0, |nth| self.shown[WIDTHS.len() - 1].1[*nth])
    }

    /// All errors in the greatest width that fits; else as many of the most important as fit.
    pub fn lines(&self, room: u64) -> Vec<String> {
        let fits = |(_, costs): &&(Vec<String>, Vec<u64>)| costs.iter().sum::<u64>() <= room;
        let (lines, costs) = self
            .shown
            .iter()
            .find(fits)
            .unwrap_or(&self.shown[WIDTHS.len() - 1]);
        fitting(lines, costs, self.order.iter().copied(), room).0
    }
}
