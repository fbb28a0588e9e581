//! Drops exchanges or, by category, message groups from the view.

use super::super::options::CompactOptions;
use super::super::state::{AtomLevel, CompactionState};
use super::EnoughFn;
use crate::model::message::Category;
use std::collections::{BTreeMap, VecDeque};

/// Drops the oldest, except the newest exchanges: whole exchanges, or groups by category if an order or shares are
/// given. The report shows the reason.
pub fn run(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    protected: usize,
    reason: &'static str,
    enough: EnoughFn<'_>,
) {
    let end = work.exchanges.len().saturating_sub(protected.max(1));
    if !options.drop_order.is_empty() || !options.shares.is_empty() {
        by_category(work, options, end, reason, enough);
    }
    for exchange in 0..end {
        if enough(work) {
            return;
        }
        work.drop_exchange(exchange, reason);
    }
}

/// All categories in the order of dropping: the named ones, then the others from the lowest priority up.
fn order(options: &CompactOptions) -> Vec<Category> {
    let mut order = options.drop_order.clone();
    let rest = Category::ALL.into_iter().rev();
    order.extend(rest.filter(|category| !options.drop_order.contains(category)));
    order
}

fn by_category(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    end: usize,
    reason: &'static str,
    enough: EnoughFn<'_>,
) {
    let order = order(options);
    let mut left: BTreeMap<Category, VecDeque<usize>> = BTreeMap::new();
    let mut used: BTreeMap<Category, u64> = BTreeMap::new();
    for atom in 0..work.atoms.len() {
        let category = work.atoms[atom].category;
        if work.atoms[atom].level < AtomLevel::Digest {
            *used.entry(category).or_default() += work.atom_tokens(atom);
        }
        if work.may_drop(atom) && work.atoms[atom].exchange < end {
            left.entry(category).or_default().push_back(atom);
        }
    }
    let share = |category: &Category| {
        let shares = options.shares.iter().find(|(known, _)| known == category);
        let budget = options.budget.unwrap_or(u64::MAX);
        shares.map(|(_, share)| {
            u64::try_from(u128::from(budget) * u128::from(*share) / 1000).unwrap_or(u64::MAX)
        })
    };
    while !enough(work) {
        let waits = |category: &&Category| left.get(category).is_some_and(|atoms| !atoms.is_empty());
        let over = |category: &&Category| {
            share(category).is_some_and(|most| used.get(category).copied().unwrap_or(0) > most)
        };
        // Categories over their share come first; unused shares are free for the others.
        let next = order
            .iter()
            .filter(waits)
            .find(over)
            .or_else(|| order.iter().find(waits));
        let Some(category) = next else { break };
        let atom = left.get_mut(category).and_then(VecDeque::pop_front);
        let Some(atom) = atom else { break };
        *used.entry(*category).or_default() -= work.atom_tokens(atom);
        work.drop_atom(atom, AtomLevel::Dropped, reason);
    }
    drop_leading_replies(work, reason);
}

/// Drops replies at the beginning of the view after the first question was dropped.
pub fn drop_leading_replies(work: &mut CompactionState<'_>, reason: &'static str) {
    let mut atoms = work.atoms.iter();
    let question = atoms.find(|atom| work.items[atom.items[0]].is_user());
    if question.is_none_or(|atom| atom.level < AtomLevel::Digest) {
        return;
    }
    for atom in 0..work.atoms.len() {
        if work.atoms[atom].level >= AtomLevel::Digest {
            continue;
        }
        let first = work.atoms[atom].items[0];
        if work.items[first].is_user() || work.has_record_before(first) || !work.may_drop(atom) {
            return;
        }
        work.drop_atom(atom, AtomLevel::Dropped, reason);
    }
}
