//! Reduces results in kept messages, as gently as possible.

use super::super::options::CompactOptions;
use super::super::state::CompactionState;
use super::{EnoughFn, head_tail, mask};

/// Removes the middle of results, then replaces results with placeholders, until it is enough.
pub fn run(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    results: &[usize],
    enough: EnoughFn<'_>,
) {
    for shortened in [true, false] {
        for at in results {
            if enough(work) {
                return;
            }
            if shortened && options.steps.head_tail {
                head_tail::one(work, *at, options.tool_output);
            } else if !shortened
                && options.steps.mask
                && !mask::excludes(work, &options.mask, *at)
                && let Some((body, tokens)) = mask::result(work, *at)
            {
                work.mark(*at, body, tokens, "mask");
            }
        }
    }
}
