//! The size that a view has to reach.

use super::state::CompactionState;
use super::trigger::{Goal, Measures};

/// A share of a number, per mille.
pub fn part(whole: u64, share: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(share) / 1000).unwrap_or(u64::MAX)
}

/// The limits that a compaction has to reach.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompactionGoal {
    goal: Goal,
}

impl std::fmt::Display for CompactionGoal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limits = [
            (self.goal.tokens, "tokens"),
            (self.goal.messages, "messages"),
            (self.goal.exchanges, "exchanges"),
            (self.goal.tool_tokens, "tool tokens"),
        ];
        let words = limits
            .iter()
            .filter_map(|(most, what)| Some(format!("{} {what}", (*most)?)));
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}

impl CompactionGoal {
    /// Creates a target from a goal.
    pub fn new(goal: Goal) -> CompactionGoal {
        CompactionGoal { goal }
    }

    /// Most tokens; none if they are not limited.
    pub fn tokens(&self) -> Option<u64> {
        self.goal.tokens
    }

    /// Whether there is any limit; otherwise each step goes as far as it can.
    pub fn asks(&self) -> bool {
        self.goal != Goal::default()
    }

    /// Whether tokens are the only limit.
    pub fn is_tokens_alone(&self) -> bool {
        Goal {
            tokens: None,
            ..self.goal
        } == Goal::default()
    }

    /// Whether the view is within all limits.
    pub fn is_met(&self, work: &CompactionState<'_>) -> bool {
        self.asks() && self.holds(&work.measures(None))
    }

    /// Whether the view is within the limits of size: making messages smaller does not make them fewer.
    pub fn is_met_in_size(&self, work: &CompactionState<'_>) -> bool {
        let goal = Goal {
            tokens: self.goal.tokens,
            tool_tokens: self.goal.tool_tokens,
            ..Goal::default()
        };
        self.asks() && CompactionGoal::new(goal).holds(&work.measures(None))
    }

    /// Whether the view would be within all limits with a summary of this many tokens in place of the current one.
    pub fn is_met_with(&self, work: &CompactionState<'_>, summary: u64) -> bool {
        let before = work.summary_item.map(|at| work.items[at].now);
        let mut measures = work.measures(None);
        measures.tokens = measures.tokens - before.unwrap_or(0) + summary;
        measures.messages += u64::from(before.is_none());
        self.asks() && self.holds(&measures)
    }

    fn holds(&self, measures: &Measures) -> bool {
        let fits = |limit: Option<u64>, is: u64| limit.is_none_or(|most| is <= most);
        fits(self.goal.tokens, measures.tokens)
            && fits(self.goal.messages, measures.messages)
            && fits(self.goal.exchanges, measures.exchanges)
            && fits(self.goal.tool_tokens, measures.tool_tokens)
    }
}
