//! Minimum and maximum numbers.

use super::violation::Violation;
use crate::format::report::count_of;

/// The limits of a number of matches: at least one, unless there is an upper limit.
#[derive(Clone, Copy)]
pub struct MatchLimits {
    pub min: Option<usize>,
    pub max: Option<usize>,
}

impl MatchLimits {
    /// Why the limits are contradictory.
    pub fn fault(self) -> Option<String> {
        let (min, max) = (self.min?, self.max?);
        (min > max).then(|| format!("min {min} exceeds max {max}"))
    }

    /// The violation by matches at these items of the view; `thing` and `of` name them.
    pub fn violation(self, items: &[usize], thing: &str, of: &str) -> Option<Violation> {
        let least = self.min.unwrap_or(usize::from(self.max.is_none()));
        let found = items.len();
        let counted = count_of(found as u64, thing);
        if found < least {
            let message = format!("{counted} {of}; expected at least {least}");
            return Some(Violation::new(items.last().copied(), message));
        }
        let most = self.max.filter(|most| found > *most)?;
        let message = format!("{counted} {of}; expected at most {most}");
        Some(Violation::new(Some(items[most]), message))
    }
}
