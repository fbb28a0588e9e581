//! The request block of a handoff: the first request of the session, the newest ones, and those that match questions.

use super::super::prior_weight::Prior;
use super::super::selection::{Fading, UnitCandidate, UnitCandidates};
use super::super::sentences::ranges;
use super::SessionFacts;
use super::cut::{GAP, cut};
use super::lines::{AROUND, CountFn, MORE, quoted};
use crate::model::threads::over_cores;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Minimum tokens of a quoted request.
const MINIMUM: u64 = 24;

/// Maximum tokens of a request that is quoted as a whole rather than by sentence.
const WHOLE: u64 = 3 * MINIMUM;

/// Follows the requests if messages after a kept request are handed over. The summary precedes this request, so that the
/// view keeps its beginning in later compactions.
const CONTINUES: &str = "[includes work on the next request]\n";

/// The requests of a session.
pub struct Requests<'f> {
    facts: &'f SessionFacts<'f>,
    /// Tokens of each request.
    costs: Vec<u64>,
    /// Tokens of the line about the next request.
    continues: u64,
    asked: Option<QuestionCandidates<'f>>,
}

/// The candidates for matching questions.
struct QuestionCandidates<'f> {
    questions: &'f [String],
    /// Sentences, and short requests as a whole, each with the number of its request.
    units: Vec<(usize, Range<usize>)>,
    among: RefCell<UnitCandidates<'f>>,
}

impl<'f> Requests<'f> {
    /// Prepares the requests of a session.
    pub fn of(facts: &'f SessionFacts<'_>, questions: &'f [String], count: CountFn<'_>) -> Requests<'f> {
        let bytes = facts.requests.iter().map(|text| text.len()).sum();
        let costs = over_cores(facts.requests.len(), bytes, |nth| {
            count(&facts.requests[nth]) + AROUND
        });
        let asked = (!questions.is_empty()).then(|| QuestionCandidates::of(facts, questions, &costs, count));
        let continues = if facts.continues_request {
            count(CONTINUES)
        } else {
            0
        };
        Requests {
            facts,
            costs,
            continues,
            asked,
        }
    }

    /// Tokens of all requests.
    pub fn need(&self) -> u64 {
        let more = if self.facts.unnamed[0] > 0 { MORE } else { 0 };
        self.costs.iter().sum::<u64>() + self.continues + more
    }

    /// The requests within `room` tokens: the first with at most a third, matches of the questions with half of the
    /// rest, and the newest, each shortened to the same length. The first of a further record is one like any other.
    pub fn lines(&self, room: u64, count: CountFn<'_>) -> Vec<String> {
        let (costs, continues) = (&self.costs, self.continues);
        let Some(rest) = room.checked_sub(continues) else {
            return Vec::new();
        };
        let next = (continues > 0).then(|| CONTINUES.to_string());
        let goals = self.goals();
        let (mut first_cap, mut requested) = (costs[..goals].iter().sum::<u64>(), BTreeMap::new());
        let (cap, from) = if self.need() <= room {
            (u64::MAX, goals)
        } else {
            first_cap = first_cap.min((rest / 3).max(MINIMUM));
            let mut left = rest.saturating_sub(first_cap + MORE);
            if let Some(of) = &self.asked {
                (requested, left) = of.excerpts(&self.facts.requests, left);
            }
            newest_of(costs, goals, |nth| requested.contains_key(&nth), left)
        };
        let line = |nth: usize| {
            let text = self.facts.requests[nth].trim();
            let cap = if nth < goals { first_cap } else { cap };
            let short = cut(text, cap.saturating_sub(AROUND), count);
            match requested.get(&nth) {
                Some(_) if nth < goals && costs[0] <= first_cap => quoted("- ", &short),
                Some(excerpt) if nth < goals => quoted("- ", &format!("{short}{GAP}{excerpt}")),
                Some(excerpt) => quoted("- ", excerpt),
                None => quoted("- ", &short),
            }
        };
        let earlier: Vec<usize> = requested
            .keys()
            .copied()
            .filter(|nth| (goals..from).contains(nth))
            .collect();
        if first_cap > rest || (goals, earlier.len(), from) == (0, 0, costs.len()) {
            return next.into_iter().collect();
        }
        let elided = (from - goals - earlier.len()) as u64 + self.facts.unnamed[0];
        let mut lines: Vec<String> = (0..goals).map(line).collect();
        let requests = if elided == 1 { "request" } else { "requests" };
        lines.extend((elided > 0).then(|| format!("[{elided} {requests} elided]\n")));
        lines.extend(earlier.into_iter().chain(from..costs.len()).map(line));
        lines.extend(next);
        lines
    }

    /// The number of requests that are quoted before the newest ones: the first of the session.
    fn goals(&self) -> usize {
        usize::from(!self.facts.is_further && !self.costs.is_empty())
    }

    /// Least tokens with the newest request of a further record.
    pub fn least(&self) -> u64 {
        match self.costs.last() {
            Some(newest) if self.facts.is_further => (*newest).min(MINIMUM) + MORE + self.continues,
            _ => 0,
        }
    }
}

