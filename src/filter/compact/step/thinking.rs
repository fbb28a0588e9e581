//! Reasoning leaves: whole, since what is signed or encrypted is never edited.

use super::super::options::Thinking;
use super::super::piece::Level;
use super::super::work::Work;
use super::Enough;
use super::media::newest_user;

/// Takes the reasoning from messages ahead of the newest question, or from all.
pub fn run(work: &mut Work<'_>, thinking: Thinking, enough: Enough<'_>) {
    let end = match thinking {
        Thinking::Keep => return,
        Thinking::KeepOpen => newest_user(work).unwrap_or(0),
        Thinking::Drop => work.items.len(),
    };
    for at in 0..end {
        let reasons = work.items[at].traits.is_some_and(|traits| traits.reasoning);
        let atom = work.items[at].atom.map(|atom| &work.atoms[atom]);
        if !reasons || atom.is_none_or(|atom| atom.pinned || atom.pending || atom.level >= Level::Digest) {
            continue;
        }
        if enough(work) {
            return;
        }
        work.edit(at, &[("reasoning", None)], Level::Full, "thinking");
    }
}
