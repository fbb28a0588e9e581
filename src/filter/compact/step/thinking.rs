//! Removes reasoning: always whole, since signed or encrypted data cannot be edited.

use super::super::options::Thinking;
use super::super::work::{Level, Work};
use super::Enough;
use super::media::newest_user;

/// Removes the reasoning from messages before the newest question, or from all.
pub fn run(work: &mut Work<'_>, thinking: Thinking, enough: Enough<'_>) {
    let end = match thinking {
        Thinking::Keep => return,
        Thinking::KeepOpen => newest_user(work).unwrap_or(0),
        Thinking::Drop => work.items.len(),
    };
    for at in 0..end {
        let reasons = work.items[at].traits.is_some_and(|traits| traits.reasoning);
        if !reasons || !work.may_change(at) {
            continue;
        }
        if enough(work) {
            return;
        }
        work.edit(at, &[("reasoning", None)], Level::Full, "thinking");
    }
}
