//! The message groups that a compaction keeps in any case: the newest request, the newest groups, and what no model has
//! seen.

use super::state::{AtomLevel, CompactionState, ViewEntry};
use super::step::media::newest_user;
use crate::model::json::{self, Dialect};
use crate::model::message::{Category, Message, Role};

/// The message groups that are kept in any case.
pub struct KeptAtoms {
    /// The newest request, unless it is pinned.
    pub request: Option<usize>,
    /// The newest request, pinned or not; the newest groups begin after it.
    pub asked: Option<usize>,
    /// The newest groups, which can only be kept together, oldest first.
    pub newest: Vec<usize>,
    /// Whether each group is an earlier user message that no model has seen: one of the newest until it is released.
    unseen: Vec<bool>,
    /// Whether the row may begin at each group; in an open tool loop with reasoning, only at groups with reasoning.
    pub begins: Vec<bool>,
    /// Tokens of the groups that cannot change.
    pub fixed: u64,
}

impl KeptAtoms {
    /// Finds the groups that are kept in any case.
    pub fn of(work: &CompactionState<'_>) -> KeptAtoms {
        let there = |atom: &usize| work.atoms[*atom].level < AtomLevel::Digest;
        let fixed: Vec<usize> = (0..work.atoms.len())
            .filter(|atom| there(atom) && (work.atoms[*atom].pinned || work.waits(*atom)))
            .collect();
        let free = |atom: &usize| there(atom) && fixed.binary_search(atom).is_err();
        // Without a request, use the last user message of any category: a view begins with a user message.
        let asked = newest_user(work).or_else(|| work.items.iter().rposition(ViewEntry::is_user));
        let asked = asked.and_then(|at| work.items[at].atom).filter(there);
        let request = asked.filter(free);
        // Without a pinned request either, the first of the newest groups takes its place.
        let after = asked.map_or(0, |atom| atom + 1);
        let reasons = |atom: usize, is_one: fn(&Message<'_>) -> bool| {
            let mut items = work.atoms[atom].items.iter();
            items.any(|at| {
                work.message(*at)
                    .is_some_and(|message| message.role() == Role::Assistant && is_one(&message))
            })
        };
        let open: Vec<usize> = (after..work.atoms.len()).filter(there).collect();
        // If the loop has thinking blocks, do not begin it at reasoning that only another provider can read.
        let is_one = match open.iter().any(|atom| reasons(*atom, has_thinking)) {
            true => has_thinking,
            false => |message: &Message<'_>| message.reasoning.is_some(),
        };
        let reasons = |atom: usize| reasons(atom, is_one);
        let loops = open.iter().any(|atom| reasons(*atom));
        let begins: Vec<bool> = (0..work.atoms.len())
            .map(|atom| atom < after || !loops || reasons(atom))
            .collect();
        // If the last group is fixed, no other group counts as newest, unless a loop is open.
        let last = (after..work.atoms.len()).rev().find(there);
        let last = match last.filter(free) {
            None if loops => (after..work.atoms.len()).rev().find(free),
            last => last,
        };
        // If an open loop has fixed groups, keep all of its groups.
        let parted = loops && fixed.iter().any(|atom| *atom >= after);
        let first = match parted {
            true => (after..work.atoms.len()).find(free),
            false => last.and_then(|last| (after..=last).rev().find(|atom| begins[*atom] && free(atom))),
        };
        let mut newest: Vec<usize> = match (first.or(last), last) {
            (Some(first), Some(last)) => (first..=last).filter(free).collect(),
            _ => Vec::new(),
        };
        // The model has not seen user and context messages after the newest reply.
        let replies = |atom: &usize| {
            let mut items = work.atoms[*atom].items.iter();
            items.any(|at| {
                work.items[*at]
                    .traits
                    .is_some_and(|traits| traits.role == Role::Assistant)
            })
        };
        let seen = (0..work.atoms.len())
            .rev()
            .find(replies)
            .map_or(0, |atom| atom + 1);
        let happened = |atom: &usize| work.items[work.atoms[*atom].items[0]].is_user();
        // An event is not a request that a summary could quote: the model has to receive it once.
        let is_event =
            |atom: &usize| work.atoms[*atom].category <= Category::Context && !work.atoms[*atom].record;
        let is_unseen =
            |atom: &usize| *atom >= seen && free(atom) && happened(atom) && Some(*atom) != request;
        newest.extend((seen..work.atoms.len()).filter(|atom| is_unseen(atom) && is_event(atom)));
        let mut unseen: Vec<bool> = (0..work.atoms.len())
            .map(|atom| is_unseen(&atom) && !is_event(&atom))
            .collect();
        // A late result may come last, long after its call, which may follow a question of its own. The same holds for a
        // call that waits for another result.
        let end = work.items.iter().rev().find_map(|entry| entry.atom);
        let end = end.filter(|atom| free(atom) && Some(*atom) != request);
        newest.extend(end);
        let before = |atom: &usize| asked.is_some_and(|asked| *atom < asked);
        let waits = fixed.iter().copied().find(|atom| !work.atoms[*atom].pinned);
        if let Some(first) = waits.into_iter().chain(end).filter(before).min() {
            newest.extend((0..first).rev().find(|atom| there(atom) && happened(atom)));
            newest.retain(free);
        }
        // A call after the request and before later events would belong to the open turn, in which some
        // providers want calls signed.
        let happened = work.items.iter().rposition(ViewEntry::is_user);
        let happened = happened.and_then(|at| work.items[at].atom).filter(free);
        let parted = |last: &usize| {
            let mut stays = newest.iter().chain(&fixed);
            stays.any(|atom| (after..*last).contains(atom) && work.atoms[*atom].items.len() > 1)
        };
        newest.extend(happened.filter(|last| Some(*last) != request && parted(last)));
        newest.iter().for_each(|atom| unseen[*atom] = false);
        newest.extend((0..unseen.len()).filter(|atom| unseen[*atom]));
        newest.sort_unstable();
        newest.dedup();
        KeptAtoms {
            request,
            asked,
            newest,
            unseen,
            begins,
            fixed: fixed.iter().map(|atom| work.atom_tokens(*atom)).sum(),
        }
    }

    /// The request, then the newest groups from the newest on.
    pub fn all(&self) -> impl Iterator<Item = usize> {
        self.request.iter().chain(self.newest.iter().rev()).copied()
    }

    /// Whether earlier user messages that no model has seen are among the newest groups.
    pub fn has_unseen(&self) -> bool {
        self.newest.iter().any(|atom| self.unseen[*atom])
    }

    /// Lets these messages be dropped, because not all of them fit.
    pub fn release_unseen(&mut self) {
        let unseen = &self.unseen;
        self.newest.retain(|atom| !unseen[*atom]);
        self.newest.shrink_to_fit();
    }

    /// The groups that may be kept besides these, newest first.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        let first = self.newest.first().copied().or(self.asked).unwrap_or(0);
        let is_released = |atom: &usize| self.unseen[*atom] && self.newest.binary_search(atom).is_err();
        (0..self.begins.len())
            .rev()
            .filter(move |atom| *atom < first || is_released(atom))
    }
}

/// Whether a message has a thinking block, which Anthropic requires where a tool loop begins.
fn has_thinking(message: &Message<'_>) -> bool {
    let parts = message
        .reasoning
        .and_then(|raw| json::elements(raw, Dialect::Strict));
    parts.unwrap_or_default().into_iter().any(|part| {
        let kind = json::member_text(part, "type");
        kind.is_some_and(|kind| kind == "thinking" || kind == "redacted_thinking")
    })
}
