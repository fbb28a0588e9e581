//! Removes reasoning: always whole, since signed or encrypted data cannot be edited.

use super::super::options::ThinkingOption;
use super::super::state::{AtomLevel, CompactionState};
use super::EnoughFn;
use super::media::newest_user;

/// Removes the reasoning from messages before the newest question, or from all.
pub fn run(work: &mut CompactionState<'_>, thinking: ThinkingOption, enough: EnoughFn<'_>) {
    let end = match thinking {
        ThinkingOption::Keep => return,
        ThinkingOption::KeepOpen => newest_user(work).unwrap_or(0),
        ThinkingOption::Drop => work.items.len(),
    };
    for at in 0..end {
        let reasons = work.items[at].traits.is_some_and(|traits| traits.reasoning);
        if !reasons || !work.may_change(at) {
            continue;
        }
        if enough(work) {
            return;
        }
        work.edit(at, &[("reasoning", None)], AtomLevel::Full, "thinking");
    }
}