/// Fits as many of the newest requests after the first `goals` as possible into `room`; returns the maximum tokens of each
/// and the index of the first. Requests for which `is_paid` holds cost nothing.
fn newest_of(costs: &[u64], goals: usize, is_paid: impl Fn(usize) -> bool, room: u64) -> (u64, usize) {
    let cost = |nth: usize| if is_paid(nth) { 0 } else { costs[nth] };
    let mut left = room;
    let mut from = costs.len();
    for nth in (goals..costs.len()).rev() {
        let Some(rest) = left.checked_sub(cost(nth).min(MINIMUM)) else {
            break;
        };
        (left, from) = (rest, nth);
    }
    let sum = |cap: u64| (from..costs.len()).map(|nth| cost(nth).min(cap)).sum::<u64>();
    let (mut low, mut high) = (MINIMUM, room.max(MINIMUM));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match sum(middle) <= room {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    (low, from)
}

impl<'f> QuestionCandidates<'f> {
    fn of(
        facts: &'f SessionFacts<'_>,
        questions: &'f [String],
        costs: &[u64],
        count: CountFn<'_>,
    ) -> QuestionCandidates<'f> {
        let mut units = Vec::new();
        for (nth, text) in facts.requests.iter().enumerate() {
            match costs[nth] <= WHOLE {
                true => units.push((nth, 0..text.len())),
                false => units.extend(ranges(text).into_iter().map(|range| (nth, range))),
            }
        }
        let text = |(nth, range): &(usize, Range<usize>)| &facts.requests[*nth][range.clone()];
        let among = units.iter().map(|unit| UnitCandidate {
            text: text(unit),
            prior: Prior::NEUTRAL.product(),
            tokens: count(text(unit)) + AROUND + count(GAP),
        });
        QuestionCandidates {
            questions,
            among: RefCell::new(UnitCandidates::among(among.collect())),
            units,
        }
    }

    /// Selects excerpts that match the questions, within half of `room` or the best one that fits; returns them by
    /// request, and the remaining tokens.
    fn excerpts(&self, requests: &[Cow<'_, str>], room: u64) -> (BTreeMap<usize, String>, u64) {
        let mut among = self.among.borrow_mut();
        let choice = among.begin(self.questions, room, Fading::Slow);
        let left = choice.remaining(room);
        let mut chosen = choice.chosen;
        chosen.sort_unstable();
        let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
        let mut excerpts: BTreeMap<usize, String> = BTreeMap::new();
        for (nth, range) in chosen.iter().map(|unit| &self.units[*unit]) {
            let text = &requests[*nth];
            let between = &text[ends.insert(*nth, range.end).unwrap_or(0)..range.start];
            let out = excerpts.entry(*nth).or_default();
            out.push_str(match between.trim().is_empty() {
                true => between,
                false => GAP,
            });
            out.push_str(&text[range.clone()]);
        }
        for (nth, out) in &mut excerpts {
            let all = requests[*nth][ends[nth]..].trim().is_empty();
            *out = format!("{}{}", out.trim(), if all { "" } else { GAP.trim_end() });
        }
        (excerpts, left)
    }
}
