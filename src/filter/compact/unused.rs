//! Tokens of the budget that a summary leaves unused.

use super::goal::CompactionGoal;
use super::keep_newest;
use super::options::CompactOptions;
use super::state::CompactionState;
use crate::filter::summarize::instructions_of;

/// More unused tokens than this part of the budget, and than this number, are spent on older messages.
const UNUSED: (u64, u64) = (4, 100);

/// Keeps older messages, shortened, if a summary leaves much of the budget unused: it quotes no code, tables or logs.
pub fn spend(work: &mut CompactionState<'_>, options: &CompactOptions, target: &CompactionGoal) {
    let Some(budget) = target.tokens() else { return };
    let unused = budget.saturating_sub(work.total);
    // What answers a question may be anywhere, not in the newest messages.
    let is_wanted = unused > UNUSED.1.max(budget / UNUSED.0) && options.style.questions.is_empty();
    if !is_wanted || work.items.len() > keep_newest::MANY || !keep_newest::is_allowed(options, target) {
        return;
    }
    let summarized = work.clone();
    keep_newest::run(work, options, target);
    let keeps = |at: usize| summarized.is_dropped(at) || !work.is_dropped(at);
    let is_fuller = target.is_met(work) && work.total > summarized.total && (0..work.items.len()).all(keeps);
    if !is_fuller || !has_instructions_of(work, &summarized) {
        *work = summarized;
    }
}

/// Whether the standing instructions that another choice quotes are quoted or kept by this one.
fn has_instructions_of(work: &CompactionState<'_>, other: &CompactionState<'_>) -> bool {
    let summary = |work: &CompactionState<'_>| {
        let new = work.summary.as_ref().map(|(summary, _)| summary.content.clone());
        new.unwrap_or_default()
    };
    let own = summary(work);
    let all = instructions_of(&summary(other));
    let is_kept = |text: &str| {
        let kept = (0..work.items.len()).filter(|at| !work.is_dropped(*at));
        let mut messages = kept.filter_map(|at| work.message(at));
        messages.any(|message| message.text().contains(text))
    };
    all.iter()
        .all(|one| own.contains(&one.text) || is_kept(&one.text))
}
