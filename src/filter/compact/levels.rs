//! Applies the chosen level to a message group.

use super::options::CompactOptions;
use super::state::{AtomLevel, CompactionState};
use super::step;
use super::step::mask::MaskCandidates;

/// Reduces a message group to this level.
pub fn set(
    work: &mut CompactionState<'_>,
    options: &CompactOptions,
    maskable: &MaskCandidates,
    atom: usize,
    level: AtomLevel,
) {
    match level {
        AtomLevel::Full | AtomLevel::Digest => {}
        AtomLevel::Dropped if options.steps.summary => work.drop_atom(atom, level, "summary"),
        AtomLevel::Dropped => work.drop_atom(atom, level, "drop"),
        AtomLevel::HeadTail => {
            let items = work.atoms[atom].items.clone();
            for at in items.iter().copied() {
                if work.is_result(at) && work.may_change(at) {
                    step::head_tail::one(work, at, options.tool_output);
                }
            }
        }
        AtomLevel::Masked => {
            let items = work.atoms[atom].items.clone();
            for at in items.iter().copied() {
                let marked = maskable
                    .get(&at)
                    .and_then(|calls| step::mask::marked(work, at, calls));
                if let Some((body, tokens)) = marked {
                    work.mark(at, body, tokens, "mask");
                }
            }
        }
    }
}
