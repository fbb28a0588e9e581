//! Spends the tokens that a choice of messages leaves: shortened messages get back as much of their middle as fits.

use super::kept_atom::KeptAtom;
use super::state::{AtomLevel, CompactionState};
use super::step::cap::Cap;

/// The caps to try, in sixteenths of the tokens that a group may have: a result may have as many as its cap, another text
/// twice as many, and a group may have several of both.
const SHARES: [u64; 8] = [16, 15, 13, 10, 8, 7, 5, 3];

/// The group at the widest cap at which it has at most `most` tokens.
pub fn widest(most: u64, shorten: impl Fn(Option<Cap>) -> KeptAtom) -> Option<KeptAtom> {
    let caps = SHARES.map(|share| Some(Cap::even(most / 16 * share)));
    let mut kept = [None].into_iter().chain(caps).map(shorten);
    kept.find(|kept| kept.tokens <= most)
}

/// Widens the shortened groups in this order, each as far as the budget allows. `start` is the state before any of them
/// was shortened, and `shorten` shortens a group of it.
pub fn run(
    work: &mut CompactionState<'_>,
    start: &CompactionState<'_>,
    budget: u64,
    atoms: impl Iterator<Item = usize>,
    shorten: &dyn Fn(usize, Option<Cap>) -> KeptAtom,
) {
    for atom in atoms {
        let spare = budget.saturating_sub(work.total);
        let now = work.atom_tokens(atom);
        if spare == 0 {
            return;
        }
        let level = work.atoms[atom].level;
        if level >= AtomLevel::Digest || work.atoms[atom].pinned || start.atom_tokens(atom) <= now {
            continue;
        }
        let Some(kept) = widest(now + spare, |cap| shorten(atom, cap)).filter(|kept| kept.tokens > now)
        else {
            continue;
        };
        work.put_back(atom, start);
        kept.apply(work);
    }
}
